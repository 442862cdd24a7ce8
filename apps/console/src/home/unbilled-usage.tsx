// Usage that no price bills: what somebody should look at, in a sentence for each meter and reason.

import { Link } from '@tanstack/react-router';
import type { Answer } from '../api/client.ts';
import { formatDecimal } from '../text/decimals.ts';
import { formatDay } from '../text/instants.ts';
import { Section } from '../components/page/page.tsx';

type Unbilled = Answer<'/api/v1/billing/unbilled-usage'>['data'][number];

/** More of them are told by their number: who has many has one cause for most. */
const SHOWN_MAX = 5;

/** What a plan was made without needs nobody's attention. */
const WHY: Record<Unbilled['reason'], string | null> = {
  price_ended: 'the charge of the plan has ended, and no other follows it',
  after_end: 'the subscription of the customer has ended',
  no_subscription: 'the customer has no subscription',
  not_in_plan: null,
};

export function UnbilledUsage({ found }: { found: readonly Unbilled[] }) {
  const told = found.filter(({ reason }) => WHY[reason] !== null);
  if (told.length === 0) return null;
  return (
    <Section title="Billed by no price">
      <ul className="unbilled">
        {told.slice(0, SHOWN_MAX).map((each) => (
          <li key={`${each.meter_id} ${each.reason}`}>
            {formatDecimal(each.events)} {each.events === 1 ? 'event' : 'events'} of{' '}
            <Link to="/meters/$meterId" params={{ meterId: each.meter_id }}>
              {each.meter_name}
            </Link>{' '}
            since {formatDay(each.since)} {each.events === 1 ? 'is' : 'are'} billed by no price: {WHY[each.reason]}.
          </li>
        ))}
      </ul>
      {told.length > SHOWN_MAX && (
        <p className="muted">And {formatDecimal(told.length - SHOWN_MAX)} more with fewer events.</p>
      )}
    </Section>
  );
}
