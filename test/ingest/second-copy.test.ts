// REDIS_COPIES=2: what was answered is on a replica too, behind real Sentinels.

import { LOOKUP_MS_MAX } from '@weir/api/serve';
import { recordBatch } from '@weir/db/record-batch';
import { DIRECT_MS_MAX } from '@weir/db/record-directly';
import { setCountsAside } from '@weir/queue/accepted-counts';
import { admit } from '@weir/queue/admit';
import { findRecorded, noteRecorded } from '@weir/queue/batches';
import { writeClaims } from '@weir/queue/claims';
import { disconnect, openProducer, openWorker, untilReady } from '@weir/queue/connection';
import { findQueuedSinceAtMost, isAllRecorded } from '@weir/queue/oldest-staged';
import { readWaiting } from '@weir/queue/read-waiting';
import { NotCopied } from '@weir/queue/redis-away';
import { readRedisPolicy } from '@weir/queue/redis-policy';
import { RECORD_QUEUE, recordJobOptions } from '@weir/queue/record-jobs';
import type { SecondCopy } from '@weir/queue/second-copy';
import { stagedEvents, stagedText } from '@weir/queue/staged';
import type { StagedEvent } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import { createLog } from '@weir/shared/log';
import { openConsumer } from '@weir/worker/consume';
import { NotAcknowledged, persist } from '@weir/worker/persist';
import { buildWorkerMetrics } from '@weir/worker/worker-metrics';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { findInTables, performAllMoves } from '../support/erasing.ts';
import { signUp, until, type Answer, type Organization, type RequestOptions } from '../support/harness.ts';
import { openStoreEdges } from '../support/store-edges.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { openRedisTrio, type RedisTrio } from '../support/redis-trio.ts';
import { ownWeir } from '../support/use-weir.ts';

let trio: RedisTrio;
beforeAll(async () => {
  trio = await openRedisTrio();
});
/** After the APIs that use it have closed. */
afterAll(() => trio?.close());

/** All APIs of one database have one Redis: each tells it of events that were recorded directly. */
const weir = ownWeir(() => ({ lookupMsMax: LOOKUP_MS_MAX, withWorker: false, api: { REDIS_URL: trio.url } }));
let admin: Organization;
let meter: { id: string; token: string };
let apiKey: string;
let baseUrl: string;

beforeAll(async () => {
  baseUrl = weir.baseUrl;
  admin = await signUp({ ...weir, request });
  [meter, apiKey] = await Promise.all([admin.createMeter('SUM'), admin.createKey()]);
});
afterEach(() => trio.replication.heal());

function request(method: string, path: string, options?: RequestOptions): Promise<Answer> {
  return weir.request(method, path, { baseUrl, ...options });
}
const track = (idempotencyKey: string, customer = 'acme') =>
  request('POST', '/api/v1/sdk/track', {
    apiKey,
    body: { meter_token: meter.token, customer_external_id: customer, quantity: 1, idempotency_key: idempotencyKey },
  });
/** How many of these events are in Postgres. */
const recorded = async (ids: string[]) =>
  (await weir.pool.query('SELECT FROM events WHERE id = ANY ($1::uuid[])', [ids])).rowCount;
/** The events that wait on one of the two. */
const stagedOn = async (redis: Redis) => {
  const batches = await redis.zrange(weir.keys.staged, 0, '-1');
  const flushes = await Promise.all(batches.map((batch) => redis.lrange(weir.keys.batch(batch), 0, -1)));
  return stagedEvents(flushes.flat());
};
const isBack = async () => (await request('GET', '/readyz')).body.way === 'redis';
const holdReplication = () => trio.replication.silence(['forth', 'back']);
/** Begins until Redis was asked: where the machine is slow, a replica may have acknowledged something too late just before. */
async function throughRedis<T>(
  name: string,
  begin: (key: string) => Promise<T>,
  isSeen: (begun: T) => Promise<boolean>,
) {
  for (let n = 0; ; n += 1) {
    await trio.replication.heal();
    await until(isBack, 'events go through Redis');
    const begun = await begin(`${name}-${n}`);
    if (await isSeen(begun)) return begun;
  }
}
const eventOf = (more: Partial<StagedEvent> = {}): StagedEvent => {
  const [id, timestamp] = [newId(), new Date().toISOString()];
  const of = { organization_id: admin.id, meter_id: meter.id, customer_external_id: 'acme' };
  return { id, ...of, aggregation: 'SUM', quantity: '1', timestamp, ...more };
};
/** As it is admitted by Redis, with the epoch that this has. */
const candidateOf = async (event: StagedEvent) => {
  const epoch = (await trio.primary.get(weir.keys.epoch)) ?? '';
  const sender = { organizationId: admin.id, apiKeyId: newId(), epoch };
  return { id: event.id, event: stagedText(event), sender, claim: null };
};
const stage = async (event: StagedEvent, batch = newId()) => {
  await admit({ redis: trio.primary, keys: weir.keys }, batch, [await candidateOf(event)], 60);
  return batch;
};
/** Records batches of the trio as a worker does, for one test, and so many of them at once. */
async function openPersist(batchesAtOnce = 2) {
  const queue = openWorker({ url: trio.url, prefix: weir.keys.prefix, copies: 2 }, () => {}, batchesAtOnce);
  const database = openTestDatabase(weir);
  onTestFinished(async () => {
    disconnect(queue);
    await database.close();
  });
  await untilReady(queue, 5_000);
  const work = (batch: string) => persist({ database, queue, ownership: { check: () => Promise.resolve() } }, batch);
  const isDone = (batch: string) =>
    work(batch).then(
      () => true,
      () => false,
    );
  const untilDone = (batch: string) => until(() => isDone(batch), 'the replica acknowledges');
  return { queue, database, work, untilDone };
}
/** Connections of APIs: Sentinels have names, and the replica is one. */
const countClients = async () =>
  String(await trio.primary.client('LIST', 'TYPE', 'NORMAL'))
    .split('\n')
    .filter((line) => line.includes(' name= ')).length;

test('one copy asks no replica, and has no further connection', async () => {
  expect((await track('one-copy')).status).toBe(201);
  expect(await trio.primary.info('commandstats')).not.toContain('cmdstat_wait');
  const before = await countClients();
  const api = await weir.startApi({ REDIS_COPIES: '2', REDIS_COMMAND_TIMEOUT_MS: '900' });
  // The same as that of one copy, and one for each flush on its way.
  expect((await countClients()) - before).toBe(3);
  baseUrl = api.url;
});

test('what no replica acknowledges is recorded directly, and a deleted API key is not said to be', async () => {
  const held = await throughRedis(
    'held',
    async (key) => ({ key, id: (await track(key)).body.id as string }),
    async ({ id }) => (await recorded([id])) === 0,
  );
  const other = await request('POST', '/api/v1/api-keys', {
    session: admin.session,
    body: { name: 'other', scopes: ['usage.write'] },
  });
  holdReplication();
  const answers = [await track('new'), await track(held.key)];
  // That of the key that is held by an event of Redis alone, too: nobody knows whether that one stays.
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(await recorded(answers.map(({ body }) => body.id as string))).toBe(2);
  const revoke = () => request('DELETE', `/api/v1/api-keys/${other.body.id}`, { session: admin.session });
  const refused = await revoke();
  expect([refused.status, refused.body.detail]).toEqual([503, expect.stringContaining('REDIS_COPIES=1')]);
  await trio.replication.heal();
  await until(async () => (await revoke()).status === 204, 'the replica acknowledges again');
  expect((await track('new')).status).toBe(409);
  await until(isBack, 'events go through Redis again');
  expect(await track(held.key)).toMatchObject({ status: 409, body: { id: answers[1]?.body.id } });
});

test('counts are drained and claims told once a replica has them, and what would lose copies is said', async () => {
  const address = { url: trio.url, prefix: weir.keys.prefix, copies: 2 };
  const queue = openWorker(address, () => {});
  try {
    await untilReady(queue, 5_000);
    expect((await readRedisPolicy(queue)).policy).toEqual({});
    holdReplication();
    await expect(setCountsAside(queue)).rejects.toThrow(NotCopied);
    const claim = { eventId: newId(), organizationId: admin.id, idempotencyKey: 'recorded directly', fingerprint: '' };
    const tell = async () => writeClaims(queue, (await trio.primary.get(weir.keys.epoch)) ?? '', [claim], 60);
    await expect(tell()).rejects.toThrow(NotCopied);
    await trio.replication.heal();
    const isTold = () =>
      tell().then(
        () => true,
        () => false,
      );
    await until(isTold, 'the replica acknowledges');
    expect((await setCountsAside(queue))?.counts).toMatchObject([{ organizationId: admin.id }]);
    await trio.primary.config('SET', 'min-replicas-to-write', 1);
    expect((await readRedisPolicy(queue)).policy.warn).toContain('min-replicas-to-write');
    await trio.primary.config('SET', 'min-replicas-to-write', 0);
  } finally {
    disconnect(queue);
  }
  const alone = openProducer({ ...address, url: weir.env['REDIS_URL'] ?? '' }, 900, () => {});
  await untilReady(alone, 5_000);
  expect((await readRedisPolicy(alone)).policy.warn).toMatch(/REDIS_COPIES is 2, .* no replica/);
  disconnect(alone);
});

test('what a worker finds on a Redis that no replica follows stays there, and is accepted without it too', async () => {
  await until(isBack, 'events go through Redis');
  const { work, untilDone } = await openPersist();
  for (const batch of await trio.primary.zrange(weir.keys.staged, 0, '-1')) await work(batch);
  const direct = await throughRedis(
    'recorded directly',
    async (key) => {
      holdReplication();
      return (await track(key)).body.id as string;
    },
    async () => (await trio.primary.zcard(weir.keys.staged)) === 1,
  );
  // Of one whose API died, nobody else knows.
  const alone = eventOf();
  await stage(alone);

  const ids = [direct, alone.id];
  const counted = async () =>
    (await weir.pool.query('SELECT FROM perhaps_staged_events WHERE id = ANY ($1::uuid[])', [ids])).rowCount;
  const batches = await trio.primary.zrange(weir.keys.staged, 0, '-1');
  expect(batches).toHaveLength(2);
  for (let delivery = 1; delivery <= 2; delivery += 1)
    await Promise.all(batches.map((batch) => expect(work(batch)).rejects.toThrow(NotAcknowledged)));
  // Redis could be gone with its counts now.
  expect([await recorded(ids), await counted()]).toEqual([2, 2]);
  await trio.replication.heal();
  await until(async () => (await trio.primary.info('replication')).includes('state=online'), 'the replica follows');
  for (const batch of batches) await untilDone(batch);
  expect([await recorded(ids), await counted(), await trio.primary.zcard(weir.keys.staged)]).toEqual([2, 0, 0]);

  // Of an organization that is not there nothing is kept, this way either.
  const stranger = eventOf({ organization_id: newId() });
  const batch = await stage(stranger);
  holdReplication();
  await expect(work(batch)).rejects.toThrow(NotAcknowledged);
  expect((await weir.pool.query('SELECT FROM rejected_events WHERE id = $1', [stranger.id])).rowCount).toBe(0);
  expect(await trio.primary.hexists(weir.keys.recorded, batch)).toBe(0);
  await trio.primary.zrem(weir.keys.staged, batch);
});

test('what is recorded and stays for want of a replica is waited for by nobody, until something joins it', async () => {
  await until(isBack, 'events go through Redis');
  const { keys } = weir;
  const { primary } = trio;
  const { queue, work, untilDone } = await openPersist();
  for (const other of await primary.zrange(keys.staged, 0, '-1')) await work(other);
  const epoch = (await primary.get(keys.epoch)) ?? '';
  // As if the replica had gone an hour ago.
  const batch = newId(Date.now() - 3_600_000);
  const join = () => stage(eventOf(), batch);
  const waits = async () => {
    const isAll = await isAllRecorded(queue, admin.id, Date.now() - 1_800_000);
    const isQueued = (await findQueuedSinceAtMost(queue, admin.id)) !== undefined;
    const { events } = await readWaiting(queue, admin.id);
    expect([!isAll, events > 0]).toEqual([isQueued, isQueued]);
    return isQueued;
  };
  holdReplication();
  await join();
  expect(await waits()).toBe(true);
  await expect(work(batch)).rejects.toThrow(NotAcknowledged);
  expect(await waits()).toBe(false);
  await join();
  expect(await waits()).toBe(true);
  // What was read of another Redis is not what is here.
  await noteRecorded(queue, { id: batch, flushes: ['this one', 'and that one'], epoch });
  expect(await waits()).toBe(true);
  await expect(work(batch)).rejects.toThrow(NotAcknowledged);
  expect(await waits()).toBe(false);
  // Postgres may have lost it, and so may Redis its note.
  await primary.set(keys.epoch, newId());
  expect(await waits()).toBe(true);
  await primary.set(keys.epoch, epoch);
  expect(await waits()).toBe(false);
  await primary.hdel(keys.recorded, batch);
  expect(await waits()).toBe(true);
  await expect(work(batch)).rejects.toThrow(NotAcknowledged);
  expect(await waits()).toBe(false);

  await trio.replication.heal();
  await untilDone(batch);
  expect(await primary.exists(keys.staged, keys.recorded, keys.waiting)).toBe(0);
});

test('an erasure that is done while no replica is there is undone by no batch that comes again', async () => {
  // It would tell Redis of claims, whatever the replica does.
  await weir.api.close();
  await until(isBack, 'events go through Redis');
  const { queue, database, work, untilDone } = await openPersist();
  await recordBatch(database, [eventOf({ idempotency_key: 'held by this' })]);
  holdReplication();
  const ada = { customer_external_id: 'ada', idempotency_key: 'ada-rejected' };
  const rejected = await stage(eventOf({ ...ada, aggregation: 'UNIQUE_COUNT' }));
  const batches = [rejected, await stage(eventOf({ idempotency_key: 'held by this', quantity: '2' }))];
  const deliver = () => Promise.all(batches.map((batch) => expect(work(batch)).rejects.toThrow(NotAcknowledged)));
  await deliver();
  // Of an event whose key another one holds nothing is written yet.
  expect([...(await findRecorded(queue, batches))]).toEqual([rejected]);
  expect((await track('ada-claimed', 'ada')).status).toBe(201);
  const asked = { session: admin.session, body: { customer_external_id: 'ada' } };
  expect((await request('POST', '/api/v1/erasures', asked)).status).toBe(202);
  await performAllMoves(database);
  expect(await findInTables(weir, '"ada')).toEqual([]);
  await deliver();
  await trio.replication.heal();
  for (const batch of batches) await untilDone(batch);
  expect(await findInTables(weir, '"ada')).toEqual([]);
});

test('that no replica acknowledges batches is told of once, however many they are and often they come', async () => {
  await until(isBack, 'events go through Redis');
  const { queue, database, untilDone } = await openPersist(3);
  holdReplication();
  const batches = await Promise.all([1, 2, 3].map(() => stage(eventOf())));
  const lines: string[] = [];
  const jobs = new Queue(RECORD_QUEUE, { connection: trio.primary, prefix: weir.keys.prefix });
  for (const batch of batches) await jobs.add(RECORD_QUEUE, { batch }, recordJobOptions(batch));
  const address = { url: trio.url, prefix: weir.keys.prefix, copies: 2 };
  const deps = { database, queue, ownership: { check: () => Promise.resolve() } };
  const log = createLog('test', 'info', [], { write: (line) => void lines.push(line) });
  const consumer = openConsumer(address, deps, {
    concurrency: 3,
    hasStandby: () => true,
    log,
    metrics: buildWorkerMetrics(),
  });
  const attempts = async () =>
    (await Promise.all(batches.map((batch) => jobs.getJob(batch)))).map((job) => job?.attemptsMade ?? 0);
  try {
    await until(async () => (await attempts()).every((made) => made >= 2), 'each is tried twice');
  } finally {
    // Those that are in hand once more have not to wait for the replica until they give up.
    await trio.replication.heal();
    await consumer.close();
  }
  expect(lines.filter((line) => line.includes('no replica of Redis acknowledges'))).toHaveLength(1);
  for (const batch of batches) await untilDone(batch);
  await jobs.close();
});

test('Redis refuses writes behind a flush: it has the flush, and a worker reads it from a full Redis', async () => {
  await until(isBack, 'events go through Redis');
  const { queue, work } = await openPersist();
  const secondCopy = queue.secondCopy as SecondCopy;
  try {
    const staged = () => trio.primary.zcard(weir.keys.staged);
    /** Admits an event, and sets Redis between the script and what is written behind it. */
    const admitBefore = async (setting: string, value: number) => {
      const candidate = await candidateOf(eventOf());
      const written: SecondCopy['written'] = (send) =>
        secondCopy.written((redis) => {
          const reply = send(redis);
          void redis.config('SET', setting, value);
          return reply;
        });
      return await admit({ ...queue, secondCopy: { ...secondCopy, written } }, newId(), [candidate], 60);
    };
    const before = await staged();
    await expect(admitBefore('min-replicas-to-write', 5)).rejects.toMatchObject({ fields: { outcome: 'unknown' } });
    await trio.primary.config('SET', 'min-replicas-to-write', 0);
    expect(await admitBefore('maxmemory', 1)).toEqual([{ outcome: 'staged' }]);
    const batches = await trio.primary.zrange(weir.keys.staged, 0, '-1');
    expect(batches).toHaveLength(before + 2);
    for (const batch of batches) await work(batch);
    expect(await staged()).toBe(0);
  } finally {
    await trio.primary.config('SET', 'maxmemory', 0);
    await trio.primary.config('SET', 'min-replicas-to-write', 0);
  }
});

test('Postgres is away, then the replica: what is on its way is unknown, and others are refused at once', async () => {
  const edges = await openStoreEdges(weir);
  const { DATABASE_URL } = edges.env;
  const api = await weir.startApi({ DATABASE_URL, REDIS_COPIES: '2', REDIS_COMMAND_TIMEOUT_MS: '900' });
  const before = baseUrl;
  baseUrl = api.url;
  try {
    // It knows the API key and the meter from now on.
    await throughRedis('known', track, async ({ body }) => (await recorded([body.id])) === 0);
    await edges.postgres.refuse();
    // Nobody is asked who they are any more.
    await until(async () => (await request('GET', '/api/v1/meters')).status === 503, 'Postgres is known to be away');
    const staged = async () => (await stagedOn(trio.primary)).length;
    const sent = await throughRedis(
      'staged alone',
      async (key) => {
        const count = await staged();
        holdReplication();
        return { count, answer: await track(key) };
      },
      async ({ answer }) => answer.body.outcome === 'unknown',
    );
    for (const key of ['second', 'third'])
      expect(await track(key)).toMatchObject({ status: 503, body: { outcome: 'not_accepted' } });
    expect((await staged()) - sent.count).toBe(1);
    expect((await request('GET', '/readyz')).status).toBe(503);
    await throughRedis('back', track, async ({ status }) => status === 201);
  } finally {
    baseUrl = before;
    await edges.postgres.heal();
    await api.close();
    await edges.close();
  }
});

/** When a request was sent, and when it was answered. */
interface Span {
  began: number;
  ended: number;
}

test('a primary that dies under load takes no event along that was answered 201', async () => {
  await until(isBack, 'events go through Redis');
  trio.replication.slowDown(30, 0);
  const acknowledged = new Set<string>();
  const refused: Span[] = [];
  const slow: Span[] = [];
  let isOver = false;
  const client = async (name: number) => {
    for (let n = 0; !isOver; n += 1) {
      const began = performance.now();
      const answer = await track(`load-${name}-${n}`);
      const span = { began, ended: performance.now() };
      if (answer.status === 201) acknowledged.add(answer.body.id);
      else refused.push(span);
      if (span.ended - began >= DIRECT_MS_MAX) slow.push(span);
    }
  };
  const clients = Array.from({ length: 20 }, (_, name) => client(name));
  await until(() => acknowledged.size > 300, 'events are accepted');
  await trio.killPrimary();
  await trio.promoted();
  isOver = true;
  await Promise.all(clients);

  const kept = new Set((await stagedOn(trio.replica)).map(({ id }) => id));
  const gone = [...acknowledged].filter((id) => !kept.has(id));
  expect(gone.length - ((await recorded(gone)) ?? 0)).toBe(0);
  // Postgres has taken what Redis did not. One that is as slow as it may not be has others refused, for a second.
  const isExcused = ({ began, ended }: Span) =>
    slow.some((one) => ended >= one.began + DIRECT_MS_MAX && began <= one.ended + 1_000);
  expect(refused.filter((span) => !isExcused(span))).toEqual([]);
});
