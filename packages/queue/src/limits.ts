// How much a subject (an address, an account, an API key) may do within some time, counted for all processes together.

import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { QueueConnection } from './connection.ts';
import { isRedisAway } from './redis-away.ts';

export interface LimitOptions {
  /** Begins the names of its counters. */
  keyPrefix: string;
  /** What one subject may use up. */
  points: number;
  seconds: number;
  /** Whether Redis is known not to answer, so that it need not be asked. */
  isRedisAway: () => boolean;
}

/** What is left for a subject. */
export interface LimitState {
  isOver: boolean;
  consumedPoints: number;
  remainingPoints: number;
  /** Milliseconds until all of them are there again. */
  msToReset: number;
}

export interface Limit {
  /** Uses points up. Those that are over count as well. */
  consume(subject: string, points?: number): Promise<LimitState>;
  /** Whether a subject has used all of them up, also without those that may be given back; uses none. */
  look(subject: string, mayBeGivenBack?: number): Promise<LimitState>;
  giveBack(subject: string, points?: number): Promise<void>;
  /** Gives back all that was used up. */
  reset(subject: string): Promise<void>;
}

/** While Redis does not answer, or takes no writes, each process counts for itself, in memory. */
export function buildLimit(
  { redis }: QueueConnection,
  { keyPrefix, points, seconds, isRedisAway }: LimitOptions,
): Limit {
  const options = { keyPrefix, points, duration: seconds };
  const ofProcess = new RateLimiterMemory(options);
  const ofAll = new RateLimiterRedis({
    ...options,
    storeClient: redis,
    rejectIfRedisNotReady: true,
    insuranceLimiter: ofProcess,
  });
  const limiter = () => (isRedisAway() ? ofProcess : ofAll);
  return {
    async consume(subject, points = 1) {
      try {
        return stateOf(await limiter().consume(subject, points), false);
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error;
        return stateOf(error, true);
      }
    },
    async look(subject, mayBeGivenBack = 0) {
      const state = (await limiter().get(subject)) ?? new RateLimiterRes(points, 0, 0);
      return stateOf(state, state.consumedPoints - mayBeGivenBack >= points);
    },
    async giveBack(subject, points = 1) {
      await limiter().reward(subject, points);
    },
    async reset(subject) {
      await limiter().delete(subject);
    },
  };
}

function stateOf({ consumedPoints, remainingPoints, msBeforeNext }: RateLimiterRes, isOver: boolean): LimitState {
  return { isOver, consumedPoints, remainingPoints, msToReset: msBeforeNext };
}

/** Remembers a name for some time. A Redis that is away, full or cannot be written to forgets it. */
export async function remember({ redis }: QueueConnection, name: string, seconds: number): Promise<void> {
  await unlessRefused(redis.set(name, '', 'EX', seconds));
}

/** Whether a name is remembered; false while Redis is away. */
export async function isRemembered({ redis }: QueueConnection, name: string): Promise<boolean> {
  return (await unlessRefused(redis.exists(name))) === 1;
}

async function unlessRefused<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isRedisAway(error) || (error instanceof Error && error.name === 'ReplyError')) return undefined;
    throw error;
  }
}
