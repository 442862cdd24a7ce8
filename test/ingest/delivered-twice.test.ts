// Whatever comes twice, or while it is recorded: every event is counted exactly once.

import type { Database } from '@weir/db/database';
import { holdKnown } from '@weir/db/known-for-recording';
import { deleteRejected, recordEvents, recordOnce, type RecordableEvent } from '@weir/db/record';
import { admit, type Candidate } from '@weir/queue/admit';
import { MAINTENANCE_QUEUE } from '@weir/queue/maintenance-jobs';
import { openRecordWorker, RECORD_QUEUE, recordJobOptions } from '@weir/queue/record-jobs';
import { stagedEvents, stagedText } from '@weir/queue/staged';
import { openSweeper } from '@weir/queue/sweep';
import { receivedAt, type StagedEvent } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import { persist, type PersistDeps } from '@weir/worker/persist';
import { Queue } from 'bullmq';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { counted } from '../support/counted.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let meter: { id: string; token: string };
let database: Database;
let deps: PersistDeps;
beforeAll(async () => {
  admin = await signUp(weir);
  database = openTestDatabase(weir, 6);
  const ownership = { check: () => Promise.resolve() };
  deps = { database, queue: weir.queue, ownership };
});
afterAll(() => database.close());

async function eventsOf(count: number, more: (index: number) => Partial<StagedEvent> = () => ({})) {
  meter = await admin.createMeter('SUM');
  return Array.from({ length: count }, (_, index): StagedEvent => {
    const id = newId();
    return {
      id,
      organization_id: admin.id,
      meter_id: meter.id,
      aggregation: 'SUM',
      customer_external_id: `customer ${index % 3}`,
      quantity: '1',
      timestamp: receivedAt(id),
      ...more(index),
    };
  });
}
const stage = async (events: StagedEvent[], batch = newId()): Promise<string> => {
  const candidates = events.map((event): Candidate => ({
    id: event.id,
    event: stagedText(event),
    sender: null,
    claim: null,
  }));
  await admit(weir.queue, batch, candidates, 60);
  return batch;
};
const recordable = (events: StagedEvent[]) =>
  events.map((event): RecordableEvent => ({ event, countsUniqueValues: false }));

test('a batch that is delivered to two workers at once, and once more, is recorded once', async () => {
  const events = await eventsOf(300, (index) => (index % 2 === 0 ? { idempotency_key: `delivered ${index}` } : {}));
  const batch = await stage(events);
  const delivered = await Promise.all([persist(deps, batch), persist(deps, batch), persist(deps, batch)]);
  expect(delivered.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(300);
  expect(delivered.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(0);
  expect(await weir.redis.exists(weir.keys.batch(batch))).toBe(0);
  expect(await persist(deps, batch)).toMatchObject({ recorded: 0, duplicates: 0, rejected: 0 });
  expect(await persist(deps, await stage(events))).toMatchObject({ recorded: 0, duplicates: 0, rejected: 0 });
  expect(await counted(weir, meter.id)).toEqual({ events: 300, sum: '300' });
  await expectRollupsToEqualEvents(weir.pool);
});

/** A Redis that does something when it has answered what is in a batch for the first time. */
function onceRead(then: () => Promise<unknown>) {
  const seen = { reads: 0 };
  const redis = new Proxy(weir.redis, {
    get(real, name) {
      const value: unknown = Reflect.get(real, name);
      if (name !== 'lrange') return typeof value === 'function' ? value.bind(real) : value;
      return async (key: string, from: number, to: number) => {
        const read = await real.lrange(key, from, to);
        seen.reads += 1;
        if (seen.reads === 1) await then();
        return read;
      };
    },
  });
  return { redis, seen };
}

test('events that begin a batch anew, after another worker has taken it off, are recorded as well', async () => {
  const batch = await stage(await eventsOf(2));
  const late = await eventsOf(2);
  const { redis, seen } = onceRead(async () => {
    expect(await persist(deps, batch)).toMatchObject({ recorded: 2 });
    await stage(late, batch);
  });
  expect(await persist({ ...deps, queue: { redis, keys: weir.keys } }, batch)).toMatchObject({ recorded: 2 });
  expect(seen.reads).toBe(2);
  expect(await counted(weir, meter.id)).toEqual({ events: 2, sum: '2' });
});

test.each(['another', 'the same'])(
  'nor are two lives of a batch taken for one that begin with a replay, with %s correction',
  async (which) => {
    const [event, neighbour] = (await eventsOf(2)) as [StagedEvent, StagedEvent];
    const replay = (plan: string): StagedEvent => ({ ...event, metadata: `{"plan":"${plan}"}`, replayed: true });
    const batch = await stage([replay('the same')]);
    const { redis, seen } = onceRead(async () => {
      expect(await persist(deps, batch)).toMatchObject({ recorded: 1 });
      await stage([replay(which), neighbour], batch);
    });
    expect(await persist({ ...deps, queue: { redis, keys: weir.keys } }, batch)).toMatchObject({ recorded: 1 });
    expect(seen.reads).toBe(2);
    expect(await counted(weir, meter.id)).toEqual({ events: 2, sum: '2' });
  },
);

test('events of an organization that the database lacks are kept, also those that their meter refuses', async () => {
  const events = await eventsOf(2, (index) => ({
    organization_id: randomUUID(),
    aggregation: index === 0 ? 'UNIQUE_COUNT' : 'SUM',
  }));
  const batch = await stage(events);
  for (const isRetry of [false, true])
    await expect(persist(deps, batch, isRetry)).rejects.toThrow('the database has no organization');
  const texts = await weir.redis.lrange(weir.keys.batch(batch), 0, -1);
  expect(stagedEvents(texts)).toEqual(events);
  const { rows } = await weir.pool.query('SELECT id FROM rejected_events WHERE id = ANY ($1)', [
    events.map(({ id }) => id),
  ]);
  expect(rows).toEqual([]);
  await drop(batch);
  // It is gone then.
  expect(await persist(deps, batch, true)).toMatchObject({ recorded: 0, duplicates: 0, rejected: 0 });
});

/** Takes a batch whose events no worker records off Redis. */
const drop = (batch: string) =>
  weir.redis.multi().unlink(weir.keys.batch(batch)).zrem(weir.keys.staged, batch).unlink(weir.keys.waiting).exec();

test.each(['joins', 'begins anew'])(
  'of a batch of which events are to stay, what %s meanwhile stays too',
  async (how) => {
    const [known, unknown, late] = (await eventsOf(3)) as [StagedEvent, StagedEvent, StagedEvent];
    const batch = await stage([known, { ...unknown, organization_id: randomUUID() }]);
    const { redis } = onceRead(async () => {
      if (how === 'begins anew') await drop(batch);
      await stage([late], batch);
    });
    const persisting = persist({ ...deps, queue: { redis, keys: weir.keys } }, batch);
    await expect(persisting).rejects.toThrow('the database has no organization');
    const left = stagedEvents(await weir.redis.lrange(weir.keys.batch(batch), 0, -1));
    expect(left).toContainEqual(late);
    await drop(batch);
  },
);

test('what is recorded of a batch no longer counts for those that wait, and what stays of it does', async () => {
  await weir.redis.set(weir.keys.epoch, 'this epoch', 'NX');
  const epoch = (await weir.redis.get(weir.keys.epoch)) ?? '';
  const lacking = randomUUID();
  const events = await eventsOf(4, (index) => (index % 2 === 0 ? {} : { organization_id: lacking }));
  const batch = newId();
  const sent = events.map((event) => {
    const sender = { organizationId: event.organization_id, apiKeyId: newId(), epoch };
    return { id: event.id, event: stagedText(event), sender, claim: null };
  });
  await admit(weir.queue, batch, sent, 60);
  const waiting = () => weir.redis.hmget(weir.keys.waiting, admin.id, lacking);
  const [own, other] = await waiting();
  expect([Number(own), Number(other)]).toEqual([expect.any(Number), Number(own)]);
  await expect(persist(deps, batch)).rejects.toThrow('the database has no organization');
  expect(await waiting()).toEqual(['0', other]);
  await drop(batch);
});

test.each([0, 3])('events that join a batch right after %i of it were read are recorded with it', async (count) => {
  const batch = newId();
  const early = await eventsOf(count);
  if (count > 0) await stage(early, batch);
  const late = (await eventsOf(5)).map((event) => ({ ...event, meter_id: early[0]?.meter_id ?? event.meter_id }));
  const { redis, seen } = onceRead(() => stage(late, batch));
  expect(await persist({ ...deps, queue: { redis, keys: weir.keys } }, batch)).toMatchObject({
    recorded: count + 5,
    duplicates: 0,
    rejected: 0,
  });
  expect(seen.reads).toBe(2);
  expect(await weir.redis.zscore(weir.keys.staged, batch)).toBeNull();
  const total = count + 5;
  expect(await counted(weir, late[0]?.meter_id ?? '')).toEqual({ events: total, sum: String(total) });
  await expectRollupsToEqualEvents(weir.pool);
});

test('what is taken off no longer counts for those that wait, and the count ends at nothing', async () => {
  await weir.redis.set(weir.keys.epoch, 'this epoch', 'NX');
  const epoch = (await weir.redis.get(weir.keys.epoch)) ?? '';
  const sender = { organizationId: admin.id, apiKeyId: newId(), epoch };
  const batches = [newId(), newId(), newId()];
  const waiting = async () => Number(await weir.redis.hget(weir.keys.waiting, admin.id));
  const counts: number[] = [];
  for (const batch of batches) {
    const events = await eventsOf(3, (index) => ({ metadata: `{"city":"Köln ${index}"}` }));
    const texts = events.map((event) => ({ id: event.id, event: stagedText(event), sender, claim: null }));
    await admit(weir.queue, batch, texts, 60);
    counts.push(await waiting());
  }
  const [first = 0, , all = 0] = counts;
  expect(first).toBeGreaterThan(500);
  await weir.redis.hset(weir.keys.recorded, batches[0] ?? '', 'this epoch 1');
  expect(await persist(deps, batches[0] ?? '')).toMatchObject({ recorded: 3 });
  expect(await waiting()).toBe(all - first);
  expect(await weir.redis.exists(weir.keys.recorded)).toBe(0);
  // A count that came out wrong, whatever the reason, is not kept for ever.
  await weir.redis.hincrby(weir.keys.waiting, admin.id, -1_000_000);
  expect(await persist(deps, batches[1] ?? '')).toMatchObject({ recorded: 3 });
  expect(await weir.redis.exists(weir.keys.waiting)).toBe(0);
  await weir.redis.hincrby(weir.keys.waiting, admin.id, 1_000_000);
  expect(await persist(deps, batches[2] ?? '')).toMatchObject({ recorded: 3 });
  expect(await weir.redis.exists(weir.keys.waiting)).toBe(0);
});

test('an event that is replayed twice into one batch counts by the correction that is right, and only once', async () => {
  const users = await admin.createMeter('UNIQUE_COUNT');
  const apiKey = await admin.createKey();
  const persistAll = async () => {
    for (const batch of await weir.redis.zrange(weir.keys.staged, 0, '-1')) await persist(deps, batch);
  };
  const body = { meter_token: users.token, customer_external_id: 'twice', quantity: 1 };
  const { id } = (await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).body;
  await persistAll();
  const receipt = async () => (await weir.request('GET', `/api/v1/events/${id}`, { apiKey })).body;
  expect(await receipt()).toMatchObject({ status: 'rejected', reason: expect.stringContaining('is missing') });
  const replay = async (user_id: string) => {
    const replayed = { session: admin.session, body: { metadata: { user_id } } };
    expect((await weir.request('POST', `/api/v1/events/${id}/replay`, replayed)).status).toBe(202);
  };

  // Right after another, so that they come into one batch.
  for (const user of ['', '']) await replay(user);
  await persistAll();
  expect(await receipt()).toMatchObject({ status: 'rejected', reason: expect.stringContaining('not empty') });
  for (const user of ['', 'u1', '']) await replay(user);
  await persistAll();
  expect(await receipt()).toMatchObject({ status: 'recorded', metadata: { user_id: 'u1' } });
  expect(await counted(weir, users.id)).toEqual({ events: 1, sum: '1' });
  const { rows } = await weir.pool.query('SELECT FROM rejected_events WHERE id = $1', [id]);
  expect(rows).toEqual([]);
  await expectRollupsToEqualEvents(weir.pool);
});

test('an event that is replayed twice at once is rejected no more where one of the two counts', async () => {
  const users = await admin.createMeter('UNIQUE_COUNT');
  const of = { meter_id: users.id, aggregation: 'UNIQUE_COUNT' } as const;
  const [event] = (await eventsOf(1, () => of)) as [StagedEvent];
  expect(await persist(deps, await stage([event]))).toMatchObject({ rejected: 1 });
  const corrected: StagedEvent = { ...event, metadata: '{"user_id":"u1"}', replayed: true };
  const again = await stage([{ ...event, replayed: true }]);
  const recorder = await database.pool.connect();
  try {
    await recorder.query('BEGIN');
    const known = await holdKnown(database.pool, recorder, new Set([admin.id]));
    await recordOnce(known, recorder, [{ event: corrected, countsUniqueValues: true }]);
    await deleteRejected(recorder, [corrected]);
    const persisting = persist(deps, again);
    await untilWaiting(weir);
    await recorder.query('COMMIT');
    await persisting;
  } finally {
    recorder.release(true);
  }
  expect(await counted(weir, users.id)).toEqual({ events: 1, sum: '1' });
  const { rows } = await weir.pool.query('SELECT FROM rejected_events WHERE id = $1', [event.id]);
  expect(rows).toEqual([]);
});

test('one event recorded three times at the same moment: one of each, the others are its duplicates', async () => {
  const events = await eventsOf(600, (index) => {
    return { idempotency_key: `contended ${index % 200}`, customer_external_id: `customer ${index % 200}` };
  });
  // Each of three workers has every key once, and each in another order.
  const thirds = [events.slice(0, 200), events.slice(200, 400).toReversed(), events.slice(400)];
  const outcomes = await Promise.all(thirds.map((third) => recordEvents(database.pool, recordable(third))));
  expect(outcomes.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(200);
  expect(outcomes.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(400);
  const { rows } = await weir.pool.query(
    `SELECT count(*)::int AS explained FROM duplicate_events d JOIN events e ON e.id = d.duplicate_of
     WHERE e.meter_id = $1 AND e.idempotency_key = d.event::json ->> 'idempotency_key'`,
    [meter.id],
  );
  expect(rows).toEqual([{ explained: 400 }]);
  expect(await counted(weir, meter.id)).toEqual({ events: 200, sum: '200' });
  await expectRollupsToEqualEvents(weir.pool);
});

test('the same idempotency key twice in one batch is one event and one duplicate', async () => {
  const events = await eventsOf(2, () => ({ idempotency_key: 'twice in one batch', customer_external_id: 'acme' }));
  expect(await recordEvents(database.pool, recordable(events))).toMatchObject({ recorded: 1, duplicates: 1 });
  expect(await counted(weir, meter.id)).toEqual({ events: 1, sum: '1' });
  await expectRollupsToEqualEvents(weir.pool);
});

test('a row that Postgres will not take is rejected with the reason, and the rest of its batch is recorded', async () => {
  const bad: Record<number, Partial<StagedEvent>> = {
    0: { quantity: '-1' },
    17: { metadata: '{"note":' },
    63: { quantity: 'many' },
    99: { timestamp: '2026-02-30T00:00:00Z' },
  };
  const events = await eventsOf(100, (index) => ({ idempotency_key: `bad ${index}`, ...bad[index] }));
  expect(await persist(deps, await stage(events))).toMatchObject({ recorded: 96, duplicates: 0, rejected: 4 });
  expect(await counted(weir, meter.id)).toEqual({ events: 96, sum: '96' });
  const { rows } = await weir.pool.query('SELECT id::text, reason FROM rejected_events ORDER BY id');
  const expected = Object.keys(bad).map((index) => String(events[Number(index)]?.id));
  expect(rows.map(({ id }) => id)).toEqual(expected.toSorted());
  for (const { reason } of rows) expect(reason).toMatch(/^Postgres does not take it: ./);
  await expectRollupsToEqualEvents(weir.pool);
});

test('a rejected event that is delivered again stays as it is: as it was replayed last, or erased', async () => {
  const [event] = (await eventsOf(1, () => ({ aggregation: 'UNIQUE_COUNT' }))) as [StagedEvent];
  const replay: StagedEvent = { ...event, metadata: '{"plan":"still without a user"}', replayed: true };
  const kept = async () =>
    (await weir.pool.query('SELECT *, xmin FROM rejected_events WHERE id = $1', [event.id])).rows as unknown[];
  const deliver = async (staged: StagedEvent) => {
    expect(await persist(deps, await stage([staged]))).toMatchObject({ recorded: 0, rejected: 1 });
    return await kept();
  };
  const first = await deliver(event);
  expect(await deliver(event)).toEqual(first);
  const corrected = await deliver(replay);
  expect(corrected).toMatchObject([{ event: JSON.stringify(replay) }]);
  expect(await deliver(event)).toEqual(corrected);
  await weir.pool.query(`UPDATE rejected_events SET customer_external_id = 'erased', event = '{}' WHERE id = $1`, [
    event.id,
  ]);
  const erased = await kept();
  for (const again of [event, replay]) expect(await deliver(again)).toEqual(erased);
});

test('a batch whose job was given up as failed is tried again', async () => {
  const batch = await stage(await eventsOf(1));
  const records = new Queue(RECORD_QUEUE, { connection: weir.redis, prefix: weir.keys.prefix });
  await records.add(RECORD_QUEUE, { batch }, { ...recordJobOptions(batch), attempts: 1 });
  const onError = (error: Error) => {
    throw error;
  };
  const record = () => Promise.reject(new Error('a test'));
  const redis = weir.redis.duplicate({ maxRetriesPerRequest: null });
  const queue = { redis, keys: weir.keys };
  const failing = openRecordWorker(queue, { concurrency: 1, record, onFailed: () => {}, onError });
  await until(async () => (await records.getJobState(batch)) === 'failed', 'the job is given up');
  await failing.close();
  redis.disconnect();
  const sweeper = openSweeper(weir.queue, onError);
  await sweeper.sweep(0);
  expect(await records.getJobState(batch)).toBe('waiting');
  await Promise.all([sweeper.close(), records.close(), drop(batch)]);
});

test('a batch whose job was never added, because the API died in between, is swept up and recorded', async () => {
  await stage(await eventsOf(40));
  const worker = await weir.startWorker();
  await weir.swept();
  expect(await counted(weir, meter.id)).toEqual({ events: 40, sum: '40' });
  await expectRollupsToEqualEvents(weir.pool);
  await worker.close();
});

test('nor does it wait for a machine whose clock was an hour ahead when it staged or delayed something', async () => {
  const hour = 3_600_000;
  const { prefix } = weir.keys;
  const [orphan, delayed] = [await eventsOf(2), await eventsOf(3)];
  await weir.redis.zadd(weir.keys.staged, Date.now() + hour, await stage(orphan));
  const batch = await stage(delayed);
  const records = new Queue(RECORD_QUEUE, { connection: weir.redis, prefix });
  await records.add(RECORD_QUEUE, { batch }, { ...recordJobOptions(batch), delay: hour });
  const duties = new Queue(MAINTENANCE_QUEUE, { connection: weir.redis, prefix });
  await duties.removeJobScheduler('sweep');
  await duties.upsertJobScheduler('sweep', { every: 250, startDate: Date.now() + hour }, { name: 'sweep', data: {} });
  expect((await duties.getJobScheduler('sweep'))?.next).toBeGreaterThan(Date.now() + hour / 2);
  const worker = await weir.startWorker();
  await weir.swept();
  for (const events of [orphan, delayed]) {
    const total = { events: events.length, sum: String(events.length) };
    expect(await counted(weir, events[0]?.meter_id ?? '')).toEqual(total);
  }
  await worker.close();
  await records.close();
  await duties.close();
});
