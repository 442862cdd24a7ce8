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

test('a worker that stops takes no batch while it waits for a webhook that is in hand', async () => {
  const admin = await signUp(weir);
  const meter = await admin.createMeter('COUNT');
  const apiKey = await admin.createKey();
  const body = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
  const track = async () =>
    expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).status).toBe(201);
  const held: ServerResponse[] = [];
  const receiver = await openReceiver((_, response) => void held.push(response));
  const database = openTestDatabase(weir);
  try {
    const endpoint = { session: admin.session, body: { url: receiver.url } };
    expect((await weir.request('POST', '/api/v1/webhook-endpoints', endpoint)).status).toBe(201);
    const event = { type: 'invoice.created', actor: 'weir', data: {} } as const;
    await database.kysely.transaction().execute((transaction) => appendFeed(transaction, admin.id, [event]));
    const worker = await weir.startWorker({
      ...networks,
      WORKER_CONCURRENCY: '1',
      WEBHOOK_CONCURRENCY: '1',
      WEBHOOK_INTERVAL_MS: '100',
    });
    await until(() => held.length === 1, 'a webhook is in hand');
    const holder = await weir.pool.connect();
    await holder.query('BEGIN; LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    await track();
    await until(async () => {
      const { rows } = await weir.pool.query(
        `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database WHERE datname = current_database() AND NOT granted`,
      );
      return rows.length > 0;
    }, 'a batch is in hand');

    const closed = worker.close();
    for (let count = 1; count <= 5; count += 1) await track();
    await holder.query('COMMIT');
    holder.release();
    await until(async () => (await weir.stagedEvents()) === 5, 'the batch in hand is recorded');
    held[0]?.writeHead(204).end();
    await closed;
    expect(await weir.stagedEvents()).toBe(5);
    const { rows } = await weir.pool.query(`SELECT status FROM webhook_deliveries`);
    expect(rows).toEqual([{ status: 'DELIVERED' }]);
  } finally {
    await receiver.close();
    await database.close();
  }
});
