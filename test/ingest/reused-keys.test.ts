// Two things under one idempotency key: after the door has forgotten the key, the second one is neither counted nor lost
// without a word. It is rejected, seen, and counted once it gets a key of its own.

import type { Database } from '@weir/db/database';
import { makePartitions } from '@weir/db/partitions';
import { recordEvents } from '@weir/db/record';
import { receivedAt, type UsageEvent } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { performAllMoves } from '../support/erasing.ts';
import { counted } from '../support/counted.ts';
import { expectBalance, makeTenant, type Tenant } from '../support/reconcile-fixture.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let database: Database;
let tenant: Tenant;
beforeAll(async () => {
  database = openTestDatabase(weir);
  tenant = await makeTenant(weir);
});
afterAll(() => database.close());

const forget = async (key: string) => weir.redis.unlink(await weir.claim(tenant.id, key));
const receiptOf = async (id: string) =>
  (await weir.request('GET', `/api/v1/events/${id}`, { apiKey: tenant.apiKey })).body;
const replay = (id: string, body?: unknown) => tenant.ask('POST', `/events/${id}/replay`, body);

/** Sends an event, forgets its key as time does, and sends another one with the same key. */
async function reuse(key: string, first: object, second: object): Promise<{ holder: string; id: string }> {
  const send = async (event: object): Promise<string> => {
    const [answer] = await tenant.track({ ...event, idempotency_key: key });
    expect(answer?.status).toBe(201);
    await weir.drained();
    return answer?.id ?? '';
  };
  const holder = await send(first);
  expect(await forget(key)).toBe(1);
  return { holder, id: await send(second) };
}

test('a key of another event whose claim has ended is rejected so, and counted under one of its own', async () => {
  const customer_external_id = 'reuses';
  const sent = [
    { customer_external_id, quantity: 5 },
    { customer_external_id, quantity: 7 },
  ] as const;
  const { holder, id } = await reuse('order 1', ...sent);
  const rejected = { id, status: 'rejected', quantity: '7', idempotency_key: 'order 1' };
  expect(await receiptOf(id)).toMatchObject({ ...rejected, reason: expect.stringContaining(holder) });
  const metrics = await (await fetch(`${weir.workerUrl}/metrics`)).text();
  expect(metrics).toMatch(/^weir_reused_keys_total 1$/m);

  // As it was, it is refused again, and so it is with the key of any other event that has another payload.
  await tenant.track({ idempotency_key: 'order 2', quantity: 2 });
  for (const idempotency_key of [undefined, 'order 1', 'order 2']) {
    expect((await replay(id, { idempotency_key })).status).toBe(202);
    await weir.drained();
    expect(await receiptOf(id)).toMatchObject({ ...rejected, idempotency_key: idempotency_key ?? 'order 1' });
  }
  expect((await replay(id, { idempotency_key: 'order 3' })).status).toBe(202);
  await weir.drained();
  expect(await receiptOf(id)).toMatchObject({ status: 'recorded', quantity: '7', idempotency_key: 'order 3' });
  expect(await counted(weir, tenant.sum.id)).toEqual({ events: 3, sum: '14' });
  await expectRollupsToEqualEvents(weir.pool);
  await expectBalance(weir, database, tenant.id, { accepted: 3, recorded: 3, duplicate: 0, rejected: 0, queued: 0 });
});

test('it may also be replayed without any key', async () => {
  const { id } = await reuse('keyless', { quantity: 1 }, { quantity: 2 });
  expect((await replay(id, { idempotency_key: null })).status).toBe(202);
  await weir.drained();
  expect(await receiptOf(id)).toMatchObject({ status: 'recorded', quantity: '2', idempotency_key: null });
});

test('an event that is sent again after its usage was moved, or erased, is a duplicate, and no other is', async () => {
  const ask = async (path: string, body: object) => {
    await tenant.call('POST', path, body, 202);
    await performAllMoves(database);
  };
  const move = (from_external_id: string, to_external_id: string) =>
    ask('/usage-moves', { from_external_id, to_external_id });
  const send = async (customer_external_id: string, metadata: object, key = 'moved') => {
    await forget(key);
    const event = { customer_external_id, quantity: 3, metadata, timestamp: at, idempotency_key: key };
    const [sent] = await tenant.track(event);
    await weir.drained();
    return await receiptOf(sent?.id ?? '');
  };
  const note = { note: 'to Ada' };
  const again = { status: 'duplicate', duplicate_of: (await send('first', note)).id };
  const rejected = { status: 'rejected' };
  await move('first', 'second');
  expect(await send('first', note)).toMatchObject(again);
  expect(await send('second', note)).toMatchObject(again);
  await move('second', 'third');
  expect(await send('first', note)).toMatchObject(again);
  expect(await send('first', { note: 'another' })).toMatchObject(rejected);
  expect(await send('nobody', note)).toMatchObject(rejected);
  // Usage of others was moved as well, to and from others.
  await send('target', note, 'not moved');
  await move('elsewhere', 'nowhere');
  await move('source', 'target');
  expect(await send('elsewhere', note, 'not moved')).toMatchObject(rejected);

  await ask('/erasures', { customer_external_id: 'third' });
  // The id is somebody else's by now, who was not there when the holder was recorded.
  await tenant.track({ customer_external_id: 'third' });
  await weir.drained();
  // Usage since then tells nothing of who sent it before.
  await tenant.track({ customer_external_id: 'third' });
  for (const sent of ['third', 'first']) expect(await send(sent, note)).toMatchObject(again);
  expect(await send('elsewhere', note, 'not moved')).toMatchObject(rejected);
  const record = await tenant.ask('POST', '/customers', { external_id: 'with a record' });
  expect(record.status).toBe(201);
  await tenant.track({ customer_external_id: 'with usage', timestamp: at });
  await weir.drained();
  for (const sent of ['with a record', 'with usage']) expect(await send(sent, note)).toMatchObject(rejected);
});

const at = '2026-02-03T04:05:06.789012Z';
const SAME: Record<string, [object, object]> = {
  'an exponent in the quantity': [{ quantity: 1500 }, { quantity: 1.5e3 }],
  'metadata in another order': [
    { metadata: { a: 1, b: { c: [1, 'x'], d: null } } },
    { metadata: { b: { d: null, c: [1, 'x'] }, a: 1 } },
  ],
  'the same time': [{ timestamp: at }, { timestamp: '2026-02-03T05:05:06.7890129+01:00' }],
  'no time, since a retry comes later': [{}, {}],
};
const OTHER: Record<string, [object, object]> = {
  'another quantity': [{ quantity: 1 }, { quantity: 1.5 }],
  'another customer': [{}, { customer_external_id: 'someone else' }],
  'another time': [{ timestamp: at }, { timestamp: at.replace('789012', '789013') }],
  'a time where none was': [{}, { timestamp: at }],
  'no time where one was': [{ timestamp: at }, {}],
  'other metadata': [{ metadata: { a: 1 } }, { metadata: { a: '1' } }],
  'no metadata': [{ metadata: { a: 1 } }, {}],
  'empty metadata': [{}, { metadata: {} }],
  'another order of a list': [{ metadata: { a: [1, 2] } }, { metadata: { a: [2, 1] } }],
};

test('the worker takes for the same payload what the door takes for it', async () => {
  const metadata = { user_id: 1 };
  const anotherMeter: [object, object] = [{ metadata }, { metadata, meter_token: tenant.users.token }];
  const pairs = Object.entries({ ...SAME, ...OTHER, 'another meter': anotherMeter });
  const send = async (which: 0 | 1) => {
    const answers = await tenant.track(...pairs.map(([name, pair]) => ({ ...pair[which], idempotency_key: name })));
    return answers.map(({ status, id }) => (status === 201 || status === 409 ? id : `answered ${status}`));
  };
  const holders = await send(0);
  const atTheDoor = await tenant.track(...pairs.map(([name, pair]) => ({ ...pair[1], idempotency_key: name })));
  await weir.drained();
  for (const [name] of pairs) expect(await forget(name)).toBe(1);
  const seconds = await send(1);
  await weir.drained();
  const judged = await Promise.all(seconds.map(receiptOf));
  pairs.forEach(([name], index) => {
    const isSame = name in SAME;
    expect([name, atTheDoor[index]?.status]).toEqual([name, isSame ? 409 : 422]);
    const found = { status: 'rejected', reason: expect.stringContaining(holders[index] ?? '') };
    const expected = isSame ? { status: 'duplicate', duplicate_of: holders[index] } : found;
    expect([name, judged[index]]).toEqual([name, expect.objectContaining(expected)]);
  });
});

test('it tells numbers in metadata apart by every digit', async () => {
  const send = async (metadata: string): Promise<string> => {
    const raw = `{"meter_token":"${tenant.sum.token}","customer_external_id":"acme","quantity":1,"idempotency_key":"digits","metadata":${metadata}}`;
    const { status, body } = await weir.request('POST', '/api/v1/sdk/track', { apiKey: tenant.apiKey, raw });
    expect(status).toBe(201);
    await weir.drained();
    await forget('digits');
    return body.id;
  };
  await send('{"n":12345678901234567890}');
  expect(await receiptOf(await send('{"n":12345678901234567891}'))).toMatchObject({ status: 'rejected' });
  expect(await receiptOf(await send('{ "n" : 12345678901234567890 }'))).toMatchObject({ status: 'duplicate' });
});

/** Events that a meter was never asked about: they are given to the statement itself. */
function eventsOf(more: Partial<UsageEvent>[]): UsageEvent[] {
  const now = Date.now();
  return more.map((each, index) => {
    // One after the other: of the same millisecond any might be the first.
    const id = newId(now + index);
    const [organization_id, meter_id] = [tenant.id, tenant.sum.id];
    const fixed = { id, organization_id, meter_id, customer_external_id: 'direct', quantity: '1' };
    return { ...fixed, timestamp: receivedAt(id), ...each };
  });
}
const record = (events: UsageEvent[]) =>
  recordEvents(
    database.pool,
    events.map((event) => ({ event, countsUniqueValues: false })),
  );

test('of several events with one key in one batch the first holds it, and the others are judged by it', async () => {
  const key = { idempotency_key: 'in one batch' };
  const events = eventsOf([key, { ...key, quantity: '1.0' }, { ...key, quantity: '2' }]);
  const [holder, , other] = events;
  expect(await record(events)).toEqual({ recorded: 1, duplicates: 1, reused: [{ event: other, holder: holder?.id }] });
  // Delivered again, alone or together, each of them is what it was.
  expect(await record(events)).toEqual({ recorded: 0, duplicates: 0, reused: [{ event: other, holder: holder?.id }] });
  expect(await record(events.slice(2))).toMatchObject({ duplicates: 0, reused: [{ event: other }] });
});

test('an event whose holder was taken out with its month is a duplicate: nothing is left to compare with', async () => {
  const client = await database.pool.connect();
  const month = '2027-09-15T12:00:00Z';
  await makePartitions(client, new Date(month)).finally(() => client.release());
  const key = { idempotency_key: 'archived' };
  const [holder] = eventsOf([{ ...key, id: newId(Date.parse(month)) }]);
  if (holder === undefined) throw new Error('there is no event');
  expect(await record([holder])).toMatchObject({ recorded: 1 });
  await weir.pool.query('ALTER TABLE events DETACH PARTITION events_2027_09');
  expect(await record(eventsOf([{ ...key, quantity: '2' }]))).toEqual({ recorded: 0, duplicates: 1, reused: [] });
});

test('an event replayed with several keys is counted under the first, and takes none of the others', async () => {
  const other = await makeTenant(weir);
  const [sent] = await other.track({ meter_token: other.users.token });
  await weir.drained();
  const id = sent?.id ?? '';
  const again = (idempotency_key: string) =>
    other.ask('POST', `/events/${id}/replay`, { metadata: { user_id: 'u' }, idempotency_key });
  const answers = await Promise.all(['a', 'b', 'c'].map(again));
  expect(answers.every(({ status }) => status === 202)).toBe(true);
  await weir.drained();
  const { rows } = await weir.pool.query('SELECT idempotency_key FROM events WHERE id = $1', [id]);
  const keys = await weir.pool.query('SELECT FROM idempotency_keys WHERE event_id = $1', [id]);
  expect([rows.length, keys.rowCount]).toEqual([1, 1]);
  await expectBalance(weir, database, other.id, { accepted: 1, recorded: 1, duplicate: 0, rejected: 0, queued: 0 });
});

test('one that became both at once, recorded and a duplicate, counts as recorded and is listed once', async () => {
  const other = await makeTenant(weir);
  const [sent] = await other.track({ customer_external_id: 'both' });
  await weir.drained();
  await weir.pool.query('INSERT INTO duplicate_events VALUES ($1, $2, $3, $4)', [other.id, sent?.id, newId(), '{}']);
  const listed = await weir.request('GET', '/api/v1/events', { apiKey: other.apiKey });
  expect(listed.body.data).toMatchObject([{ id: sent?.id, status: 'recorded' }]);
  await expectBalance(weir, database, other.id, { accepted: 1, recorded: 1, duplicate: 0, rejected: 0, queued: 0 });
});
