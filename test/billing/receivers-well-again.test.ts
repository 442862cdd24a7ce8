// What an endpoint is sent for which more waits than is taken for one that fails: nothing new while it fails, and all once it does well.

import { findEndpointsWithWork, holdEndpoint, readWebhookState, stageDeliveries } from '@weir/db/webhooks/turns';
import { LIMITS } from '@weir/shared/limits';
import { expect, test } from 'vitest';
import type { Receiver } from '../support/receiver.ts';
import { ownTurns } from '../support/turns.ts';
import { sequences } from '../support/webhooks.ts';

const turns = ownTurns();
const { weir, database, receiving, createEndpoint, happen, deliver, deliverMore, read } = turns;

/** An endpoint with a first event that was delivered, and then so much that waits for another attempt that no more is taken. */
async function createFull({ url }: Receiver, next = '5 hours'): Promise<string> {
  const { id } = await createEndpoint(url);
  await happen();
  await deliver(id);
  await weir.pool.query(
    `INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, sequence, tries, next_attempt_at)
     SELECT $1, gen_random_uuid(), $2, 1000000 + n, 4, now() + $3::interval FROM generate_series(0, $4) AS n`,
    [turns.admin().id, id, next, LIMITS.waitingDeliveries],
  );
  await weir.pool.query('UPDATE webhook_endpoints SET failing_since = now() WHERE id = $1', [id]);
  return id;
}

const hasWork = async (endpointId: string) =>
  (await findEndpointsWithWork(database().kysely)).some((each) => each.endpointId === endpointId);

/** As if no turn had had it in hand for so long. */
const beQuiet = (endpointId: string) =>
  weir.pool.query(`UPDATE webhook_endpoints SET held_until = now() - interval '6 minutes' WHERE id = $1`, [endpointId]);

const waiting = async (endpointId: string) =>
  Number(
    (
      await weir.pool.query(`SELECT count(*) FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'PENDING'`, [
        endpointId,
      ])
    ).rows[0].count,
  );

test('while it fails it is sent one new event after five quiet minutes, and once it takes it all others', async () => {
  let status = 204;
  const receiver = await receiving((_, response) => response.writeHead(status).end());
  const id = await createFull(receiver);
  status = 502;
  await happen(3);
  expect(await hasWork(id)).toBe(false);
  await deliver(id);
  expect(sequences(receiver.received)).toEqual([1]);

  await beQuiet(id);
  expect(await hasWork(id)).toBe(true);
  await deliver(id);
  expect(sequences(receiver.received)).toEqual([1, 2]);
  // It comes again in some seconds, and what follows may take longer on a busy machine.
  await weir.pool.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now() + interval '5 hours' WHERE endpoint_id = $1 AND sequence = 2`,
    [id],
  );
  expect(await hasWork(id)).toBe(false);
  await deliver(id);
  expect(sequences(receiver.received)).toEqual([1, 2]);

  status = 204;
  await beQuiet(id);
  await deliverMore(id, receiver);
  while (receiver.received.length < 4) await deliverMore(id, receiver);
  expect(sequences(receiver.received)).toEqual([1, 2, 3, 4]);
  // What was to be tried again waits for its time.
  expect(await waiting(id)).toBe(LIMITS.waitingDeliveries + 2);
  expect(await hasWork(id)).toBe(false);
});

test.each([
  ['was given another URL', (url: string) => ({ url })],
  ['was turned off and on', () => ({ status: 'ACTIVE' })],
])('an endpoint that %s is sent what is new at once', async (_, changes) => {
  const former = await receiving();
  const next = await receiving();
  const id = await createFull(former);
  await happen();
  const change = (body: object) => turns.admin().ask('PATCH', `/webhook-endpoints/${id}`, body);
  await change({ status: 'DISABLED' });
  await weir.pool.query('UPDATE webhook_endpoints SET failing_since = now() WHERE id = $1', [id]);
  await change({ status: 'ACTIVE', ...changes(next.url) });
  expect(await hasWork(id)).toBe(true);
  await deliver(id);
  expect(sequences([...former.received, ...next.received])).toEqual([1, 2]);
});

test('a replay is sent as soon as the receiver does well, also where nothing else is new', async () => {
  let status = 204;
  const receiver = await receiving((_, response) => response.writeHead(status).end());
  const id = await createFull(receiver);
  status = 502;
  const { status: taken } = await turns.admin().ask('POST', `/webhook-endpoints/${id}/replay`, { from: 1 });
  expect(taken).toBe(200);
  await deliver(id);
  expect(sequences(receiver.received)).toEqual([1]);
  status = 204;
  await beQuiet(id);
  expect(await hasWork(id)).toBe(true);
  await deliverMore(id, receiver);
  expect(sequences(receiver.received)).toEqual([1, 1]);
  expect(await read(id)).toMatchObject({ replay: null, failing_since: null });
});

test('no more is taken for one that does well while as much is due, so that a long replay fills nothing', async () => {
  const receiver = await receiving();
  const id = await createFull(receiver, '0 s');
  await weir.pool.query('UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1', [id]);
  await happen();
  const key = { organizationId: turns.admin().id, endpointId: id };
  const { kysely } = database();
  const held = await holdEndpoint(kysely, { ...key, isQuiet: false });
  if (held === undefined) throw new Error('it is in hand');
  expect(await stageDeliveries(kysely, held, 0)).toMatchObject({ due: [] });
  await weir.pool.query('DELETE FROM webhook_deliveries WHERE endpoint_id = $1 AND sequence <= 1000000', [id]);
  expect(await stageDeliveries(kysely, held, 0)).toMatchObject({ due: [{ sequence: 2 }] });
});

test('what is new for one that does well waits for a worker, however much waits for another attempt', async () => {
  const id = await createFull(await receiving());
  await happen();
  await weir.pool.query(`UPDATE billing_events SET created_at = now() - interval '1 day' WHERE organization_id = $1`, [
    turns.admin().id,
  ]);
  const oldest = async () => (await readWebhookState(database().kysely)).oldestSeconds;
  const leaveAlone = () =>
    weir.pool.query(`UPDATE webhook_endpoints SET held_until = now() - interval '11 minutes' WHERE id = $1`, [id]);
  await leaveAlone();
  expect(await oldest()).toBe(0);
  await weir.pool.query('UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1', [id]);
  expect(await oldest()).toBeGreaterThan(80_000);
  await deliver(id);
  await leaveAlone();
  expect(await oldest()).toBe(0);
});
