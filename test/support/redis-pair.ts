// A real Redis and its replica, behind one address that always leads new connections to the primary, and leaves those that stand where
// they are: as a cloud moves a name, or a proxy without health checks of its own.

import { findFreePort } from '@weir/services/connection';
import type { Redis } from 'ioredis';
import { Edge } from '../../chaos/environment/edge.ts';
import { until } from './harness.ts';
import { keepingData, openRedisServers, REDIS_PASSWORD, replicationOf } from './redis-servers.ts';

export interface RedisPair {
  /** The address of the primary, as a cloud has one. */
  url: string;
  /** Asks whichever is the primary. */
  primary(): Redis;
  /** Has the replica take over with all that it was told, and the address lead to it. The former primary lives on as its replica. */
  failOver(): Promise<void>;
  /** How many connections there are to the replica, other than that of the primary and the one that asks. */
  countLeftBehind(): Promise<number>;
  close(): Promise<void>;
}

/** Opens the pair. It takes some two seconds. */
export async function openRedisPair(): Promise<RedisPair> {
  const servers = await openRedisServers();
  const ports = [await findFreePort(), await findFreePort()] as const;
  const front = new Edge(await findFreePort(), ports[0]);
  await front.open();
  await servers.start('first', keepingData(ports[0]));
  await servers.start('second', [...keepingData(ports[1]), `replicaof 127.0.0.1 ${ports[0]}`]);
  const clients = ports.map((port) => servers.clientAt(port)) as [Redis, Redis];
  let primary: 0 | 1 = 0;
  const replica = () => (primary === 0 ? 1 : 0);
  const followed = () =>
    until(
      async () =>
        (await replicationOf(clients[primary])).includes('state=online') &&
        (await replicationOf(clients[replica()])).includes('master_link_status:up'),
      'the replica follows',
    );
  await followed();
  return {
    url: `redis://:${REDIS_PASSWORD}@127.0.0.1:${front.port}`,
    primary: () => clients[primary],
    async failOver() {
      await clients[primary].call('FAILOVER');
      primary = replica();
      await until(async () => (await replicationOf(clients[primary])).includes('role:master'), 'the replica took over');
      await followed();
      front.divert(ports[primary]);
    },
    async countLeftBehind() {
      const lines = String(await clients[replica()].client('LIST', 'TYPE', 'NORMAL'))
        .trim()
        .split('\n');
      return lines.length - 1;
    },
    async close() {
      await servers.close();
      await front.close();
    },
  };
}
