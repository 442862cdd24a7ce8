// A service that reports usage with the SDK: it queues events until its standard input ends, and writes a line for each that is
// held. What is said of a process that was killed is what it has written. produce.py is the same for Python.

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WeirClient } from '@weir/sdk';

/** How often events are queued. */
const TICK_MS = 20;

const { WEIR_URL = '', WEIR_API_KEY = '', METER_TOKEN = '', CUSTOMER = '', LIFE = '', RATE = '', OUTBOX } = process.env;

const client = new WeirClient({
  baseUrl: WEIR_URL,
  apiKey: WEIR_API_KEY,
  timeoutMs: 1000,
  queue: {
    // Small ones, so that many are under way when something fails.
    batchEventsMax: 20,
    intervalMs: 50,
    concurrency: 4,
    eventsMax: 2000,
    ...(OUTBOX !== undefined && { outbox: { folder: OUTBOX } }),
    exitTimeoutMs: 60_000,
    // An outage is what is made here.
    onWarning: (message, kind) => kind === 'away' || console.error(message),
    onRefused: ({ message }, { metadata }) => console.log(`refused ${JSON.stringify(metadata)} ${message}`),
  },
});

let isOver = false;
const over = once(process.stdin.resume(), 'end').then(() => (isOver = true));
for (let number = 0; !isOver;) {
  const tick = delay(TICK_MS);
  const marks = Array.from({ length: (Number(RATE) * TICK_MS) / 1000 }, () => `${CUSTOMER}/${LIFE}/${number++}`);
  await Promise.all(
    marks.map(async (mark) => {
      await client.queue({
        meter_token: METER_TOKEN,
        customer_external_id: CUSTOMER,
        quantity: 1,
        metadata: { mark },
      });
      console.log(`queued ${mark}`);
    }),
  );
  await tick;
}
await over;
// In memory the end of the process sends what is left, on its own.
if (OUTBOX !== undefined) await client.close({ timeout: 60_000 });
