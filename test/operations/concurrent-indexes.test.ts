// Migrations that build an index while everybody goes on writing.

import { migrate } from '@weir/db/migrate';
import { MIGRATIONS } from '@weir/db/migrations';
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../support/harness.ts';
import { createTestDatabase, type TestDatabase } from '../support/setup/database.ts';

const NAME = '9000_an_index.sql';

let database: TestDatabase;
/** The migrations that there are. */
let folder: string;
let client: pg.Client;
/** Holds a row of the table that is being changed. */
let writer: pg.Client;

beforeEach(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'weir-migrations-'));
  await cp(MIGRATIONS, folder, { recursive: true });
  [client, writer] = [0, 1].map(() => new pg.Client({ connectionString: database.url })) as [pg.Client, pg.Client];
  await Promise.all([client.connect(), writer.connect()]);
  await client.query('CREATE TABLE notes (id uuid PRIMARY KEY, note text)');
  // Whoever had to wait for the index would fail.
  await client.query(`SET lock_timeout = '5s'`);
});
afterEach(async () => {
  await Promise.all([client.end(), writer.end()]);
  await rm(folder, { recursive: true });
  await database.drop();
});

const add = (sql: string) => writeFile(join(folder, NAME), sql);
const write = (through: pg.Client, note: string) =>
  through.query('INSERT INTO notes VALUES ($1, $2)', [randomUUID(), note]);
const ask = async (sql: string) => (await client.query(sql)).rows;
const isValid = async () =>
  (await ask(`SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('notes_note_idx')`))[0]?.indisvalid;
const isKnown = async () => (await ask(`SELECT FROM migrations WHERE name = '${NAME}'`)).length > 0;

const INDEX = `--! no-transaction
-- Looks for a note; in it.

CREATE INDEX CONCURRENTLY IF NOT EXISTS notes_note_idx
  ON notes (note) WHERE note <> 'a;b';
`;

/** Begins to migrate, and returns while the index waits for the writer, who has not committed. `done` is settled at the end. */
async function migrateWhileSomebodyWrites(): Promise<{ done: Promise<unknown>; told: string[] }> {
  await writer.query('BEGIN');
  await write(writer, 'uncommitted');
  const told: string[] = [];
  const done = migrate(database.url, folder, (line) => told.push(line)).catch((error: unknown) => error);
  await until(async () => (await isValid()) === false, 'the index is being built');
  return { done, told };
}

test('a migration builds an index while the table is written, and a second migrator waits for it', async () => {
  await add(INDEX);
  const { done, told } = await migrateWhileSomebodyWrites();
  expect(told).toEqual([expect.stringMatching(`^Applying ${NAME}: an index, which waits for every transaction`)]);
  const [{ pid }] = await ask(`SELECT pid FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'weir-migrate'`);
  const heard: string[] = [];
  const second = migrate(database.url, folder, (line) => heard.push(line));
  await until(() => heard.length > 0, 'the second one is told why it waits');
  expect(heard).toEqual([`Waiting: this database is being migrated already, by process ${pid} of pg_stat_activity.`]);
  for (let written = 0; written < 20; written += 1) await write(client, `note ${written}`);
  expect([await isValid(), await isKnown()]).toEqual([false, false]);
  await writer.query('COMMIT');
  expect(await done).toEqual({ applied: [NAME] });
  expect(await second).toEqual({ applied: [] });
  expect([await isValid(), await isKnown()]).toEqual([true, true]);
  expect(await ask('SELECT count(*)::int FROM notes')).toEqual([{ count: 21 }]);
});

test('an index whose building was cut off is built anew by the next run', async () => {
  await add(INDEX);
  const { done } = await migrateWhileSomebodyWrites();
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'weir-migrate'`);
  expect(await done).toBeInstanceOf(Error);
  await writer.query('COMMIT');
  expect([await isValid(), await isKnown()]).toEqual([false, false]);
  expect(await migrate(database.url, folder)).toEqual({ applied: [NAME] });
  expect([await isValid(), await isKnown()]).toEqual([true, true]);
});

test('a migration is ended as docs/operations.md has it, and the one that waits for it goes on', async () => {
  const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const [, statement = ''] = /^\| a migration that waits \|.*`(SELECT pg_terminate_backend.*?)`/m.exec(page) ?? [];
  await add(INDEX);
  const { done } = await migrateWhileSomebodyWrites();
  const heard: string[] = [];
  const next = migrate(database.url, folder, (line) => heard.push(line)).catch((error: unknown) => error);
  await until(() => heard.length > 0, 'the next one is told why it waits');
  const [, pid = ''] = /by process (\d+) of pg_stat_activity/.exec(heard[0] ?? '') ?? [];
  await client.query(statement.replace('4711', pid));
  expect(await done).toBeInstanceOf(Error);
  await writer.query('COMMIT');
  expect(await next).toEqual({ applied: [NAME] });
  expect([await isValid(), await isKnown()]).toEqual([true, true]);
});

test('a unique index that cannot be built leaves nothing behind that refuses rows', async () => {
  await add(INDEX.replace('INDEX', 'UNIQUE INDEX'));
  for (const note of ['same', 'same']) await write(client, note);
  await expect(migrate(database.url, folder)).rejects.toThrow(`Migration ${NAME} failed, and begins again`);
  expect([await isValid(), await isKnown()]).toEqual([undefined, false]);
  await write(client, 'same');
});

test('an index that was built, and whose migrator died before it said so, is left as it is', async () => {
  await client.query(INDEX.slice(INDEX.indexOf('CREATE')));
  const [{ oid }] = await ask(`SELECT 'notes_note_idx'::regclass::oid`);
  await add(`${INDEX}DROP INDEX CONCURRENTLY IF EXISTS never_there_idx;\n`);
  expect(await migrate(database.url, folder)).toEqual({ applied: [NAME] });
  expect(await ask(`SELECT 'notes_note_idx'::regclass::oid`)).toEqual([{ oid }]);
});

test.each([
  ['is no index', `INSERT INTO notes VALUES (gen_random_uuid(), 'twice')`],
  ['cannot be run again', 'CREATE INDEX CONCURRENTLY notes_note_idx ON notes (note)'],
  ['holds writes off', 'CREATE INDEX IF NOT EXISTS notes_note_idx ON notes (note)'],
])('outside of a transaction nothing is run that %s', async (_, sql) => {
  await add(`--! no-transaction\n${sql};\n`);
  await expect(migrate(database.url, folder)).rejects.toThrow(`not: ${sql}`);
  expect([await isValid(), await isKnown(), await ask('SELECT * FROM notes')]).toEqual([undefined, false, []]);
});
