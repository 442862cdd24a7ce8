import { withinMs } from '@weir/shared/within';
import type { QueueConnection } from './connection.ts';

/** Forgotten again at once where nobody probes. */
const SECONDS = 60;

/**
 * Resolves when Redis takes a write within this time. Rejects while it is away, slow, full, a replica, or cannot write its log: a ping
 * is answered then, too.
 */
export async function probeRedis({ redis, keys }: QueueConnection, msMax: number): Promise<void> {
  if (redis.status !== 'ready') throw new Error('not connected');
  await withinMs(msMax, redis.set(keys.probe, '', 'EX', SECONDS));
}
