// What a receiver of webhooks gets, when it gets it again, and when it gets nothing any more. What is said of endpoints themselves
// is in webhook-endpoints.test.ts.

import { FEED_TYPES } from '@weir/billing/feed-events';
import { LeftAlone } from '@weir/db/left-alone';
import { deleteOldDeliveries } from '@weir/db/webhooks/deliveries';
import { verifyWebhook } from '@weir/sdk';
import { Networks } from '@weir/shared/networks';
import { openNameLookup } from '@weir/worker/webhooks/receiver-address';
import { Sender } from '@weir/worker/webhooks/send-request';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { bestOfThree } from '../support/best-of-three.ts';
import { deliverTo } from '../support/deliver-to.ts';
import { fixedCharge } from '../support/billing-fixture.ts';
import { expectDocumentedFeed } from '../support/documented-feed.ts';
import { readOpenapi } from '../support/openapi-document.ts';
import { signUp, until } from '../support/harness.ts';
import type { ReceivedWebhook } from '../support/receiver.ts';
import { came, ownWebhooks, sequences, signatureOf, upTo } from '../support/webhooks.ts';

const { weir, database, receiving, call, createEndpoint, happen, deliveriesOf, passTime } = ownWebhooks();

/** Each number where it came first. */
const firsts = (webhooks: ReceivedWebhook[]) => [...new Set(sequences(webhooks))];

test('events come in their order and signed, and each is listed with what came back', async () => {
  const admin = await signUp(weir);
  const receiver = await receiving((_, response) => response.writeHead(202).end('thanks\0'));
  await happen(admin, 1);
  const endpoint = await createEndpoint(admin, `${receiver.url}?of=ours`);
  await happen(admin, 250);
  await came(receiver, 250);
  // What happened before is for who asks for it.
  expect(sequences(receiver.received)).toEqual(upTo(251).slice(1));
  const [first] = receiver.received;
  expect(JSON.parse(first?.body ?? '')).toEqual({
    type: 'invoice.created',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: { n: 0, sequence: 2, actor: 'weir' },
  });
  expect(first?.path).toBe('/hook?of=ours');
  for (const webhook of receiver.received)
    expect(webhook.headers['webhook-signature']).toBe(signatureOf(endpoint.secret, webhook));
  await until(
    async () => (await deliveriesOf(admin, endpoint.id, '?status=DELIVERED&page_size=1')).length === 1,
    'it is written down',
  );
  await until(async () => (await deliveriesOf(admin, endpoint.id, '?status=PENDING')).length === 0, 'all are');
  expect((await deliveriesOf(admin, endpoint.id))[0]).toMatchObject({
    sequence: 251,
    type: 'invoice.created',
    status: 'DELIVERED',
    attempt_count: 1,
    attempts: [{ status: 202, error: null, answer: 'thanks\ufffd', ms: expect.any(Number) }],
    next_attempt_at: null,
  });
});

test('one that fails or hangs does not hold up the next, and is sent again until it is taken', async () => {
  const admin = await signUp(weir);
  const seen = new Map<number | null, number>();
  const hanging: (() => void)[] = [];
  const receiver = await receiving(({ sequence }, response) => {
    const times = (seen.get(sequence) ?? 0) + 1;
    seen.set(sequence, times);
    if (sequence === 2 && times === 1) hanging.push(() => response.writeHead(500).end());
    else if (sequence === 3 && times < 3) response.writeHead(503, { 'retry-after': '90' }).end('later');
    else response.writeHead(204).end();
  });
  const endpoint = await createEndpoint(admin, receiver.url);
  await happen(admin, 20);
  await until(() => firsts(receiver.received).length === 20, 'all were sent once');
  expect(firsts(receiver.received)).toEqual(upTo(20));
  hanging[0]?.();
  await until(async () => (await deliveriesOf(admin, endpoint.id, '?status=PENDING')).length === 2, 'two wait');
  const waits = await weir.pool.query<{ since_begun: number; from_now: number }>(
    `SELECT extract(epoch FROM next_attempt_at - (attempts -> 0 ->> 'at')::timestamptz)::float8 AS since_begun,
       extract(epoch FROM next_attempt_at - now())::float8 AS from_now
     FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'PENDING' ORDER BY sequence`,
    [endpoint.id],
  );
  // Counted from when its answer was written down, which was after it began and before now.
  expect(waits.rows[1]?.since_begun).toBeGreaterThan(89);
  expect(waits.rows[1]?.from_now).toBeLessThanOrEqual(90);
  await passTime(endpoint.id);
  await until(async () => {
    const waiting = await deliveriesOf(admin, endpoint.id, '?status=PENDING');
    return waiting.length === 1 && waiting[0].attempt_count === 2;
  }, 'one waits');
  await passTime(endpoint.id);
  await until(async () => (await deliveriesOf(admin, endpoint.id, '?status=PENDING')).length === 0, 'none waits');
  const third = receiver.received.filter(({ sequence }) => sequence === 3);
  // The same message each time, signed anew.
  expect(third.map(({ headers }) => headers['webhook-id'])).toEqual(
    Array(3).fill(expect.stringContaining(`msg_${endpoint.id}_3_`)),
  );
  expect(new Set(third.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  for (const webhook of third) expect(webhook.headers['webhook-signature']).toBe(signatureOf(endpoint.secret, webhook));
  const delivery = (await deliveriesOf(admin, endpoint.id)).find(
    ({ sequence }: { sequence: number }) => sequence === 3,
  );
  expect(delivery).toMatchObject({ status: 'DELIVERED', attempt_count: 3 });
  expect(delivery.attempts.map(({ status, answer }: Record<string, unknown>) => [status, answer])).toEqual([
    [503, 'later'],
    [503, 'later'],
    [204, ''],
  ]);
});

test('after the last of ten attempts it is given up, until somebody asks for it again', async () => {
  const admin = await signUp(weir);
  let isUp = false;
  const receiver = await receiving((_, response) =>
    response.writeHead(isUp ? 200 : 302, { location: receiver.url }).end(),
  );
  const endpoint = await createEndpoint(admin, receiver.url);
  await happen(admin, 1);
  for (let attempts = 0; attempts < 10;) {
    let count = 0;
    // The second comes by itself after some seconds.
    await until(async () => {
      count = (await deliveriesOf(admin, endpoint.id))[0]?.attempt_count ?? 0;
      return count > attempts;
    }, `more than ${attempts} attempts`);
    attempts = count;
    await passTime(endpoint.id);
  }
  const [failed] = await deliveriesOf(admin, endpoint.id);
  // A redirect is an answer like any other, and is not followed.
  expect([failed.status, failed.next_attempt_at, receiver.received.length]).toEqual(['FAILED', null, 10]);
  isUp = true;
  const retried = await call(admin, 'POST', `/deliveries/${failed.id}/retry`);
  expect([retried.status, retried.body.status]).toEqual([200, 'PENDING']);
  await until(async () => (await deliveriesOf(admin, endpoint.id))[0].status === 'DELIVERED', 'it is delivered');
  expect((await deliveriesOf(admin, endpoint.id))[0]).toMatchObject({ attempt_count: 11, sequence: 1 });
});

test('a slow receiver of one organization holds up nobody, and has few requests at a time', async () => {
  const deliverBesideSlow = async () => {
    const slow = await signUp(weir);
    let underWay = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    const hanging = await receiving((_, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      waiting.push(() => {
        underWay -= 1;
        response.writeHead(200).end();
      });
    });
    for (let n = 0; n < 10; n += 1) await createEndpoint(slow, hanging.url);
    const oneMore = await call(slow, 'POST', '/webhook-endpoints', { url: hanging.url });
    await happen(slow, 30);
    const fast = await signUp(weir);
    const receiver = await receiving();
    const endpoint = await createEndpoint(fast, receiver.url);
    await until(() => underWay >= 16, 'two endpoints of it have all their requests');
    const began = performance.now();
    await happen(fast, 10);
    await came(receiver, 10);
    const ms = performance.now() - began;
    const { rows: ended } = await weir.pool.query(
      'SELECT FROM webhook_deliveries WHERE organization_id = $1 AND attempt_count > 0',
      [slow.id],
    );
    const delivered = await deliveriesOf(fast, endpoint.id);
    await weir.pool.query(`DELETE FROM webhook_endpoints WHERE organization_id = $1`, [slow.id]);
    for (const answer of waiting) answer();
    return { ms, oneMore, most, ended: ended.length, delivered };
  };
  const seen = await bestOfThree(deliverBesideSlow, ({ ms }) => ms < 5_000);
  expect(seen.ms).toBeLessThan(5_000);
  expect(seen.oneMore.status).toBe(422);
  // All of the others came while the slow one had every request that it may have: an eighth of 16 places, with 8 new events each.
  expect([seen.most, seen.ended]).toEqual([16, 0]);
  expect(seen.delivered).toHaveLength(10);
});

test('a turn that dies or hangs loses nothing: another one goes on, in order', async () => {
  const admin = await signUp(weir);
  let isUp = true;
  const hanging: ServerResponse[] = [];
  const receiver = await receiving(({ sequence }, response) => {
    if (sequence === 41 && hanging.length === 0) isUp = false;
    if (isUp) response.writeHead(204).end();
    else hanging.push(response);
  });
  const endpoint = await createEndpoint(admin, receiver.url);
  await happen(admin, 60);
  await until(() => hanging.length === 8, 'it waits for answers');
  isUp = true;
  const sender = new Sender({ lookup: openNameLookup(), allowed: new Networks('127.0.0.0/8') });
  expect(await deliverTo({ database: database(), sender }, admin.id, endpoint.id)).toBe(false);
  expect(firsts(receiver.received)).toEqual(upTo(48));
  // As a turn that died has left it. The hanging one is alive, and would else prolong what it holds.
  const dead = `UPDATE webhook_endpoints SET held_by = gen_random_uuid(), held_until = now() WHERE id = $1`;
  await weir.pool.query(dead, [endpoint.id]);
  // The worker may be sooner.
  await deliverTo({ database: database(), sender }, admin.id, endpoint.id);
  const isDone = async () => (await deliveriesOf(admin, endpoint.id, '?status=DELIVERED&page_size=100')).length === 60;
  await until(isDone, 'all came');
  sender.close();
  expect(firsts(receiver.received)).toEqual(upTo(60));
  for (const response of hanging) response.writeHead(500).end();
  await happen(admin, 1);
  await until(async () => (await deliveriesOf(admin, endpoint.id))[0].sequence === 61, 'the next one is there');
  await until(async () => (await deliveriesOf(admin, endpoint.id, '?status=PENDING')).length === 0, 'none waits');
  const deliveries: { attempt_count: number }[] = await deliveriesOf(admin, endpoint.id, '?page_size=100');
  expect(new Set(deliveries.map((each) => each.attempt_count))).toEqual(new Set([1]));
});

test('what is done with is kept up to a number, and what waits is kept', async () => {
  const admin = await signUp(weir);
  const receiver = await receiving(({ sequence }, response) => response.writeHead(sequence === 1 ? 500 : 204).end());
  const endpoint = await createEndpoint(admin, receiver.url);
  await happen(admin, 30);
  await until(
    async () => (await deliveriesOf(admin, endpoint.id, '?status=DELIVERED&page_size=30')).length === 29,
    'all came',
  );
  await weir.pool.query(
    `UPDATE webhook_deliveries SET created_at = now() + sequence * interval '1 second' WHERE endpoint_id = $1`,
    [endpoint.id],
  );
  await deleteOldDeliveries(database().kysely, new LeftAlone(), 10);
  expect(
    (await deliveriesOf(admin, endpoint.id, '?page_size=100')).map((each: ReceivedWebhook) => each.sequence),
  ).toEqual([...upTo(30).slice(20).toReversed(), 1]);
});

test('what comes of a life of billing is verified by the client, and is what the document says', async () => {
  const admin = await signUp(weir);
  const receiver = await receiving();
  const endpoint = await createEndpoint(admin, receiver.url);
  const post = async (path: string, body: object = {}) => (await call(admin, 'POST', path, body)).body;
  const plan = { name: 'Pro', lookup_id: 'pro', type: 'FIXED', billing_interval: 'month', currency: 'USD' };
  const { id: plan_id } = await post('/plans', plan);
  await post(`/plans/${plan_id}/charges`, fixedCharge('10'));
  const { id: customer_id } = await post('/customers', { external_id: 'acme' });
  const grant = await post(`/customers/${customer_id}/credits`, { amount: '1.00', currency: 'USD' });
  await post(`/credits/${grant.id}/void`);
  const subscription = await post('/subscriptions', { customer_id, plan_id });
  const drafts = (await call(admin, 'GET', `/subscriptions/${subscription.id}/invoices`)).body.data;
  await post(`/invoices/${drafts[0].id}/finalize`);
  await post(`/invoices/${drafts[0].id}/uncollectible`);
  await post(`/invoices/${drafts[0].id}/pay`, { reference: 'ch_1' });
  await post(`/subscriptions/${subscription.id}/cancel`, { cancel_at_period_end: false });
  await post(`/webhook-endpoints/${endpoint.id}/test`);
  const ended = ['subscription.canceled', 'webhook.test'];
  await until(() => ended.every((type) => receiver.received.some((each) => each.type === type)), 'all came');
  const document = (await weir.request('GET', '/openapi.json')).body;
  const { isValid } = await readOpenapi(weir);
  expect(Object.keys(document.webhooks)).toEqual([...FEED_TYPES, 'webhook.test']);
  for (const { headers, body, type } of receiver.received) {
    const event = verifyWebhook(body, headers, endpoint.secret);
    const { schema } = document.webhooks[type].post.requestBody.content['application/json'];
    expect([event.type, isValid(schema, event), isValid(schema, { ...event, data: {} })]).toEqual([type, true, false]);
  }
  await expectDocumentedFeed(weir, 'a life of billing', { organization: admin.id });
});
