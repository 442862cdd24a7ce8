import { randomBytes } from 'node:crypto';
import type { Caller } from './plan.ts';

const USERS = 5_000;

/** A request's body, who sends it, and what its events add up to. */
export interface Body {
  text: string;
  /** Index of the caller. */
  caller: number;
  quantity: number;
}

/** The fields of an event, whoever sends it and however. */
export interface LoadEvent {
  customer: string;
  quantity: number;
  timestamp: string;
  idempotencyKey: string;
  /** JSON. */
  metadata: string;
}

/** Returns a new event each time it is called; no two have the same idempotency key, also not of different runs. */
export function eventsOf(customers: number): () => LoadEvent {
  const run = randomBytes(6).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return {
      customer: `customer-${(count * 7_919) % customers}`,
      quantity: (count % 10) + 1,
      timestamp: new Date().toISOString(),
      idempotencyKey: `${run}-${count}`,
      metadata: `{"user_id":"user-${(count * 104_729) % USERS}","model":"large","region":"eu-central-1"}`,
    };
  };
}

/**
 * Returns a new body each time it is called. A batch writes a rollup for each customer in it, so many customers are the
 * harder case.
 */
export function bodiesOf(callers: readonly Caller[], customers: number, eventsPerRequest: number): () => Body {
  const nextEvent = eventsOf(customers);
  let seed = 1;

  // By lot, since callers in turn would meet the customers in step.
  function nextCaller(): number {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * callers.length);
  }

  // Pieces of text and not JSON.stringify: what the load generator does is taken from the cores that are measured.
  function nextText(body: Body): string {
    const { customer, quantity, timestamp, idempotencyKey, metadata } = nextEvent();
    body.quantity += quantity;
    return (
      `{"meter_token":"${callers[body.caller]?.meterToken}","customer_external_id":"${customer}",` +
      `"quantity":${quantity},"timestamp":"${timestamp}","idempotency_key":"${idempotencyKey}","metadata":${metadata}}`
    );
  }

  return () => {
    const body = { text: '', caller: nextCaller(), quantity: 0 };
    if (eventsPerRequest === 1) {
      body.text = nextText(body);
      return body;
    }
    const events = Array.from({ length: eventsPerRequest }, () => nextText(body));
    body.text = `{"events":[${events.join(',')}]}`;
    return body;
  };
}
