// Real servers of Redis that a test starts beside the one that all share, each in a folder of its own.

import { environmentOf } from '@weir/services/find-program';
import { findRedis } from '@weir/services/redis-packages';
import { Redis } from 'ioredis';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAMS } from './programs-folder.ts';

export const REDIS_PASSWORD = 'of-redis';

export interface RedisServers {
  /** Starts one with these lines in its `redis.conf`. It may not answer yet. */
  start(name: string, settings: string[], args?: string[]): Promise<ChildProcess>;
  /** A connection to the one at this port, which is made again for as long as it takes. */
  clientAt(port: number, password?: string): Redis;
  /** Ends them all, with the connections to them. */
  close(): Promise<void>;
}

export async function openRedisServers(): Promise<RedisServers> {
  const home = await mkdtemp(join(tmpdir(), 'weir-redis-'));
  const program = await findRedis({ path: home, programs: PROGRAMS, log: () => {}, signal: undefined });
  const env = environmentOf(program);
  const children: ChildProcess[] = [];
  const clients: Redis[] = [];
  return {
    async start(name, settings, args = []) {
      await mkdir(join(home, name));
      const file = join(home, name, 'redis.conf');
      await writeFile(file, [`dir ${join(home, name)}`, 'bind 127.0.0.1', ...settings, ''].join('\n'));
      const child = spawn(program.path, [file, ...args], { env, stdio: 'ignore' });
      children.push(child);
      return child;
    },
    clientAt(port, password = REDIS_PASSWORD) {
      const client = new Redis(port, '127.0.0.1', {
        password,
        maxRetriesPerRequest: 0,
        enableReadyCheck: false,
        retryStrategy: () => 50,
      });
      client.on('error', () => {});
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.disconnect();
      const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      const gone = running.map((child) => once(child, 'exit'));
      for (const child of running) child.kill('SIGKILL');
      await Promise.all(gone);
      await rm(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** The settings of one that keeps data: on its disk before it answers. */
export const keepingData = (port: number): string[] => [
  `port ${port}`,
  `requirepass ${REDIS_PASSWORD}`,
  `masterauth ${REDIS_PASSWORD}`,
  'appendonly yes',
  'appendfsync always',
  'save ""',
  'repl-diskless-sync-delay 0',
];

/** What a Redis says of who follows whom; nothing while it does not answer. */
export const replicationOf = (redis: Redis): Promise<string> => redis.info('replication').catch(() => '');
