import { digest } from '@weir/shared/hash';

/**
 * The names of all keys in Redis, but for those that BullMQ makes of the prefix.
 *
 * The API stages events in *batches*: a list with one text for each flush (see staged.ts); the batch's id in the sorted set of
 * staged batches (score: milliseconds since 1970); and one job that names it (see record-jobs.ts). A batch is unlinked after
 * its events are in Postgres.
 */
export interface QueueKeys {
  /** Prefix of all keys: a hash tag, so that Redis Cluster keeps the keys of one flush in one slot. */
  prefix: string;
  /** The sorted set of the ids of all staged batches. */
  staged: string;
  /** The list that holds one batch. */
  batch(batch: string): string;
  /** The hash of the batches that are recorded and stay, with the epoch and how many flushes each had (see note-recorded.lua). */
  recorded: string;
  /** The hash that says how many bytes of staged events wait of each organization (see staged.ts). */
  waiting: string;
  /** The hash that counts accepted events since the last drain (see accepted-counts.ts), and the one that is just being drained. */
  accepted: string;
  draining: string;
  /** The id of the counts that were drained last, and for a month what Postgres had counted by then (see accepted-counts.ts). */
  lastDrained: string;
  drained(month: string): string;
  /** Exists while Postgres may have fewer events counted than Redis remembers. */
  countsAhead: string;
  /** The mark of the database that this queue belongs to; and the timeline that Postgres had (see ownership.ts). */
  database: string;
  timeline: string;
  /**
   * A random value that this Redis has for as long as it remembers anything. Another one, or none, says that marks of revoked
   * API keys may be lost, and that claims count for nothing.
   */
  epoch: string;
  /** The string that holds an idempotency key's event id and fingerprint for as long as the claim lives. Those of another epoch count for nothing. */
  claim(epoch: string, organizationId: string, idempotencyKey: string): string;
  /** What SCAN finds all claims by. */
  allClaims: string;
  /** Exists while one process lets go of old claims, and for a while after. */
  lettingGo: string;
  /** When the oldest claim was made that the last one to let go of claims has left; in milliseconds since 1970. */
  oldestClaim: string;
  /** Exists while an API key that was just deleted may still be in some process's memory. */
  revoked(apiKeyId: string): string;
  /** Written to have a replica acknowledge all that was before it (see second-copy.ts). */
  copied: string;
  /** When a worker was last at work, in milliseconds since 1970 (see worker-seen.ts). */
  workerSeen: string;
  /** The hash that says when each task of maintenance was last done, in milliseconds since 1970 (see maintenance-done.ts). */
  maintenanceDone: string;
  /** What a process writes that finds out whether Redis takes writes again (see probe-redis.ts). */
  probe: string;
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
    recorded: `${prefix}:recorded`,
    waiting: `${prefix}:waiting`,
    accepted: `${prefix}:accepted`,
    draining: `${prefix}:accepted:draining`,
    lastDrained: `${prefix}:drained`,
    drained: (month) => `${prefix}:drained:${month}`,
    countsAhead: `${prefix}:counts-ahead`,
    database: `${prefix}:database`,
    timeline: `${prefix}:timeline`,
    epoch: `${prefix}:epoch`,
    // Ids are of fixed length, so no two of them with their keys make one text.
    claim: (epoch, organizationId, idempotencyKey) =>
      `${prefix}:claim:${digest(epoch + organizationId + idempotencyKey)}`,
    allClaims: `${prefix}:claim:*`,
    lettingGo: `${prefix}:letting-go`,
    oldestClaim: `${prefix}:oldest-claim`,
    revoked: (apiKeyId) => `${prefix}:revoked:${apiKeyId}`,
    copied: `${prefix}:copied`,
    workerSeen: `${prefix}:worker-seen`,
    maintenanceDone: `${prefix}:maintenance-done`,
    probe: `${prefix}:probe`,
    failures: `${prefix}:failures`,
    limits: `${prefix}:limits`,
  };
}
