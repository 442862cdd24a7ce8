// What processes know to record by is of one version in each slot of organizations. A change holds up nobody of another slot, and has
// nobody read again what is known of those; and it is seen by processes of the version before, as theirs are seen here.

import { insertAlert } from '@weir/db/alerts/alerts';
import type { Database, Queries } from '@weir/db/database';
import { RECORDING_LOCK } from '@weir/db/advisory-locks';
import { announceChange, learnForRecording } from '@weir/db/known-for-recording';
import { recordEvents } from '@weir/db/record';
import { recordBatch } from '@weir/db/record-batch';
import type { StagedEvent } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { signUp, until } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

interface Owner {
  id: string;
  meterId: string;
}

const weir = ownWeir({ withWorker: false, unobserved: true });
let database: Database;
/** They are in different slots. */
let one: Owner;
let other: Owner;

async function makeOwner(): Promise<Owner> {
  const admin = await signUp(weir);
  return { id: admin.id, meterId: (await admin.createMeter('SUM')).id };
}

const slotOf = async ({ id }: Owner) => (await weir.pool.query('SELECT closing_slot($1) AS slot', [id])).rows[0].slot;

beforeAll(() => {
  database = openTestDatabase(weir);
});
beforeEach(async () => {
  one = await makeOwner();
  do other = await makeOwner();
  while ((await slotOf(other)) === (await slotOf(one)));
});
afterAll(() => database.close());

const eventOf = ({ id, meterId }: Owner): StagedEvent => ({
  id: newId(),
  organization_id: id,
  meter_id: meterId,
  aggregation: 'SUM',
  customer_external_id: 'acme',
  quantity: '1',
  timestamp: '2025-07-01T12:00:00Z',
});
const record = (...owners: Owner[]) =>
  recordEvents(
    database.pool,
    owners.map((owner) => ({ event: eventOf(owner), countsUniqueValues: false })),
  );
const inTransaction = <Value>(work: (transaction: Queries) => Promise<Value>) =>
  database.kysely.transaction().execute(work);
const makeAlert = ({ id, meterId }: Owner) =>
  inTransaction((transaction) =>
    insertAlert(transaction, id, { name: 'Alert', meter_id: meterId, customer_id: null, thresholds: ['5'] }),
  );
const countOf = async (table: 'events' | 'touched_usage', { id }: Owner) =>
  (await weir.pool.query(`SELECT FROM ${table} WHERE organization_id = $1`, [id])).rowCount;

test('a change that is under way holds up no change of another slot, and no event of it', async () => {
  await inTransaction(async (ofOther) => {
    await announceChange(ofOther, other.id);
    await makeAlert(one);
    await record(one);
    // Also an event of the same organization: what it is recorded by is not changed yet.
    await record(other);
  });
  expect([await countOf('touched_usage', one), await countOf('events', other)]).toEqual([1, 1]);
});

test('while a change waits for another one of its slot, events are recorded', async () => {
  let making: Promise<unknown> | undefined;
  await inTransaction(async (first) => {
    await announceChange(first, one.id);
    making = makeAlert(one);
    // What it says is told below.
    making.catch(() => {});
    await until(async () => {
      const { rowCount } = await weir.pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rowCount === 1;
    }, 'the alert waits');
    await record(one);
  });
  await making;
  await record(one);
  expect([await countOf('events', one), await countOf('touched_usage', one)]).toEqual([2, 1]);
});

test('after a change nothing is read of organizations of other slots', async () => {
  await weir.pool.query(
    `INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type, metadata_keys)
     SELECT $1, gen_random_uuid(), 'Meter', gen_random_uuid()::text, 'SUM', '{region}' FROM generate_series(1, 5000)`,
    [other.id],
  );
  await inTransaction((transaction) => announceChange(transaction, one.id));
  const read = await rowsReadBy(weir, async (observed) => {
    expect((await recordBatch(observed, [eventOf(one)])).recorded).toBe(1);
  });
  expect(read).toBeLessThan(300);
});

test('what is learnt of one slot leaves what is known of the others, also in one batch', async () => {
  await makeAlert(one);
  await record(one, other);
  await makeAlert(other);
  await record(one, other);
  await inTransaction((transaction) => announceChange(transaction, one.id));
  await record(one);
  await record(other);
  expect([await countOf('touched_usage', one), await countOf('touched_usage', other)]).toEqual([3, 2]);
});

test('an alert that a process of the version before makes is known to the next event', async () => {
  await learnForRecording(database.pool);
  const before = await weir.pool.connect();
  await before.query('BEGIN');
  await before.query(
    `INSERT INTO alerts (organization_id, id, name, meter_id, thresholds) VALUES ($1, $2, 'Alert', $3, '{5}')`,
    [one.id, newId(), one.meterId],
  );
  await before.query('SELECT pg_advisory_xact_lock($1::int, closing_slot($2))', [RECORDING_LOCK, one.id]);
  await before.query('UPDATE metadata_keys_version SET version = gen_random_uuid()');
  await before.query('COMMIT');
  before.release();
  await record(one, other);
  expect([await countOf('touched_usage', one), await countOf('touched_usage', other)]).toEqual([1, 0]);
});

test('a change that is made here has a process of the version before learn anew', async () => {
  const version = async () => (await weir.pool.query('SELECT version FROM metadata_keys_version')).rows[0].version;
  const ask = (known: string | null) =>
    weir.pool.query('SELECT number FROM closings_of(ARRAY[$1::uuid], $2::uuid)', [one.id, known]);
  const known = await version();
  await ask(known);
  expect(await version()).toBe(known);
  await makeAlert(other);
  await expect(ask(known)).rejects.toMatchObject({ code: 'WK001' });
  await ask(await version());
  // It holds the slots of what it records.
  await ask(null);
});
