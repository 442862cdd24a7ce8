// A connection to Postgres that goes silent: nobody closes it, nothing comes back.

import { isDatabaseAway, isUnavailable, openDatabase, type Database } from '@weir/db/database';
import { sql } from 'kysely';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect, inject, test } from 'vitest';
import { until } from '../support/harness.ts';

type Way = (database: Database, statement: string) => Promise<unknown[]>;

const ways: [string, Way][] = [
  ['the pool', async ({ pool }, statement) => (await pool.query(statement)).rows],
  ['Kysely', async ({ kysely }, statement) => (await sql.raw(statement).execute(kysely)).rows],
  [
    'a transaction',
    ({ kysely }, statement) =>
      kysely.transaction().execute(async (open) => (await sql.raw(statement).execute(open)).rows),
  ],
];

test.each(ways)(
  'a connection of %s that went silent is given up, and the next query takes another one',
  async (_, ask) => {
    const real = new URL(inject('databaseUrl'));
    let isSilent = false;
    const sockets: Socket[] = [];
    const proxy = createServer((client) => {
      const server = connect(Number(real.port), real.hostname);
      const wasSilent = isSilent;
      sockets.push(client, server);
      // What was connected while the network was well is cut off without a word; what connects later works.
      client.on('data', (data) => (wasSilent || !isSilent) && server.write(data));
      server.on('data', (data) => client.write(data));
      for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = new URL(real);
    url.hostname = '127.0.0.1';
    url.port = String((proxy.address() as AddressInfo).port);
    const database = openDatabase(url.href, {
      connectionsMax: 1,
      statementTimeoutMs: 100,
      onConnectionError: () => {},
    });
    try {
      await ask(database, 'SELECT 1');
      isSilent = true;
      const error: unknown = await ask(database, 'SELECT 1').catch((thrown: unknown) => thrown);
      expect(isUnavailable(error)).toBe(true);
      expect(await ask(database, 'SELECT 2 AS answer')).toEqual([{ answer: 2 }]);
    } finally {
      for (const socket of sockets) socket.destroy();
      await database.close();
      proxy.close();
    }
  },
);

test.each(ways)(
  'a connection of %s to a former primary, or that was ended there, is given up at the first error',
  async (_, ask) => {
    const database = openDatabase(inject('databaseUrl'), {
      connectionsMax: 1,
      statementTimeoutMs: 10_000,
      onConnectionError: () => {},
    });
    const pid = async () => (await database.pool.query('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
    try {
      const former = await pid();
      await database.pool.query('SET default_transaction_read_only = on');
      await expect(ask(database, 'CREATE TABLE not_taken ()')).rejects.toMatchObject({ code: '25006' });
      const next = await pid();
      expect(next).not.toBe(former);
      // A transaction tells of it what its rollback said.
      const ended = await ask(database, 'SELECT pg_terminate_backend(pg_backend_pid())').catch(
        (error: unknown) => error,
      );
      expect(isDatabaseAway(ended)).toBe(true);
      expect(await ask(database, 'SELECT 2 AS answer')).toEqual([{ answer: 2 }]);
    } finally {
      await database.close();
    }
  },
);

test('an error of a connection held between two queries is told, and does not end the process', async () => {
  const told: Error[] = [];
  const database = openDatabase(inject('databaseUrl'), {
    connectionsMax: 2,
    statementTimeoutMs: 10_000,
    onConnectionError: (error) => told.push(error),
  });
  const held = await database.pool.connect();
  try {
    const { rows } = await held.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await until(() => told.length > 0, 'the end of the connection is told');
    await expect(held.query('SELECT 1')).rejects.toThrow(/terminat|not queryable|closed/i);
  } finally {
    held.release(true);
    await database.close();
  }
});

test('a transaction whose client has gone silent lets go of its rows', async () => {
  const own = { connectionsMax: 1, onConnectionError: () => {} };
  const silent = openDatabase(inject('databaseUrl'), { ...own, statementTimeoutMs: 200 });
  const other = openDatabase(inject('databaseUrl'), { ...own, statementTimeoutMs: 10_000 });
  const key = 4_711;
  const held = await silent.pool.connect();
  try {
    await held.query('BEGIN');
    await held.query('SELECT pg_advisory_xact_lock($1)', [key]);
    // It says nothing more, and the other one waits for no longer than a statement may take.
    await other.pool.query('SELECT pg_advisory_lock($1)', [key]);
    const error: unknown = await held.query('SELECT 1').catch((thrown: unknown) => thrown);
    expect(isUnavailable(error)).toBe(true);
  } finally {
    held.release(true);
    await Promise.all([silent.close(), other.close()]);
  }
});
