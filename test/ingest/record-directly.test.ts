// What an API records itself is counted once, and accepted once, whatever of it Redis has as well, and whoever comes first.

import { openDatabase, type Database } from '@weir/db/database';
import { backfillGroups } from '@weir/db/group-backfill';
import { forgetClaims, listPendingClaims } from '@weir/db/pending-claims';
import { recordBatch } from '@weir/db/record-batch';
import { recordDirectly, type DirectAnswer, type DirectEvent } from '@weir/db/record-directly';
import { admit } from '@weir/queue/admit';
import { stagedText } from '@weir/queue/staged';
import { receivedAt, type KeyClaim, type StagedEvent } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import { persist } from '@weir/worker/persist';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectBalance, makeTenant, type Tenant } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;
beforeAll(() => {
  database = openTestDatabase(weir);
});
afterAll(async () => {
  await expectRollupsToEqualEvents(weir.pool);
  await database.close();
});

interface Sending extends Tenant {
  apiKeyId: string;
  events(count: number, more?: (index: number) => Partial<StagedEvent>): DirectEvent[];
}

async function newSending(): Promise<Sending> {
  const tenant = await makeTenant(weir);
  const { rows } = await weir.pool.query('SELECT id FROM api_keys WHERE organization_id = $1', [tenant.id]);
  const apiKeyId = rows[0]?.id as string;
  return {
    ...tenant,
    apiKeyId,
    events: (count, more = () => ({})) =>
      Array.from({ length: count }, (_, index): DirectEvent => {
        const id = newId();
        const event: StagedEvent = {
          id,
          organization_id: tenant.id,
          meter_id: tenant.sum.id,
          aggregation: 'SUM',
          customer_external_id: `customer ${index % 3}`,
          quantity: '1',
          timestamp: receivedAt(id),
        };
        const made = { ...event, ...more(index) };
        return { event: made, apiKeyId, fingerprint: `${made.quantity} ${made.metadata ?? ''}` };
      }),
  };
}

/** Puts a flush to Redis as an API does. Returns its batch. */
async function stage(sending: Sending, flush: readonly DirectEvent[]): Promise<string> {
  const batch = newId();
  const epoch = (await weir.redis.get(weir.keys.epoch)) ?? '';
  const sender = { organizationId: sending.id, apiKeyId: sending.apiKeyId, epoch };
  const candidates = flush.map(({ event }) => ({ id: event.id, event: stagedText(event), sender, claim: null }));
  await admit(weir.queue, batch, candidates, 60);
  return batch;
}
const record = (flush: readonly DirectEvent[], isPerhapsStaged: boolean, from = database) =>
  recordDirectly(from, flush, { isPerhapsStaged, claimsKeys: true });
const work = (batch: string) =>
  persist({ database, queue: weir.queue, ownership: { check: () => Promise.resolve() } }, batch);
const outcomes = (answers: readonly DirectAnswer[]) => [...new Set(answers.map(({ outcome }) => outcome))];
const nothing = { accepted: 0, recorded: 0, duplicate: 0, rejected: 0, queued: 0 };
const perhapsStaged = async ({ id }: Sending) =>
  (await weir.pool.query('SELECT FROM perhaps_staged_events WHERE organization_id = $1', [id])).rowCount;

/** Some that count, one that its meter rejects, and one that Postgres does not take. */
const mixed = (sending: Sending) => [
  ...sending.events(20, (index) => (index % 2 === 0 ? { idempotency_key: `key ${index}` } : {})),
  ...sending.events(1, () => ({ meter_id: sending.users.id, aggregation: 'UNIQUE_COUNT' })),
  ...sending.events(1, () => ({ metadata: '{' })),
];
const MIXED = { ...nothing, accepted: 22, recorded: 20, rejected: 2 };

test('a flush that Redis did not take is recorded or rejected, and accepted with that', async () => {
  const sending = await newSending();
  expect(outcomes(await record(mixed(sending), false, database))).toEqual(['taken', 'rejected']);
  await expectBalance(weir, database, sending.id, MIXED);
  expect(await perhapsStaged(sending)).toBe(0);
});

test('who waits for the answer has it in time, and who does not has the events recorded', async () => {
  const sending = await newSending();
  const options = { isPerhapsStaged: false, claimsKeys: false };
  expect(outcomes(await recordDirectly(database, mixed(sending), { ...options, msMax: 0 }))).toEqual(['failed']);
  expect(outcomes(await recordDirectly(database, mixed(sending), options))).toEqual(['taken', 'rejected']);
  await expectBalance(weir, database, sending.id, MIXED);
});

test('a lock of one organization keeps its events out, and those of others are recorded', async () => {
  const slotOf = async ({ id }: Sending) =>
    (await weir.pool.query('SELECT closing_slot($1) AS slot', [id])).rows[0].slot as number;
  const held = await newSending();
  const slot = await slotOf(held);
  let other = await newSending();
  while ((await slotOf(other)) === slot) other = await newSending();
  const flush = [...held.events(20), ...other.events(20)];
  // Most of it is waited for the lock; on a busy machine the others need what is left.
  const options = { isPerhapsStaged: false, claimsKeys: true, msMax: 6_000 };
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    // As corrections of its events do.
    await holder.query('SELECT pg_advisory_xact_lock(20002, $1)', [slot]);
    const [answers, alone] = await Promise.all([
      recordDirectly(database, flush, options),
      recordDirectly(database, held.events(1), options),
    ]);
    expect([outcomes(answers.slice(0, 20)), outcomes(answers.slice(20))]).toEqual([['locked'], ['taken']]);
    expect(outcomes(alone)).toEqual(['locked']);
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
  await expectBalance(weir, database, other.id, { ...nothing, accepted: 20, recorded: 20 });
  // It has accepted the same, and no more, once there is no lock.
  expect(outcomes(await recordDirectly(database, flush.slice(0, 20), options))).toEqual(['taken']);
  await expectBalance(weir, database, held.id, { ...nothing, accepted: 20, recorded: 20 });
});

test('what was directly recorded and was staged as well is counted once, before and after a worker has it', async () => {
  const sending = await newSending();
  const flush = mixed(sending);
  const batch = await stage(sending, flush);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 22, queued: 22 });
  expect(outcomes(await record(flush, true))).toEqual(['taken', 'rejected']);
  expect(await perhapsStaged(sending)).toBe(22);
  await expectBalance(weir, database, sending.id, MIXED);
  await work(batch);
  await expectBalance(weir, database, sending.id, MIXED);
  expect(await perhapsStaged(sending)).toBe(0);
});

test('the same where the worker came first, and where it comes once more', async () => {
  const sending = await newSending();
  const flush = mixed(sending);
  const batch = await stage(sending, flush);
  await recordBatch(
    database,
    flush.map(({ event }) => event),
  );
  expect(outcomes(await record(flush, true))).toEqual(['taken', 'rejected']);
  expect(await perhapsStaged(sending)).toBe(0);
  await expectBalance(weir, database, sending.id, MIXED);
  await work(batch);
  await work(batch);
  await expectBalance(weir, database, sending.id, MIXED);
});

test('the same where both are at it at once', async () => {
  const sending = await newSending();
  const rounds = 8;
  for (let round = 0; round < rounds; round += 1) {
    const flush = sending.events(50, (index) => (index % 2 === 0 ? { idempotency_key: `${round} ${index}` } : {}));
    const batch = await stage(sending, flush);
    const [answers] = await Promise.all([record(flush, true), work(batch)]);
    expect(outcomes(answers)).toEqual(['taken']);
  }
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 50 * rounds, recorded: 50 * rounds });
});

test('the same where Redis never had it, or has it only later', async () => {
  const sending = await newSending();
  const flush = mixed(sending);
  await record(flush, true);
  await expectBalance(weir, database, sending.id, MIXED);
  const batch = await stage(sending, flush);
  await expectBalance(weir, database, sending.id, MIXED);
  await work(batch);
  await expectBalance(weir, database, sending.id, MIXED);
});

test('a flush that is recorded again, since its commit was not answered, counts once', async () => {
  const sending = await newSending();
  const flush = mixed(sending);
  for (const isPerhapsStaged of [false, false, true])
    expect(outcomes(await record(flush, isPerhapsStaged))).toEqual(['taken', 'rejected']);
  await expectBalance(weir, database, sending.id, MIXED);
});

/** The database, whose first commit is done by the test. */
function withFirstCommit(commit: (client: pg.PoolClient) => Promise<unknown>): Database {
  let isFirst = true;
  const connect = async () => {
    const client = await database.pool.connect();
    return replacing(client, 'query', (...asked: unknown[]) => {
      if (asked[0] !== 'COMMIT' || !isFirst) return Reflect.apply(client.query, client, asked) as unknown;
      isFirst = false;
      return commit(client);
    });
  };
  return { ...database, pool: replacing(database.pool, 'connect', connect) };
}

function replacing<Real extends object>(real: Real, method: keyof Real, by: (...asked: unknown[]) => unknown): Real {
  return new Proxy(real, {
    get(_, name) {
      const value: unknown = name === method ? by : Reflect.get(real, name);
      return typeof value === 'function' ? value.bind(real) : value;
    },
  });
}

test('an event that a commit without an answer has recorded is not refused, though its API key is deleted', async () => {
  const sending = await newSending();
  const unanswered = withFirstCommit(async (client) => {
    await client.query('COMMIT');
    await weir.pool.query('DELETE FROM api_keys WHERE id = $1', [sending.apiKeyId]);
    throw new Error('Connection terminated unexpectedly');
  });
  expect(outcomes(await record(sending.events(20), false, unanswered))).toEqual(['taken']);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 20, recorded: 20 });
});

test('a flush whose commit is not answered is answered in time, as one that may be taken', async () => {
  const sending = await newSending();
  const flush = sending.events(5);
  let letGo = (): void => {};
  const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
  const slow = withFirstCommit((client) => isLetGo.then(() => client.query('COMMIT')));
  const answers = await recordDirectly(slow, flush, { isPerhapsStaged: false, claimsKeys: true, msMax: 2_000 });
  letGo();
  for (const answer of answers) expect(answer).toMatchObject({ outcome: 'failed', isPerhapsTaken: true });
  expect(outcomes(await record(flush, false))).toEqual(['taken']);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 5, recorded: 5 });
});

test('a replay that waits in Redis is not taken for the event that it replays', async () => {
  const sending = await newSending();
  const [sent] = sending.events(1, () => ({ meter_id: sending.users.id, aggregation: 'UNIQUE_COUNT' }));
  if (sent === undefined) throw new Error('no event was made');
  await record([sent], true);
  const replayed: StagedEvent = { ...sent.event, metadata: '{"user_id":1}', replayed: true };
  const batch = newId();
  await admit(weir.queue, batch, [{ id: replayed.id, event: stagedText(replayed), sender: null, claim: null }], 60);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 1, rejected: 1 });
  await work(batch);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 1, recorded: 1 });
  // And one that goes there directly counts as little.
  expect(outcomes(await record([{ ...sent, event: replayed, apiKeyId: null }], false))).toEqual(['taken']);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 1, recorded: 1 });
});

test('a replay that is given up in the middle leaves the event as it was: rejected and not recorded', async () => {
  const sending = await newSending();
  const [sent] = sending.events(1, () => ({ meter_id: sending.users.id, aggregation: 'UNIQUE_COUNT' }));
  if (sent === undefined) throw new Error('there is an event');
  await record([sent], false);
  const replayed = {
    ...sent,
    apiKeyId: null,
    event: { ...sent.event, metadata: '{"user_id":1}', replayed: true as const },
  };
  const where = async () =>
    (
      await weir.pool.query(
        'SELECT (SELECT count(*)::int FROM events WHERE id = $1) AS recorded, (SELECT count(*)::int FROM rejected_events WHERE id = $1) AS rejected',
        [sent.event.id],
      )
    ).rows[0];
  const impatient = openDatabase(weir.databaseUrl, {
    connectionsMax: 2,
    statementTimeoutMs: 300,
    onConnectionError: () => {},
  });
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM rejected_events WHERE id = $1 FOR UPDATE', [sent.event.id]);
    expect(outcomes(await record([replayed], false, impatient))).toEqual(['failed']);
    expect(await where()).toEqual({ recorded: 0, rejected: 1 });
    await holder.query('ROLLBACK');
    expect(outcomes(await record([replayed], false, impatient))).toEqual(['taken']);
    expect(await where()).toEqual({ recorded: 1, rejected: 0 });
    await expectBalance(weir, database, sending.id, { ...nothing, accepted: 1, recorded: 1 });
  } finally {
    holder.release();
    await impatient.close();
  }
});

test('an event whose key another one holds is held by that one, with the same payload or another', async () => {
  const sending = await newSending();
  const [first] = sending.events(1, () => ({ idempotency_key: 'once' }));
  if (first === undefined) throw new Error('no event was made');
  const { id } = first.event;
  const same = () => sending.events(1, () => ({ idempotency_key: 'once' }));
  const other = () => sending.events(1, () => ({ idempotency_key: 'once', quantity: '2' }));
  const held = { outcome: 'held', id };
  // Within one flush, and after it.
  expect(await record([first, ...same(), ...other()], false)).toEqual([
    { outcome: 'taken' },
    { ...held, isSamePayload: true },
    { ...held, isSamePayload: false },
  ]);
  expect(await record([...other(), ...same()], false)).toEqual([
    { ...held, isSamePayload: false },
    { ...held, isSamePayload: true },
  ]);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 1, recorded: 1 });
});

test('of one key in many flushes at once one is taken, and the others are held by it', async () => {
  const sending = await newSending();
  const flushes = Array.from({ length: 6 }, () => sending.events(3, (index) => ({ idempotency_key: `same ${index}` })));
  const answers = await Promise.all(flushes.map((flush) => record(flush, false)));
  for (let key = 0; key < 3; key += 1) {
    const ofKey = answers.map((all) => all[key]);
    expect(ofKey.filter((answer) => answer?.outcome === 'taken').length).toBe(1);
    expect(new Set(ofKey.flatMap((answer) => (answer?.outcome === 'held' ? [answer.id] : []))).size).toBe(1);
  }
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 3, recorded: 3 });
});

test('an event of a deleted API key leaves nothing, and those of others in its flush are taken', async () => {
  const [gone, there] = [await newSending(), await newSending()];
  await weir.pool.query('DELETE FROM api_keys WHERE id = $1', [gone.apiKeyId]);
  const answers = await record([...gone.events(2), ...mixed(there), ...mixed(gone)], false);
  expect(answers.map(({ outcome }) => outcome)).toEqual([
    ...Array.from({ length: 2 }, () => 'revoked'),
    ...Array.from({ length: 20 }, () => 'taken'),
    ...Array.from({ length: 2 }, () => 'rejected'),
    ...Array.from({ length: 22 }, () => 'revoked'),
  ]);
  await expectBalance(weir, database, there.id, MIXED);
  for (const table of ['events', 'rejected_events', 'accepted_events', 'perhaps_staged_events', 'pending_claims'])
    expect((await weir.pool.query(`SELECT FROM ${table} WHERE organization_id = $1`, [gone.id])).rowCount).toBe(0);
});

test('a meter that is grouped anew meanwhile is recorded by its new keys', async () => {
  const sending = await newSending();
  const grouped = await sending.createMeter('SUM', undefined, ['region']);
  const flush = () =>
    sending.events(2, (index) => ({ meter_id: grouped.id, metadata: `{"region":"${index}","plan":"${index}"}` }));
  expect(outcomes(await record(flush(), false, database))).toEqual(['taken']);
  const body = { metadata_keys: ['region', 'plan'] };
  const changed = await weir.request('PATCH', `/api/v1/meters/${grouped.id}`, { session: sending.session, body });
  expect(changed.status).toBe(200);
  expect(outcomes(await record(flush(), false, database))).toEqual(['taken']);
  expect(await backfillGroups(database, 10_000)).toBe(1);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 4, recorded: 4 });
});

test('an event of a meter that is gone is accepted and rejected', async () => {
  const sending = await newSending();
  const flush = [...sending.events(1, () => ({ meter_id: newId() })), ...sending.events(1)];
  expect(outcomes(await record(flush, false))).toEqual(['rejected', 'taken']);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 2, recorded: 1, rejected: 1 });
});

test('while Postgres is away all of a flush has failed, and nothing of it is known to be taken', async () => {
  const sending = await newSending();
  const away = openTestDatabase({ ...weir, databaseUrl: 'postgres://weir@127.0.0.1:1/weir' });
  const answers = await record(mixed(sending), false, away);
  expect(answers.length).toBe(22);
  for (const answer of answers) expect(answer).toMatchObject({ outcome: 'failed', isPerhapsTaken: false });
  await away.close();
});

test('a key is claimed for Redis by the event that has it, also by one that its meter rejects', async () => {
  const sending = await newSending();
  // An API tells Redis of claims as soon as it sees them: so this is the last test, and without one.
  await weir.api.close();
  const users = { meter_id: sending.users.id, aggregation: 'UNIQUE_COUNT' } as const;
  const valid = (key: string, metadata = '{"user_id":1}') =>
    sending.events(1, () => ({ ...users, idempotency_key: key, metadata }));
  const rejected = (key: string) => sending.events(1, () => ({ ...users, idempotency_key: key, metadata: '{}' }));
  const idOf = ([sent]: DirectEvent[]) => sent?.event.id ?? '';
  const [first, taken] = [rejected('bad'), valid('good')];
  const heldBy = (holder: DirectEvent[], isSamePayload: boolean) => ({
    outcome: 'held',
    id: idOf(holder),
    isSamePayload,
  });
  // Within a flush, those that the meter takes come first.
  expect(await record([...first, ...rejected('bad'), ...taken, ...rejected('good'), ...valid('good')], false)).toEqual([
    { outcome: 'rejected' },
    heldBy(first, true),
    { outcome: 'taken' },
    heldBy(taken, false),
    heldBy(taken, true),
  ]);
  const later = [
    ...rejected('bad'),
    ...valid('bad'),
    ...valid('bad'),
    ...rejected('good'),
    ...valid('good', '{"user_id":2}'),
  ];
  const answers = [
    heldBy(first, true),
    heldBy(first, false),
    heldBy(first, false),
    heldBy(taken, false),
    heldBy(taken, false),
  ];
  expect(await record(later, false)).toEqual(answers);
  const claims = async () => {
    const all: KeyClaim[] = [];
    for (;;) {
      const page = await listPendingClaims(database.pool, { after: all.at(-1), limit: 1 });
      if (page.length === 0) return all.filter((each) => each.organizationId === sending.id);
      all.push(...page);
    }
  };
  expect((await claims()).map(({ eventId }) => eventId).toSorted()).toEqual([idOf(first), idOf(taken)].toSorted());
  // What is recorded holds its key for ever, whatever Redis is told.
  await forgetClaims(database.pool, await claims());
  expect(await claims()).toEqual([]);
  expect(await record([...rejected('good'), ...rejected('good')], false)).toEqual([
    heldBy(taken, false),
    heldBy(taken, false),
  ]);
  expect(await claims()).toEqual([]);
  await expectBalance(weir, database, sending.id, { ...nothing, accepted: 2, recorded: 1, rejected: 1 });
});
