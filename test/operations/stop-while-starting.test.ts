// Whoever stops a program that waits for Postgres or Redis does not wait with it. In a container each program is the first process, which
// ends by no signal that it does not listen for; one that listens says so by the code with which it ends.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { openCommand } from '@weir/queue/connection';
import { explainFailure } from '@weir/reconcile/connect';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Takes connections, and never says a word: what a program does at its start goes on until it is stopped. */
const silent = createServer();
const sockets: Socket[] = [];

beforeAll(async () => {
  silent.on('connection', (socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test.each<[program: string, args: string[], signal: NodeJS.Signals, code: number]>([
  ['apps/api/dist/main.js', [], 'SIGTERM', 0],
  ['apps/worker/dist/main.js', [], 'SIGTERM', 0],
  ['apps/worker/dist/main.js', [], 'SIGINT', 0],
  ['packages/db/dist/migrate-main.js', [], 'SIGTERM', 143],
  ['packages/db/dist/migrate-main.js', [], 'SIGINT', 130],
  ['apps/reconcile/dist/main.js', [], 'SIGTERM', 143],
  ['apps/reconcile/dist/take-over-main.js', [], 'SIGTERM', 143],
  ['apps/admin/dist/main.js', ['list-users'], 'SIGTERM', 143],
])('%s %j that waits for Postgres or Redis ends at once by %s, with %i', async (program, args, signal, code) => {
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const connected = once(silent, 'connection');
  const child = spawn(process.execPath, [program, ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: `postgres://nobody@${address}/none`,
      REDIS_URL: `redis://${address}`,
      PORT: '0',
      WORKER_PORT: '0',
      LOG_LEVEL: 'silent',
    },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await connected;
  child.kill(signal);
  expect(await ended).toEqual([code, null]);
});

test('the commands take a Redis that says nothing for one that is away', async () => {
  const url = `redis://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const failure = await openCommand({ url, prefix: 'any' }, 100).catch((error: unknown) => error);
  expect(explainFailure(failure)).toMatch(/^Redis cannot be reached \(Socket timeout.*100ms.*Check REDIS_URL/);
});
