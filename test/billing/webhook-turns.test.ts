// Turns of an endpoint, one after the other, as no worker would have them: what a failure means depends on what was tried before it.

import { findEndpointsWithWork, readWebhookState } from '@weir/db/webhooks/turns';
import { verifyWebhook } from '@weir/sdk';
import { Networks } from '@weir/shared/networks';
import { EndpointPlaces } from '@weir/worker/webhooks/endpoint-places';
import { openNameLookup } from '@weir/worker/webhooks/receiver-address';
import { Sender } from '@weir/worker/webhooks/send-request';
import type { ServerResponse } from 'node:http';
import { beforeEach, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { until, type Organization } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import type { Answering } from '../support/receiver.ts';
import { ownTurns } from '../support/turns.ts';

const turns = ownTurns();
const { weir, database, receiving, createEndpoint, happen, deliver, deliverMore, read, deliveriesOf, passTime } = turns;
let admin: Organization;
beforeEach(() => {
  admin = turns.admin();
});

test('ten tests of an endpoint wait and no more, and its events go out beside them', async () => {
  const receiver = await receiving();
  const { id } = await createEndpoint(receiver.url);
  const ask = () => admin.ask('POST', `/webhook-endpoints/${id}/test`);
  const asked = await Promise.all(Array.from({ length: 12 }, ask));
  expect(asked.filter(({ status }) => status === 201)).toHaveLength(10);
  for (const refused of asked.filter(({ status }) => status !== 201)) expectProblem(refused, 429, 'rate_limited');
  // Those of another endpoint are counted by themselves.
  const { id: other } = await createEndpoint(receiver.url);
  expect((await admin.ask('POST', `/webhook-endpoints/${other}/test`)).status).toBe(201);
  await happen();
  while (receiver.received.length < 11) await deliverMore(id, receiver);
  expect(receiver.received.filter(({ type }) => type === 'invoice.created')).toHaveLength(1);
  expect((await ask()).status).toBe(201);
});

test('a test that fails says nothing of an endpoint, and one that is taken ends its failing', async () => {
  let status = 404;
  const receiver = await receiving((_, response) => response.writeHead(status).end());
  const { id } = await createEndpoint(receiver.url);
  await admin.ask('POST', `/webhook-endpoints/${id}/test`);
  await deliver(id);
  expect(receiver.received).toHaveLength(1);
  expect(await read(id)).toMatchObject({ status: 'ACTIVE', failing_since: null });

  await happen();
  await deliver(id);
  const { failing_since: since } = await read(id);
  expect(since).not.toBeNull();
  await passTime(id, '4 days');
  await weir.pool.query(`UPDATE webhook_deliveries SET status = 'FAILED' WHERE endpoint_id = $1`, [id]);
  const { failing_since: before } = await read(id);
  await admin.ask('POST', `/webhook-endpoints/${id}/test`);
  await deliver(id);
  expect(receiver.received.at(-1)?.type).toBe('webhook.test');
  expect(await read(id)).toMatchObject({ status: 'ACTIVE', failing_since: before });

  status = 204;
  await admin.ask('POST', `/webhook-endpoints/${id}/test`);
  await deliver(id);
  expect(await read(id)).toMatchObject({ status: 'ACTIVE', failing_since: null });
});

test('a failure after days in which nothing was tried begins the days anew, until it is tried for three', async () => {
  const receiver = await receiving((_, response) => response.writeHead(502).end());
  const { id } = await createEndpoint(receiver.url);
  await happen();
  await deliver(id);
  // It is given up, and nothing happens for weeks.
  await weir.pool.query(`UPDATE webhook_deliveries SET status = 'FAILED', tries = 10 WHERE endpoint_id = $1`, [id]);
  await passTime(id, '20 days');
  await happen();
  await deliver(id);
  expect(await read(id)).toMatchObject({ status: 'ACTIVE', failing_since: expect.any(String) });
  // The next attempt, seconds later.
  await passTime(id, '7 seconds');
  await deliver(id);
  expect(receiver.received.length).toBeGreaterThanOrEqual(3);
  expect((await read(id)).status).toBe('ACTIVE');
  // And, by the schedule, up to the last one; what is new meanwhile changes nothing.
  for (const wait of ['6 minutes', '36 minutes', '150 minutes', '6 hours', '12 hours', '17 hours', '24 hours']) {
    await passTime(id, wait);
    await happen();
    await deliver(id);
    expect((await read(id)).status).toBe('ACTIVE');
  }
  await passTime(id, '29 hours');
  await deliver(id);
  expect(await read(id)).toMatchObject({ status: 'DISABLED', disabled_reason: 'FAILING' });
});

test('an endpoint that nobody could try for days, for want of a worker, is not turned off by one failure', async () => {
  const receiver = await receiving((_, response) => response.writeHead(502).end());
  const { id } = await createEndpoint(receiver.url);
  await happen();
  await deliver(id);
  await passTime(id, '4 days');
  await deliverMore(id, receiver);
  expect((await read(id)).status).toBe('ACTIVE');
});

test('an event keeps its id in attempts and replays, and one with its sequence after a restore has another', async () => {
  let status = 500;
  const receiver = await receiving((_, response) => response.writeHead(status).end());
  const { id } = await createEndpoint(receiver.url);
  const ids = () => receiver.received.map(({ headers }) => headers['webhook-id']);
  await happen();
  await deliver(id);
  status = 204;
  await passTime(id, '7 seconds');
  await deliver(id);
  await admin.ask('POST', `/webhook-endpoints/${id}/replay`, { from: 1 });
  await deliverMore(id, receiver);
  const [before] = ids();
  expect(ids().length).toBeGreaterThanOrEqual(3);
  expect(new Set(ids())).toEqual(new Set([before]));
  expect(before).toMatch(new RegExp(`^msg_${id}_1_\\d{20}$`));

  // Of a backup from before it.
  await weir.pool.query(`DELETE FROM webhook_deliveries WHERE endpoint_id = $1`, [id]);
  await weir.pool.query(`UPDATE webhook_endpoints SET last_sequence = 0 WHERE id = $1`, [id]);
  for (const table of ['billing_events', 'billing_feeds'])
    await weir.pool.query(`DELETE FROM ${table} WHERE organization_id = $1`, [admin.id]);
  await happen();
  await deliver(id);
  expect(receiver.received.at(-1)?.sequence).toBe(1);
  expect(ids().at(-1)).not.toBe(before);
});

test.each([
  ['by itself', 2, 500],
  ['by itself', 10, 500],
  ['in a replay', 2, 500],
  ['in a replay', 10, 204],
])(
  'what is sent again %s is sent at once, though attempt %i was under way and is answered %i later',
  async (asked, attempt, late) => {
    const hanging: ServerResponse[] = [];
    let answer: Answering = (_, response) => response.writeHead(503).end();
    const receiver = await receiving((webhook, response) => answer(webhook, response));
    const { id } = await createEndpoint(receiver.url);
    await happen();
    await deliver(id);
    await weir.pool.query('UPDATE webhook_deliveries SET tries = $2 WHERE endpoint_id = $1', [id, attempt - 1]);
    await passTime(id, '7 seconds');
    answer = (_, response) => hanging.push(response);
    // While a new event has no answer, the turn looks for what is to be sent again.
    await happen();
    const turn = deliver(id);
    await until(() => hanging.length === 2, 'an attempt is under way');
    const find = async () => (await deliveriesOf(id)).find(({ sequence }: { sequence: number }) => sequence === 1);
    if (asked === 'by itself') await admin.ask('POST', `/deliveries/${(await find()).id}/retry`);
    else await admin.ask('POST', `/webhook-endpoints/${id}/replay`, { from: 1, to: 1 });
    await until(async () => (await read(id)).replay === null, 'it is to be sent again');
    answer = (_, response) => response.writeHead(200).end();
    for (const response of hanging) response.writeHead(late).end();
    await turn;
    await deliver(id);
    expect(receiver.received.filter(({ sequence }) => sequence === 1)).toHaveLength(3);
    const { status, attempt_count, attempts } = await find();
    const statuses = attempts.map((each: { status: number }) => each.status);
    expect({ status, attempt_count, statuses }).toEqual({
      status: 'DELIVERED',
      attempt_count: 3,
      statuses: [503, late, 200],
    });
  },
);

test.each(['by itself', 'in a replay'])(
  'what is asked for again %s while it is first sent is sent once',
  async (asked) => {
    const hanging: ServerResponse[] = [];
    let answer: Answering = (_, response) => hanging.push(response);
    const receiver = await receiving((webhook, response) => answer(webhook, response));
    const { id } = await createEndpoint(receiver.url);
    await happen();
    const turn = deliver(id);
    await until(() => hanging.length === 1, 'the first attempt is under way');
    const find = async () => (await deliveriesOf(id))[0];
    if (asked === 'by itself') await admin.ask('POST', `/deliveries/${(await find()).id}/retry`);
    else await admin.ask('POST', `/webhook-endpoints/${id}/replay`, { from: 1, to: 1 });
    await until(async () => (await read(id)).replay === null, 'what was asked for is staged');
    answer = (_, response) => response.writeHead(200).end();
    for (const response of hanging) response.writeHead(204).end();
    await turn;
    await deliver(id);
    expect(receiver.received).toHaveLength(1);
    expect(await find()).toMatchObject({ status: 'DELIVERED', attempt_count: 1, attempts: [{ status: 204 }] });
  },
);

test('a turn for which there is no place writes nothing, and gives back the one that it had', async () => {
  const receiver = await receiving();
  const { id } = await createEndpoint(receiver.url);
  await happen();
  // One of each organization.
  const places = new EndpointPlaces(8);
  const leave = places.take({ organizationId: admin.id, failingSince: null, answerMs: null });
  const version = async () =>
    (await weir.pool.query('SELECT xmin FROM webhook_endpoints WHERE id = $1', [id])).rows[0].xmin;
  const before = await version();
  const turn = () => deliver(id, { places });
  expect([await turn(), await version(), receiver.received]).toEqual([false, before, []]);
  leave?.();
  await turn();
  await happen();
  await turn();
  expect(receiver.received).toHaveLength(2);
});

test('an attempt that fails by itself ends the turn, which says so, and the next one sends it', async () => {
  const receiver = await receiving();
  const { id } = await createEndpoint(receiver.url);
  class Broken extends Sender {
    override send(): Promise<never> {
      return Promise.reject(new Error('broken'));
    }
  }
  const broken = new Broken({ lookup: openNameLookup(), allowed: new Networks('') });
  await happen();
  await expect(deliver(id, { sender: broken })).rejects.toThrow('broken');
  await deliver(id);
  expect(receiver.received.map(({ sequence }) => sequence)).toEqual([1]);
  await admin.ask('POST', `/webhook-endpoints/${id}/test`);
  await expect(deliver(id, { sender: broken })).rejects.toThrow('broken');
});

test('a changed URL and a new secret hold for what a turn sends next, also of what it has read before', async () => {
  let isUp = true;
  const hanging = new Map<number | null, ServerResponse>();
  const former = await receiving(({ sequence }, response) => {
    if (isUp) response.writeHead(500).end();
    else hanging.set(sequence, response);
  });
  const next = await receiving();
  const { id, secret } = await createEndpoint(former.url);
  await happen(5);
  await deliver(id);
  await passTime(id, '7 seconds');
  isUp = false;
  await happen(9);
  const turn = deliver(id);
  await until(
    () => hanging.size === 12,
    'all requests that it may have wait for answers, and one more of each kind for them',
  );
  await admin.ask('PATCH', `/webhook-endpoints/${id}`, { url: next.url });
  // Each look at the endpoint has it in hand for 30 s.
  await until(async () => {
    const { rows } = await weir.pool.query(
      `SELECT held_until < now() + interval '29.4 seconds' AS "isLongAgo" FROM webhook_endpoints WHERE id = $1`,
      [id],
    );
    return rows[0].isLongAgo;
  }, 'it has not looked at the endpoint since');
  hanging.get(6)?.writeHead(204).end();
  await until(() => next.received.length === 1, 'what it had read goes to the other URL');

  const { body: rotated } = await admin.ask('POST', `/webhook-endpoints/${id}/rotate`);
  await happen();
  await until(() => next.received.length === 2, 'what is new does');
  hanging.delete(6);
  for (const response of hanging.values()) response.writeHead(204).end();
  await turn;
  const [read, last] = next.received;
  expect([read?.sequence, last?.sequence]).toEqual([14, 15]);
  for (const each of [secret, rotated.secret as string])
    expect(verifyWebhook(last?.body ?? '', last?.headers ?? {}, each)).toMatchObject({ type: 'invoice.created' });
});

test('what is sent again by request or by the schedule waits from then on, and not since it happened', async () => {
  await weir.pool.query('DELETE FROM webhook_endpoints');
  let status = 204;
  const receiver = await receiving((_, response) => response.writeHead(status).end());
  const { id } = await createEndpoint(receiver.url);
  const DAY = 86_400;
  const waited = async () => (await readWebhookState(database().kysely)).oldestSeconds;
  const leaveAlone = () =>
    weir.pool.query(`UPDATE webhook_endpoints SET held_until = now() - interval '11 minutes' WHERE id = $1`, [id]);
  await happen();
  await deliver(id);
  await passTime(id, '20 days');
  await leaveAlone();
  const [{ id: deliveryId }] = await deliveriesOf(id);
  await admin.ask('POST', `/deliveries/${deliveryId}/retry`);
  expect(await waited()).toBeLessThan(DAY);
  await passTime(id, '2 days');
  expect(await waited()).toBeGreaterThan(2 * DAY);
  // A receiver that takes its time keeps a worker at it.
  await weir.pool.query(`UPDATE webhook_endpoints SET held_until = now() - interval '9 minutes' WHERE id = $1`, [id]);
  expect(await waited()).toBe(0);
  status = 500;
  await deliver(id);
  expect(await waited()).toBeLessThan(DAY);
  // What waits for a receiver that fails is not late by Weir.
  await passTime(id, '1 day');
  expect(await waited()).toBe(0);
  // Of that which no worker has taken in hand meanwhile nobody knows.
  await leaveAlone();
  expect(await waited()).toBeGreaterThan(DAY - 60);
  await deliver(id);
  expect(await waited()).toBe(0);
  // Between two attempts, with so much to be tried again that no more is taken from the feed.
  await happen();
  await weir.pool.query(
    `WITH old AS (UPDATE billing_events SET created_at = now() - interval '5 days' WHERE organization_id = $1 AND sequence = 2)
     INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, sequence, tries, next_attempt_at)
     SELECT $1, gen_random_uuid(), $2, 1000000 + n, 1, now() + interval '1 day' FROM generate_series(1, 10001) AS n`,
    [admin.id, id],
  );
  await leaveAlone();
  expect(await waited()).toBe(0);
  await weir.pool.query('DELETE FROM webhook_deliveries WHERE endpoint_id = $1 AND sequence > 1000000', [id]);
  expect(await waited()).toBeGreaterThan(4 * DAY);
  status = 204;
  await admin.ask('POST', `/webhook-endpoints/${id}/replay`, { from: 1 });
  await deliverMore(id, receiver);
  expect(await waited()).toBe(0);

  await happen();
  await weir.pool.query(
    `UPDATE billing_events SET created_at = now() - interval '5 days' WHERE organization_id = $1 AND sequence = 3`,
    [admin.id],
  );
  await leaveAlone();
  expect(await waited()).toBeGreaterThan(4 * DAY);
});

test('an endpoint for which too much waits, and something is due, is found by a few rows', async () => {
  await weir.pool.query('DELETE FROM webhook_endpoints');
  const { id } = await createEndpoint('http://127.0.0.1:9/hook');
  await happen();
  await weir.pool.query(
    `INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, sequence, tries, next_attempt_at)
     SELECT $1, gen_random_uuid(), $2, 1000000 + n, 1, now() FROM generate_series(1, 10001) AS n`,
    [admin.id, id],
  );
  await weir.pool.query('ANALYZE webhook_deliveries');
  const rows = await rowsReadBy(weir, async ({ kysely }) => {
    expect(await findEndpointsWithWork(kysely)).toEqual([{ organizationId: admin.id, endpointId: id }]);
  });
  expect(rows).toBeLessThan(100);
});
