// Shuts the door before Redis has to: a Redis that is full refuses the workers too, and then nothing would ever make room.
// It also shuts it on a Redis that would drop accepted events, whenever such a one answers.

import { Refusal } from '@weir/shared/errors';
import { checkRedisPolicy } from '@weir/shared/redis-policy';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';

/** What is left above this is for the workers, who need memory to take batches off. */
const MEMORY_SHARE_MAX = 0.75;

const INTERVAL_MS = 1_000;

/** Whether events may be taken. */
export interface RedisWatch {
  /** Why not; undefined when they may. Costs nothing to ask. */
  refusal(): Refusal | undefined;
  close(): void;
}

export function openRedisWatch(redis: Redis, log: FastifyBaseLogger): RedisWatch {
  let policyProblem: string | undefined;
  let isFull = false;

  const checkPolicy = async () => {
    try {
      policyProblem = (await checkRedisPolicy(redis)).refuse;
      if (policyProblem !== undefined) log.error(`tracking is refused: ${policyProblem}`);
    } catch (error) {
      log.warn({ err: error }, 'the settings of Redis could not be checked');
    }
  };
  const checkMemory = async () => {
    if (redis.status !== 'ready') return;
    try {
      const share = memoryShareOf(await redis.info('memory'));
      if (share > MEMORY_SHARE_MAX !== isFull) {
        isFull = !isFull;
        log.warn({ share }, isFull ? 'Redis is nearly full: tracking is refused' : 'Redis has room again');
      }
    } catch (error) {
      log.warn({ err: error }, 'the memory of Redis could not be looked at');
    }
  };
  const onReady = () => void checkPolicy();
  redis.on('ready', onReady);
  const timer = setInterval(() => {
    void checkMemory();
    // An operator who mends the settings need not restart anything.
    if (policyProblem !== undefined) void checkPolicy();
  }, INTERVAL_MS);
  void checkMemory();
  return {
    refusal() {
      if (policyProblem === undefined && !isFull) return undefined;
      const why = policyProblem === undefined ? 'The queue is nearly full' : 'The queue is not set up to keep events';
      return new Refusal('unavailable', `${why}, and nothing was kept: send the event again later.`, {
        outcome: 'not_accepted',
        retryAfterSeconds: 5,
      });
    },
    close() {
      clearInterval(timer);
      redis.off('ready', onReady);
    },
  };
}

/** How much of its `maxmemory` a Redis uses; 0 when it has no limit. */
export function memoryShareOf(info: string): number {
  const used = Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0);
  const limit = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0);
  return limit === 0 ? 0 : used / limit;
}
