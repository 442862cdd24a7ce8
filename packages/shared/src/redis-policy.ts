import type { Redis } from 'ioredis';
import type { Logger } from './log.ts';
import { SettingsError } from './settings.ts';

/** What is wrong with how a Redis is set up: `refuse` must stop the process, `warn` must be told to the operator. */
export interface RedisPolicy {
  refuse?: string;
  warn?: string;
}

/**
 * Checks that Redis keeps what it is given. A policy that evicts keys would drop accepted events without a word; a
 * lazy fsync only weakens what a 201 means when the machine itself dies. Where a hosted Redis does not answer
 * `CONFIG GET`, that is said as a warning, since nothing can be known.
 */
export async function checkRedisPolicy(redis: Redis): Promise<RedisPolicy> {
  const version = /redis_version:(\d+)/.exec(await redis.info('server'))?.[1];
  if (version !== undefined && Number(version) < 7) {
    return { refuse: `Redis ${version} is too old: Weir needs Redis 7.0 or newer, or any Valkey` };
  }
  const config = new Map<string, string>();
  for (const name of ['maxmemory-policy', 'appendonly', 'appendfsync']) {
    let answer: unknown;
    try {
      answer = await redis.config('GET', name);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return {
        warn: `Redis does not answer CONFIG GET (${why}): make sure of maxmemory-policy noeviction and appendfsync always`,
      };
    }
    const pair = Array.isArray(answer) ? answer : Object.entries(answer as object).flat();
    config.set(name, String(pair[1] ?? ''));
  }
  if (config.get('maxmemory-policy') !== 'noeviction') {
    return {
      refuse: `Redis has maxmemory-policy ${config.get('maxmemory-policy')} and would drop accepted events: set it to noeviction`,
    };
  }
  if (config.get('appendonly') !== 'yes' || config.get('appendfsync') !== 'always') {
    return {
      warn: `Redis has appendonly ${config.get('appendonly')} and appendfsync ${config.get('appendfsync')}: a 201 is on disk only with appendonly yes and appendfsync always`,
    };
  }
  return {};
}

/** Throws a SettingsError for a Redis that would lose events, and logs what else an operator should know of it. */
export async function requireRedisPolicy(redis: Redis, log: Logger): Promise<void> {
  const { refuse, warn } = await checkRedisPolicy(redis);
  if (refuse !== undefined) throw new SettingsError(`Cannot start: ${refuse}.`);
  if (warn !== undefined) log.warn(warn);
}
