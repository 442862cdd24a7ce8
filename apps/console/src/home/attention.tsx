// What waits for a person, in a sentence each that leads to where it is done: rejected events, what could not be billed, drafts that
// nobody but a person finalizes, usage that no price bills, and webhooks that do not come through. Invoices that are past due have a
// table of their own.

import { Link } from '@tanstack/react-router';
import type { Answer, Schema } from '../api/client.ts';
import { totalOf } from '../api/pages.ts';
import { Section } from '../components/page/page.tsx';
import { Time } from '../components/page/time.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { formatDay } from '../text/instants.ts';

type Unbilled = Answer<'/api/v1/billing/unbilled-usage'>;
type Found = Unbilled['data'][number];
type Endpoint = Schema<'WebhookEndpoint'>;

/** More of them are told by their number, and shown when it is opened: who has many has one cause for most. */
const SHOWN_MAX = 5;

/** What is asked for of subscriptions: how many there are. */
export const WITH_RUN_ERROR = { has_run_error: 'true', page_size: 1 } as const;

const WHY: Record<Found['reason'], string> = {
  price_ended: 'the charge of the plan had ended when the period began, and no other was there',
  after_end: 'the subscription of the customer has ended',
  no_subscription: 'the customer has no subscription',
  not_in_plan: 'the plan of the customer has no charge for it',
};

interface AttentionProps {
  rejected: number;
  /** What a plan was made without is not among it: it needs nobody's attention. */
  unbilled: Unbilled | undefined;
  endpoints: readonly Endpoint[];
  /** Drafts that stay drafts until somebody finalizes them. */
  drafts: number;
  /** Subscriptions of which the run could not bill something. */
  unbillable: number;
}

export function Attention({ rejected, unbilled, endpoints, drafts, unbillable }: AttentionProps) {
  const found = unbilled?.data ?? [];
  const total = unbilled === undefined ? 0 : totalOf(unbilled.meta);
  const failing = endpoints.filter((each) => each.failing_since !== null || each.disabled_reason !== null);
  if (rejected + drafts + unbillable + failing.length + found.length === 0) return null;
  return (
    <Section title="Needs a person">
      <ul className="attention">
        {rejected > 0 && (
          <li>
            <Rejected count={rejected} />
          </li>
        )}
        {unbillable > 0 && (
          <li>
            <Unbillable count={unbillable} />
          </li>
        )}
        {drafts > 0 && (
          <li>
            <Drafts count={drafts} />
          </li>
        )}
        {failing.map((endpoint) => (
          <li key={endpoint.id}>
            <Failing endpoint={endpoint} />
          </li>
        ))}
        {found.slice(0, SHOWN_MAX).map(itemOf)}
      </ul>
      {found.length > SHOWN_MAX && (
        <details className="more">
          <summary>And usage of {formatDecimal(total - SHOWN_MAX)} more that no price bills</summary>
          <ul className="attention">{found.slice(SHOWN_MAX).map(itemOf)}</ul>
          {total > found.length && <p className="muted">The {found.length} with the most events are shown.</p>}
        </details>
      )}
    </Section>
  );
}

const itemOf = (found: Found) => (
  <li key={`${found.meter_id} ${found.reason}`}>
    <NoPrice found={found} />
  </li>
);

function Rejected({ count }: { count: number }) {
  return (
    <>
      <Link to="/events" search={{ status: 'rejected' }}>
        {formatDecimal(count)} {count === 1 ? 'event was' : 'events were'} rejected
      </Link>
      : correct and replay {count === 1 ? 'it' : 'them'}, and {count === 1 ? 'it counts' : 'they count'}.
    </>
  );
}

function Unbillable({ count }: { count: number }) {
  return (
    <>
      <Link to="/subscriptions" search={{ billing: 'failed' }}>
        {formatDecimal(count)} {count === 1 ? 'subscription' : 'subscriptions'} could not be billed
      </Link>
      : Weir tries again by itself, and the log of its workers says why it failed.
    </>
  );
}

function Drafts({ count }: { count: number }) {
  return (
    <>
      <Link to="/invoices" search={{ status: 'DRAFT' }}>
        {formatDecimal(count)} {count === 1 ? 'draft waits' : 'drafts wait'}
      </Link>{' '}
      for somebody to finalize {count === 1 ? 'it' : 'them'}.
    </>
  );
}

function Failing({ endpoint: { id, url, failing_since: since, disabled_reason: reason } }: { endpoint: Endpoint }) {
  return (
    <>
      Webhooks to{' '}
      <Link to="/webhooks/$endpointId" params={{ endpointId: id }}>
        {url}
      </Link>{' '}
      {reason === null && since !== null ? (
        <>
          do not come through since <Time at={since} as="ago" />.
        </>
      ) : (
        <>are turned off, since they did not come through.</>
      )}
    </>
  );
}

function NoPrice({ found: { events, meter_id: meter, meter_name: name, since, reason } }: { found: Found }) {
  return (
    <>
      {formatDecimal(events)} {events === 1 ? 'event' : 'events'} of{' '}
      <Link to="/meters/$meterId" params={{ meterId: meter }}>
        {name}
      </Link>{' '}
      since {formatDay(since)} {events === 1 ? 'is' : 'are'} billed by no price: {WHY[reason]}.
    </>
  );
}
