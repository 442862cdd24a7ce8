// Connections to Redis. Who holds one calls the functions of this package with it; nobody else sends commands to Redis.

import { parseSentinelAddress } from '@weir/shared/sentinel-address';
import { Redis, type RedisOptions } from 'ioredis';
import { queueKeys, type QueueKeys } from './keys.ts';
import { isOfReplica, noteOfRedis, RedisUnreachable } from './redis-away.ts';
import { loadScript } from './script.ts';
import { buildSecondCopy, type SecondCopy } from './second-copy.ts';

/** A connection to Redis, and the names of the keys there. */
export interface QueueConnection {
  redis: Redis;
  keys: QueueKeys;
  /** Has what must not be lost with a machine acknowledged; undefined where one copy is enough. */
  secondCopy?: SecondCopy;
}

/** Where a queue lies: QUEUE_PREFIX tells several on one Redis apart. */
export interface QueueAddress {
  /** Of Redis, or of the Sentinels that know where it is. */
  url: string;
  prefix: string;
  /** How many machines have to have what is written before it counts: 1, or 2. One by default. */
  copies?: number;
}

/**
 * A connection is made again for as long as it takes. It is also given up at the first write that a replica refuses: a primary that was
 * replaced may live on as one and keep its connections, while its address leads new ones to who took its place.
 */
const LASTING = {
  retryStrategy: (attempt: number) => Math.min(1_000, 50 * attempt),
  reconnectOnError: isOfReplica,
};

/** A Sentinel that has not answered by then is passed over. */
const SENTINEL_MS_MAX = 1_000;

type Options = Omit<RedisOptions, 'replyMapping'>;

function connect(url: string, options: Options): Redis {
  const address = parseSentinelAddress(url);
  if (address === undefined) return new Redis(url, options);
  const { isTls, ...rest } = address;
  const withSentinels: Options = {
    ...options,
    ...rest,
    ...(isTls && { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} }),
    sentinelRetryStrategy: options.retryStrategy ?? (() => null),
    sentinelCommandTimeout: SENTINEL_MS_MAX,
    // Those that are named can be reached from here; what they know each other by need not be.
    updateSentinels: false,
    // No `failoverDetector`: where it hears of another primary while a connection is being made, that one is given up for good. Sentinels
    // end the connections of a former primary that they reach, and one that they do not reach has no replica that acknowledges.
  };
  return new Redis(withSentinels);
}

/**
 * Opens a producer's connection. It answers or fails at once: nothing is queued in memory while Redis is away, and nothing is
 * sent again behind the caller's back. A command that times out may still have run.
 */
export function openProducer(
  { url, prefix, copies = 1 }: QueueAddress,
  commandTimeoutMs: number,
  onError: (error: Error) => void,
): QueueConnection {
  const open = () => openProducing(url, commandTimeoutMs, onError);
  const keys = queueKeys(prefix);
  if (copies === 1) return { redis: open(), keys };
  const acknowledging = Array.from({ length: FLUSHES_IN_FLIGHT_MAX }, open);
  // A replica that is late is found out before the command is given up.
  const msMax = Math.ceil(commandTimeoutMs / 3);
  return { redis: open(), keys, secondCopy: buildSecondCopy(acknowledging, noteCopied(keys), msMax) };
}

/** One flush is on the wire while Redis works on the other; a third would only wait there instead of gathering. */
export const FLUSHES_IN_FLIGHT_MAX = 2;

function openProducing(url: string, commandTimeoutMs: number, onError: (error: Error) => void): Redis {
  const redis = connect(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: commandTimeoutMs,
    // A time-out of a command leaves the connection as it is. One that is dead without a word would fail every command for
    // the quarter of an hour that the system tries to send; this gives it up.
    socketTimeout: commandTimeoutMs + 1_000,
    connectTimeout: 2_000,
    ...LASTING,
  });
  redis.on('error', (error) => onError(noteOfRedis(error)));
  return redis;
}

/**
 * After this a worker takes a connection on which it waits for an answer to be dead. It is longer than BullMQ lets a
 * command block, which is 10 s.
 */
const WORKER_SILENCE_MS_MAX = 12_000;

/** A worker has time to wait for a replica, and for a batch of some megabytes before. */
const WORKER_COPY_MS_MAX = 1_000;
const WORKER_COMMAND_MS_MAX = 5_000;

/**
 * Opens a worker's connection: it waits for Redis for as long as it takes, as BullMQ asks for blocking commands. Where two copies are
 * asked for, so many commands at once may wait for a replica, which answer or fail as a producer's do: sent again, one half of a command
 * could be answered by another Redis than the other.
 */
export function openWorker(
  { url, prefix, copies = 1 }: QueueAddress,
  onError: (error: Error) => void,
  acknowledgedAtOnce = 1,
): QueueConnection {
  const redis = connect(url, {
    maxRetriesPerRequest: null,
    socketTimeout: WORKER_SILENCE_MS_MAX,
    connectTimeout: 2_000,
    ...LASTING,
  });
  redis.on('error', (error) => onError(noteOfRedis(error)));
  const keys = queueKeys(prefix);
  if (copies === 1) return { redis, keys };
  const open = () => openProducing(url, WORKER_COMMAND_MS_MAX, onError);
  const acknowledging = Array.from({ length: acknowledgedAtOnce }, open);
  return { redis, keys, secondCopy: buildSecondCopy(acknowledging, noteCopied(keys), WORKER_COPY_MS_MAX) };
}

/**
 * After so long without a byte of what it waits for, a command takes Redis to be away. An answer may take longer, as that of many batches
 * over a slow line does.
 */
const COMMAND_SILENCE_MS_MAX = 30_000;

/** Opens the connection of a command. Resolves once it stands, and throws a RedisUnreachable where Redis is away or silent. */
export async function openCommand(
  { url, prefix }: QueueAddress,
  silenceMsMax = COMMAND_SILENCE_MS_MAX,
): Promise<QueueConnection> {
  const redis = connect(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    socketTimeout: silenceMsMax,
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

/** Those of the connections that lead to a replica. One that was the primary before answers all that is read, as if nothing had happened. */
export async function findReplicas({ redis, secondCopy }: QueueConnection): Promise<Redis[]> {
  const ready = [redis, ...(secondCopy?.connections ?? [])].filter(({ status }) => status === 'ready');
  // One that does not answer is not known to be one.
  const said = await Promise.all(ready.map((each) => each.info('replication').catch(() => '')));
  return ready.filter((_, at) => /^role:slave/m.test(said[at] ?? ''));
}

/** Resolves to whether the connection stands, with those of its second copy, after so long at most. */
export async function untilReady({ redis, secondCopy }: QueueConnection, msMax: number): Promise<boolean> {
  const all = [redis, ...(secondCopy?.connections ?? [])].map((each) => isReadyWithin(each, msMax));
  return (await Promise.all(all)).every(Boolean);
}

async function isReadyWithin(redis: Redis, msMax: number): Promise<boolean> {
  if (redis.status === 'ready') return true;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), msMax);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Lets go of a connection at once, with those of its second copy, whatever is under way on it. */
export function disconnect({ redis, secondCopy }: QueueConnection): void {
  redis.disconnect();
  for (const each of secondCopy?.connections ?? []) each.disconnect();
}

const COPIED_SECONDS = 60;

const runNoteCopied = loadScript<unknown>('note-copied');

/** The small write that is sent behind what a replica has to acknowledge. */
function noteCopied(keys: QueueKeys): (redis: Redis) => Promise<unknown> {
  return (redis) => runNoteCopied.whole(redis, [keys.copied], [COPIED_SECONDS]);
}
