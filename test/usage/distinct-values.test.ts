// The distinct values of a whole meter: kept by the quarters of each day, in whatever order events are recorded, and read in any
// zone.

import { ROLLUPS } from '@weir/db/rollups';
import type { Database } from '@weir/db/database';
import { recordEvents, type RecordableEvent } from '@weir/db/record';
import { readMeterUsage } from '@weir/db/usage/read-usage';
import { newId } from '@weir/shared/ids';
import { toEnd } from '@weir/shared/to-end';
import { GROUPINGS, planningWindow } from '@weir/shared/window';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { aroundNothing, MOMENTS, near, ZONES } from '../support/moments.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { isoOf, periodOf, periodsOf } from '../support/usage-model.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let database: Database;
beforeAll(async () => {
  admin = await signUp(weir);
  database = openTestDatabase(weir);
});
afterAll(() => database.close());

function makeEvent(meterId: string, timestamp: string, user: number): RecordableEvent {
  const event = {
    id: newId(),
    organization_id: admin.id,
    meter_id: meterId,
    customer_external_id: `customer ${user % 3}`,
    quantity: '1',
    timestamp,
    metadata: JSON.stringify({ user_id: user }),
  };
  return { event, countsUniqueValues: true };
}

test('in whatever order and by however many workers, a value is there in each of its quarters', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const minutes = [40, 10, 50, 5, 20, 2, 30];
  const events = Array.from({ length: minutes.length * 40 }, (_, index) => {
    const minute = String(minutes[index % minutes.length]).padStart(2, '0');
    return makeEvent(meter.id, `2026-10-05T10:${minute}:00.${String(index).padStart(6, '0')}Z`, index % 20);
  });
  for (const event of events.slice(0, 7)) await recordEvents(database.pool, [event]);
  await expectRollupsToEqualEvents(weir.pool);
  const workers = [0, 1, 2, 3].map(async (worker) => {
    for (const [index, event] of events.entries()) if (index % 4 === worker) await recordEvents(database.pool, [event]);
  });
  await Promise.all(workers);
  await expectRollupsToEqualEvents(weir.pool);
  const { rows } = await weir.pool.query(
    `SELECT quarters::text, count(*)::int AS users FROM ${ROLLUPS.meterValueDays.table} WHERE meter_id = $1 GROUP BY 1`,
    [meter.id],
  );
  // Each user in one day, in the four quarters from 10:00 on.
  expect(rows).toEqual([{ quarters: `${'0'.repeat(40)}1111${'0'.repeat(52)}`, users: 20 }]);
});

test('a value that another worker commits meanwhile keeps its quarters', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const other = await weir.pool.connect();
  try {
    await other.query('BEGIN');
    await recordEvents(other as unknown as pg.Pool, [
      makeEvent(meter.id, '2026-10-05T10:01:00Z', 1),
      makeEvent(meter.id, '2026-10-05T23:59:00Z', 1),
    ]);
    // Of another customer, so that nothing but the values is the same row.
    const later = makeEvent(meter.id, '2026-10-05T10:02:00Z', 1);
    const events = [later, makeEvent(meter.id, '2026-10-05T00:00:00Z', 1)];
    const ofOther = events.map((each) => ({ ...each, event: { ...each.event, customer_external_id: 'another' } }));
    const recording = recordEvents(database.pool, ofOther);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => ((await weir.pool.query(waiting)).rowCount ?? 0) > 0, 'the worker waits for the other');
    await other.query('COMMIT');
    expect(await recording).toMatchObject({ recorded: 2 });
  } finally {
    other.release();
  }
  await expectRollupsToEqualEvents(weir.pool);
  const { rows } = await weir.pool.query(
    `SELECT quarters::text FROM ${ROLLUPS.meterValueDays.table} WHERE meter_id = $1`,
    [meter.id],
  );
  expect(rows).toEqual([{ quarters: `1${'0'.repeat(39)}1${'0'.repeat(54)}1` }]);
});

// Clocks that are three quarters of an hour off, and some that were once off by no whole number of quarters.
const CLOCKS = [...ZONES, 'Pacific/Chatham', 'Africa/Monrovia'];
const TIMES = [...MOMENTS, BigInt(Date.parse('1972-01-07T00:44:30Z')) * 1000n];

test('in any window, zone and grouping, as many values are read as a count of the events one by one finds', async () => {
  const seed = Date.now() | 0;
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const drafts = fc.record({ at: fc.constantFrom(...TIMES).chain(near), user: fc.nat({ max: 300 }) });
  const events = fc.sample(drafts, { numRuns: 2000, seed });
  for (let from = 0; from < events.length; from += 500) {
    const batch = events.slice(from, from + 500).map(({ at, user }) => makeEvent(meter.id, isoOf(at), user));
    await recordEvents(database.pool, batch);
  }
  await expectRollupsToEqualEvents(weir.pool);
  const usersOf = (found: typeof events) => String(new Set(found.map(({ user }) => user)).size);
  const reads = fc.record({
    moment: fc.constantFrom(...TIMES),
    distances: fc.tuple(aroundNothing, aroundNothing),
    timezone: fc.constantFrom(...CLOCKS),
    grouping: fc.constantFrom(...GROUPINGS),
  });
  const property = fc.asyncProperty(reads, async ({ moment, distances, timezone, grouping }) => {
    const [one, other] = [moment + distances[0], moment + distances[1]];
    const [start, end] = one < other ? [one, other] : [other, one];
    fc.pre(start < end);
    const window = toEnd(
      planningWindow({ start_date: isoOf(start), end_date: isoOf(end), timezone, group_by: grouping }, 0),
    );
    if ('problem' in window) throw new Error(window.problem.message);
    const usage = await readMeterUsage(database.pool, {
      organizationId: admin.id,
      meterId: meter.id,
      aggregation: 'UNIQUE_COUNT',
      window,
    });
    const inWindow = events.filter(({ at }) => at >= start && at < end);
    expect(usage.total).toEqual({ usage: usersOf(inWindow), event_count: inWindow.length });
    expect(window.periods.map((_, index) => usage.ofBucket(index).usage)).toEqual(
      periodsOf(start, end, timezone, grouping).map((period) =>
        usersOf(inWindow.filter(({ at }) => periodOf(at, timezone, grouping).start === period.start)),
      ),
    );
  });
  await fc.assert(property, { seed, numRuns: 300 });
}, 120_000);
