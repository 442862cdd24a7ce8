// While the usage of a meter is grouped by other keys than before: nobody's recording waits, whatever is recorded meanwhile is
// counted once, and so it is when keys change again or the work is cut off.

import type { Database } from '@weir/db/database';
import { backfillGroups } from '@weir/db/group-backfill';
import { changeMetadataKeys } from '@weir/db/metadata-keys';
import { recordEvents, type RecordableEvent } from '@weir/db/record';
import { compareUnit } from '@weir/db/rollup-check';
import { newId } from '@weir/shared/ids';
import type { AggregationType } from '@weir/shared/meter';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { signUp, until, type Organization } from '../support/harness.ts';
import { attachMonth, detachMonth, makeMonthsSince, recordUsed } from '../support/months.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { untilAvailable } from '../support/until-available.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;
let admin: Organization;
beforeAll(async () => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());
beforeEach(async () => {
  admin = await signUp(weir);
});

interface Draft {
  meterId: string;
  organizationId?: string;
  customer?: string;
  at?: string;
  metadata?: Record<string, unknown>;
  isUnique?: boolean;
}

function eventOf({
  meterId,
  organizationId = admin.id,
  customer = 'acme',
  at,
  metadata,
  isUnique,
}: Draft): RecordableEvent {
  const event = {
    id: newId(),
    organization_id: organizationId,
    meter_id: meterId,
    customer_external_id: customer,
    quantity: '1.5',
    timestamp: at ?? '2026-10-05T10:20:00.000Z',
    metadata: JSON.stringify(metadata ?? {}),
  };
  return { event, countsUniqueValues: isUnique === true };
}

/** Events of some customers over some hours of two days, most of them in one hour of one customer. */
function eventsOf(meterId: string, count: number, isUnique = false): RecordableEvent[] {
  return Array.from({ length: count }, (_, n) =>
    eventOf({
      meterId,
      isUnique,
      customer: n % 3 === 0 ? `customer ${n % 7}` : 'Émile & fils',
      at: new Date(Date.UTC(2026, 9, 5, n % 3 === 0 ? n % 40 : 10, n % 60)).toISOString(),
      metadata: { user_id: `u${n % 11}`, model: `m${n % 5}`, region: n % 2 === 0 ? 'eu' : undefined, request: n },
    }),
  );
}

const record = (events: RecordableEvent[]) => recordEvents(database.pool, events);
const changeKeys = (meterId: string, keys: string[]) =>
  database.kysely.transaction().execute((transaction) => changeMetadataKeys(transaction, admin.id, meterId, keys));
const stagesOf = async (meterId: string): Promise<string[]> => {
  const { rows } = await weir.pool.query('SELECT stage FROM metadata_backfills WHERE meter_id = $1', [meterId]);
  return rows.map(({ stage }) => stage);
};
const groupedOf = async (meterId: string): Promise<number> => {
  const { rows } = await weir.pool.query(
    'SELECT coalesce(sum(event_count), 0)::int AS events FROM meter_group_quarters WHERE meter_id = $1',
    [meterId],
  );
  return rows[0].events;
};

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: weir.databaseUrl });
  await client.connect();
  return client;
}

/** Statements that wait for the lock of a closing, as who records does while it is held off. */
async function heldOff(): Promise<number> {
  const { rows } = await weir.pool.query(
    `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = $1 AND classid = 20002 AND NOT granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    ['advisory'],
  );
  return rows[0].n;
}

/** Whether something is done without having waited for the lock of a closing. */
async function isHeldOff(work: Promise<unknown>): Promise<boolean> {
  let isDone = false;
  let isWaiting = false;
  void work.finally(() => (isDone = true)).catch(() => {});
  await until(async () => {
    isWaiting ||= (await heldOff()) > 0;
    return isDone || isWaiting;
  }, 'it is done, or waits');
  return isWaiting;
}

/** A meter of another organization whose recording the same lock may hold off. */
async function meterOfTheSameSlot(): Promise<{ organizationId: string; meterId: string }> {
  const slotOf = async (id: string): Promise<number> =>
    (await weir.pool.query('SELECT closing_slot($1) AS slot', [id])).rows[0].slot;
  const slot = await slotOf(admin.id);
  let organizationId = newId();
  while ((await slotOf(organizationId)) !== slot) organizationId = newId();
  const other = await signUp(weir);
  const { id: meterId } = await other.createMeter('SUM');
  // Of an organization it is the id alone that decides which lock is its own.
  await weir.pool.query(`INSERT INTO organizations (id, name) VALUES ($1, 'of the same slot')`, [organizationId]);
  const copied = newId();
  await weir.pool.query(
    `INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type)
     SELECT $1, $2, name, $3, aggregation_type FROM meters WHERE id = $4`,
    [organizationId, copied, newId(), meterId],
  );
  return { organizationId, meterId: copied };
}

test('while a day of a meter is grouped anew, its events are recorded, and those of everybody else', async () => {
  const { id: meterId } = await admin.createMeter('SUM');
  const { id: otherId } = await admin.createMeter('SUM');
  const ofOthers = await meterOfTheSameSlot();
  await record(eventsOf(meterId, 60));
  await changeKeys(meterId, ['model']);
  // Stops the work where it keeps a combination, which those who record wait for in no other meter.
  const locker = await connect();
  await locker.query('SELECT pg_advisory_lock(20005, uuid_hash($1::uuid))', [meterId]);
  let isOver = false;
  const work = (async () => {
    while (!isOver) await backfillGroups(database, 1).catch(() => {});
  })();
  const isAtWork = async () =>
    (
      await weir.pool.query(
        'SELECT FROM pg_locks WHERE locktype = $1 AND classid = 20005 AND NOT granted AND objid::bigint = uuid_hash($2::uuid)::bigint & 4294967295',
        ['advisory', meterId],
      )
    ).rowCount === 1;
  try {
    await until(isAtWork, 'the work is under way');
    for (const events of [
      eventsOf(meterId, 20),
      [eventOf({ meterId: otherId })],
      [eventOf(ofOthers)],
      [eventOf({ meterId }), eventOf({ meterId: otherId }), eventOf(ofOthers)],
    ]) {
      const recorded = record(events);
      expect(await isHeldOff(recorded)).toBe(false);
      expect(await recorded).toMatchObject({ recorded: events.length });
    }
  } finally {
    isOver = true;
    await locker.end();
    await work;
  }
  await backfillGroups(database, 60_000);
  expect(await groupedOf(meterId)).toBe(81);
  await expectRollupsToEqualEvents(weir.pool);
});

test('a change of keys that waits for its meter holds nobody off meanwhile', async () => {
  const { id: meterId } = await admin.createMeter('SUM');
  await record(eventsOf(meterId, 3));
  const holder = await connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM meters WHERE id = $1 FOR SHARE', [meterId]);
  const changed = untilAvailable(() => changeKeys(meterId, ['model']));
  await until(async () => {
    const { rowCount } = await weir.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rowCount === 1;
  }, 'the change waits');
  const recorded = record([eventOf({ meterId })]);
  try {
    expect(await isHeldOff(recorded)).toBe(false);
  } finally {
    await holder.end();
    await Promise.all([recorded, changed]);
  }
  await backfillGroups(database, 60_000);
  await expectRollupsToEqualEvents(weir.pool);
});

test.each<AggregationType>(['SUM', 'UNIQUE_COUNT'])(
  'events of %s count once by the keys of last, whatever came between slices, wherever those were cut',
  async (aggregation) => {
    const isUnique = aggregation === 'UNIQUE_COUNT';
    const { id: meterId } = await admin.createMeter(aggregation, undefined, ['region']);
    const seen: string[] = [];
    const sliceEventsMax = 7;
    /** One slice after the other, with events in between. Every third is cut off before it ends, and made again. */
    const makeSlices = async (isEnough: (stage: string, grouped: number) => boolean) => {
      for (let n = 0; ; n += 1) {
        const before = await groupedOf(meterId);
        if (n % 3 === 2) await cutOff(sliceEventsMax);
        await backfillGroups(database, 0, { sliceEventsMax });
        const [stage = 'done'] = await stagesOf(meterId);
        if (seen.at(-1) !== stage) seen.push(stage);
        const grouped = await groupedOf(meterId);
        expect(grouped - before).toBeLessThanOrEqual(sliceEventsMax);
        if (isEnough(stage, grouped)) return;
        if (n < 40) await record(eventsOf(meterId, 2, isUnique));
      }
    };
    await record(eventsOf(meterId, 90, isUnique));
    await changeKeys(meterId, ['model', 'region']);
    await makeSlices((stage, grouped) => stage === 'grouping' && grouped > 40);
    // Other keys in the middle of it, then none, then those that stay.
    await changeKeys(meterId, ['region']);
    await makeSlices((_stage, grouped) => grouped < 20);
    await changeKeys(meterId, []);
    await makeSlices((_stage, grouped) => grouped < 10);
    await changeKeys(meterId, ['model']);
    seen.length = 0;
    await makeSlices((stage) => stage === 'done');
    expect(seen).toEqual(['clearing', 'grouping', 'catching_up', 'done']);
    expect(await compareUnit(database, { organizationId: admin.id, meterId, month: '2026-10' })).toEqual([]);
    await expectRollupsToEqualEvents(weir.pool);
    const left = await weir.pool.query('SELECT FROM ungrouped_events WHERE meter_id = $1', [meterId]);
    expect(left.rowCount).toBe(0);
  },
  60_000,
);

/** A slice whose connection ends when it has done its work, and has not committed it. */
async function cutOff(sliceEventsMax: number): Promise<void> {
  const tables = ['metadata_backfills', 'ungrouped_events'];
  await weir.pool.query(`CREATE OR REPLACE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`);
  for (const table of tables) {
    await weir.pool.query(`CREATE TRIGGER end_connection AFTER UPDATE OR DELETE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION end_connection()`);
  }
  await expect(backfillGroups(database, 0, { sliceEventsMax })).rejects.toThrow('terminating connection');
  for (const table of tables) await weir.pool.query(`DROP TRIGGER end_connection ON ${table}`);
}

test('a day of more combinations than are kept is filled by old and new events, and stays exact', async () => {
  const { id: meterId } = await admin.createMeter('SUM');
  const make = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) =>
      eventOf({ meterId, customer: `c${n % 9}`, metadata: { request: from + n } }),
    );
  await record(make(0, 800));
  await changeKeys(meterId, ['request']);
  for (let n = 0; n < 6; n += 1) {
    await record(make(800 + n * 100, 100));
    await backfillGroups(database, 0, { sliceEventsMax: 150 });
  }
  await backfillGroups(database, 60_000, { sliceEventsMax: 150 });
  await record(make(0, 1_500));
  const { rows } = await weir.pool.query('SELECT count(*)::int AS kept FROM metadata_groups WHERE meter_id = $1', [
    meterId,
  ]);
  expect(rows).toEqual([{ kept: 1_000 }]);
  expect(await groupedOf(meterId)).toBe(2_900);
  await expectRollupsToEqualEvents(weir.pool);
  expect(await compareUnit(database, { organizationId: admin.id, meterId, month: '2026-10' })).toEqual([]);
});

/** A meter by whose `model` usage of two months is grouped: 3 events in 2025-01, and 2 in 2025-02. */
async function usedInTwoMonths(): Promise<{ meterId: string; groupedIn: (month: string) => Promise<number[]> }> {
  await makeMonthsSince(weir, '2025-01-01');
  await weir.pool.query(`UPDATE organizations SET created_at = '2025-01-01' WHERE id = $1`, [admin.id]);
  const { id: meterId } = await admin.createMeter('SUM', undefined, ['model']);
  const used = (at: string) => ({ meter: { id: meterId, aggregation: 'SUM' as const }, customer: 'acme', at });
  await recordUsed(
    weir,
    admin.id,
    ['01-05T00:10', '01-20T10:10', '01-20T10:40', '02-01T00:10', '02-20T10:10'].map((at) => used(`2025-${at}:00Z`)),
  );
  const groupedIn = async (month: string) => {
    const path = `/meters/${meterId}/usage?start_date=${month}-01&end_date=${month}-28&group_by_metadata=model`;
    const { event_count: count, groups } = await admin.call('GET', path);
    return [count, ...groups.map((group: { event_count: number }) => group.event_count)];
  };
  return { meterId, groupedIn };
}

test('usage is not grouped by other keys while a month of it is detached, and stays grouped as it is', async () => {
  const { meterId, groupedIn } = await usedInTwoMonths();
  const before = await groupedIn('2025-01');
  await detachMonth(weir, '2025-01');
  try {
    for (const keys of [['model', 'region'], ['region']]) {
      const refused = await admin.ask('PATCH', `/meters/${meterId}`, { metadata_keys: keys });
      expectProblem(refused, 409, 'month_taken_out');
      expect(refused.body.detail).toContain('attach events_2025_01 first');
    }
    expect(await groupedIn('2025-01')).toEqual(before);
    // Neither a meter of later usage nor one that names no keys any more needs the month.
    const { id: later } = await admin.createMeter('SUM');
    const at = '2025-02-20T10:10:00Z';
    await recordUsed(weir, admin.id, [{ meter: { id: later, aggregation: 'SUM' }, customer: 'acme', at }]);
    await admin.call('PATCH', `/meters/${later}`, { metadata_keys: ['model'] }, 200);
    await admin.call('PATCH', `/meters/${meterId}`, { metadata_keys: [] }, 200);
    await backfillGroups(database, 60_000);
    expect([await groupedOf(later), await groupedOf(meterId)]).toEqual([1, 0]);
  } finally {
    await attachMonth(weir, '2025-01');
  }
});

test('usage of a month that is detached while it is grouped is grouped once the month is attached', async () => {
  const { meterId, groupedIn } = await usedInTwoMonths();
  await changeKeys(meterId, ['model', 'region']);
  await detachMonth(weir, '2025-01');
  const taken: string[] = [];
  try {
    const onTakenOut = ({ month }: { month: string }) => taken.push(month);
    expect(await backfillGroups(database, 60_000, { onTakenOut })).toBe(0);
    expect(taken).toEqual(['2025-01']);
    expect(await stagesOf(meterId)).toEqual(['grouping']);
  } finally {
    await attachMonth(weir, '2025-01');
  }
  expect(await backfillGroups(database, 60_000)).toBe(1);
  expect(await groupedOf(meterId)).toBe(5);
  expect([await groupedIn('2025-01'), await groupedIn('2025-02')]).toEqual([
    [3, 3],
    [2, 2],
  ]);
});
