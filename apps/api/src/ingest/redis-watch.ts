// Shuts the door before Redis has to: a Redis that is full refuses the workers too, and then nothing would ever make room.
// It also shuts it when more batches wait than the operator allows, and on a Redis that would drop accepted events.

import { Refusal } from '@weir/shared/errors';
import type { QueueKeys } from '@weir/shared/queue';
import { checkRedisPolicy } from '@weir/shared/redis-policy';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';

/** What is left above this is for the workers, who need memory to take batches off. */
const MEMORY_SHARE_MAX = 0.75;

const INTERVAL_MS = 1_000;

/** What was last seen of Redis, for the metrics. */
export interface RedisState {
  /** Batches that are staged and not yet recorded. */
  batches: number;
  /** How much of `maxmemory` is in use; 0 without a limit. */
  memoryShare: number;
  /** When the oldest of these batches was staged, in milliseconds since 1970; undefined when none waits. */
  oldestStagedAt?: number | undefined;
}

/** Whether events may be taken. */
export interface RedisWatch {
  /** Why not; undefined when they may. Costs nothing to ask. */
  refusal(): Refusal | undefined;
  state(): Readonly<RedisState>;
  close(): void;
}

/** Looks at Redis every second. `batchesMax`: how many batches may wait to be recorded. */
export function openRedisWatch(redis: Redis, keys: QueueKeys, batchesMax: number, log: FastifyBaseLogger): RedisWatch {
  let policyProblem: string | undefined;
  let shutBecause: string | undefined;
  const state: RedisState = { batches: 0, memoryShare: 0 };

  const checkPolicy = async () => {
    try {
      policyProblem = (await checkRedisPolicy(redis)).refuse;
      if (policyProblem !== undefined) log.error(`tracking is refused: ${policyProblem}`);
    } catch (error) {
      log.warn({ err: error }, 'the settings of Redis could not be checked');
    }
  };
  const checkRoom = async () => {
    if (redis.status !== 'ready') return;
    try {
      const [memory, batches, oldest] = await Promise.all([
        redis.info('memory'),
        redis.zcard(keys.staged),
        redis.zrange(keys.staged, 0, '0', 'WITHSCORES'),
      ]);
      state.memoryShare = memoryShareOf(memory);
      state.batches = batches;
      state.oldestStagedAt = oldest[1] === undefined ? undefined : Number(oldest[1]);
      const reason = noRoom(state, batchesMax);
      if (reason !== shutBecause)
        log.warn(state, reason === undefined ? 'the queue has room again' : `${reason}: tracking is refused`);
      shutBecause = reason;
    } catch (error) {
      log.warn({ err: error }, 'the room in Redis could not be looked at');
    }
  };
  const onReady = () => void checkPolicy();
  redis.on('ready', onReady);
  const timer = setInterval(() => {
    void checkRoom();
    // An operator who mends the settings need not restart anything.
    if (policyProblem !== undefined) void checkPolicy();
  }, INTERVAL_MS);
  void checkRoom();
  return {
    refusal() {
      const why = policyProblem === undefined ? shutBecause : 'The queue is not set up to keep events';
      if (why === undefined) return undefined;
      return new Refusal('unavailable', `${why}, and nothing was kept: send the event again later.`, {
        outcome: 'not_accepted',
        retryAfterSeconds: 5,
      });
    },
    state: () => state,
    close() {
      clearInterval(timer);
      redis.off('ready', onReady);
    },
  };
}

/** Why the queue can take no more; undefined while it can. */
export function noRoom({ batches, memoryShare }: RedisState, batchesMax: number): string | undefined {
  if (memoryShare > MEMORY_SHARE_MAX) return 'The queue is nearly full';
  if (batches >= batchesMax) return 'Too many events wait to be recorded';
  return undefined;
}

/** How much of its `maxmemory` a Redis uses; 0 when it has no limit. */
export function memoryShareOf(info: string): number {
  const used = Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0);
  const limit = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0);
  return limit === 0 ? 0 : used / limit;
}
