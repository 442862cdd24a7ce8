// The distinct values of a whole meter are known by their first event, in whatever order events are recorded.

import { openDatabase, type Database } from '@weir/db/database';
import { recordEvents, type RecordableEvent } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, startWeir, until, type Organization, type Weir } from './harness.ts';
import { expectRollupsToEqualEvents } from './rollups.ts';

let weir: Weir;
let admin: Organization;
let database: Database;
beforeAll(async () => {
  weir = await startWeir({ withWorker: false });
  admin = await signUp(weir);
  database = openDatabase(weir.databaseUrl, {
    connectionsMax: 4,
    statementTimeoutMs: 30_000,
    onConnectionError: () => {},
  });
});
afterAll(async () => {
  await database.close();
  await weir.close();
});

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

test('in whatever order and by however many workers its events are recorded, a value is there since the first', async () => {
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
  const { rows } = await weir.pool.query('SELECT count(*)::int AS values FROM meter_values WHERE meter_id = $1', [
    meter.id,
  ]);
  // Each user in the day, the hour and four quarters.
  expect(rows).toEqual([{ values: 20 * 6 }]);
});

test('a value that another worker commits meanwhile keeps its earlier first event', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const earlier = '2026-10-05T10:01:00Z';
  const other = await weir.pool.connect();
  try {
    await other.query('BEGIN');
    await other.query(
      `INSERT INTO meter_values SELECT $1, $2, minutes, date_bin(make_interval(mins => minutes), $3, '2000-01-01 00:00:00Z'),
         unique_value_hash('{"user_id":1}'), $3 FROM (VALUES (1440), (60), (15)) AS sizes (minutes)`,
      [admin.id, meter.id, earlier],
    );
    const recording = recordEvents(database.pool, [makeEvent(meter.id, '2026-10-05T10:02:00Z', 1)]);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => ((await weir.pool.query(waiting)).rowCount ?? 0) > 0, 'the worker waits for the other');
    await other.query('COMMIT');
    expect(await recording).toMatchObject({ recorded: 1 });
  } finally {
    other.release();
  }
  const { rows } = await weir.pool.query(
    'SELECT DISTINCT first_timestamp = $2 AS is_earlier FROM meter_values WHERE meter_id = $1',
    [meter.id, earlier],
  );
  expect(rows).toEqual([{ is_earlier: true }]);
});
