// Endpoints of webhooks: what turns them off and on, what is sent to them again, and what they are signed with.

import { expect, test } from 'vitest';
import { expectDocumentedFeed } from '../support/documented-feed.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until } from '../support/harness.ts';
import { came, ownWebhooks, sequences, signatureOf, upTo } from '../support/webhooks.ts';

const { weir, receiving, call, createEndpoint, happen, deliveriesOf, passTime } = ownWebhooks();

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
  await until(async () => (await deliveriesOf(admin, endpoint.id))[0]?.attempt_count >= 1, 'it is written down');
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
  // Turned off it gets nothing while another one is told; turned on, all that happened meanwhile.
  const told = await receiving();
  await createEndpoint(admin, told.url);
  const before = gone.received.length;
  await happen(admin, 3);
  await came(told, 3);
  expect(gone.received.length).toBe(before);
  const on = await call(admin, 'PATCH', `/webhook-endpoints/${endpoint.id}`, { status: 'ACTIVE' });
  expect(on.body).toMatchObject({ status: 'ACTIVE', disabled_reason: null, failing_since: null });
  await until(() => gone.received.length > before, 'it is told again');
});

test('an endpoint does not fail any more once all that had failed is of types that it takes no longer', async () => {
  const admin = await signUp(weir);
  const { url } = await receiving((_, response) => response.writeHead(500).end());
  const endpoint = await createEndpoint(admin, url);
  await happen(admin, 1);
  await happen(admin, 1, 'invoice.paid');
  const tried = async () =>
    (await deliveriesOf(admin, endpoint.id)).filter((each: { attempt_count: number }) => each.attempt_count > 0).length;
  await until(async () => (await tried()) === 2, 'both have failed');
  const take = async (type: string) =>
    (await call(admin, 'PATCH', `/webhook-endpoints/${endpoint.id}`, { event_types: [type] })).body;
  expect(await take('invoice.paid')).toMatchObject({ failing_since: expect.any(String) });
  expect(await take('credit.granted')).toMatchObject({ event_types: ['credit.granted'], failing_since: null });
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
  // By a turn of somebody else, so that the worker does not end the replay before it is asked for another.
  await until(async () => {
    const { rowCount } = await weir.pool.query(
      `UPDATE webhook_endpoints SET held_by = gen_random_uuid(), held_until = now() + interval '1 minute'
       WHERE id = $1 AND (held_by IS NULL OR held_until < now())`,
      [endpoint.id],
    );
    return rowCount === 1;
  }, 'the endpoint is held');
  const begun = await replay({ from: 5, to: 230 });
  expect([begun.status, begun.body.replay]).toEqual([200, { next_sequence: 5, last_sequence: 230 }]);
  expect((await replay({ from: 1 })).body.code).toBe('replay_under_way');
  await weir.pool.query('UPDATE webhook_endpoints SET held_by = NULL, held_until = now() WHERE id = $1', [endpoint.id]);
  await came(receiver, 226);
  expect(sequences(receiver.received).toSorted((a, b) => Number(a) - Number(b))).toEqual(upTo(230).slice(4));
  const ended = async () => (await call(admin, 'GET', `/webhook-endpoints/${endpoint.id}`)).body.replay === null;
  await until(ended, 'the replay is over');

  receiver.received.length = 0;
  // With its microseconds: the event before may be of the same millisecond.
  const { rows } = await weir.pool.query<{ at: string }>(
    `SELECT to_json(created_at) AS at FROM billing_events WHERE organization_id = $1 AND sequence = 252`,
    [admin.id],
  );
  expect((await replay({ from: rows[0]?.at })).status).toBe(200);
  await came(receiver, 2);
  expect(sequences(receiver.received).slice(-2)).toEqual([252, 253]);
  await until(ended, 'the replay is over');
  // The end is not a part of it.
  const before = await replay({ from: 251, to: rows[0]?.at });
  expect(before.body.replay).toEqual({ next_sequence: 251, last_sequence: 251 });
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
