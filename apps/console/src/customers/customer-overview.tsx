// How a customer stands: the plan, what the next invoice comes to so far, what is owed, the credit, and the meters with usage.

import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client, read, send, type Answer, type Schema } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { pace } from '../api/pace.ts';
import { totalOf } from '../api/pages.ts';
import { useSession } from '../api/session.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { Status } from '../components/lists/status.tsx';
import { Loading } from '../components/outcomes/loading.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { Section } from '../components/page/page.tsx';
import { addDecimals, formatAmount } from '../text/decimals.ts';
import { formatDate, formatDays, formatLastDay } from '../text/instants.ts';
import { useRecentUsage } from '../usage/days-of-usage.ts';
import { UsageOfCustomer } from './usage-of-customer.tsx';

type Subscription = Schema<'Subscription'>;
type Preview = Schema<'InvoicePreview'>;

/** Whose next invoice is computed: as many as one customer has, with some to spare. */
const SHOWN_MAX = 5;

const REFRESH_MS = 10_000;

export function CustomerOverview({ customer }: { customer: Schema<'Customer'> }) {
  const { id } = customer;
  const { isAdmin } = useSession();
  // What the customer owes and has stands beside the next invoice, and is read again with it.
  const refetchInterval = () => pace(REFRESH_MS);
  const subscriptions = useQuery(
    read('/api/v1/subscriptions', { query: { customer_id: id, page_size: PAGE_SIZE_MAX } }),
  );
  const open = useQuery({
    ...read('/api/v1/invoices', { query: { customer_id: id, status: 'OPEN', page_size: PAGE_SIZE_MAX } }),
    refetchInterval,
  });
  const pastDue = useQuery({
    ...read('/api/v1/invoices', { query: { customer_id: id, is_past_due: 'true', page_size: 1 } }),
    refetchInterval,
  });
  const credits = useQuery({ ...read('/api/v1/customers/{id}/credits', { path: { id } }), refetchInterval });
  const usage = useRecentUsage(customer, REFRESH_MS);
  const going = (subscriptions.data?.data ?? []).filter(({ status }) => status !== 'CANCELED');
  const shown = going.slice(0, SHOWN_MAX);
  const previews = useQueries({
    queries: shown.map((subscription) => ({
      queryKey: ['/api/v1/subscriptions/{id}', 'preview-invoice', subscription.id],
      queryFn: () =>
        send(client.POST('/api/v1/subscriptions/{id}/preview-invoice', { params: { path: { id: subscription.id } } })),
      // To compute one is not open to viewers.
      enabled: isAdmin,
      refetchInterval,
    })),
  });
  // All of it at once, so that nothing gives way to what comes later.
  const isComing = [subscriptions, open, pastDue, credits, usage, ...previews].some(({ isLoading }) => isLoading);
  if (isComing) return <Loading rows={12} />;
  const failed = [subscriptions, open, pastDue, credits, usage, ...previews].find(({ error }) => error !== null);
  const rows = shown.map((subscription, index) => ({ subscription, next: previews[index]?.data }));
  const isLeftOut = going.length > shown.length;
  return (
    <>
      {failed !== undefined && <ProblemBox error={failed.error} onRetry={() => void failed.refetch()} />}
      <dl className="figures">
        {isAdmin && <NextInvoice rows={subscriptions.data && rows} isLeftOut={isLeftOut} />}
        <Owed open={open.data} pastDue={pastDue.data} />
        <Figure
          title="Credit"
          amounts={credits.data && Object.entries(credits.data.balance)}
          note="is drawn by the next invoices"
        />
      </dl>
      {subscriptions.data !== undefined && (
        <Section title="Plan">
          <DataTable
            label="Plan"
            columns={isAdmin ? columns : columns.filter(({ title }) => title !== 'Next invoice')}
            rows={rows}
            keyOf={({ subscription }) => subscription.id}
            empty="No plan: a subscription puts the customer on one, and from then on usage is billed."
          />
          {isLeftOut && (
            <p>
              <Link to="/customers/$customerId" params={{ customerId: id }} search={{ tab: 'subscriptions' }}>
                All {going.length} subscriptions
              </Link>
            </p>
          )}
        </Section>
      )}
      {usage.data !== undefined && <UsageOfCustomer customer={customer} usage={usage.data} refreshMs={REFRESH_MS} />}
    </>
  );
}

interface Row {
  subscription: Subscription;
  next: Preview | undefined;
}

const columns: Column<Row>[] = [
  {
    title: 'Plan',
    cell: ({ subscription: { id, plan_name } }) => (
      <Link to="/subscriptions/$subscriptionId" params={{ subscriptionId: id }} className="row-link">
        {plan_name}
      </Link>
    ),
  },
  { title: 'Status', cell: ({ subscription: { status } }) => <Status of={status} />, isTight: true },
  {
    title: 'Current period',
    cell: ({ subscription: { status, current_period_start, current_period_end, time_zone, start_date } }) =>
      status === 'SCHEDULED'
        ? `starts ${formatDate(start_date, time_zone)}`
        : formatDays(current_period_start, current_period_end, time_zone),
    isExtra: true,
  },
  {
    title: 'Next invoice',
    cell: ({ next }) => (next === undefined ? '–' : formatAmount(next.total, next.currency)),
    isNumber: true,
  },
];

interface NextInvoiceProps {
  /** Undefined where they cannot be read. */
  rows: readonly Row[] | undefined;
  /** Whether the customer has more subscriptions than these. */
  isLeftOut: boolean;
}

/** What the next invoices come to so far, and up to which day the first of them is. */
function NextInvoice({ rows, isLeftOut }: NextInvoiceProps) {
  const known = (rows ?? []).flatMap(({ subscription: { time_zone: zone }, next }) =>
    next === undefined ? [] : [{ zone, next }],
  );
  const [soonest] = known.toSorted((a, b) => (a.next.period_end < b.next.period_end ? -1 : 1));
  const amounts = known.map(({ next: { currency, total } }) => [currency, total] as const);
  const note =
    soonest === undefined ? 'No subscription' : `so far, up to ${formatLastDay(soonest.next.period_end, soonest.zone)}`;
  return (
    <Figure
      title={isLeftOut ? `Next invoice, of ${SHOWN_MAX} subscriptions` : 'Next invoice'}
      amounts={known.length === rows?.length ? sumsOf(amounts) : undefined}
      note={note}
    />
  );
}

interface OwedProps {
  /** The newest of them; undefined where they cannot be read. */
  open: Answer<'/api/v1/invoices'> | undefined;
  /** Only how many they are is looked at: beyond the newest open ones there may be more. */
  pastDue: Answer<'/api/v1/invoices'> | undefined;
}

function Owed({ open, pastDue }: OwedProps) {
  const isKnown = open !== undefined && pastDue !== undefined;
  const { data, meta } = open ?? { data: [], meta: undefined };
  const past = pastDue === undefined ? 0 : totalOf(pastDue.meta);
  const total = meta === undefined ? 0 : totalOf(meta);
  const note = total === 0 ? 'Nothing is due' : `${total} open, ${past} past due`;
  return (
    <Figure
      title={total > data.length ? `Balance, of ${data.length} invoices` : 'Balance'}
      amounts={isKnown ? sumsOf(data.map(({ currency, amount_due }) => [currency, amount_due])) : undefined}
      note={note}
      isBad={past > 0}
    />
  );
}

function sumsOf(amounts: readonly (readonly [currency: string, amount: string])[]): [string, string][] {
  const sums = new Map<string, string>();
  for (const [currency, amount] of amounts) sums.set(currency, addDecimals(sums.get(currency) ?? '0', amount));
  return [...sums];
}

interface FigureProps {
  title: string;
  /** Undefined where they cannot be read, or not all of them. */
  amounts: readonly (readonly [currency: string, amount: string])[] | undefined;
  note: string;
  isBad?: boolean;
}

function Figure({ title, amounts, note, isBad = false }: FigureProps) {
  const words = amounts?.map(([currency, amount]) => formatAmount(amount, currency)).join(', ');
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <span className={isBad ? 'figure figure-bad' : 'figure'}>{words === undefined ? '–' : words || 'none'}</span>
        <div className="figure-note">{words === undefined ? 'It cannot be read now' : note}</div>
      </dd>
    </div>
  );
}
