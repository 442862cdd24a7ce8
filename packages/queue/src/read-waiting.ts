import type { QueueConnection } from './connection.ts';
import { findQueuedSince } from './oldest-staged.ts';
import { loadScript } from './script.ts';

/** What of an organization waits to be recorded. */
export interface WaitingOfOrganization {
  /** Exactly, while all that waits fits into the sample; of more about how many, by their bytes and how long those in it are. */
  events: number;
  /** How long the oldest of them may wait already; null where none waits. */
  oldestSeconds: number | null;
}

/** What is looked at of the events that wait: some hundreds of them, in a fraction of a millisecond of Redis. */
const SAMPLE = { bytes: 65_536, batches: 16 };

const sampleEvents = loadScript<[ownBytes: number, own: number, allBytes: number, all: number]>('sample-events');

/** Reads it in a few short round trips, however much waits. Replayed events do not count. Throws while Redis is away. */
export async function readWaiting(queue: QueueConnection, organizationId: string): Promise<WaitingOfOrganization> {
  const { redis, keys } = queue;
  const [waiting, batches, since] = await Promise.all([
    redis.hget(keys.waiting, organizationId),
    redis.zrange(keys.staged, 0, String(SAMPLE.batches - 1)),
    findQueuedSince(queue, organizationId),
  ]);
  const bytes = Number(waiting ?? 0);
  if (bytes <= 0 || since === undefined) return { events: 0, oldestSeconds: null };
  const lists = batches.map((batch) => keys.batch(batch));
  const [ownBytes, own, allBytes, all] = await sampleEvents(redis, lists, [organizationId, SAMPLE.bytes]);
  // Where there is none of its own among them, those of others are about as long. Where all have gone meanwhile, the last few may wait.
  const eachBytes = own > 0 ? ownBytes / own : all > 0 ? allBytes / all : bytes;
  return {
    events: Math.max(1, Math.round(bytes / eachBytes)),
    oldestSeconds: Math.max(0, Math.round((Date.now() - since) / 1_000)),
  };
}
