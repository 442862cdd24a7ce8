// A connection to Postgres that goes silent: nobody closes it, nothing comes back.

import { isUnavailable, openDatabase } from '@weir/db/database';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect, inject, test } from 'vitest';

test('a connection that went silent is given up as unavailable, and the next query takes another one', async () => {
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
  const database = openDatabase(url.href, { connectionsMax: 1, statementTimeoutMs: 100, onIdleError: () => {} });
  try {
    await database.pool.query('SELECT 1');
    isSilent = true;
    const error: unknown = await database.pool.query('SELECT 1').catch((thrown: unknown) => thrown);
    expect(isUnavailable(error)).toBe(true);
    expect((await database.pool.query('SELECT 2 AS answer')).rows).toEqual([{ answer: 2 }]);
  } finally {
    for (const socket of sockets) socket.destroy();
    await database.close();
    proxy.close();
  }
});
