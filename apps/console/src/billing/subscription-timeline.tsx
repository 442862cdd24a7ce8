// What was, is and will be of a subscription: its periods, its invoices, and what was changed. The latest stands first.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Status } from '../components/lists/status.tsx';
import { Time } from '../components/page/time.tsx';
import { actionWords } from '../settings/audit-words.ts';
import { formatAmount } from '../text/decimals.ts';
import { formatDays } from '../text/instants.ts';
import './subscription-timeline.css';

type Subscription = Schema<'Subscription'>;
type Invoice = Schema<'Invoice'>;

interface Period {
  cycle: number;
  period_start: string;
  period_end: string;
  days: string | null;
}

/** As many of each as one reads through. */
const PERIODS_AHEAD = 3;
const PERIODS_BEFORE = 6;
const INVOICES_MAX = 12;
const CHANGES_MAX = 20;

interface Entry {
  key: string;
  at: string;
  words: ReactNode;
}

export function SubscriptionTimeline({ subscription }: { subscription: Subscription }) {
  const { id, pending_plan_id: planId } = subscription;
  const timeline = useQuery({
    queryKey: ['/api/v1/subscriptions/{id}', 'timeline', id, planId],
    queryFn: async () => {
      const [periods, invoices, changes, plan] = await Promise.all([
        send(
          client.GET('/api/v1/subscriptions/{id}/periods', {
            params: { path: { id }, query: { count: PERIODS_AHEAD } },
          }),
        ),
        send(client.GET('/api/v1/invoices', { params: { query: { subscription_id: id, page_size: INVOICES_MAX } } })),
        send(client.GET('/api/v1/audit-log', { params: { query: { resource_id: id, limit: CHANGES_MAX } } })),
        planId === null ? null : send(client.GET('/api/v1/plans/{id}', { params: { path: { id: planId } } })),
      ]);
      const now = new Date().toISOString();
      return { periods: periods.data, invoices, changes: changes.data, nextPlan: plan?.name, now };
    },
  });
  return (
    <Loaded query={timeline} rows={10}>
      {({ periods, invoices, changes, nextPlan, now }) => {
        const entries = [
          ...periodsOf(subscription, periods, now),
          ...milestonesOf(subscription, nextPlan),
          ...invoices.data.map((invoice) => invoiceOf(invoice, subscription.time_zone)),
          ...changes.map(changeOf),
        ].toSorted((a, b) => (a.at < b.at ? 1 : -1));
        const { current_period_start: start, current_period_end: end, status, time_zone: zone } = subscription;
        return (
          <div className="timeline">
            <Entries title="To come" entries={entries.filter(({ at }) => at > now)} zone={zone} />
            {status !== 'CANCELED' && status !== 'SCHEDULED' && (
              <section aria-label="Now">
                <h3>Now</h3>
                <p className="timeline-now">
                  {status === 'TRIAL' ? 'Trial' : 'Period'} {formatDays(start, end, zone)}, on the plan{' '}
                  {subscription.plan_name}
                </p>
              </section>
            )}
            <Entries title="Past" entries={entries.filter(({ at }) => at <= now)} zone={zone} />
            {invoices.meta.next_cursor !== null && <p className="muted">The other invoices are in the tab Invoices.</p>}
          </div>
        );
      }}
    </Loaded>
  );
}

function Entries({ title, entries, zone }: { title: string; entries: readonly Entry[]; zone: string }) {
  if (entries.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ol>
        {entries.map(({ key, at, words }) => (
          <li key={key}>
            <Time at={at} zone={zone} as="date" />
            <span>{words}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Periods to come, and the last that have begun. */
function periodsOf({ status, time_zone: zone }: Subscription, periods: readonly Period[], now: string): Entry[] {
  const before = periods.filter(({ period_start }) => period_start <= now).slice(-PERIODS_BEFORE);
  const ahead = status === 'CANCELED' ? [] : periods.filter(({ period_start }) => period_start > now);
  return [...before, ...ahead].map(({ cycle, period_start: start, period_end: end, days }) => ({
    key: `period ${cycle}`,
    at: start,
    words: `Period ${formatDays(start, end, zone)}${days === null ? '' : `, ${days} days`}`,
  }));
}

function milestonesOf(subscription: Subscription, nextPlan: string | undefined): Entry[] {
  const { start_date, trial_end_date, current_period_end, cancel_at_period_end, ended_at, status } = subscription;
  const { current_period_start, time_zone: zone } = subscription;
  const isGoing = status !== 'CANCELED';
  const entries: (Entry | false)[] = [
    { key: 'start', at: start_date, words: <strong>{status === 'SCHEDULED' ? 'Starts' : 'Started'}</strong> },
    trial_end_date !== null && { key: 'trial', at: trial_end_date, words: 'The trial ends' },
    isGoing &&
      nextPlan !== undefined && {
        key: 'plan',
        at: current_period_end,
        words: <strong>Changes to the plan {nextPlan}</strong>,
      },
    isGoing &&
      status !== 'SCHEDULED' && {
        key: 'next',
        at: current_period_end,
        words: `Next invoice, for ${formatDays(current_period_start, current_period_end, zone)}`,
      },
    isGoing && cancel_at_period_end && { key: 'end', at: current_period_end, words: <strong>Ends</strong> },
    !isGoing && ended_at !== null && { key: 'ended', at: ended_at, words: <strong>Ended</strong> },
  ];
  return entries.filter((entry) => entry !== false);
}

function invoiceOf(invoice: Invoice, zone: string): Entry {
  const { id, invoice_number, status, total, currency, finalized_at, period_start, period_end } = invoice;
  const days = formatDays(period_start, period_end, zone);
  return {
    key: id,
    // A draft is made at the end of what it is for.
    at: finalized_at ?? period_end,
    words: (
      <>
        <Link to="/invoices/$invoiceId" params={{ invoiceId: id }}>
          {invoice_number ?? 'Draft invoice'}
        </Link>{' '}
        {formatAmount(total, currency)}, for {days} <Status of={status} />
      </>
    ),
  };
}

function changeOf({ id, created_at, action, actor }: Schema<'AuditEntry'>): Entry {
  const who = actor.email ?? actor.name;
  return { key: id, at: created_at, words: `${actionWords(action)}${who === null ? '' : ` by ${who}`}` };
}
