import { openDatabase } from '@weir/db/database';
import { makePartitions } from '@weir/db/partitions';
import { recordEvents, type RecordableEvent } from '@weir/db/record';
import { firstIdAt, newId } from '@weir/shared/ids';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/harness.ts';
import { emptyMonthSql } from '../support/months.ts';
import { createTestDatabase, type TestDatabase } from '../support/setup/database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';

let testDatabase: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  pool = new pg.Pool({ connectionString: testDatabase.url, max: 4, options: '-c timezone=UTC' });
  await pool.query(`INSERT INTO organizations (id, name) VALUES ($1, 'Partitions')`, [organization]);
  await pool.query(
    `INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type) VALUES ($1, $2, 'Sum', 'sum', 'SUM')`,
    [organization, meter],
  );
});
afterAll(async () => {
  await pool.end();
  await testDatabase.drop();
});

const organization = newId();
const meter = newId();

/** Events that are received at a time. */
function eventsAt(time: string, count: number): RecordableEvent[] {
  return Array.from({ length: count }, () => ({
    event: {
      id: newId(Date.parse(time)),
      organization_id: organization,
      meter_id: meter,
      customer_external_id: 'acme',
      quantity: '1',
      timestamp: time,
    },
    countsUniqueValues: false,
  }));
}

async function make(now: string): Promise<string[]> {
  const client = await pool.connect();
  try {
    return await makePartitions(client, new Date(now));
  } finally {
    client.release();
  }
}

/** How many events lie in which partition, without those that are empty. */
async function eventsByPartition(): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ name: string; events: number }>(
    'SELECT tableoid::regclass::text AS name, count(*)::int AS events FROM events GROUP BY 1',
  );
  return Object.fromEntries(rows.map(({ name, events }) => [name, events]));
}

test('partitions are made for a month and the three after it, once', async () => {
  expect(await make('2030-11-30T23:59:59.999Z')).toEqual([
    'events_2030_11',
    'events_2030_12',
    'events_2031_01',
    'events_2031_02',
  ]);
  expect(await make('2030-11-01T00:00:00Z')).toEqual([]);
  expect(await make('2030-12-01T00:00:00Z')).toEqual(['events_2031_03']);
});

test('an event lies in the partition of the month in which it was received, to the last millisecond', async () => {
  for (const time of ['2030-12-01T00:00:00.000Z', '2030-12-31T23:59:59.999Z', '2031-01-01T00:00:00.000Z'])
    await recordEvents(pool, eventsAt(time, 1));
  expect(await eventsByPartition()).toEqual({ events_2030_12: 2, events_2031_01: 1 });
});

test('the time of receipt is read from the id', async () => {
  const { rows } = await pool.query(
    `SELECT to_char(e.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS received_at FROM events AS e ORDER BY id`,
  );
  expect(rows.map(({ received_at }) => received_at)).toEqual([
    '2030-12-01T00:00:00.000000',
    '2030-12-31T23:59:59.999000',
    '2031-01-01T00:00:00.000000',
  ]);
});

test('what came before its partition was made is moved into it, and counts as before', async () => {
  const early = eventsAt('2032-05-31T23:59:59.999Z', 40);
  await recordEvents(pool, [...early, ...eventsAt('2032-06-15T12:00:00Z', 30)]);
  await recordEvents(pool, eventsAt('2035-01-01T00:00:00Z', 5));
  expect(await eventsByPartition()).toMatchObject({ events_default: 75 });
  await make('2032-05-10T00:00:00Z');
  expect(await eventsByPartition()).toMatchObject({ events_2032_05: 40, events_2032_06: 30, events_default: 5 });
  expect(await recordEvents(pool, early)).toMatchObject({ recorded: 0, duplicates: 0 });
  await expectRollupsToEqualEvents(pool);
});

test('a month that takes longer to move than a statement may take is moved all the same', async () => {
  await recordEvents(pool, eventsAt('2036-03-10T12:00:00Z', 1));
  // As if they were millions.
  await pool.query(
    `CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2.2); RETURN NULL; END'`,
  );
  await pool.query('CREATE TRIGGER slow AFTER DELETE ON events_default FOR EACH ROW EXECUTE FUNCTION take_long()');
  // Given up by Postgres after one second, and by the connection after two.
  const hasty = openDatabase(testDatabase.url, {
    connectionsMax: 1,
    statementTimeoutMs: 1_000,
    onConnectionError: () => {},
  });
  try {
    const client = await hasty.pool.connect();
    const made = await makePartitions(client, new Date('2035-12-15T00:00:00Z')).finally(() => client.release());
    expect(made).toContain('events_2036_03');
    expect(await eventsByPartition()).toMatchObject({ events_2036_03: 1 });
    // Everything after it is in a hurry again.
    await expect(hasty.pool.query('SELECT pg_sleep(1.5)')).rejects.toMatchObject({ code: '57014' });
  } finally {
    await hasty.close();
    await pool.query('DROP FUNCTION take_long CASCADE');
  }
}, 30_000);

test('a month is made another time when the default partition is read for long, and holds up nobody', async () => {
  const reader = await pool.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT count(*) FROM events_default');
  const making = make('2037-01-01T00:00:00Z').catch((error: unknown) => error);
  const waiting = `SELECT FROM pg_locks WHERE relation = 'events_default'::regclass AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await until(async () => (await pool.query(waiting)).rowCount === 1, 'the month waits for its lock');
  // Waits behind it, and goes on without it.
  expect(await recordEvents(pool, eventsAt('2037-01-05T00:00:00Z', 3))).toMatchObject({ recorded: 3 });
  expect(await making).toMatchObject({ code: '55P03' });
  await reader.query('COMMIT');
  reader.release();
  expect(await make('2037-01-01T00:00:00Z')).toContain('events_2037_01');
  expect(await eventsByPartition()).toMatchObject({ events_2037_01: 3 });
});

test('partitions may be made by several processes at once, and while events are recorded', async () => {
  const batches = Array.from({ length: 40 }, () => eventsAt('2033-02-14T12:00:00Z', 25));
  await recordEvents(pool, batches[0] ?? []);
  const recording = (async () => {
    for (const batch of batches) await recordEvents(pool, batch);
  })();
  const made = await Promise.all([make('2033-01-01T00:00:00Z'), make('2033-01-01T00:00:00Z'), recording]);
  expect([...made[0], ...made[1]].toSorted()).toEqual([
    'events_2033_01',
    'events_2033_02',
    'events_2033_03',
    'events_2033_04',
  ]);
  expect(await eventsByPartition()).toMatchObject({ events_2033_02: 1000, events_default: 5 });
  await expectRollupsToEqualEvents(pool);
});

/** Sends one statement after the other, and goes on where one fails, as psql does unless it is told otherwise. Returns what failed. */
async function sendAsPsql(client: pg.Client, sql: string): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const statement of sql.trim().split(/(?<=;)\n/))
    await client.query(statement).catch((error: unknown) => errors.push(error));
  return errors;
}

test('a month is detached and attached as docs/operations.md has it, while others read and record', async () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/operations.md', import.meta.url)), 'utf8');
  const [, section = ''] = /^### Detach and attach a month\n([^]*?)(?:^### |$(?![^]))/m.exec(page) ?? [];
  const [detach = '', prove = '', attach = ''] = [...section.matchAll(/```sql\n([^]*?)```/g)].map(
    ([, sql]) => sql ?? '',
  );
  await make('2026-01-15T00:00:00Z');
  const [operator, reader] = [0, 1].map(() => new pg.Client({ connectionString: testDatabase.url })) as [
    pg.Client,
    pg.Client,
  ];
  const notices: string[] = [];
  operator.on('notice', ({ message }) => notices.push(message ?? ''));
  try {
    await Promise.all([operator.connect(), reader.connect()]);
    await operator.query('SET client_min_messages = debug1');
    for (const time of ['2026-01-01T00:00:00.000Z', '2026-01-31T23:59:59.999Z'])
      await recordEvents(pool, eventsAt(time, 50));
    const before = await eventsByPartition();
    const proofs = async () => (await pool.query(`SELECT FROM pg_constraint WHERE conname = 'its_month'`)).rowCount;
    for (const [sql, isThere] of [
      [detach, false],
      [attach, true],
    ] as const) {
      if (isThere) await operator.query(prove);
      await reader.query('BEGIN');
      await reader.query('SELECT count(*) FROM events');
      const tried = sendAsPsql(operator, sql);
      // Behind whoever waits for the lock, and for no longer than that.
      const recorded = recordEvents(pool, eventsAt('2026-02-03T00:00:00Z', 1));
      expect((await tried)[0]).toMatchObject({ code: '55P03' });
      await recorded;
      expect(await proofs()).toBe(isThere ? 1 : 0);
      await reader.query('COMMIT');
      expect(await sendAsPsql(operator, sql)).toEqual([]);
      expect(await proofs()).toBe(0);
      expect((await eventsByPartition())['events_2026_01']).toBe(isThere ? before['events_2026_01'] : undefined);
    }
    expect(notices).toContain('partition constraint for table "events_2026_01" is implied by existing constraints');
    const bounds = `SELECT pg_get_expr(relpartbound, oid) AS bound FROM pg_class WHERE relname = 'events_2026_01'`;
    const { rows } = await operator.query(bounds);
    expect(rows).toEqual([
      {
        bound: `FOR VALUES FROM ('${firstIdAt(Date.UTC(2026, 0, 1))}') TO ('${firstIdAt(Date.UTC(2026, 1, 1))}')`,
      },
    ]);
  } finally {
    await Promise.all([operator.end(), reader.end()]);
  }
});

test('an empty month takes the place of a lost one as docs/operations.md has it, and holds up nobody', async () => {
  const sql = emptyMonthSql('2034-05');
  const [operator, reader] = [0, 1].map(() => new pg.Client({ connectionString: testDatabase.url })) as [
    pg.Client,
    pg.Client,
  ];
  try {
    await Promise.all([operator.connect(), reader.connect()]);
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM events');
    const tried = sendAsPsql(operator, sql);
    const recorded = recordEvents(pool, eventsAt('2034-04-03T00:00:00Z', 1));
    expect(await tried).toMatchObject([{ code: '55P03' }]);
    expect(await recorded).toMatchObject({ recorded: 1 });
    await reader.query('COMMIT');
    expect(await sendAsPsql(operator, sql)).toEqual([]);
    await recordEvents(pool, eventsAt('2034-05-31T23:59:59.999Z', 2));
    expect(await eventsByPartition()).toMatchObject({ events_2034_05: 2 });
  } finally {
    await Promise.all([operator.end(), reader.end()]);
  }
});
