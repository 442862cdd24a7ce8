import { migrate, migrateOnceUp } from '@weir/db/migrate';
import { explainUnreachable } from '@weir/db/unreachable';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, expect, inject, test } from 'vitest';
import { until } from '../support/harness.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { createDatabase, type TestDatabase } from '../support/setup/database.ts';
import { queryOnce } from '../support/setup/query.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const made: TestDatabase[] = [];
afterEach(async () => {
  for (const database of made.splice(0)) await database.drop();
});

/** The address of one that nobody has migrated. */
async function emptyDatabase(): Promise<string> {
  const database = await createDatabase();
  made.push(database);
  return database.url;
}

const runMigrate = (env: Record<string, string>, args: string[] = []) =>
  runToEnd('packages/db/dist/migrate-main.js', env, args);

const migrations = async () =>
  (await readdir(`${root}/packages/db/migrations`)).filter((file) => file.endsWith('.sql')).sort();

test('each migration has a number of its own, which says what comes after what', async () => {
  const files = await migrations();
  const numbers = files.map((file) => file.slice(0, 4));
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
});

test('several processes that migrate an empty database at once succeed, each migration applied once', async () => {
  const databaseUrl = await emptyDatabase();
  const files = await migrations();
  const processes = [runMigrate({ DATABASE_URL: databaseUrl }), runMigrate({ DATABASE_URL: databaseUrl })];
  const inProcess = await Promise.all(Array.from({ length: 6 }, () => migrate(databaseUrl)));
  const outside = await Promise.all(processes);
  expect(outside.map(({ code, err }) => ({ code, err }))).toEqual(processes.map(() => ({ code: 0, err: '' })));
  const appliedOutside = outside.filter(({ out }) => /^Applied /m.test(out)).length;
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
  const databaseUrl = await emptyDatabase();
  expect((await migrate(databaseUrl)).applied).toEqual(await migrations());
  expect((await migrate(databaseUrl)).applied).toEqual([]);
  expect(await runMigrate({ DATABASE_URL: databaseUrl })).toEqual({
    code: 0,
    out: 'The database is up to date.\n',
    err: '',
  });
});

test('a month to come is left to a worker while a backup reads, and the month that is now is not', async () => {
  const databaseUrl = await emptyDatabase();
  await migrate(databaseUrl);
  const inMonths = (ahead: number): string => {
    const now = new Date();
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1));
    return `events_${month.toISOString().slice(0, 7).replace('-', '_')}`;
  };
  await queryOnce(databaseUrl, `DROP TABLE ${inMonths(3)}`);
  const backup = new pg.Client({ connectionString: databaseUrl });
  await backup.connect();
  try {
    await backup.query('BEGIN');
    await backup.query('LOCK TABLE events_default IN ACCESS SHARE MODE');
    const told = await runMigrate({ DATABASE_URL: databaseUrl });
    expect(told).toMatchObject({
      code: 0,
      out: expect.stringMatching(/up to date\.\nA month to come .* a worker makes it/),
    });
    await backup.query('ROLLBACK');
    await queryOnce(databaseUrl, `DROP TABLE ${inMonths(0)}`);
    await backup.query('BEGIN');
    await backup.query('LOCK TABLE events_default IN ACCESS SHARE MODE');
    const failed = await runMigrate({ DATABASE_URL: databaseUrl });
    expect(failed).toMatchObject({ code: 1, err: expect.stringMatching(/^Cannot migrate: .*holds a lock[^\n]*\n$/) });
    expect(failed.err).not.toContain('DATABASE_URL');
    await backup.query('ROLLBACK');
    expect(await migrate(databaseUrl)).toEqual({ applied: [] });
  } finally {
    await backup.end();
  }
});

test('a database that a newer Weir has migrated is left as it is, and refused once it needs that one', async () => {
  const databaseUrl = await emptyDatabase();
  await migrate(databaseUrl);
  await queryOnce(databaseUrl, `INSERT INTO migrations (name) VALUES ('9998_only_adds.sql')`);
  expect(await migrate(databaseUrl)).toEqual({ applied: [] });
  await queryOnce(databaseUrl, `INSERT INTO migrations (name, needs) VALUES ('9999_takes_away.sql', '9998')`);
  const newest = (await migrations()).at(-1)?.slice(0, 4);
  const why = `The database was migrated by a newer Weir (it has 9999_takes_away.sql), and this version, which knows ${newest}, cannot run on it: run that one instead.`;
  await expect(migrate(databaseUrl)).rejects.toThrow(why);
  expect(await runMigrate({ DATABASE_URL: databaseUrl })).toEqual({ code: 1, out: '', err: `${why}\n` });
});

test('a database from before the first release is called that', async () => {
  const databaseUrl = await emptyDatabase();
  await queryOnce(databaseUrl, 'CREATE TABLE migrations (name text PRIMARY KEY, applied_at timestamptz)');
  await queryOnce(
    databaseUrl,
    `INSERT INTO migrations VALUES ('0001_organizations_and_access.sql'), ('0002_catalog.sql')`,
  );
  await expect(migrate(databaseUrl)).rejects.toThrow(/^The database is of Weir before its first release .*no way up/);
});

test('a migration that fails keeps nothing of itself, and works once its obstacle is gone', async () => {
  const databaseUrl = await emptyDatabase();
  await queryOnce(databaseUrl, 'CREATE TABLE events (x int)');
  await expect(migrate(databaseUrl)).rejects.toThrow('Migration 0001_initial.sql failed and was rolled back.');
  const { rows } = await queryOnce(databaseUrl, `SELECT to_regclass('meters') AS meters`);
  expect(rows).toEqual([{ meters: null }]);
  await queryOnce(databaseUrl, 'DROP TABLE events');
  expect((await migrate(databaseUrl)).applied).toEqual(await migrations());
});

test('a migration that Postgres has ended is told in one line, with what became of it and why', async () => {
  const databaseUrl = await emptyDatabase();
  await queryOnce(
    databaseUrl,
    'CREATE TABLE migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  );
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    // It is noted at the end of its transaction.
    await holder.query('LOCK TABLE migrations IN EXCLUSIVE MODE');
    const ended = runMigrate({ DATABASE_URL: databaseUrl });
    const endIt = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
      AND application_name = 'weir-migrate' AND wait_event_type = 'Lock'`;
    await until(async () => (await queryOnce(databaseUrl, endIt)).rowCount === 1, 'the migration waits for the lock');
    const { code, err } = await ended;
    expect(code).toBe(1);
    expect(err).toMatch(
      /^Migration 0001_initial\.sql failed and was rolled back\. The reason: terminating connection [^\n]*\.\n$/,
    );
  } finally {
    await holder.end();
  }
});

test('of a migration whose connection is lost while it commits it is not said that it was rolled back', async () => {
  const databaseUrl = await emptyDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'weir-migrations-'));
  try {
    await writeFile(
      join(folder, '0001_ends.sql'),
      `CREATE TABLE ends ();
       CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(60); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON ends DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION end_session();
       INSERT INTO ends DEFAULT VALUES;`,
    );
    await expect(migrate(databaseUrl, folder)).rejects.toThrow(
      /^It is not known whether migration 0001_ends\.sql was done: run migrate again/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('without an address the command ends with one line that says what is missing', async () => {
  const { code, out, err } = await runMigrate({});
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^Cannot start: DATABASE_URL is not set: .*\n$/);
});

const changed = (change: (url: URL) => unknown, databaseUrl = inject('databaseUrl')): string => {
  const url = new URL(databaseUrl);
  change(url);
  return url.href;
};

/** What a server that starts says to whoever connects. */
const STARTING = 'SFATAL\0C57P03\0Mthe database system is starting up\0\0';

test('a Postgres that nobody listens for yet, and one that starts, is waited for, and told once', async () => {
  const databaseUrl = await emptyDatabase();
  const { hostname, port } = new URL(databaseUrl);
  let connections = 0;
  const door = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    if (connections === 1) {
      const head = Buffer.from('E\0\0\0\0', 'latin1');
      head.writeInt32BE(STARTING.length + 4, 1);
      socket.once('data', () => socket.end(Buffer.concat([head, Buffer.from(STARTING)])));
      return;
    }
    const server = connect(Number(port || 5432), hostname);
    server.on('error', () => socket.destroy());
    socket.pipe(server).pipe(socket);
  });
  await once(door.listen(0, '127.0.0.1'), 'listening');
  const at = (door.address() as AddressInfo).port;
  await new Promise((closed) => door.close(closed));
  const told: string[] = [];
  try {
    const through = changed((url) => (url.host = `127.0.0.1:${at}`), databaseUrl);
    const { applied } = await migrateOnceUp(through, (line) => {
      told.push(line);
      if (!door.listening) door.listen(at, '127.0.0.1');
    });
    expect(applied).toEqual(await migrations());
    expect(connections).toBeGreaterThan(1);
    const waits = told.filter((line) => line.startsWith('Waiting: '));
    expect(waits).toEqual([
      expect.stringMatching(/^Waiting: connect ECONNREFUSED 127\.0\.0\.1:\d+ \(check DATABASE_URL/),
    ]);
  } finally {
    await new Promise((closed) => door.close(closed));
  }
});

test('a Postgres that is not there is given up after a while, with one line that says what to do', async () => {
  // Nothing listens on port 1.
  const nowhere = changed((url) => (url.host = '127.0.0.1:1'));
  const error = await migrateOnceUp(nowhere, () => {}, 1).catch((why: unknown) => why);
  expect(explainUnreachable(error)).toMatch(/ECONNREFUSED 127\.0\.0\.1:1 \(check DATABASE_URL/);
});

// The Postgres of the tests has no certificate.
test.each([
  ['does not have the database', changed((url) => (url.pathname = '/nothing')), /"nothing" does not exist \(make the/],
  [
    'is on a host that nobody knows',
    changed((url) => (url.hostname = 'x.invalid')),
    /x\.invalid \(check the name of the/,
  ],
  ['has no TLS', changed((url) => url.searchParams.set('sslmode', 'require')), /SSL connections \(set ssl = on there/],
  [
    'is to be trusted by a file that is not there',
    changed((url) => url.searchParams.set('sslrootcert', '/no/ca.pem')),
    /\/no\/ca\.pem' \(check/,
  ],
])('where Postgres %s it says so in one line, with what to do', async (_, url, line) => {
  const { code, out, err } = await runMigrate({ DATABASE_URL: url });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^Cannot migrate: [^\n]*\.\n$/);
  expect(err).toMatch(line);
});

test.each(['--dry-run', '--help'])('with %s it says that it takes none, and migrates nothing', async (argument) => {
  const databaseUrl = await emptyDatabase();
  const usage = 'migrate takes no arguments: it reads DATABASE_URL (docs/operations.md)\n';
  const answer = argument === '--help' ? { code: 0, out: usage, err: '' } : { code: 2, out: '', err: usage };
  expect(await runMigrate({ DATABASE_URL: databaseUrl }, [argument])).toEqual(answer);
  const { rows } = await queryOnce(databaseUrl, `SELECT to_regclass('migrations') AS migrations`);
  expect(rows).toEqual([{ migrations: null }]);
});
