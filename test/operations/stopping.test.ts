// A worker that is told to stop while something long is in hand.

import { appendFeed } from '@weir/db/billing/feed';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { signUp, until } from '../support/harness.ts';
import { openReceiver } from '../support/receiver.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const networks = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
const weir = ownWeir({ withWorker: false, api: networks });

test('a worker that stops goes on taking nothing while it waits for what is in hand', async () => {
  const admin = await signUp(weir);
  const meter = await admin.createMeter('COUNT');
  const apiKey = await admin.createKey();
  const held: ServerResponse[] = [];
  const receiver = await openReceiver((_, response) => void held.push(response));
  const database = openTestDatabase(weir);
  try {
    const options = { session: admin.session, body: { url: receiver.url } };
    expect((await weir.request('POST', '/api/v1/webhook-endpoints', options)).status).toBe(201);
    const event = { type: 'invoice.created', actor: 'weir', data: {} } as const;
    await database.kysely.transaction().execute((transaction) => appendFeed(transaction, admin.id, [event]));
    const worker = await weir.startWorker({ ...networks, WEBHOOK_CONCURRENCY: '1', WEBHOOK_INTERVAL_MS: '100' });
    await until(() => held.length === 1, 'a webhook is in hand');

    const closed = worker.close();
    const use = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
    for (let count = 1; count <= 20; count += 1)
      expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body: use })).status).toBe(201);
    // What it waits for at that moment it still takes, once.
    const metrics = await (await fetch(`${worker.url}/metrics`)).text();
    expect(Number(/^weir_batch_seconds_count (\d+)$/m.exec(metrics)?.[1])).toBeLessThanOrEqual(1);
    held[0]?.writeHead(204).end();
    await closed;
    expect(await weir.stagedEvents()).toBeGreaterThan(0);
    const { rows } = await weir.pool.query(`SELECT status FROM webhook_deliveries`);
    expect(rows).toEqual([{ status: 'DELIVERED' }]);
  } finally {
    await receiver.close();
    await database.close();
  }
});
