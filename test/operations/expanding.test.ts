// The schema of a newer version under processes of this one, and what a migration does to those who go on meanwhile.

import { migrate } from '@weir/db/migrate';
import { MIGRATIONS } from '@weir/db/migrations';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, until } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
/** The migrations that there are, and more. */
let folder: string;
let newest: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-migrations-'));
  await cp(MIGRATIONS, folder, { recursive: true });
  newest =
    (await readdir(MIGRATIONS))
      .filter((name) => name.endsWith('.sql'))
      .sort()
      .at(-1)
      ?.slice(0, 4) ?? '';
});
afterAll(() => rm(folder, { recursive: true }));

const schemasOf = async (...urls: string[]) =>
  Promise.all(urls.map(async (baseUrl) => (await weir.request('GET', '/readyz', { baseUrl })).body.schema));

test('processes say which schemas they run on, and start on a newer one that only adds to theirs', async () => {
  expect(await schemasOf(weir.baseUrl)).toEqual([{ needs: newest, found: newest }]);
  await writeFile(join(folder, '9001_adds.sql'), 'ALTER TABLE customers ADD COLUMN added text;');
  expect(await migrate(weir.databaseUrl, folder)).toEqual({ applied: ['9001_adds.sql'] });
  const api = await weir.startApi();
  const worker = await weir.startWorker();
  const newer = { needs: newest, found: '9001' };
  expect(await schemasOf(api.url, worker.url)).toEqual([newer, newer]);

  const admin = await signUp(weir);
  const meter = await admin.createMeter('SUM');
  const apiKey = await admin.createKey();
  const body = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
  expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body, baseUrl: api.url })).status).toBe(201);
  await weir.drained();
  expect((await weir.pool.query('SELECT FROM events')).rowCount).toBe(1);
});

const WAITS_FOR_CUSTOMERS = `SELECT FROM pg_locks WHERE relation = 'customers'::regclass AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

test('a migration that waits for a table holds nobody off for long, and says what it needs', async () => {
  await writeFile(join(folder, '9002_takes_away.sql'), '--! needs 9001\nALTER TABLE customers DROP COLUMN added;');
  const [reader, other] = [0, 1].map(() => new pg.Client({ connectionString: weir.databaseUrl })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([reader.connect(), other.connect()]);
  try {
    // As a backup does, for hours.
    await reader.query('BEGIN; SELECT FROM customers');
    const told: string[] = [];
    const migrated = migrate(weir.databaseUrl, folder, (line) => told.push(line));
    await until(async () => (await weir.pool.query(WAITS_FOR_CUSTOMERS)).rowCount === 1, 'the migration waits');
    await other.query(`SET lock_timeout = '20s'; UPDATE customers SET name = name`);
    await until(() => told.length > 1, 'it is told that it waits');
    await reader.query('COMMIT');
    expect(told).toEqual([
      'Applying 9002_takes_away.sql.',
      'Waiting: something, such as a backup, holds a lock that 9002_takes_away.sql needs. It tries for five minutes.',
    ]);
    expect(await migrated).toEqual({ applied: ['9002_takes_away.sql'] });
  } finally {
    await Promise.all([reader.end(), other.end()]);
  }
  const { rows } = await weir.pool.query(`SELECT name, needs FROM migrations WHERE name > '9' ORDER BY name`);
  expect(rows).toEqual([
    { name: '9001_adds.sql', needs: null },
    { name: '9002_takes_away.sql', needs: '9001' },
  ]);
  await expect(weir.startApi()).rejects.toThrow(
    `Cannot start: The database was migrated by a newer Weir (it has 9002_takes_away.sql), and this version, which knows ${newest}, cannot run on it: run that one instead.`,
  );
});

test('a migration that would wait for ever for who waits for it begins again, and is done', async () => {
  const sql = 'LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE; ALTER TABLE customers ADD COLUMN two text;';
  await writeFile(join(folder, '9003_two_tables.sql'), sql);
  const writer = new pg.Client({ connectionString: weir.databaseUrl });
  await writer.connect();
  try {
    await writer.query('BEGIN; SELECT FROM customers');
    const told: string[] = [];
    const migrated = migrate(weir.databaseUrl, folder, (line) => told.push(line));
    await until(async () => (await weir.pool.query(WAITS_FOR_CUSTOMERS)).rowCount === 1, 'the migration waits');
    await writer.query('UPDATE plans SET name = name');
    await until(() => told.length > 1, 'it is told that it waits');
    await writer.query('COMMIT');
    expect(await migrated).toEqual({ applied: ['9003_two_tables.sql'] });
  } finally {
    await writer.end();
  }
});

test('a migration waits for a table until Postgres has an autovacuum that is in the way give it up', async () => {
  const look = `CREATE TABLE waits AS SELECT name, setting FROM pg_settings WHERE name IN ('deadlock_timeout', 'lock_timeout')`;
  await writeFile(join(folder, '9004_looks.sql'), look);
  await weir.pool.query(`ALTER DATABASE ${new URL(weir.databaseUrl).pathname.slice(1)} SET deadlock_timeout = '2s'`);
  await migrate(weir.databaseUrl, folder);
  const { rows } = await weir.pool.query('SELECT * FROM waits ORDER BY name');
  expect(rows).toEqual([
    { name: 'deadlock_timeout', setting: '2000' },
    { name: 'lock_timeout', setting: '2500' },
  ]);
});

test('an instruction that there is not is told, and nothing is run', async () => {
  await writeFile(join(folder, '9005_misspelt.sql'), '--! no-transactions\nDROP TABLE customers;');
  await expect(migrate(weir.databaseUrl, folder)).rejects.toThrow('A migration cannot say "--! no-transactions"');
  expect((await weir.pool.query('SELECT FROM customers')).rowCount).toBe(0);
});
