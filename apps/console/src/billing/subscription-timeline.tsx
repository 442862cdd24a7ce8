// What was, is and will be of a subscription: its periods, its invoices, and what was changed. The latest stands first.

import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schema } from '../api/client.ts';
import { Loaded } from '../components/outcomes/loaded.tsx';
import { Time } from '../components/page/time.tsx';
import { actionWords } from '../settings/audit-words.ts';
import { formatDecimal } from '../text/decimals.ts';
import { formatDays } from '../text/instants.ts';
import './subscription-timeline.css';
import { amountOfListed } from './invoice-amount.ts';
import { InvoiceStatus } from './invoice-status.tsx';
import { planOf, useTimeline, type Timeline } from './timeline-reads.ts';

type Subscription = Schema<'Subscription'>;
type Invoice = Schema<'Invoice'>;

interface Entry {
  key: string;
  at: string;
  words: ReactNode;
}

export function SubscriptionTimeline({ subscription }: { subscription: Subscription }) {
  const [steps, setSteps] = useState(0);
  const timeline = useTimeline(subscription, steps);
  return (
    <Loaded query={timeline} rows={10}>
      {(data) => (
        <>
          <Told timeline={data} />
          {data.leftOut.length > 0 && (
            <p className="muted">
              There are older {new Intl.ListFormat('en-GB').format(data.leftOut)}.{' '}
              <Button variant="default" onClick={() => setSteps(steps + 1)}>
                Show older ones
              </Button>
            </p>
          )}
          {data.keptDays !== undefined && (
            <p className="muted">Changes are kept for {formatDecimal(data.keptDays)} days: what was before is gone.</p>
          )}
        </>
      )}
    </Loaded>
  );
}

function Told({ timeline }: { timeline: Timeline }) {
  const { now, subscription, invoices, changes, plans } = timeline;
  const { current_period_start: start, current_period_end: end, status, time_zone: zone } = subscription;
  const entries = [
    ...periodsOf(timeline),
    ...changesOfPlan(timeline),
    ...milestonesOf(timeline),
    ...invoices.map((invoice) => invoiceOf(invoice, zone)),
    ...changes.map((change) => changeOf(change, plans)),
  ].toSorted((a, b) => (a.at < b.at ? 1 : -1));
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
    </div>
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

function periodsOf({ subscription, periods: { begun, ahead }, plans }: Timeline): Entry[] {
  const { status, time_zone: zone } = subscription;
  const shown = status === 'CANCELED' ? begun : [...begun, ...ahead];
  return shown.map(({ cycle, plan_id: plan, period_start: start, period_end: end, days }) => ({
    key: `period ${cycle}`,
    at: start,
    words: [
      `Period ${formatDays(start, end, zone)}`,
      ...(days === null ? [] : [`${days} days`]),
      `on the plan ${nameOf(plan, plans)}`,
    ].join(', '),
  }));
}

/** Where a period is billed by another plan than the one before it. */
function changesOfPlan({ periods: { before, begun }, plans }: Timeline): Entry[] {
  const all = before === undefined ? begun : [before, ...begun];
  return all.slice(1).flatMap(({ cycle, plan_id: plan, period_start: at }, index) => {
    if (plan === all[index]?.plan_id) return [];
    return [{ key: `plan ${cycle}`, at, words: <strong>Went over to the plan {nameOf(plan, plans)}</strong> }];
  });
}

function milestonesOf({ subscription, plans }: Timeline): Entry[] {
  const { start_date, trial_end_date, current_period_end, cancel_at_period_end, ended_at, status } = subscription;
  const { current_period_start, pending_plan_id: next, time_zone: zone } = subscription;
  const isGoing = status !== 'CANCELED';
  // What was to come after the end never comes.
  const comes = (at: string) => isGoing || ended_at === null || at <= ended_at;
  const entries: (Entry | false)[] = [
    comes(start_date) && {
      key: 'start',
      at: start_date,
      words: <strong>{status === 'SCHEDULED' ? 'Starts' : 'Started'}</strong>,
    },
    trial_end_date !== null && comes(trial_end_date) && { key: 'trial', at: trial_end_date, words: 'The trial ends' },
    // Where it ends by then, it does not go over to another plan.
    isGoing &&
      !cancel_at_period_end &&
      next !== null && {
        key: 'plan',
        at: current_period_end,
        words: <strong>Changes to the plan {nameOf(next, plans)}</strong>,
      },
    // For the days of a trial nothing is ever due.
    isGoing &&
      status !== 'SCHEDULED' &&
      status !== 'TRIAL' && {
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
  const { id, invoice_number, total, finalized_at, period_start, period_end } = invoice;
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
        {amountOfListed(invoice, total)}, for {days} <InvoiceStatus of={invoice} />
      </>
    ),
  };
}

function changeOf(change: Schema<'AuditEntry'>, plans: Timeline['plans']): Entry {
  const { id, created_at: at, action, actor, changes } = change;
  const plan = planOf(change);
  const who = actor.email ?? actor.name;
  const words = [
    actionWords(action),
    ...(plan === undefined ? [] : [`to ${nameOf(plan, plans)}`]),
    ...(changes?.['when'] === 'now' ? ['at once'] : []),
    ...(who === null ? [] : [`by ${who}`]),
  ];
  return { key: id, at, words: words.join(' ') };
}

/** One that was to come may have been deleted when it was not any more. */
function nameOf(id: string, plans: Timeline['plans']): string {
  return plans.get(id) ?? 'a plan that is gone';
}
