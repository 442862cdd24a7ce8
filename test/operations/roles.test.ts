// Weir's own role, where it is no superuser: what the documents give to paste lets it in, and has it own its database.

import { migrate } from '@weir/db/migrate';
import { makePartitions } from '@weir/db/partitions';
import { findFreePort } from '@weir/services/connection';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killServer, settleServers, type Servers } from '../support/postgres-server.ts';
import { queryOnce } from '../support/setup/query.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const [scale, operations] = [textOf('docs/scale.md'), textOf('docs/operations.md')];
const partOf = (text: string, pattern: RegExp): string => {
  const [, found] = pattern.exec(text) ?? [];
  if (found === undefined) throw new Error(`no document has ${pattern}`);
  return found;
};
/** Of the roles that the documents make, in place of `…` or `new`. */
const PASSWORD = 'of-the-role';

let servers: Servers;
let server: ChildProcess;
let admin: string;

/** As the documents set up Postgres on three machines: here it is one, and its superuser may come in. */
beforeAll(async () => {
  servers = await settleServers('postgres');
  const [data, port] = [join(servers.folder, 'data'), await findFreePort()];
  await servers.initialize(data);
  const rules = partOf(scale, /In `pg_hba\.conf`[^]*?```\n([^]*?)```/).replaceAll(/\S+\/24/g, '127.0.0.1/32');
  const hba = join(data, 'pg_hba.conf');
  await writeFile(hba, `host all postgres 127.0.0.1/32 scram-sha-256\n${rules}`);
  await servers.own(hba);
  server = await servers.start(data, port);
  admin = servers.urlOf(port);
  for (const [, statement = ''] of scale.matchAll(/psql -c "(CREATE [^"]*)"/g))
    await queryOnce(admin, statement.replace('…', PASSWORD));
});
afterAll(async () => {
  await killServer(server);
  await servers.remove();
});

/** The address that a role signs in with. */
function urlFor(role: string): string {
  const url = new URL(admin);
  Object.assign(url, { username: role, password: PASSWORD, pathname: '/weir' });
  return url.href;
}

/** Makes the months from a time on, as a worker does each day. */
async function makeMonths(role: string, since: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: urlFor(role) });
  await client.connect();
  try {
    return await makePartitions(client, new Date(since));
  } finally {
    await client.end();
  }
}

test('the role of Weir migrates the database that is made for it, and makes months in it', async () => {
  expect((await migrate(urlFor('weir'))).applied.length).toBeGreaterThan(0);
  expect(await makeMonths('weir', '2040-01-01T00:00:00Z')).toHaveLength(4);
});

/** What `createdb` asks of Postgres: it is none of the programs that come with Weir. */
function statementOf(command: string): string {
  const clauses = { O: 'OWNER', T: 'TEMPLATE', E: 'ENCODING' };
  const given = Object.entries(clauses).flatMap(([letter, clause]) => {
    const [, value] = new RegExp(` -${letter} (\\S+)`).exec(command) ?? [];
    return value === undefined ? [] : [`${clause} ${value}`];
  });
  return `CREATE DATABASE ${command.split(' ').at(-1)} ${given.join(' ')}`;
}

// Under Docker `weir` is the superuser.
const made = [...operations.matchAll(/`(createdb [^`]*)`/g)].map(([, command = '']) => command);

test('two pages make a database for what is restored', () => {
  expect(made).toHaveLength(2);
});

test.each([...new Set(made)])('a database that %s makes for a restore belongs to the role of Weir', async (command) => {
  await queryOnce(admin, 'DROP DATABASE IF EXISTS weir_before');
  await queryOnce(admin, partOf(operations, /psql -d postgres -c '(ALTER DATABASE weir RENAME TO weir_before)'/));
  await queryOnce(admin, statementOf(command));
  const { rows } = await queryOnce(urlFor('weir'), 'SHOW server_encoding');
  expect(rows).toEqual([{ server_encoding: 'UTF8' }]);
  expect((await migrate(urlFor('weir'))).applied.length).toBeGreaterThan(0);
  expect(await makeMonths('weir', '2040-01-01T00:00:00Z')).toHaveLength(4);
});

test('the roles that take turns when passwords change are let in, each as the one that owns all', async () => {
  await migrate(urlFor('weir'));
  const second = partOf(operations, /^1\. Make the second one:\n[^]*?```sql\n([^]*?)```/m).replace(
    "'new'",
    `'${PASSWORD}'`,
  );
  expect(operations).toContain('The next time make a third, `weir_login2`, in the same way');
  for (const [role, since] of [
    ['weir_login', '2041-01-01T00:00:00Z'],
    ['weir_login2', '2042-01-01T00:00:00Z'],
  ] as const) {
    await queryOnce(admin, second.replaceAll('weir_login', role));
    expect((await queryOnce(urlFor(role), 'SELECT current_user')).rows).toEqual([{ current_user: 'weir' }]);
    expect(await makeMonths(role, since)).toHaveLength(4);
  }
  await queryOnce(admin, partOf(operations, /`(ALTER ROLE weir NOLOGIN)`/));
  await expect(queryOnce(urlFor('weir'), 'SELECT')).rejects.toMatchObject({ code: '28000' });
  await queryOnce(urlFor('weir_login2'), 'SELECT');
});
