import type { Redis } from 'ioredis';
import { withinMs } from '@weir/shared/within';
import type { QueueConnection } from './connection.ts';
import { RedisUnreachable } from './redis-away.ts';

/** Forgotten again at once where nobody probes. */
const SECONDS = 60;

/**
 * Resolves when Redis takes a write within this time, and a replica acknowledges it where two copies are asked for. Rejects while it is
 * away, slow, full, a replica, or cannot write its log: a ping is answered then, too.
 */
export async function probeRedis({ redis, keys, secondCopy }: QueueConnection, msMax: number): Promise<void> {
  if (redis.status !== 'ready') throw new RedisUnreachable('not connected');
  const probe = (on: Redis) => on.set(keys.probe, '', 'EX', SECONDS);
  await withinMs(msMax, secondCopy === undefined ? probe(redis) : secondCopy.written(probe));
}
