// How the organization stands in this month; and, until it has an invoice, what to do first.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { read, type Answer } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { pace } from '../api/pace.ts';
import { totalOf } from '../api/pages.ts';
import { useSession } from '../api/session.ts';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { formatAmount, formatDecimal, percentChange } from '../text/decimals.ts';
import { formatDate } from '../text/instants.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Loading } from '../components/outcomes/loading.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { lazily } from '../components/page/lazily.tsx';
import { Page, Section } from '../components/page/page.tsx';
import { Attention, WITH_RUN_ERROR } from './attention.tsx';
import { EventsByDay } from './events-by-day.tsx';
import { PAST_DUE, PastDue } from './past-due.tsx';
import { ExpectedOf, Invoiced } from './revenue.tsx';

/** Its forms are more than the whole rest of the page, which most see without them. */
const FirstSteps = lazily(() => import('./first-steps.tsx').then((loaded) => loaded.FirstSteps), <Loading rows={12} />);

type Overview = Answer<'/api/v1/overview'>;
type Unbilled = Answer<'/api/v1/billing/unbilled-usage'>;
type Endpoints = Answer<'/api/v1/webhook-endpoints'>['data'];
type TopMeter = NonNullable<Overview['top_meters']>[number];
type TopCustomer = NonNullable<Overview['top_customers']>[number];
type Invoices = Overview['invoices'][number];
type MostBilled = Invoices['top_customers'][number] & { currency: string };

const REFRESH_MS = 10_000;

export function HomePage() {
  // All that stands beside each other is read again together, so that no part of it denies another.
  const refetchInterval = () => pace(REFRESH_MS);
  const overview = useQuery({ ...read('/api/v1/overview'), refetchInterval });
  const unbilled = useQuery({
    ...read('/api/v1/billing/unbilled-usage', { query: { is_told: 'true', page_size: PAGE_SIZE_MAX } }),
    refetchInterval,
  });
  const pastDue = useQuery({ ...read('/api/v1/invoices', { query: PAST_DUE }), refetchInterval });
  const endpoints = useQuery({ ...read('/api/v1/webhook-endpoints', {}), refetchInterval });
  const billing = useQuery({ ...read('/api/v1/billing/settings'), refetchInterval });
  const unbillable = useQuery({ ...read('/api/v1/subscriptions', { query: WITH_RUN_ERROR }), refetchInterval });
  const log = useQuery(read('/api/v1/events', { query: { limit: 1 } }));
  // The overview knows no invoices but those that are open and those of these months.
  const invoices = useQuery({
    ...read('/api/v1/invoices', { query: { page_size: 1 } }),
    enabled: overview.data?.invoices.length === 0 && !overview.data.has_uncounted_invoices,
  });
  const [isPutAway, putAway] = usePutAway();
  // Who has begun with the first steps sees them tick off to the end, also when the first invoice has come.
  const [isFollowing, setFollowing] = useState(false);
  const isBeforeFirst = overview.data?.invoices.length === 0 && invoices.data?.data.length === 0;
  if (isBeforeFirst && !isFollowing && !overview.isFetching && !invoices.isFetching) setFollowing(true);
  const isEmpty = log.data?.data.length === 0 && overview.data?.waiting?.events === 0;
  const isGuided = (isBeforeFirst || isFollowing) && (isEmpty || !isPutAway);
  const standing = (
    // Which of the two it is has to be known first, so that neither gives way to the other.
    <Loaded query={log} rows={12}>
      {() => (
        <Loaded query={overview} rows={12}>
          {(data) => {
            if (isGuided && isEmpty) return null;
            const others = [unbilled, pastDue, endpoints, billing, unbillable, invoices];
            // What it has to tell stands above the rest, which must not give way to it.
            if (others.some(({ isLoading }) => isLoading)) return <Loading rows={12} />;
            const failed = others.find(({ error }) => error !== null);
            return (
              <>
                {failed !== undefined && <ProblemBox error={failed.error} onRetry={() => void failed.refetch()} />}
                <OverviewOf
                  overview={data}
                  unbilled={unbilled.data}
                  endpoints={endpoints.data?.data ?? []}
                  isManual={billing.data?.finalize === 'manual'}
                  unbillable={unbillable.data === undefined ? 0 : totalOf(unbillable.data.meta)}
                  pastDue={pastDue.data}
                />
              </>
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
  return (
    <Page title="Home">
      {isGuided ? <FirstSteps onPutAway={isEmpty ? undefined : putAway} below={standing} /> : standing}
    </Page>
  );
}

/** Whether the first steps are put away in this browser: whoever only counts needs no invoice. */
function usePutAway(): [isPutAway: boolean, putAway: () => void] {
  const { organization } = useSession();
  const name = `weir-first-steps-${organization.id}`;
  const [isPutAway, setPutAway] = useState(localStorage.getItem(name) !== null);
  const putAway = (): void => {
    localStorage.setItem(name, 'put away');
    setPutAway(true);
  };
  return [isPutAway, putAway];
}

interface OverviewProps {
  overview: Overview;
  unbilled: Unbilled | undefined;
  endpoints: Endpoints;
  /** Whether drafts wait for somebody who finalizes them. */
  isManual: boolean;
  /** Subscriptions of which the run could not bill something. */
  unbillable: number;
  pastDue: Answer<'/api/v1/invoices'> | undefined;
}

function OverviewOf({ overview, unbilled, endpoints, isManual, unbillable, pastDue }: OverviewProps) {
  const { events, expected, invoices, rejected, waiting, top_meters: meters, top_customers: customers } = overview;
  const billed = invoices.flatMap((each) =>
    each.top_customers.map((customer) => ({ ...customer, currency: each.currency })),
  );
  const drafts = invoices.reduce((sum, each) => sum + each.draft_count, 0);
  const recorded = events.recorded === null ? null : String(events.recorded);
  return (
    <>
      <p className="home-period muted">
        {formatDate(overview.period_start, overview.time_zone)} to now. Events are compared with those of the month
        before, up to the same time of it.
      </p>
      <dl className="figures">
        <div>
          <dt>Events recorded</dt>
          <dd>
            <span className="figure">{formatDecimal(recorded)}</span>
            {events.previous !== null && recorded !== null && (
              <div className="figure-note">
                {percentChange(recorded, String(events.previous)) ?? 'New'} · {formatDecimal(events.previous)} before
              </div>
            )}
          </dd>
        </div>
        <div>
          <dt>Rejected</dt>
          <dd>
            <span className={rejected.count > 0 ? 'figure figure-bad' : 'figure'}>{formatDecimal(rejected.count)}</span>
            <div className="figure-note">
              {rejected.count > 0 ? (
                <Link to="/events" search={{ status: 'rejected' }}>
                  Correct and replay
                </Link>
              ) : (
                'Nothing to correct'
              )}
            </div>
          </dd>
        </div>
        <div>
          <dt>Waiting in the queue</dt>
          <dd>
            <span className="figure">{formatDecimal(waiting?.events)}</span>
            <div className="figure-note">{waitingNote(waiting)}</div>
          </dd>
        </div>
        {invoices.map((each) => (
          <Invoiced key={each.currency} of={each} />
        ))}
        {expected?.currencies.map((each) => (
          <ExpectedOf key={each.currency} currency={each} expected={expected} />
        ))}
      </dl>
      <Attention
        rejected={rejected.count}
        unbilled={unbilled}
        endpoints={endpoints}
        drafts={isManual ? drafts : 0}
        unbillable={unbillable}
      />
      {pastDue !== undefined && <PastDue invoices={pastDue} />}
      {events.days !== null && <EventsByDay days={events.days} zone={overview.time_zone} />}
      <div className="columns home-columns">
        <Section title="Top meters">{meters === null ? <LeftOut /> : <TopMeters meters={meters} />}</Section>
        {billed.length > 0 ? (
          <Section title="Top customers by what they were invoiced">
            <DataTable
              label="Top customers by what they were invoiced"
              columns={BILLED_COLUMNS}
              rows={billed}
              keyOf={({ customer_id: id, currency }) => `${id} ${currency}`}
              empty={null}
            />
          </Section>
        ) : (
          <Section title="Top customers">
            {customers === null ? <LeftOut /> : <TopCustomers customers={customers} />}
          </Section>
        )}
      </div>
      {overview.has_uncounted_invoices && (
        <Section title="Invoices">
          <p className="muted">
            There are too many of them to add up at a glance, drafts that wait among them:{' '}
            <Link to="/invoices">see Invoices</Link>.
          </p>
        </Section>
      )}
      {invoices.length > 0 && (
        <Section title="Invoices">
          <DataTable
            label="Invoices by currency"
            columns={INVOICE_COLUMNS}
            rows={invoices}
            keyOf={({ currency }) => currency}
            empty={null}
          />
        </Section>
      )}
    </>
  );
}

function waitingNote(waiting: Overview['waiting']): string {
  if (waiting === null) return 'The queue cannot be asked now';
  const { events, oldest_seconds: seconds } = waiting;
  if (events === 0 || seconds === null) return 'Everything is recorded';
  return `The oldest for ${formatDecimal(Math.round(seconds))} s`;
}

function LeftOut() {
  return <p className="muted">There is too much of it to count at a glance: see Usage.</p>;
}

const METER_COLUMNS: Column<TopMeter>[] = [
  {
    title: 'Meter',
    cell: ({ meter_id: meter, name }) => (
      <Link className="row-link" to="/usage" search={{ meter }}>
        {name}
      </Link>
    ),
  },
  {
    title: 'Usage',
    isNumber: true,
    cell: ({ usage, unit }) =>
      usage === null ? (
        <span className="muted">Too much to count at a glance</span>
      ) : (
        <>
          {formatDecimal(usage)} <span className="muted">{unit}</span>
        </>
      ),
  },
  { title: 'Events', isNumber: true, cell: ({ event_count: events }) => formatDecimal(events) },
];

function TopMeters({ meters }: { meters: readonly TopMeter[] }) {
  return (
    <DataTable
      label="Top meters"
      columns={METER_COLUMNS}
      rows={meters}
      keyOf={({ meter_id: id }) => id}
      empty={<p>No usage in this month yet.</p>}
    />
  );
}

const CUSTOMER_COLUMNS: Column<TopCustomer>[] = [
  {
    title: 'Customer',
    cell: ({ customer_external_id: customer, name }) => (
      <Link className="row-link" to="/events" search={{ customer }}>
        {name ?? customer}
      </Link>
    ),
  },
  { title: 'External ID', isExtra: true, cell: ({ customer_external_id: id }) => <span className="muted">{id}</span> },
  { title: 'Events', isNumber: true, cell: ({ event_count: events }) => formatDecimal(events) },
];

function TopCustomers({ customers }: { customers: readonly TopCustomer[] }) {
  return (
    <DataTable
      label="Top customers"
      columns={CUSTOMER_COLUMNS}
      rows={customers}
      keyOf={({ customer_external_id: id }) => id}
      empty={<p>No customer has used anything in this month yet.</p>}
    />
  );
}

const BILLED_COLUMNS: Column<MostBilled>[] = [
  {
    title: 'Customer',
    cell: ({ customer_id: customerId, external_id: externalId, name }) => (
      <Link className="row-link" to="/customers/$customerId" params={{ customerId }}>
        {name ?? externalId}
      </Link>
    ),
  },
  {
    title: 'Invoiced this month',
    isNumber: true,
    cell: ({ finalized_total: total, currency }) => formatAmount(total, currency),
  },
];

const INVOICE_COLUMNS: Column<Invoices>[] = [
  { title: 'Currency', cell: ({ currency }) => currency },
  { title: 'Drafts', isNumber: true, cell: ({ draft_count: count }) => formatDecimal(count) },
  { title: 'Open', isNumber: true, cell: ({ open_count: count }) => formatDecimal(count) },
  {
    title: 'To be paid',
    isNumber: true,
    cell: ({ open_amount: amount, currency }) => formatAmount(amount, currency),
  },
  {
    title: 'Past due',
    isNumber: true,
    cell: ({ past_due_amount: amount, currency }) => formatAmount(amount, currency),
  },
  {
    title: 'Finalized this month',
    isNumber: true,
    isExtra: true,
    cell: ({ finalized_total: total, currency }) => formatAmount(total, currency),
  },
];
