// The embedded services, as npm start and these tests themselves use them, when their user is killed.

import { readPostgresPointer } from '@weir/services/postgres-folder';
import { findProcesses } from '@weir/services/processes';
import { openServices, type Services } from '@weir/services/services';
import { openTemporaryServices } from '@weir/services/temporary';
import { Redis } from 'ioredis';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../support/harness.ts';
import { queryOnce } from '../support/setup/query.ts';

const opener = fileURLToPath(new URL('../support/setup/open-services.mjs', import.meta.url));
const cacheHome = process.env.WEIR_HOME || fileURLToPath(new URL('../../.weir', import.meta.url));
const programs = ['postgres', 'redis-server', 'valkey-server'];
const silent = (): void => {};

let home: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'weir-services-'));
  await chmod(home, 0o711);
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const pid of await findProcesses(programs, `${home}/`)) process.kill(pid, 'SIGKILL');
  await rm(home, { recursive: true, force: true, maxRetries: 20 });
});

interface Opened {
  child: ChildProcess;
  databaseUrl: string;
  redisUrl: string;
  home: string;
}

/** Another process that opens services and keeps them; resolves with what it says once they are up. */
async function openInChild(...args: string[]): Promise<Opened> {
  const child = spawn(process.execPath, [opener, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) return { child, ...(JSON.parse(line) as Omit<Opened, 'child'>) };
  }
  throw new Error('The process ended before its services were up.');
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** What `read` answers after this. */
const written = [{ number: 7 }, 'seven'];

async function write({ databaseUrl, redisUrl }: Services | Opened): Promise<void> {
  await queryOnce(databaseUrl, 'CREATE TABLE kept AS SELECT 7 AS number');
  await withRedis(redisUrl, (redis) => redis.set('kept', 'seven'));
}

async function read({ databaseUrl, redisUrl }: Services): Promise<unknown[]> {
  const { rows } = await queryOnce(databaseUrl, 'SELECT number FROM kept');
  return [...rows, await withRedis(redisUrl, (redis) => redis.get('kept'))];
}

async function withRedis<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

test('services that follow others have what these had and what they are told later', async () => {
  const first = await openServices({ home, cacheHome, log: silent });
  await queryOnce(first.databaseUrl, 'CREATE TABLE earlier AS SELECT 6 AS number');
  // By default it waits five seconds for more replicas.
  await withRedis(first.redisUrl, (redis) => redis.config('SET', 'repl-diskless-sync-delay', '0'));
  const follow = { standbyOf: first, replicaOf: first.redisUrl };
  const second = await openTemporaryServices({ ...follow, cacheHome, log: silent });
  try {
    await write(first);
    await until(async () => (await read(second).catch(() => [])).at(-1) === 'seven', 'both follow');
    expect(await read(second)).toEqual(written);
    expect((await queryOnce(second.databaseUrl, 'SELECT number FROM earlier')).rows).toEqual([{ number: 6 }]);
    await expect(queryOnce(second.databaseUrl, 'DROP TABLE kept')).rejects.toMatchObject({ code: '25006' });
  } finally {
    await second.close();
    await first.close();
  }
});

test('what was written is there again after the process that opened the services was killed', async () => {
  const opened = await openInChild(home, cacheHome);
  await write(opened);
  await kill(opened.child);
  const services = await openServices({ home, cacheHome, log: silent });
  expect(await read(services)).toEqual(written);
  await services.close();
});

test('what was written is there again after everything was killed at once, as by a power cut', async () => {
  const opened = await openInChild(home, cacheHome);
  await write(opened);
  const servers = await findProcesses(programs, `${home}/`);
  expect(servers.length).toBeGreaterThanOrEqual(2);
  for (const pid of servers) process.kill(pid, 'SIGKILL');
  await kill(opened.child);
  const services = await openServices({ home, cacheHome, log: silent });
  expect(await read(services)).toEqual(written);
  await services.close();
});

test('a home that is in use refuses a second user with one line that names the first', async () => {
  const { child } = await openInChild(home, cacheHome);
  const second = openServices({ home, cacheHome, log: silent });
  await expect(second).rejects.toThrow(new RegExp(`^Weir is already running .* process ${child.pid} holds .*$`));
});

test('closing leaves no process behind, and the home to the next', async () => {
  const services = await openServices({ home, cacheHome, log: silent });
  await write(services);
  expect(await findProcesses(programs, `${home}/`)).not.toEqual([]);
  await services.close();
  expect(await findProcesses(programs, `${home}/`)).toEqual([]);
  const again = await openServices({ home, cacheHome, log: silent });
  expect(await read(again)).toEqual(written);
  await again.close();
});

test('a home that was removed and is made anew is empty, also where only its owner can enter the folder', async () => {
  const closed = join(home, 'closed');
  await mkdir(closed, { mode: 0o700 });
  const options = { home: join(closed, 'weir'), cacheHome, log: silent };
  const outside: (string | undefined)[] = [];
  try {
    const first = await openServices(options);
    outside.push(await readPostgresPointer(options.home));
    await write(first);
    await first.close();
    await rm(options.home, { recursive: true });
    const second = await openServices(options);
    outside.push(await readPostgresPointer(options.home));
    await expect(read(second)).rejects.toThrow('relation "kept" does not exist');
    await second.close();
  } finally {
    for (const folder of outside) if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
});

test('a Redis that is to stop while it writes its first log stops once that is written', async () => {
  const lines: string[] = [];
  const options = { home, cacheHome, databaseUrl: 'postgresql://somewhere/weir' };
  const services = await openServices({ ...options, log: (line) => lines.push(line) });
  await withRedis(services.redisUrl, async (redis) => {
    // Without a log it has its first one to write again, half a second for each key.
    await redis.config('SET', 'appendonly', 'no');
    await redis.config('SET', 'rdb-key-save-delay', '500000');
    await redis.set('kept', 'seven');
    await redis.config('SET', 'appendonly', 'yes');
    expect(await redis.info('persistence')).toContain('aof_rewrite_in_progress:1');
  });
  await services.close();
  expect(lines.filter((line) => line.includes('did not stop in time'))).toEqual([]);
});

test('a service that dies is back at the same address, with everything that was written', async () => {
  const { promise: bothAgain, tell } = countLines(2, 'starting it again');
  const services = await openServices({ home, cacheHome, log: tell });
  await write(services);
  for (const pid of await findProcesses(programs, `${home}/`)) process.kill(pid, 'SIGKILL');
  await bothAgain;
  await expect.poll(() => read(services).catch(String), { timeout: 30_000 }).toEqual(written);
  await services.close();
});

test('services given by address are used as they are', async () => {
  const databaseUrl = 'postgresql://somewhere/weir';
  const redisUrl = 'redis://somewhere';
  const services = await openServices({ home, databaseUrl, redisUrl, log: silent });
  expect(services).toMatchObject({ databaseUrl, redisUrl });
  expect(await findProcesses(programs, `${home}/`)).toEqual([]);
  await services.close();
});

test('a temporary home is gone, and its servers with it, when it is closed and when its user is killed', async () => {
  const closed = await openTemporaryServices({ cacheHome, log: silent });
  await closed.close();
  await expect(access(closed.home)).rejects.toThrow('ENOENT');

  const killed = await openInChild('--temporary', cacheHome);
  expect(await findProcesses(programs, `${killed.home}/`)).not.toEqual([]);
  await kill(killed.child);
  const isThere = (): Promise<boolean> =>
    access(killed.home).then(
      () => true,
      () => false,
    );
  await expect.poll(isThere, { timeout: 30_000 }).toBe(false);
  expect(await findProcesses(programs, `${killed.home}/`)).toEqual([]);
});

/** Resolves when this many lines with a text were logged. */
function countLines(count: number, text: string): { promise: Promise<void>; tell: (line: string) => void } {
  let seen = 0;
  let done = (): void => {};
  const promise = new Promise<void>((resolve) => (done = resolve));
  return {
    promise,
    tell: (line) => {
      if (line.includes(text) && ++seen === count) done();
    },
  };
}
