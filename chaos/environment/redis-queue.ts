// Redis and the queue in it, past every proxy and past Weir. What chaos knows of the form that Weir keeps there is here, and in
// broken/claim-first.ts.

import { queueKeys, type QueueKeys } from '@weir/queue/keys';
import { RECORD_QUEUE } from '@weir/queue/record-jobs';
import { stagedEvents } from '@weir/queue/staged';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { SystemUnderTest } from './system.ts';

/** Lends a connection to Redis. A Redis that is away is waited for. */
export async function withRedis<T>(
  { redisUrl }: Pick<SystemUnderTest, 'redisUrl'>,
  use: (redis: Redis) => Promise<T>,
): Promise<T> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

export interface QueueView {
  redis: Redis;
  queue: Queue;
  keys: QueueKeys;
}

/** Lends the queue of batches with a connection of its own. */
export function withQueue<T>(system: SystemUnderTest, use: (view: QueueView) => Promise<T>): Promise<T> {
  return withRedis(system, async (redis) => {
    const queue = new Queue(RECORD_QUEUE, { connection: redis, prefix: system.queuePrefix });
    try {
      return await use({ redis, queue, keys: queueKeys(system.queuePrefix) });
    } finally {
      await queue.close();
    }
  });
}

/** What the key of every staged batch begins with. */
export function batchKeyStart(queuePrefix: string): string {
  return queueKeys(queuePrefix).batch('');
}

/** The ids of the events in these flushes of a batch. */
export function stagedIds(flushes: string[]): string[] {
  return stagedEvents(flushes).map(({ id }) => id);
}
