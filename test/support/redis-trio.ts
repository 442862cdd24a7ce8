// A real Redis, its replica, and three Sentinels that promote it. The replica calls the primary from an address of its own, by which a
// proxy in front of the primary holds back what it reads, and nothing else.

import type { Redis } from 'ioredis';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Edge } from '../../chaos/environment/edge.ts';
import { findFreePort } from '@weir/services/connection';
import { until } from './harness.ts';
import { keepingData, openRedisServers, REDIS_PASSWORD, replicationOf } from './redis-servers.ts';

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
  const servers = await openRedisServers();
  const [port, replicaPort, frontPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const [plain, replication] = [new Edge(0, port), new Edge(0, port)];
  const front = createServer({ allowHalfOpen: true, noDelay: true }, (client) =>
    (client.remoteAddress === REPLICA_ADDRESS ? replication : plain).take(client),
  );
  front.listen(frontPort, '127.0.0.1');
  await once(front, 'listening');

  const first = await servers.start('primary', keepingData(port));
  const following = [`bind-source-addr ${REPLICA_ADDRESS}`, `replicaof 127.0.0.1 ${frontPort}`];
  await servers.start('replica', [...keepingData(replicaPort), ...following]);
  const [primary, replica] = [servers.clientAt(port), servers.clientAt(replicaPort)];
  await until(async () => (await replicationOf(primary)).includes('state=online'), 'the replica follows');

  const sentinelPorts = [await findFreePort(), await findFreePort(), await findFreePort()];
  for (const [index, sentinelPort] of sentinelPorts.entries())
    await servers.start(
      `sentinel-${index}`,
      [
        `port ${sentinelPort}`,
        `requirepass ${SENTINEL_PASSWORD}`,
        `sentinel monitor ${NAME} 127.0.0.1 ${frontPort} 2`,
        `sentinel auth-pass ${NAME} ${REDIS_PASSWORD}`,
        `sentinel down-after-milliseconds ${NAME} ${BUSY_MS}`,
        `sentinel failover-timeout ${NAME} 2000`,
      ],
      ['--sentinel'],
    );
  const sentinels = sentinelPorts.map((each) => servers.clientAt(each, SENTINEL_PASSWORD));
  const isKnown = async (sentinel: Redis) => {
    const said = ((await sentinel.call('SENTINEL', 'MASTER', NAME).catch(() => [])) as string[]).join(' ');
    return said.includes('num-slaves 1') && said.includes('num-other-sentinels 2');
  };
  await until(async () => (await Promise.all(sentinels.map(isKnown))).every(Boolean), 'the Sentinels know each other');

  const hosts = sentinelPorts.map((each) => `127.0.0.1:${each}`).join(',');
  return {
    url: `redis+sentinel://:${REDIS_PASSWORD}@${hosts}/${NAME}?sentinel_password=${SENTINEL_PASSWORD}`,
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
    promoted: () =>
      until(async () => (await replicationOf(replica)).includes('role:master'), 'the replica is promoted'),
    async close() {
      await servers.close();
      front.close();
      await Promise.all([plain.close(), replication.close()]);
    },
  };
}
