// Slows down those who guess passwords. An attempt is counted before the password is checked and given back when it
// was right: counted afterwards, thousands of guesses sent at once would all be checked before the first one counted.

import { hash128, type QueueKeys } from '@weir/shared/queue';
import { Refusal } from '@weir/shared/errors';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

const WINDOW_SECONDS = 15 * 60;

/** More mistakes than people make, and 960 guesses in a day: nothing for a password of 12 characters. */
const FAILURES_PER_ACCOUNT_MAX = 10;

/** Many people may share one address, behind an office's router. */
const FAILURES_PER_ADDRESS_MAX = 100;

export interface Throttle {
  /**
   * Counts an attempt as failed, and answers what takes that back; refuses with 429 when there were too many. An
   * account is one whether it exists or not.
   */
  count(account: string, address: string): Promise<() => Promise<void>>;
}

/** Without Redis every process counts for itself: worse than together, but not a way around it. */
export function buildThrottle(redis: Redis, keys: QueueKeys): Throttle {
  const limiter = (subject: string, points: number) => {
    const options = { keyPrefix: `${keys.failures}:${subject}`, points, duration: WINDOW_SECONDS };
    return new RateLimiterRedis({
      ...options,
      storeClient: redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(options),
    });
  };
  const accounts = limiter('account', FAILURES_PER_ACCOUNT_MAX);
  const addresses = limiter('address', FAILURES_PER_ADDRESS_MAX);

  return {
    async count(account, address) {
      // Redis holds no list of email addresses.
      const accountName = hash128(account).toString('base64url');
      try {
        await addresses.consume(address);
        await accounts.consume(accountName);
      } catch (error) {
        throw error instanceof RateLimiterRes ? tooMany(error) : error;
      }
      return async () => {
        await Promise.all([addresses.reward(address), accounts.delete(accountName)]);
      };
    },
  };
}

function tooMany(limited: RateLimiterRes): Refusal {
  const retryAfterSeconds = Math.max(1, Math.ceil(limited.msBeforeNext / 1_000));
  const detail = `There were too many failed attempts: try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`;
  return new Refusal('rate_limited', detail, { retryAfterSeconds });
}
