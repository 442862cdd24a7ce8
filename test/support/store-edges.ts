import { inject } from 'vitest';
import { Edge } from '../../chaos/environment/edge.ts';
import { findFreePort } from '@weir/services/connection';
import type { Weir } from './harness.ts';

/** Proxies in front of the Redis and the Postgres of a Weir, for processes that are to lose them. */
export interface StoreEdges {
  redis: Edge;
  postgres: Edge;
  /** The settings of such a process. */
  env: { REDIS_URL: string; DATABASE_URL: string };
  close(): Promise<void>;
}

export async function openStoreEdges({ databaseUrl }: Pick<Weir, 'databaseUrl'>): Promise<StoreEdges> {
  const [toRedis, toPostgres] = [new URL(inject('redisUrl')), new URL(databaseUrl)];
  const redis = new Edge(await findFreePort(), Number(toRedis.port || 6379));
  const postgres = new Edge(await findFreePort(), Number(toPostgres.port || 5432));
  await Promise.all([redis.open(), postgres.open()]);
  Object.assign(toRedis, { hostname: '127.0.0.1', port: String(redis.port) });
  Object.assign(toPostgres, { hostname: '127.0.0.1', port: String(postgres.port) });
  return {
    redis,
    postgres,
    env: { REDIS_URL: toRedis.href, DATABASE_URL: toPostgres.href },
    async close() {
      await redis.close();
      await postgres.close();
    },
  };
}
