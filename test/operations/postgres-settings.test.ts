// What a database, a role or a server has set for itself loses nothing, or is refused with one line that says what to do.

import { openDatabase } from '@weir/db/database';
import { findRisks } from '@weir/db/installation';
import { migrate } from '@weir/db/migrate';
import { MIGRATIONS } from '@weir/db/migrations';
import { readdir } from 'node:fs/promises';
import { openTemporaryServices } from '@weir/services/temporary';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { until } from '../support/harness.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { openContainers } from '../support/setup/containers.ts';
import { createDatabase, createTestDatabase, type TestDatabase } from '../support/setup/database.ts';
import { queryOnce } from '../support/setup/query.ts';
import { ownWeir } from '../support/use-weir.ts';
import { PROGRAMS } from '../support/programs-folder.ts';

describe('each connection', () => {
  let own: TestDatabase;
  beforeAll(async () => {
    own = await createTestDatabase();
  });
  afterAll(() => own.drop());

  const set = (setting: string, value: string) =>
    queryOnce(own.url, `ALTER DATABASE ${new URL(own.url).pathname.slice(1)} SET ${setting} = ${value}`);

  /** What two connections of Weir at once say. */
  async function shown(setting: string, url = own.url): Promise<unknown[]> {
    const database = openDatabase(url, { connectionsMax: 2, statementTimeoutMs: 5_000, onConnectionError: () => {} });
    try {
      const ask = () => database.pool.query(`SELECT current_setting('${setting}') AS value, pg_sleep(0.02)`);
      return (await Promise.all([ask(), ask()])).map(({ rows }) => rows[0]?.value);
    } finally {
      await database.close();
    }
  }

  test('waits for the disk where a database was set not to, and for more where it was set to that', async () => {
    for (const [value, expected] of [
      ['off', 'on'],
      ['on', 'on'],
      ['local', 'local'],
      ['remote_write', 'remote_write'],
      ['remote_apply', 'remote_apply'],
    ] as const) {
      await set('synchronous_commit', value);
      expect(await shown('synchronous_commit')).toEqual([expected, expected]);
    }
  });

  test('takes the NULLs in arrays for what they are, and speaks UTC, whatever options the address has', async () => {
    await set('array_nulls', 'off');
    await set('timezone', `'Asia/Tokyo'`);
    expect(await shown('array_nulls')).toEqual(['on', 'on']);
    const url = new URL(own.url);
    url.searchParams.set('options', '-c work_mem=5MB -c timezone=Asia/Tokyo');
    expect(await shown('work_mem', url.href)).toEqual(['5MB', '5MB']);
    expect(await shown('timezone', url.href)).toEqual(['UTC', 'UTC']);
  });
});

describe('a database on which Weir cannot run is refused', () => {
  const weir = ownWeir({ withWorker: false });
  const databases: TestDatabase[] = [];
  afterAll(async () => {
    for (const database of databases) await database.drop();
  });

  async function create(how = ''): Promise<string> {
    const database = await createDatabase(how);
    databases.push(database);
    return database.url;
  }
  /** A prefix of its own, so that only the database can be at fault. */
  const envOf = (url: string) => ({ ...weir.env, DATABASE_URL: url, QUEUE_PREFIX: '{weir-test-refused}' });
  const expectRefusedAtStart = async (url: string, line: RegExp) => {
    await expect(weir.startApi(envOf(url))).rejects.toThrow(line);
    await expect(weir.startWorker(envOf(url))).rejects.toThrow(line);
    expect(await weir.redis.keys('\\{weir-test-refused\\}:database')).toEqual([]);
  };

  test.each(['SQL_ASCII', 'LATIN1'])('when its encoding is %s, by the migration and at start', async (encoding) => {
    const url = await create(`ENCODING '${encoding}' TEMPLATE template0 LOCALE 'C'`);
    const { code, out, err } = await runToEnd('packages/db/dist/migrate-main.js', { DATABASE_URL: url });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(new RegExp(`^The database has the encoding ${encoding} [^\\n]* ENCODING 'UTF8' [^\\n]*\\n$`));
    await expectRefusedAtStart(url, new RegExp(`^Cannot start: The database has the encoding ${encoding} `));
  });

  test('when it is not migrated, or only to an older version, or to a newer one that needs a newer process', async () => {
    const url = await create();
    await expectRefusedAtStart(url, /^Cannot start: The database is not migrated .*: run npm run migrate\.$/);
    await migrate(url);
    const last =
      (await readdir(MIGRATIONS))
        .filter((name) => name.endsWith('.sql'))
        .toSorted()
        .at(-1) ?? '';
    await queryOnce(url, `DELETE FROM migrations WHERE name = '${last}'`);
    await expectRefusedAtStart(url, new RegExp(`^Cannot start: .*\\(${last} missing\\): run npm run migrate\\.$`));
    await queryOnce(
      url,
      `INSERT INTO migrations VALUES ('${last}'), ('9998_later.sql'); INSERT INTO migrations VALUES ('9999_last.sql', now(), '9998')`,
    );
    await expectRefusedAtStart(
      url,
      /^Cannot start: The database was migrated by a newer Weir \(it has 9999_last\.sql\), and this version[^\n]*\.$/,
    );
  });

  test('when it is not migrated to this version, by the commands, which change nothing', async () => {
    const url = await create();
    await migrate(url);
    const { rows } = await queryOnce(
      url,
      'DELETE FROM migrations WHERE name = (SELECT max(name) FROM migrations) RETURNING name',
    );
    const line = new RegExp(
      `^[a-z]+: The database is not migrated .*\\(${rows[0]?.name} missing\\): run npm run migrate\\.\n$`,
    );
    const { DATABASE_URL, QUEUE_PREFIX } = envOf(url);
    const env = { REDIS_URL: weir.env['REDIS_URL'] ?? '', DATABASE_URL, QUEUE_PREFIX };
    const reconciled = await runToEnd('apps/reconcile/dist/main.js', env);
    expect(reconciled).toEqual({ code: 2, out: '', err: expect.stringMatching(line) });
    const listed = await runToEnd('apps/admin/dist/main.js', env, ['list-users']);
    expect(listed).toEqual({ code: 2, out: '', err: expect.stringMatching(line) });
  });

  test.each([
    ['other columns', 'id bigint, migration text, batch integer'],
    ['the same columns', 'name text, applied_at timestamptz'],
  ])('when another program keeps its migrations in it, in a table of %s', async (_, columns) => {
    const url = await create();
    await queryOnce(url, `CREATE TABLE migrations (${columns})`);
    if (columns.startsWith('name')) await queryOnce(url, `INSERT INTO migrations VALUES ('2014_10_12_create_users')`);
    const { code, out, err } = await runToEnd('packages/db/dist/migrate-main.js', { DATABASE_URL: url });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^The database has a table "migrations" of another program: [^\n]*\n$/);
    await expectRefusedAtStart(url, /^Cannot start: The database has a table "migrations" of another program/);
  });
});

test('a server that does not write to disk what it says it has is named', async () => {
  // A server of its own, since all other tests share one.
  const given = { databaseUrl: undefined, redisUrl: inject('redisUrl') };
  const log = () => {};
  const services =
    (await openContainers(given, log)) ?? (await openTemporaryServices({ ...given, cacheHome: PROGRAMS, log }));
  const database = openDatabase(services.databaseUrl, {
    connectionsMax: 1,
    statementTimeoutMs: 5_000,
    onConnectionError: log,
  });
  try {
    expect(await findRisks(database, 1)).toEqual([]);
    await queryOnce(services.databaseUrl, 'ALTER SYSTEM SET fsync = off');
    await queryOnce(services.databaseUrl, 'ALTER SYSTEM SET full_page_writes = off');
    await queryOnce(services.databaseUrl, 'SELECT pg_reload_conf()');
    await until(async () => (await findRisks(database, 1)).length > 0, 'the server has read its settings');
    expect(await findRisks(database, 1)).toEqual([
      expect.stringContaining('fsync off'),
      expect.stringContaining('full_page_writes off'),
    ]);
    await services.close();
  } finally {
    await database.close();
    await services.close();
  }
});
