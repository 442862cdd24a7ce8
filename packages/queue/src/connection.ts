// Connections to Redis. Who holds one calls the functions of this package with it; nobody else sends commands to Redis.

import { Redis } from 'ioredis';
import { queueKeys, type QueueKeys } from './keys.ts';
import { noteOfRedis, RedisUnreachable } from './redis-away.ts';

/** A connection to Redis, and the names of the keys there. */
export interface QueueConnection {
  redis: Redis;
  keys: QueueKeys;
}

/** Where a queue lies: QUEUE_PREFIX tells several on one Redis apart. */
export interface QueueAddress {
  url: string;
  prefix: string;
}

const retryStrategy = (attempt: number) => Math.min(1_000, 50 * attempt);

/**
 * Opens a producer's connection. It answers or fails at once: nothing is queued in memory while Redis is away, and nothing is
 * sent again behind the caller's back. A command that times out may still have run.
 */
export function openProducer(
  { url, prefix }: QueueAddress,
  commandTimeoutMs: number,
  onError: (error: Error) => void,
): QueueConnection {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: commandTimeoutMs,
    // A time-out of a command leaves the connection as it is. One that is dead without a word would fail every command for
    // the quarter of an hour that the system tries to send; this gives it up.
    socketTimeout: commandTimeoutMs + 1_000,
    connectTimeout: 2_000,
    retryStrategy,
  });
  redis.on('error', (error) => onError(noteOfRedis(error)));
  return { redis, keys: queueKeys(prefix) };
}

/**
 * After this a worker takes a connection on which it waits for an answer to be dead. It is longer than BullMQ lets a
 * command block, which is 10 s.
 */
const WORKER_SILENCE_MS_MAX = 12_000;

/** Opens a worker's connection: it waits for Redis for as long as it takes, as BullMQ asks for blocking commands. */
export function openWorker({ url, prefix }: QueueAddress, onError: (error: Error) => void): QueueConnection {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    socketTimeout: WORKER_SILENCE_MS_MAX,
    connectTimeout: 2_000,
    retryStrategy,
  });
  redis.on('error', (error) => onError(noteOfRedis(error)));
  return { redis, keys: queueKeys(prefix) };
}

/** Opens the connection of a command. Resolves once it stands, and throws a RedisUnreachable where Redis is away. */
export async function openCommand({ url, prefix }: QueueAddress): Promise<QueueConnection> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  redis.on('error', (error) => (reason = error));
  try {
    await redis.connect();
    return { redis, keys: queueKeys(prefix) };
  } catch (error) {
    redis.disconnect();
    throw new RedisUnreachable('Redis cannot be reached', { cause: reason ?? error });
  }
}

/** Resolves when Redis answers. Fails at once while the connection does not stand. */
export async function ping({ redis }: QueueConnection): Promise<void> {
  if (redis.status !== 'ready') throw new Error('not connected');
  await redis.ping();
}

/** Resolves to whether the connection stands, after so long at most. */
export async function untilReady({ redis }: QueueConnection, msMax: number): Promise<boolean> {
  if (redis.status === 'ready') return true;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), msMax);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Lets go of a connection at once, whatever is under way on it. */
export function disconnect({ redis }: QueueConnection): void {
  redis.disconnect();
}
