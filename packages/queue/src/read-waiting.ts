import type { QueueConnection } from './connection.ts';
import { findQueuedSince } from './oldest-staged.ts';
import { loadScript } from './script.ts';

/** What of an organization waits to be recorded. */
export interface WaitingOfOrganization {
  /** About how many: their bytes are counted, and how long an event is, is taken from some that wait. */
  events: number;
  /** How long the oldest of them may wait already; null where none waits. */
  oldestSeconds: number | null;
}

/** Bytes of the oldest batch that are looked at: some dozens of events, in a few microseconds of Redis. */
const SAMPLE_BYTES = 16_384;

const sampleFlush = loadScript<[bytes: number, events: number]>('sample-flush');

/** Reads it in three short round trips, however much waits. Replayed events do not count. Throws while Redis is away. */
export async function readWaiting(queue: QueueConnection, organizationId: string): Promise<WaitingOfOrganization> {
  const { redis, keys } = queue;
  const [waiting, [oldest], since] = await Promise.all([
    redis.hget(keys.waiting, organizationId),
    redis.zrange(keys.staged, 0, '0'),
    findQueuedSince(queue, organizationId),
  ]);
  const bytes = Number(waiting ?? 0);
  if (bytes <= 0 || oldest === undefined || since === undefined) return { events: 0, oldestSeconds: null };
  const [sampled, events] = await sampleFlush(redis, [keys.batch(oldest)], [SAMPLE_BYTES]);
  return {
    // Where the batch has gone meanwhile, nothing but the last few may wait.
    events: events === 0 ? 1 : Math.max(1, Math.round((bytes * events) / sampled)),
    oldestSeconds: Math.max(0, Math.round((Date.now() - since) / 1_000)),
  };
}
