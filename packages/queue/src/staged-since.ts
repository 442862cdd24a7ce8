import type { QueueConnection } from './connection.ts';

/**
 * An event joins a batch that was opened 5 s after it was received, at most (find-staged.ts). The rest is for the clocks of API
 * machines and of Postgres, which differ.
 */
const RECEIVED_BEFORE_MS_MAX = 10_000;

/**
 * Since when events of an organization may have been accepted that are not recorded yet, in milliseconds since 1970; undefined where
 * none waits. Whatever was accepted before is in Postgres. Throws while Redis is away.
 */
export async function readStagedSince(
  { redis, keys }: QueueConnection,
  organizationId: string,
): Promise<number | undefined> {
  const [waiting, oldest] = await Promise.all([
    redis.hget(keys.waiting, organizationId),
    redis.zrange(keys.staged, 0, '0', 'WITHSCORES'),
  ]);
  if (waiting === null || oldest[1] === undefined) return undefined;
  return Number(oldest[1]) - RECEIVED_BEFORE_MS_MAX;
}
