// A real Redis, its replica, and three Sentinels that promote it. The replica calls the primary from an address of its own, by which a
// proxy in front of the primary holds back what it reads, and nothing else.

import { environmentOf } from '@weir/services/find-program';
import { findRedis } from '@weir/services/redis-packages';
import { Redis } from 'ioredis';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Edge } from '../../chaos/environment/edge.ts';
import { findFreePort } from '@weir/services/connection';
import { until } from './harness.ts';

const PASSWORD = 'of-redis';
const SENTINEL_PASSWORD = 'of-sentinel';
const NAME = 'weir';
const REPLICA_ADDRESS = '127.0.0.9';

/** A primary of a busy machine may be silent for long, and nobody is to take its place before it is killed. */
const BUSY_MS = 60_000;
const KILLED_MS = 400;

export interface RedisTrio {
  /** The address of the three Sentinels. */
  url: string;
  /** What the replica reads from the primary comes through it. */
  replication: Edge;
  /** Asks the first Redis, or the one that was its replica. */
  primary: Redis;
  replica: Redis;
  /** Ends the primary, and what was on its way to the replica is lost. */
  killPrimary(): Promise<void>;
  /** Waits until Sentinel has made the replica the primary. */
  promoted(): Promise<void>;
  close(): Promise<void>;
}

/** Opens them all. It takes some three seconds. */
export async function openRedisTrio(): Promise<RedisTrio> {
  const home = await mkdtemp(join(tmpdir(), 'weir-trio-'));
  const programs = process.env['WEIR_HOME'] || fileURLToPath(new URL('../../.weir', import.meta.url));
  const program = await findRedis({ path: home, programs, log: () => {}, signal: undefined });
  const env = environmentOf(program);
  const children: ChildProcess[] = [];
  const start = async (name: string, settings: string[], args: string[] = []): Promise<ChildProcess> => {
    await mkdir(join(home, name));
    const file = join(home, name, 'redis.conf');
    await writeFile(file, [`dir ${join(home, name)}`, 'bind 127.0.0.1', ...settings, ''].join('\n'));
    const child = spawn(program.path, [file, ...args], { env, stdio: 'ignore' });
    children.push(child);
    return child;
  };
  const data = (port: number) => [
    `port ${port}`,
    `requirepass ${PASSWORD}`,
    `masterauth ${PASSWORD}`,
    'appendonly yes',
    'appendfsync always',
    'save ""',
    'repl-diskless-sync-delay 0',
  ];
  const [port, replicaPort, frontPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const [plain, replication] = [new Edge(0, port), new Edge(0, port)];
  const front = createServer({ allowHalfOpen: true, noDelay: true }, (client) =>
    (client.remoteAddress === REPLICA_ADDRESS ? replication : plain).take(client),
  );
  front.listen(frontPort, '127.0.0.1');
  await once(front, 'listening');

  const first = await start('primary', data(port));
  const following = [`bind-source-addr ${REPLICA_ADDRESS}`, `replicaof 127.0.0.1 ${frontPort}`];
  await start('replica', [...data(replicaPort), ...following]);
  const [primary, replica] = [clientAt(port), clientAt(replicaPort)];
  const infoOf = (redis: Redis) => redis.info('replication').catch(() => '');
  await until(async () => (await infoOf(primary)).includes('state=online'), 'the replica follows');

  const sentinelPorts = [await findFreePort(), await findFreePort(), await findFreePort()];
  for (const [index, sentinelPort] of sentinelPorts.entries())
    await start(
      `sentinel-${index}`,
      [
        `port ${sentinelPort}`,
        `requirepass ${SENTINEL_PASSWORD}`,
        `sentinel monitor ${NAME} 127.0.0.1 ${frontPort} 2`,
        `sentinel auth-pass ${NAME} ${PASSWORD}`,
        `sentinel down-after-milliseconds ${NAME} ${BUSY_MS}`,
        `sentinel failover-timeout ${NAME} 2000`,
      ],
      ['--sentinel'],
    );
  const sentinels = sentinelPorts.map((each) => clientAt(each, SENTINEL_PASSWORD));
  const isKnown = async (sentinel: Redis) => {
    const said = ((await sentinel.call('SENTINEL', 'MASTER', NAME).catch(() => [])) as string[]).join(' ');
    return said.includes('num-slaves 1') && said.includes('num-other-sentinels 2');
  };
  await until(async () => (await Promise.all(sentinels.map(isKnown))).every(Boolean), 'the Sentinels know each other');

  const hosts = sentinelPorts.map((each) => `127.0.0.1:${each}`).join(',');
  return {
    url: `redis+sentinel://:${PASSWORD}@${hosts}/${NAME}?sentinel_password=${SENTINEL_PASSWORD}`,
    replication,
    primary,
    replica,
    async killPrimary() {
      for (const sentinel of sentinels)
        await sentinel.call('SENTINEL', 'SET', NAME, 'down-after-milliseconds', KILLED_MS);
      const gone = once(first, 'exit');
      first.kill('SIGKILL');
      replication.reset();
      front.close();
      await gone;
    },
    promoted: () => until(async () => (await infoOf(replica)).includes('role:master'), 'the replica is promoted'),
    async close() {
      for (const client of [primary, replica, ...sentinels]) client.disconnect();
      const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      const gone = running.map((child) => once(child, 'exit'));
      for (const child of running) child.kill('SIGKILL');
      await Promise.all(gone);
      front.close();
      await Promise.all([plain.close(), replication.close()]);
      await rm(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function clientAt(port: number, password = PASSWORD): Redis {
  const client = new Redis(port, '127.0.0.1', {
    password,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    retryStrategy: () => 50,
  });
  client.on('error', () => {});
  return client;
}
