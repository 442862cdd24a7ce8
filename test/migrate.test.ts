import { migrate } from '@weir/db/migrate';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { expectRollupsToEqualEvents } from './rollups.ts';
import { runToEnd } from './run-to-end.ts';
import { queryOnce, withDatabase } from './setup/query.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const name = `weir_test_${randomBytes(6).toString('hex')}`;
const databaseUrl = withDatabase(inject('databaseUrl'), name);

beforeEach(() => queryOnce(inject('databaseUrl'), `CREATE DATABASE ${name}`));
afterEach(() => queryOnce(inject('databaseUrl'), `DROP DATABASE ${name}`));

const runMigrate = (env: Record<string, string>) => runToEnd('packages/db/src/migrate-main.ts', env);

const migrations = async () =>
  (await readdir(`${root}/packages/db/migrations`)).filter((file) => file.endsWith('.sql')).sort();

test('several processes that migrate an empty database at once all succeed, and each migration is applied once', async () => {
  const files = await migrations();
  const processes = [runMigrate({ DATABASE_URL: databaseUrl }), runMigrate({ DATABASE_URL: databaseUrl })];
  const inProcess = await Promise.all(Array.from({ length: 6 }, () => migrate(databaseUrl)));
  const outside = await Promise.all(processes);
  expect(outside.map(({ code, err }) => ({ code, err }))).toEqual(processes.map(() => ({ code: 0, err: '' })));
  const appliedOutside = outside.filter(({ out }) => out.startsWith('Applied')).length;
  const appliedInside = inProcess.filter(({ applied }) => applied.length > 0);
  expect(appliedOutside + appliedInside.length).toBe(1);
  for (const { applied } of appliedInside) expect(applied).toEqual(files);

  const { rows } = await queryOnce(databaseUrl, 'SELECT name FROM migrations ORDER BY name');
  expect(rows.map((row) => row.name)).toEqual(files);
  const now = new Date();
  const months = [0, 1, 2, 3].map((ahead) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)).toISOString().slice(0, 7).replace('-', '_'),
  );
  const partitions = await queryOnce(
    databaseUrl,
    `SELECT relid::text AS name FROM pg_partition_tree('events') WHERE isleaf ORDER BY name`,
  );
  expect(partitions.rows.map((row) => row.name)).toEqual([
    ...months.map((month) => `events_${month}`),
    'events_default',
  ]);
});

test('migrating again changes nothing and says so', async () => {
  expect((await migrate(databaseUrl)).applied).toEqual(await migrations());
  expect((await migrate(databaseUrl)).applied).toEqual([]);
  expect(await runMigrate({ DATABASE_URL: databaseUrl })).toEqual({
    code: 0,
    out: 'The database is up to date.\n',
    err: '',
  });
});

test('a database that a newer Weir has migrated is refused and left as it is', async () => {
  await migrate(databaseUrl);
  await queryOnce(databaseUrl, `INSERT INTO migrations (name) VALUES ('9999_from_the_future.sql')`);
  await expect(migrate(databaseUrl)).rejects.toThrow(
    'The database was migrated by a newer Weir (it has 9999_from_the_future.sql): run that version instead.',
  );
  const { code, err } = await runMigrate({ DATABASE_URL: databaseUrl });
  expect(code).toBe(1);
  expect(err).toContain('was migrated by a newer Weir (it has 9999_from_the_future.sql)');
});

test('a migration that fails keeps nothing of itself, and works once its obstacle is gone', async () => {
  await queryOnce(databaseUrl, 'CREATE TABLE usage_rollups (x int)');
  await expect(migrate(databaseUrl)).rejects.toThrow('Migration 0003_events.sql failed and was rolled back.');
  const { rows } = await queryOnce(
    databaseUrl,
    `SELECT to_regclass('events') AS events, to_regclass('meters')::text AS meters`,
  );
  expect(rows).toEqual([{ events: null, meters: 'meters' }]);
  await queryOnce(databaseUrl, 'DROP TABLE usage_rollups');
  expect((await migrate(databaseUrl)).applied).toEqual((await migrations()).filter((file) => file >= '0003'));
});

/** Applies what came before a migration, as an older version did. */
async function migrateUntil(name: string): Promise<void> {
  await queryOnce(
    databaseUrl,
    'CREATE TABLE migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  );
  for (const file of (await migrations()).filter((each) => each < name)) {
    await queryOnce(databaseUrl, await readFile(`${root}/packages/db/migrations/${file}`, 'utf8'));
    await queryOnce(databaseUrl, `INSERT INTO migrations (name) VALUES ('${file}')`);
  }
}

test('usage that an older version counted is the same by days and quarters, and its keys are still taken', async () => {
  await migrateUntil('0006');
  const [organization, sum, users] = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-1111-7111-8111-111111111111`);
  await queryOnce(
    databaseUrl,
    `INSERT INTO organizations (id, name) VALUES ('${organization}', 'Acme');
     INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type)
       VALUES ('${organization}', '${sum}', 'Sum', 'sum', 'SUM'), ('${organization}', '${users}', 'Users', 'users', 'UNIQUE_COUNT');
     INSERT INTO events (id, organization_id, meter_id, "timestamp", received_at, customer_external_id, quantity, idempotency_key, metadata)
     SELECT (lpad(n::text, 8, '0') || '-1111-7111-8111-111111111111')::uuid, '${organization}',
       CASE n % 2 WHEN 0 THEN '${sum}' ELSE '${users}' END::uuid, TIMESTAMPTZ '2026-09-29T22:00:00Z' + n * interval '7 minutes 3.000001 seconds',
       '2026-10-05', 'customer ' || n % 3, n / 8.0, CASE WHEN n % 5 > 0 THEN 'key ä ' || n END, jsonb_build_object('user_id', n % 7, 'b', 1, 'a', n)
     FROM generate_series(1, 500) AS n;
     INSERT INTO idempotency_keys SELECT organization_id, substring(sha256(convert_to(idempotency_key, 'UTF8')) FOR 16), id
       FROM events WHERE idempotency_key IS NOT NULL;
     INSERT INTO usage_rollups SELECT organization_id, meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC'),
       count(*), sum(quantity), min(quantity), max(quantity), max("timestamp"),
       (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1], (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1]
     FROM events GROUP BY 1, 2, 3, 4;
     INSERT INTO unique_values SELECT DISTINCT organization_id, meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC'),
       unique_value_hash(metadata) FROM events WHERE meter_id = '${users}'`,
  );
  const contents = async () => {
    const tables = ['events', 'usage_rollups', 'unique_values'].map((table) =>
      queryOnce(databaseUrl, `SELECT to_jsonb(t) - 'received_at' AS row FROM ${table} AS t ORDER BY to_jsonb(t)::text`),
    );
    return (await Promise.all(tables)).map(({ rows }) => rows);
  };
  const before = await contents();
  expect((await migrate(databaseUrl)).applied).toEqual((await migrations()).filter((file) => file >= '0006'));
  expect(await contents()).toEqual(before);

  const pool = new pg.Pool({ connectionString: databaseUrl, options: '-c timezone=UTC' });
  try {
    await expectRollupsToEqualEvents(pool);
    // As the older version got them: 7 minutes and 3.000001 seconds apart.
    const first = Date.parse('2026-09-29T22:00:00Z');
    const events = [1, 2, 5].map((n) => ({
      id: newId(),
      organization_id: organization ?? '',
      meter_id: (n % 2 === 0 ? sum : users) ?? '',
      customer_external_id: `customer ${n % 3}`,
      quantity: String(n / 8),
      timestamp: new Date(first + n * 423_000).toISOString().replace('000Z', `00000${n}Z`),
      idempotency_key: `key ä ${n}`,
      metadata: JSON.stringify({ user_id: n % 7, b: 1, a: n }),
    }));
    // The fifth had no key.
    expect(
      await recordEvents(
        pool,
        events.map((event) => ({ event, countsUniqueValues: event.meter_id === users })),
      ),
    ).toMatchObject({
      recorded: 1,
      duplicates: 2,
    });
    await expectRollupsToEqualEvents(pool);
  } finally {
    await pool.end();
  }
});

test('without an address the command ends with one line that says what is missing', async () => {
  const { code, out, err } = await runMigrate({});
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^Cannot start: DATABASE_URL is not set: .*\n$/);
});
