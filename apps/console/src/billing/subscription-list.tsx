import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client, read, send, type Schema } from '../api/client.ts';
import type { Column, Sorting } from '../components/lists/data-table.tsx';
import { formatDays } from '../text/instants.ts';
import { ListExport } from '../components/lists/list-export.tsx';
import { PagedList } from '../components/lists/paged-list.tsx';
import { useSearchState, useSorting } from '../components/lists/search-state.ts';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import { hasPeriod } from './has-period.ts';

type Subscription = Schema<'Subscription'>;

interface Filter {
  status?: Subscription['status'];
  customer_id?: string;
  has_run_error?: 'true';
  sort?: (typeof SUBSCRIPTION_SORTS)[number];
}

export const SUBSCRIPTION_SORTS = ['created_at', '-created_at'] as const;

const columns: Column<Subscription>[] = [
  {
    title: 'Plan',
    cell: ({ id, plan_name }) => (
      <Link to="/subscriptions/$subscriptionId" params={{ subscriptionId: id }} className="row-link">
        {plan_name}
      </Link>
    ),
  },
  { title: 'Customer', cell: ({ customer_external_id }) => customer_external_id },
  {
    title: 'Status',
    cell: (subscription) => (
      <>
        <Status of={subscription.status} />
        <span className="muted">{toComeOf(subscription)}</span>
      </>
    ),
  },
  {
    title: 'Current period',
    cell: (subscription) => {
      const { current_period_start: start, current_period_end: end, time_zone } = subscription;
      return hasPeriod(subscription) ? formatDays(start, end, time_zone) : null;
    },
    isExtra: true,
  },
  {
    title: 'Start date',
    cell: ({ start_date, time_zone }) => <Time at={start_date} as="date" zone={time_zone} />,
    isExtra: true,
  },
  {
    title: 'Created',
    sort: 'created_at',
    cell: ({ created_at }) => <Time at={created_at} as="date" />,
    isExtra: true,
  },
];

/** Where it ends with its period, it does not change its plan, whatever was said before. */
function toComeOf({ status, cancel_at_period_end: isEnding, pending_plan_id: next }: Subscription): string {
  if (status === 'CANCELED') return '';
  if (isEnding) return ' ends with its period';
  return next === null ? '' : ' changes its plan';
}

interface SubscriptionListProps {
  filter: Filter & { page: number };
  onPage: (page: number) => void;
  sorting: Sorting;
  /** On the page of its customer. */
  isOfOne?: boolean;
}

export function SubscriptionList({ filter, onPage, sorting, isOfOne = false }: SubscriptionListProps) {
  const subscriptions = useQuery({
    ...read('/api/v1/subscriptions', { query: filter }),
    placeholderData: keepPreviousData,
  });
  const shown = isOfOne ? columns.filter(({ title }) => title !== 'Customer') : columns;
  return (
    <PagedList
      query={subscriptions}
      onPage={onPage}
      label="Subscriptions"
      columns={shown}
      sorting={sorting}
      empty={emptyWords(filter)}
    />
  );
}

const LIKE_THIS = 'No subscription is like this.';

function emptyWords({ has_run_error: isFailed, status, customer_id: customer }: Filter): string {
  if (customer !== undefined)
    return status === undefined && isFailed === undefined ? 'It has no subscription.' : LIKE_THIS;
  if (isFailed === undefined) return 'No subscription. It puts a customer on a plan, and from then on usage is billed.';
  return status === undefined ? 'No subscription: all that was due could be billed.' : LIKE_THIS;
}

export function SubscriptionsExport({ filter }: { filter: Filter }) {
  return (
    <ListExport
      name="subscriptions"
      readPage={(part) => send(client.GET('/api/v1/subscriptions', { params: { query: { ...filter, ...part } } }))}
    />
  );
}

/** Those of one customer, on its page. */
export function SubscriptionsOfOne({ filter }: { filter: { customer_id: string } }) {
  const { page, setPage } = useSearchState();
  const { sorting, sorted } = useSorting(SUBSCRIPTION_SORTS);
  const shown = { ...filter, ...sorted };
  return (
    <>
      <div className="list-actions">
        <SubscriptionsExport filter={shown} />
      </div>
      <SubscriptionList filter={{ page, ...shown }} onPage={setPage} sorting={sorting} isOfOne />
    </>
  );
}
