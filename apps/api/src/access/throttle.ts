// Slows down those who guess passwords, and those who sign up again and again. An attempt is counted before the password is
// checked and given back when it was right: counted afterwards, thousands of guesses sent at once would all be checked before
// the first one counted. Each process makes one attempt after the other (see sessions.ts), so that those of a crowd that
// signs in at once do not stand in for failures.

import { digest, type QueueKeys } from '@weir/shared/queue';
import { Refusal } from '@weir/shared/errors';
import { isRedisAway } from '@weir/shared/redis-away';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { addressBlock } from './address-block.ts';

const WINDOW_SECONDS = 15 * 60;
const SIGNUP_WINDOW_SECONDS = 60 * 60;

/** More mistakes than people make, and 960 guesses in a day: nothing for a password of 12 characters. */
const FAILURES_PER_ACCOUNT_AND_ADDRESS_MAX = 10;

/** Many people may share one address, behind an office's router. */
const FAILURES_PER_ADDRESS_MAX = 100;

/**
 * From all addresses together, so that many of them do not guess one account's password for ever. A stranger with that many
 * could keep its owner out by this, were it not for the addresses that the owner is known by.
 */
const FAILURES_PER_ACCOUNT_MAX = 100;

/** How long an address is remembered as one from which somebody signed in to an account. */
const KNOWN_ADDRESS_SECONDS = 30 * 86_400;

export interface Throttle {
  /**
   * Counts an attempt as failed, and returns what takes that back; refuses with 429 when there were too many. An
   * account is one whether it exists or not.
   */
  count(account: string, address: string): Promise<() => Promise<void>>;
  /** Counts a sign-up from an address, and returns what takes that back; refuses with 429 when there were too many. */
  countSignup(address: string): Promise<() => Promise<void>>;
  /** Remembers that the account's owner signs in from here: what others try from elsewhere does not keep out who does. */
  know(account: string, address: string): Promise<void>;
}

/** Without Redis every process counts for itself, and knows nobody: worse than together, but not a way around it. */
export function buildThrottle(redis: Redis, keys: QueueKeys, options: { signupsPerAddress: number }): Throttle {
  const { signupsPerAddress } = options;
  const limiter = (subject: string, points: number, duration = WINDOW_SECONDS) => {
    const options = { keyPrefix: `${keys.failures}:${subject}`, points, duration };
    return new RateLimiterRedis({
      ...options,
      storeClient: redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(options),
    });
  };
  const pairs = limiter('pair', FAILURES_PER_ACCOUNT_AND_ADDRESS_MAX);
  const addresses = limiter('address', FAILURES_PER_ADDRESS_MAX);
  const accounts = limiter('account', FAILURES_PER_ACCOUNT_MAX);
  const signups = limiter('signups', signupsPerAddress, SIGNUP_WINDOW_SECONDS);
  const knownKey = (pair: string) => `${keys.failures}:known:${pair}`;

  return {
    async count(account, address) {
      const block = addressBlock(address);
      const accountName = nameOf(account);
      const pair = pairOf(account, block);
      const isKnown = (await unlessRefused(redis.exists(knownKey(pair)))) === 1;
      const counted: [RateLimiterRedis, string][] = [];
      const steps: [RateLimiterRedis, string][] = [
        [addresses, block],
        [pairs, pair],
        ...(isKnown ? [] : ([[accounts, accountName]] as [RateLimiterRedis, string][])),
      ];
      try {
        for (const step of steps) {
          await step[0].consume(step[1]);
          counted.push(step);
        }
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error;
        // Nothing was tried: what is refused for one account must not shut the whole address.
        await Promise.all(counted.map(([limiter, subject]) => limiter.reward(subject)));
        throw tooMany(error, 'failed attempts');
      }
      return async () => {
        await Promise.all([addresses.reward(block), pairs.delete(pair), isKnown || accounts.reward(accountName)]);
      };
    },
    async countSignup(address) {
      if (signupsPerAddress === 0) return async () => {};
      const block = addressBlock(address);
      try {
        await signups.consume(block);
      } catch (error) {
        throw error instanceof RateLimiterRes ? tooMany(error, 'sign-ups from this address') : error;
      }
      return async () => {
        await signups.reward(block);
      };
    },
    async know(account, address) {
      await unlessRefused(redis.set(knownKey(pairOf(account, addressBlock(address))), '', 'EX', KNOWN_ADDRESS_SECONDS));
    },
  };
}

/** Redis holds no list of email addresses. */
function nameOf(account: string): string {
  return digest(account);
}

function pairOf(account: string, block: string): string {
  return nameOf(`${account} ${block}`);
}

/** A Redis that is away, full or cannot be written to is no reason to keep people out. The limiters do without it, too. */
async function unlessRefused<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isRedisAway(error) || (error instanceof Error && error.name === 'ReplyError')) return undefined;
    throw error;
  }
}

function tooMany(limited: RateLimiterRes, what: string): Refusal {
  const retryAfterSeconds = Math.max(1, Math.ceil(limited.msBeforeNext / 1_000));
  const detail = `There were too many ${what}: try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`;
  return new Refusal('rate_limited', detail, { retryAfterSeconds });
}
