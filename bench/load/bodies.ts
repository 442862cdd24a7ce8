import { randomBytes } from 'node:crypto';

/** A batch writes a rollup for each customer in it, so many customers is the harder case. */
const CUSTOMERS = 1_000;
const USERS = 5_000;

/** A request's body and what its events add up to. */
export interface Body {
  text: string;
  quantity: number;
}

/** Answers a new body each time it is called; no two events have the same idempotency key, also not of different runs. */
export function bodiesOf(meterToken: string, eventsPerRequest: number): () => Body {
  const run = randomBytes(6).toString('hex');
  let count = 0;

  // Pieces of text and not JSON.stringify: what the load generator does is taken from the cores that are measured.
  function nextEvent(body: Body): string {
    count += 1;
    const quantity = (count % 10) + 1;
    body.quantity += quantity;
    return (
      `{"meter_token":"${meterToken}","customer_external_id":"customer-${(count * 7_919) % CUSTOMERS}",` +
      `"quantity":${quantity},"timestamp":"${new Date().toISOString()}","idempotency_key":"${run}-${count}",` +
      `"metadata":{"user_id":"user-${(count * 104_729) % USERS}","model":"large","region":"eu-central-1"}}`
    );
  }

  return () => {
    const body = { text: '', quantity: 0 };
    if (eventsPerRequest === 1) {
      body.text = nextEvent(body);
      return body;
    }
    const events = Array.from({ length: eventsPerRequest }, () => nextEvent(body));
    body.text = `{"events":[${events.join(',')}]}`;
    return body;
  };
}
