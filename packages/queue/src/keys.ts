import { hash } from 'node:crypto';
import type { JobsOptions } from 'bullmq';
import type { RedisOptions } from 'ioredis';

/**
 * The contract between the API and the workers: the keys in Redis, the queue, its jobs and its connections. Nothing
 * else in the code names them.
 *
 * The API stages events in *batches*: a list with one text for each flush (see staged.ts); the batch's id in the sorted set of
 * staged batches (score: milliseconds since 1970); and one job that names it. A batch is unlinked after its events are in
 * Postgres.
 */
export interface QueueKeys {
  /** Prefix of all keys: a hash tag, so that Redis Cluster keeps the keys of one flush in one slot. */
  prefix: string;
  /** The sorted set of the ids of all staged batches. */
  staged: string;
  /** The list that holds one batch. */
  batch(batch: string): string;
  /** The hash that counts accepted events since the last fold (see tally.ts), and the one that is just being folded. */
  tally: string;
  foldingTally: string;
  /** The mark of the database that this queue belongs to; and the timeline that Postgres had (see ownership.ts). */
  database: string;
  timeline: string;
  /** The id of the tally that was folded last, and for a month what Postgres had counted by then (see tally.ts). */
  lastFolded: string;
  folded(month: string): string;
  /** Exists while Postgres may have fewer events counted than Redis remembers. */
  countsAhead: string;
  /**
   * The string that holds an idempotency key's event id and fingerprint for as long as the claim lives. `memory`: what the
   * memory of Redis is known by; claims of another one count for nothing.
   */
  claim(memory: string, organizationId: string, idempotencyKey: string): string;
  /** The hash that says how many bytes of staged events wait of each organization (see staged.ts). */
  waiting: string;
  /** What SCAN finds all claims by. */
  allClaims: string;
  /** Exists while one process lets go of old claims, and for a while after. */
  lettingGo: string;
  /** When the oldest claim was made that the last one to let go of claims has left; in milliseconds since 1970. */
  oldestClaim: string;
  /** Exists while an API key that was just deleted may still be in some process's memory. */
  revoked(apiKeyId: string): string;
  /**
   * A random value that this Redis has for as long as it remembers anything. Another one, or none, says that tombstones may
   * be lost, and that claims count for nothing.
   */
  memory: string;
  /** Prefix of the counters of failed logins. */
  failures: string;
  /** Prefix of the counters of what is limited by the minute. */
  limits: string;
}

export function queueKeys(prefix: string): QueueKeys {
  return {
    prefix,
    staged: `${prefix}:staged`,
    batch: (batch) => `${prefix}:batch:${batch}`,
    tally: `${prefix}:tally`,
    foldingTally: `${prefix}:tally:folding`,
    database: `${prefix}:database`,
    timeline: `${prefix}:timeline`,
    lastFolded: `${prefix}:folded`,
    folded: (month) => `${prefix}:folded:${month}`,
    countsAhead: `${prefix}:counts-ahead`,
    // Ids are of fixed length, so no two of them with their keys make one text.
    claim: (memory, organizationId, idempotencyKey) =>
      `${prefix}:claim:${digest(memory + organizationId + idempotencyKey)}`,
    waiting: `${prefix}:waiting`,
    allClaims: `${prefix}:claim:*`,
    lettingGo: `${prefix}:letting-go`,
    oldestClaim: `${prefix}:oldest-claim`,
    revoked: (apiKeyId) => `${prefix}:revoked:${apiKeyId}`,
    memory: `${prefix}:memory`,
    failures: `${prefix}:failures`,
    limits: `${prefix}:limits`,
  };
}

/** The first 128 bits of a text's SHA-256, in hexadecimal digits: what Postgres knows an idempotency key by. */
export function hash128(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

/** Characters of a digest. */
export const DIGEST_LENGTH = 22;

/**
 * The first 132 bits of a text's SHA-256, in 22 characters: what long texts are known by in Redis. As text, which Node makes in
 * a third of the time of a buffer.
 */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, DIGEST_LENGTH);
}

/**
 * A batch of this many events is full: one statement of some 50 ms. The more events it records, the more of them share the row of
 * a customer, so that 2,000 take three quarters of the time of twice 1,000; with more a busy worker blocks others for longer.
 */
export const BATCH_EVENTS_MAX = 2_000;

/** So is a batch of this many characters of events, since a worker has all of a batch in memory, several times over. */
export const BATCH_CHARACTERS_MAX = 4 * 1_048_576;

/** The queue of batches to record. */
export const RECORD_QUEUE = 'record';
export interface RecordJob {
  batch: string;
}

/** The queue of the regular duties: sweeping, folding the tally, making partitions, forgetting ended sessions and widget tokens. */
export const DUTY_QUEUE = 'duties';
export const DUTIES = ['sweep', 'fold', 'partitions', 'sessions'] as const;
export type Duty = (typeof DUTIES)[number];

/**
 * Options of the job that records a batch. Its id is the batch's, so adding it again while it exists does nothing. It
 * is tried until it succeeds: a job in `failed` would be an accepted event that nobody counts.
 */
export function recordJobOptions(batch: string): JobsOptions {
  return {
    jobId: batch,
    attempts: Number.MAX_SAFE_INTEGER,
    backoff: { type: 'capped' },
    removeOnComplete: true,
    removeOnFail: false,
    stackTraceLimit: 1,
  };
}

/** Milliseconds to wait before the next attempt at a job: 0.25 s, doubled each time, at most 5 s. */
export function backoffMs(attemptsMade: number): number {
  return Math.min(5_000, 250 * 2 ** Math.min(attemptsMade - 1, 10));
}

/**
 * A producer's connection. It answers or fails at once: nothing is queued in memory while Redis is away, and nothing is
 * sent again behind the caller's back. A command that times out may still have run.
 */
export function producerConnection(commandTimeoutMs: number) {
  return {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: commandTimeoutMs,
    // A time-out of a command leaves the connection as it is. One that is dead without a word would fail every command for
    // the quarter of an hour that the system tries to send; this gives it up.
    socketTimeout: commandTimeoutMs + 1_000,
    connectTimeout: 2_000,
    retryStrategy: (attempt: number) => Math.min(1_000, 50 * attempt),
  } satisfies RedisOptions;
}

/**
 * After this a worker takes a connection on which it waits for an answer to be dead. It is longer than BullMQ lets a
 * command block, which is 10 s.
 */
const WORKER_SILENCE_MS_MAX = 12_000;

/** A worker's connection: it waits for Redis for as long as it takes, as BullMQ asks for blocking commands. */
export function workerConnection() {
  return {
    maxRetriesPerRequest: null,
    socketTimeout: WORKER_SILENCE_MS_MAX,
    connectTimeout: 2_000,
    retryStrategy: (attempt: number) => Math.min(1_000, 50 * attempt),
  } satisfies RedisOptions;
}

/** What BullMQ needs on top of its connection so that a queue made while Redis is away works once it is back. */
export const producerQueueOptions = { skipWaitingForReady: true, skipVersionCheck: true } as const;

/**
 * Timing of jobs under a worker that dies: another worker has its job within about 10 s. A job may be taken over any
 * number of times, since by default BullMQ gives it up as failed after the second.
 */
export const workerTiming = {
  lockDuration: 5_000,
  stalledInterval: 5_000,
  maxStalledCount: Number.MAX_SAFE_INTEGER,
} as const;
