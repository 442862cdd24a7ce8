// What a receiver of webhooks gets, when it gets it again, and when it gets nothing any more.

import { appendFeed } from '@weir/db/billing/feed';
import { FEED_TYPES, type FeedType } from '@weir/billing/feed-events';
import type { Database } from '@weir/db/database';
import { deleteOldDeliveries } from '@weir/db/webhooks/deliveries';
import { verifyWebhook } from '@weir/sdk';
import { Networks } from '@weir/shared/networks';
import { openNameLookup } from '@weir/worker/webhooks/receiver-address';
import { Sender } from '@weir/worker/webhooks/send-request';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliverTo } from '../support/deliver-to.ts';
import { fixedCharge } from '../support/billing-fixture.ts';
import { expectDocumentedFeed } from '../support/documented-feed.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { readOpenapi } from '../support/openapi-document.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { openReceiver, type Answering, type ReceivedWebhook, type Receiver } from '../support/receiver.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const networks = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
const weir = ownWeir({
  api: networks,
  worker: { ...networks, WEBHOOK_CONCURRENCY: '16', WEBHOOK_INTERVAL_MS: '100', WEBHOOK_RATE_MAX: '5000' },
});
let database: Database;
const receivers: Receiver[] = [];

beforeAll(() => {
  database = openTestDatabase(weir);
});
afterAll(async () => {
  for (const receiver of receivers) await receiver.close();
  await database.close();
});

async function receiving(answer?: Answering): Promise<Receiver> {
  const receiver = await openReceiver(answer);
  receivers.push(receiver);
  return receiver;
}

const call = (admin: Organization, method: string, path: string, body?: unknown): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, { session: admin.session, ...(body !== undefined && { body }) });

async function createEndpoint(admin: Organization, url: string, more: object = {}) {
  const { status, body } = await call(admin, 'POST', '/webhook-endpoints', { url, ...more });
  expect(status).toBe(201);
  return body as { id: string; secret: string };
}

/** Appends events to the feed. */
async function happen({ id }: Organization, count: number, type: FeedType = 'invoice.created'): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => ({ type, actor: 'weir', data: { n } }));
  await database.kysely.transaction().execute((transaction) => appendFeed(transaction, id, events));
}

const sequences = (webhooks: ReceivedWebhook[]) => webhooks.map(({ sequence }) => sequence);

/** Each number where it came first. */
const firsts = (webhooks: ReceivedWebhook[]) => [...new Set(sequences(webhooks))];

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

const came = (receiver: Receiver, count: number) =>
  until(() => receiver.received.length >= count, `${count} webhooks came`);

async function deliveriesOf(admin: Organization, id: string, query = '') {
  const { body } = await call(admin, 'GET', `/webhook-endpoints/${id}/deliveries${query}`);
  return body.data;
}

/** As if all that waits had waited long enough. */
const passTime = (endpointId: string) =>
  weir.pool.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now() WHERE endpoint_id = $1 AND next_attempt_at > now()`,
    [endpointId],
  );

const signatureOf = (secret: string, { headers, body }: ReceivedWebhook) =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`)
    .digest('base64')}`;

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
  const waits = await weir.pool.query<{ sequence: string; seconds: number }>(
    `SELECT sequence, extract(epoch FROM next_attempt_at - (attempts -> 0 ->> 'at')::timestamptz)::float8 AS seconds
     FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'PENDING' ORDER BY sequence`,
    [endpoint.id],
  );
  expect(waits.rows[1]?.seconds).toBeGreaterThan(89);
  expect(waits.rows[1]?.seconds).toBeLessThan(95);
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
  for (let attempts = 1; attempts <= 10; attempts += 1) {
    await until(
      async () => (await deliveriesOf(admin, endpoint.id))[0]?.attempt_count === attempts,
      `${attempts} attempts`,
    );
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

test('what a former address of an endpoint answers says nothing of the one that it has now', async () => {
  const admin = await signUp(weir);
  const answers: (() => void)[] = [];
  const former = await receiving((_, response) => answers.push(() => response.writeHead(410).end()));
  const endpoint = await createEndpoint(admin, former.url);
  await happen(admin, 1);
  await until(() => Promise.resolve(answers.length > 0), 'the former address is asked');
  await weir.pool.query('UPDATE webhook_endpoints SET failing_since = now() WHERE id = $1', [endpoint.id]);
  const { url } = await receiving();
  expect((await call(admin, 'PATCH', `/webhook-endpoints/${endpoint.id}`, { url })).status).toBe(200);
  for (const answer of answers) answer();
  await until(async () => (await deliveriesOf(admin, endpoint.id))[0]?.attempt_count === 1, 'it is written down');
  const { body } = await call(admin, 'GET', `/webhook-endpoints/${endpoint.id}`);
  expect(body).toMatchObject({ url, status: 'ACTIVE', disabled_reason: null, failing_since: null });
});

test('an endpoint is turned off by 410 and by three days of failures, which the feed tells the others', async () => {
  const admin = await signUp(weir);
  const watching = await receiving();
  await createEndpoint(admin, watching.url, { event_types: ['webhook_endpoint.disabled'] });
  const gone = await receiving((_, response) => response.writeHead(410).end());
  const endpoint = await createEndpoint(admin, gone.url);
  await happen(admin, 1);
  const read = async (id: string) => (await call(admin, 'GET', `/webhook-endpoints/${id}`)).body;
  await until(async () => (await read(endpoint.id)).status === 'DISABLED', 'it is turned off');
  expect(await read(endpoint.id)).toMatchObject({ disabled_reason: 'GONE' });

  const failing = await receiving((_, response) => response.writeHead(500).end());
  const other = await createEndpoint(admin, failing.url);
  await happen(admin, 1);
  await until(async () => (await read(other.id)).failing_since !== null, 'it fails');
  expect(await read(other.id)).toMatchObject({ status: 'ACTIVE', disabled_reason: null });
  await weir.pool.query(`UPDATE webhook_endpoints SET failing_since = now() - interval '3 days' WHERE id = $1`, [
    other.id,
  ]);
  await passTime(other.id);
  await until(async () => (await read(other.id)).status === 'DISABLED', 'it is turned off');
  expect(await read(other.id)).toMatchObject({ disabled_reason: 'FAILING' });

  await came(watching, 2);
  expect(watching.received.map(({ type, data }) => [type, data['id'], data['reason']])).toEqual([
    ['webhook_endpoint.disabled', endpoint.id, 'GONE'],
    ['webhook_endpoint.disabled', other.id, 'FAILING'],
  ]);
  await expectDocumentedFeed(weir, 'webhooks', { type: 'webhook_endpoint.disabled' });
  // Turned off it gets nothing; turned on, all that happened meanwhile.
  const before = gone.received.length;
  await happen(admin, 3);
  expect(gone.received.length).toBe(before);
  const on = await call(admin, 'PATCH', `/webhook-endpoints/${endpoint.id}`, { status: 'ACTIVE' });
  expect(on.body).toMatchObject({ status: 'ACTIVE', disabled_reason: null, failing_since: null });
  await until(() => gone.received.length > before, 'it is told again');
});

test('an endpoint that is made turned off gets what has happened since when it is turned on', async () => {
  const admin = await signUp(weir);
  const receiver = await receiving();
  await happen(admin, 1);
  const off = await createEndpoint(admin, receiver.url, { status: 'DISABLED' });
  expect(off).toMatchObject({ status: 'DISABLED', disabled_reason: null, last_sequence: 1 });
  await happen(admin, 2);
  const tested = await call(admin, 'POST', `/webhook-endpoints/${off.id}/test`);
  expectProblem(tested, 409, 'webhook_endpoint_disabled');
  await call(admin, 'PATCH', `/webhook-endpoints/${off.id}`, { status: 'ACTIVE' });
  await came(receiver, 2);
  expect(sequences(receiver.received)).toEqual([2, 3]);
});

test('a replay sends a part of the feed again, by sequence or by time, and one at a time', async () => {
  const admin = await signUp(weir);
  await happen(admin, 250);
  const receiver = await receiving();
  const endpoint = await createEndpoint(admin, receiver.url, { event_types: ['invoice.created', 'invoice.paid'] });
  await happen(admin, 1, 'credit.granted');
  await happen(admin, 2, 'invoice.paid');
  await came(receiver, 2);
  expect(sequences(receiver.received)).toEqual([252, 253]);

  await weir.pool.query(`UPDATE webhook_endpoints SET last_sequence = 240 WHERE id = $1`, [endpoint.id]);
  await came(receiver, 12);
  receiver.received.length = 0;
  const replay = (body: unknown) => call(admin, 'POST', `/webhook-endpoints/${endpoint.id}/replay`, body);
  const begun = await replay({ from: 5, to: 230 });
  expect([begun.status, begun.body.replay]).toEqual([200, { next_sequence: 5, last_sequence: 230 }]);
  expect((await replay({ from: 1 })).body.code).toBe('replay_under_way');
  await came(receiver, 226);
  expect(sequences(receiver.received).toSorted((a, b) => Number(a) - Number(b))).toEqual(upTo(230).slice(4));
  const ended = async () => (await call(admin, 'GET', `/webhook-endpoints/${endpoint.id}`)).body.replay === null;
  await until(ended, 'the replay is over');

  receiver.received.length = 0;
  const { rows } = await weir.pool.query<{ created_at: Date }>(
    `SELECT created_at FROM billing_events WHERE organization_id = $1 AND sequence = 252`,
    [admin.id],
  );
  expect((await replay({ from: rows[0]?.created_at.toISOString() })).status).toBe(200);
  await came(receiver, 2);
  expect(sequences(receiver.received).slice(-2)).toEqual([252, 253]);
  await until(ended, 'the replay is over');
  expect((await replay({ from: 1, to: '2001-01-01' })).body.replay).toBeNull();
  expect((await replay({ from: 'yesterday' })).status).toBe(422);
});

test('a new secret signs beside the one before for a day, and a repeat of the request shows none', async () => {
  const admin = await signUp(weir);
  const receiver = await receiving();
  const endpoint = await createEndpoint(admin, receiver.url);
  const rotate = () =>
    weir.request('POST', `/api/v1/webhook-endpoints/${endpoint.id}/rotate`, {
      session: admin.session,
      headers: { 'idempotency-key': 'rotate' },
    });
  const [rotated, repeated] = [await rotate(), await rotate()];
  expect(rotated.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(repeated.body).toEqual({ ...rotated.body, secret: null });
  const test = await call(admin, 'POST', `/webhook-endpoints/${endpoint.id}/test`);
  expect([test.status, test.body.type, test.body.sequence]).toEqual([201, 'webhook.test', null]);
  await came(receiver, 1);
  const [webhook] = receiver.received;
  if (webhook === undefined) throw new Error('nothing came');
  const both = [rotated.body.secret as string, endpoint.secret].map((secret) => signatureOf(secret, webhook));
  expect(webhook.headers['webhook-signature']).toBe(both.join(' '));
  await weir.pool.query(`UPDATE webhook_endpoints SET previous_secret_until = now() WHERE id = $1`, [endpoint.id]);
  await until(async () => (await deliveriesOf(admin, endpoint.id))[0].status === 'DELIVERED', 'the test is done');
  await happen(admin, 1);
  await came(receiver, 2);
  const next = receiver.received[1];
  expect(next?.headers['webhook-signature']).toBe(next && signatureOf(rotated.body.secret, next));
});

test('a slow receiver of one organization holds up nobody, and has few requests at a time', async () => {
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
  expect((await call(slow, 'POST', '/webhook-endpoints', { url: hanging.url })).status).toBe(422);
  await happen(slow, 30);
  const fast = await signUp(weir);
  const receiver = await receiving();
  const endpoint = await createEndpoint(fast, receiver.url);
  await until(() => underWay >= 16, 'two endpoints of it have all their requests');
  const began = performance.now();
  await happen(fast, 10);
  await came(receiver, 10);
  expect(performance.now() - began).toBeLessThan(5_000);
  // An eighth of 16 places, with 8 new events each.
  expect(most).toBe(16);
  expect(await deliveriesOf(fast, endpoint.id)).toHaveLength(10);
  await weir.pool.query(`DELETE FROM webhook_endpoints WHERE organization_id = $1`, [slow.id]);
  for (const answer of waiting) answer();
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
  expect(await deliverTo({ database, sender }, admin.id, endpoint.id)).toBe(false);
  expect(firsts(receiver.received)).toEqual(upTo(48));
  // As a turn that died has left it. The hanging one is alive, and would else prolong what it holds.
  const dead = `UPDATE webhook_endpoints SET held_by = gen_random_uuid(), held_until = now() WHERE id = $1`;
  await weir.pool.query(dead, [endpoint.id]);
  // The worker may be sooner.
  await deliverTo({ database, sender }, admin.id, endpoint.id);
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
  await deleteOldDeliveries(database.kysely, 10);
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
