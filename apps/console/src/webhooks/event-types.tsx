import { Checkbox } from '@mantine/core';
import type { Schema } from '../api/client.ts';
import type { Form } from '../components/forms/form.tsx';

type EventType = Schema<'BillingEvent'>['type'];

/** One that the API knows and this does not, or the other way round, does not compile. */
const TYPES: Record<EventType, true> = {
  'invoice.created': true,
  'invoice.finalized': true,
  'invoice.credited': true,
  'invoice.payment_recorded': true,
  'invoice.paid': true,
  'invoice.payment_taken_back': true,
  'invoice.voided': true,
  'invoice.uncollectible': true,
  'invoice.past_due': true,
  'subscription.created': true,
  'subscription.activated': true,
  'subscription.changed': true,
  'subscription.past_due': true,
  'subscription.canceled': true,
  'credit.granted': true,
  'credit.voided': true,
  'usage.unpriced': true,
  'usage.threshold_reached': true,
  'webhook_endpoint.disabled': true,
};

export interface EndpointValues {
  url: string;
  /** None: all. */
  event_types: EventType[];
}

/** The body of a request by what was typed. */
export function bodyOf({ url, event_types }: EndpointValues) {
  return { url, event_types: event_types.length === 0 ? null : event_types };
}

/** Which events are sent. */
export function EventTypes<Values extends EndpointValues>({ form }: { form: Form<Values> }) {
  return (
    <Checkbox.Group
      label="Events"
      description="None chosen: all, also those of later versions."
      {...form.field('event_types')}
    >
      <div className="choices">
        {Object.keys(TYPES).map((type) => (
          <Checkbox key={type} value={type} label={type} />
        ))}
      </div>
    </Checkbox.Group>
  );
}
