// What can be seen of a Redis: its memory, and what waits in it.

import type { QueueConnection } from './connection.ts';
import { listWaiting } from './oldest-staged.ts';
import { readRedisPolicy, type RedisMemory, type RedisPolicy } from './redis-policy.ts';

export interface RedisState {
  policy: RedisPolicy;
  memory: RedisMemory;
  /** Batches that are staged and not yet recorded: without those that are, and stay while no replica acknowledges them. */
  batches: number;
  /** When the oldest of them was staged, in milliseconds since 1970; undefined when none waits. */
  oldestStagedAt: number | undefined;
  /** When the oldest claim was made that the last one to let go of claims has left; 0 while nobody did. */
  oldestClaimAt: number;
}

/** Reads all of it in one round trip, and a few more where batches are recorded and stay. Throws while Redis is away. */
export async function readRedisState(queue: QueueConnection): Promise<RedisState> {
  const { redis, keys } = queue;
  const [seen, staged, recorded, [, first], oldestClaim] = await Promise.all([
    readRedisPolicy(queue),
    redis.zcard(keys.staged),
    redis.hlen(keys.recorded),
    redis.zrange(keys.staged, 0, '0', 'WITHSCORES'),
    redis.get(keys.oldestClaim),
  ]);
  const stagedAt = recorded === 0 ? first : await firstWaitingSince(queue);
  return {
    ...seen,
    batches: Math.max(0, staged - recorded),
    oldestStagedAt: stagedAt === undefined ? undefined : Number(stagedAt),
    oldestClaimAt: Number(oldestClaim ?? 0),
  };
}

async function firstWaitingSince(queue: QueueConnection): Promise<string | undefined> {
  const [oldest] = await listWaiting(queue);
  return oldest === undefined ? undefined : ((await queue.redis.zscore(queue.keys.staged, oldest)) ?? undefined);
}

/** Organizations that are read at once: there may be as many of them as events wait, and Redis has others to serve. */
const ORGANIZATIONS_AT_ONCE = 500;

/** Finds the organizations of which more bytes than these wait to be recorded. */
export async function findOrganizationsOver({ redis, keys }: QueueConnection, bytesMax: number): Promise<Set<string>> {
  const over = new Set<string>();
  for await (const page of redis.hscanStream(keys.waiting, { count: ORGANIZATIONS_AT_ONCE })) {
    const flat = page as string[];
    for (let at = 0; at < flat.length; at += 2) if (Number(flat[at + 1]) > bytesMax) over.add(flat[at] ?? '');
  }
  return over;
}
