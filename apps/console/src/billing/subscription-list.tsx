import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read, type Schema } from '../api/client.ts';
import type { Column } from '../components/lists/data-table.tsx';
import { formatDays } from '../text/instants.ts';
import { PagedList } from '../components/lists/paged-list.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';

type Subscription = Schema<'Subscription'>;

interface Filter {
  page: number;
  status?: Subscription['status'];
  customer_id?: string;
}

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
    cell: ({ status, cancel_at_period_end: isEnding, pending_plan_id }) => (
      <>
        <Status of={status} />
        {status !== 'CANCELED' && isEnding && <span className="muted"> ends with its period</span>}
        {status !== 'CANCELED' && pending_plan_id !== null && <span className="muted"> changes its plan</span>}
      </>
    ),
  },
  {
    title: 'Current period',
    cell: ({ status, current_period_start: start, current_period_end: end, time_zone }) =>
      status === 'SCHEDULED' ? null : formatDays(start, end, time_zone),
    isExtra: true,
  },
  {
    title: 'Start date',
    cell: ({ start_date, time_zone }) => <Time at={start_date} as="date" zone={time_zone} />,
    isExtra: true,
  },
];

export function SubscriptionList({ filter, onPage }: { filter: Filter; onPage: (page: number) => void }) {
  const subscriptions = useQuery({
    ...read('/api/v1/subscriptions', { query: filter }),
    placeholderData: keepPreviousData,
  });
  const shown = filter.customer_id === undefined ? columns : columns.filter(({ title }) => title !== 'Customer');
  return (
    <PagedList
      query={subscriptions}
      onPage={onPage}
      label="Subscriptions"
      columns={shown}
      empty="No subscription. It puts a customer on a plan, and from then on usage is billed."
    />
  );
}
