// An endpoint that takes fewer types from now on: what waits of the others is given up, whatever a turn has read of it, and keeps out
// nothing that it takes.

import { appendFeed } from '@weir/db/billing/feed';
import type { FeedType } from '@weir/billing/feed-events';
import type { Database } from '@weir/db/database';
import { Networks } from '@weir/shared/networks';
import { openNameLookup } from '@weir/worker/webhooks/receiver-address';
import { Sender } from '@weir/worker/webhooks/send-request';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deliverTo } from '../support/deliver-to.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { openReceiver, type Answering, type Receiver } from '../support/receiver.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false, api: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
let database: Database;
let sender: Sender;
let admin: Organization;
let receiver: Receiver;
let answer: Answering;
let endpoint: string;

beforeAll(async () => {
  database = openTestDatabase(weir);
  sender = new Sender({ lookup: openNameLookup(), allowed: new Networks('127.0.0.0/8'), attemptMsMax: 60_000 });
  receiver = await openReceiver((webhook, response) => answer(webhook, response));
});
afterAll(async () => {
  sender.close();
  await receiver.close();
  await database.close();
});
beforeEach(async () => {
  admin = await signUp(weir);
  receiver.received.length = 0;
  answer = ({ type }, response) => response.writeHead(type === 'invoice.created' ? 422 : 204).end();
  endpoint = (await call('POST', '/webhook-endpoints', { url: receiver.url }, 201)).id;
});

async function call(method: string, path: string, body: object = {}, status = 200) {
  const answered = await weir.request(method, `/api/v1${path}`, {
    session: admin.session,
    ...(method !== 'GET' && { body }),
  });
  expect(answered).toMatchObject({ status });
  return answered.body;
}

const happen = (count: number, type: FeedType = 'invoice.created'): Promise<void> =>
  database.kysely.transaction().execute((transaction) =>
    appendFeed(
      transaction,
      admin.id,
      Array.from({ length: count }, (_, n) => ({ type, actor: 'weir', data: { n } })),
    ),
  );

const deliver = () => deliverTo({ database, sender }, admin.id, endpoint);

const narrow = () => call('PATCH', `/webhook-endpoints/${endpoint}`, { event_types: ['invoice.finalized'] });

interface Listed {
  id: string;
  sequence: number;
  type: string;
  status: string;
  attempt_count: number;
}

const list = async (query = ''): Promise<Listed[]> =>
  (await call('GET', `/webhook-endpoints/${endpoint}/deliveries${query}`)).data;

/** Waits until a turn has looked at the endpoint, and used what it found. */
async function lookedAgain(): Promise<void> {
  const heldUntil = async () =>
    (await weir.pool.query('SELECT held_until::text FROM webhook_endpoints WHERE id = $1', [endpoint])).rows[0]
      .held_until;
  for (let looks = 0; looks < 2; looks += 1) {
    const before = await heldUntil();
    await until(async () => (await heldUntil()) !== before, 'a turn looks at the endpoint');
  }
}

test('what an endpoint takes no longer is not sent any more, also of what a turn has read before', async () => {
  const hanging: ServerResponse[] = [];
  answer = (_, response) => hanging.push(response);
  await happen(20);
  await happen(1, 'invoice.finalized');
  const turn = deliver();
  await until(() => hanging.length === 8, 'as many requests as may be wait for answers');
  await narrow();
  await lookedAgain();
  answer = (_, response) => response.writeHead(204).end();
  for (const [n, response] of hanging.entries()) response.writeHead(n === 0 ? 204 : 422).end();
  await turn;
  // It is given up, and not tried again when its time comes.
  await weir.pool.query(
    `UPDATE webhook_deliveries SET next_attempt_at = next_attempt_at - interval '1 day' WHERE endpoint_id = $1`,
    [endpoint],
  );
  await deliver();
  expect(receiver.received.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 21]);
  const listed = await list('?page_size=50');
  const came = (from: number, to: number) => listed.filter(({ sequence }) => sequence >= from && sequence <= to);
  for (const number of [1, 21]) expect(came(number, number)).toMatchObject([{ status: 'DELIVERED' }]);
  const outcomes = (each: Listed[]) => new Set(each.map(({ status, attempt_count }) => `${status} ${attempt_count}`));
  expect(came(2, 20)).toHaveLength(19);
  expect(outcomes(came(2, 8))).toEqual(new Set(['FAILED 1']));
  expect(outcomes(came(9, 20))).toEqual(new Set(['FAILED 0']));
  // Asked for by itself, one of them is sent all the same.
  await call('POST', `/deliveries/${came(9, 9)[0]?.id}/retry`);
  await deliver();
  expect(receiver.received.at(-1)?.sequence).toBe(9);
  expect((await list('?status=PENDING')).length).toBe(0);
});

test('what comes of an attempt at what was given up meanwhile begins no failing that nothing would end', async () => {
  const hanging: ServerResponse[] = [];
  answer = (_, response) => hanging.push(response);
  await happen(1);
  const turn = deliver();
  await until(() => hanging.length === 1, 'the request waits for its answer');
  expect((await narrow()).failing_since).toBeNull();
  hanging[0]?.writeHead(500).end();
  await turn;
  expect(await list()).toMatchObject([{ status: 'FAILED', attempt_count: 1 }]);
  expect((await call('GET', `/webhook-endpoints/${endpoint}`)).failing_since).toBeNull();
  // What it takes is another matter.
  answer = (_, response) => response.writeHead(500).end();
  await happen(1, 'invoice.finalized');
  await deliver();
  expect((await call('GET', `/webhook-endpoints/${endpoint}`)).failing_since).not.toBeNull();
});

test('what comes of an attempt at an endpoint that was turned off meanwhile begins no failing either', async () => {
  const hanging: ServerResponse[] = [];
  answer = (_, response) => hanging.push(response);
  await happen(1);
  const turn = deliver();
  await until(() => hanging.length === 1, 'the request waits for its answer');
  await call('PATCH', `/webhook-endpoints/${endpoint}`, { status: 'DISABLED' });
  hanging[0]?.writeHead(500).end();
  await turn;
  expect(await list()).toMatchObject([{ status: 'PENDING', attempt_count: 1 }]);
  expect(await call('GET', `/webhook-endpoints/${endpoint}`)).toMatchObject({
    status: 'DISABLED',
    failing_since: null,
  });
});

test('an endpoint that is failing and is given the status and the address that it has fails on as before', async () => {
  await happen(1);
  await deliver();
  const { failing_since, url, status } = await call('GET', `/webhook-endpoints/${endpoint}`);
  expect(failing_since).toEqual(expect.any(String));
  const patch = (body: object) => call('PATCH', `/webhook-endpoints/${endpoint}`, body);
  expect(await patch({ url, status })).toMatchObject({ status: 'ACTIVE', failing_since });
  await weir.pool.query(`UPDATE webhook_endpoints SET status = 'DISABLED', disabled_reason = 'FAILING' WHERE id = $1`, [
    endpoint,
  ]);
  expect(await patch({ status: 'DISABLED' })).toMatchObject({ disabled_reason: 'FAILING', failing_since });
  expect(await patch({ status: 'ACTIVE' })).toMatchObject({ disabled_reason: null, failing_since: null });
});

test('an endpoint that was full of what it takes no longer is sent what it takes', async () => {
  await happen(10_001);
  await weir.pool.query(
    `INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, sequence, tries, next_attempt_at)
     SELECT $1, gen_random_uuid(), $2, sequence, 1, now() + interval '1 hour' FROM billing_events WHERE organization_id = $1`,
    [admin.id, endpoint],
  );
  await weir.pool.query(
    'UPDATE webhook_endpoints SET last_sequence = 10001, failing_since = now(), held_until = now() WHERE id = $1',
    [endpoint],
  );
  answer = (_, response) => response.writeHead(422).end();
  await call('POST', `/webhook-endpoints/${endpoint}/test`, {}, 201);
  await happen(1, 'invoice.finalized');
  await deliver();
  expect(receiver.received.map(({ type }) => type)).toEqual(['webhook.test']);
  await call('POST', `/webhook-endpoints/${endpoint}/test`, {}, 201);
  await narrow();
  answer = (_, response) => response.writeHead(204).end();
  await deliver();
  expect(receiver.received.map(({ type }) => type).toSorted()).toEqual([
    'invoice.finalized',
    'webhook.test',
    'webhook.test',
  ]);
  expect(await list('?status=PENDING')).toEqual([]);
});
