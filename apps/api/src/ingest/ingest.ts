// The stages of the track path, put together: buffer → batches → admit → enqueue.

import type { Refusal } from '@weir/shared/errors';
import type { Ownership } from '@weir/shared/ownership';
import type { QueueKeys } from '@weir/shared/queue';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';
import { admit, loadAdmitScript, type Admission, type Candidate } from './admit.ts';
import { Batches } from './batches.ts';
import { FlushBuffer, type Settled } from './buffer.ts';
import { openRecordQueue } from './enqueue.ts';
import { openRedisWatch, type RedisState, type RedisWatchOptions } from './redis-watch.ts';

/** The way into the queue. */
export interface Ingest {
  /** Settles when Redis has the event on disk, or has refused it; throws a Refusal when Redis does not answer. */
  submit(candidate: Candidate): Promise<Admission>;
  /** Settles when that is so of every event; the answers are in their order, and never throws for one of them. */
  submitAll(candidates: readonly Candidate[]): Promise<Settled[]>;
  /** Why events are not taken now; undefined while they are. */
  refusal(): Refusal | undefined;
  /** Events that wait in memory for a flush. */
  depth(): number;
  /** What was last seen of Redis. */
  queue(): Readonly<RedisState>;
  /** Takes no more events and waits until all that were handed in are answered. */
  close(): Promise<void>;
}

export interface IngestOptions extends RedisWatchOptions {
  ownership: Pick<Ownership, 'refusal'>;
  /** Called with what the admit script said, flush by flush. */
  onAdmitted: (admissions: readonly Admission[]) => void;
  onEnqueueFailure: () => void;
}

export function openIngest(redis: Redis, keys: QueueKeys, log: FastifyBaseLogger, options: IngestOptions): Ingest {
  const queue = openRecordQueue(redis, keys, log, options.onEnqueueFailure);
  const load = () => {
    loadAdmitScript(redis).catch((error: unknown) =>
      log.warn({ err: error }, 'the admit script will be sent with the first flush'),
    );
  };
  if (redis.status === 'ready') load();
  redis.on('ready', load);
  const watch = openRedisWatch(redis, keys, log, options);
  const batches = new Batches((batch) => queue.enqueue(batch));
  const buffer = new FlushBuffer(async (candidates) => {
    const admitTo = (batch: string) => admit(redis, keys, batch, candidates, watch.state().claimSeconds);
    let characters = 0;
    for (const { event } of candidates) characters += event.length;
    const admissions = await batches.stage({ events: candidates.length, characters }, admitTo);
    options.onAdmitted(admissions);
    return admissions;
  });
  const refusalOf = (organizationId: string | null, events: number) =>
    options.ownership.refusal() ?? watch.refusal(organizationId, events);
  return {
    submit(candidate) {
      const refusal = refusalOf(candidate.sender?.organizationId ?? null, 1);
      if (refusal !== undefined) return Promise.reject(refusal);
      return new Promise((resolve, reject) => {
        buffer.submit(candidate, (settled) => {
          if (settled.outcome === 'failed') reject(settled.error);
          else resolve(settled);
        });
      });
    },
    submitAll(candidates) {
      // The events of one request are of one sender.
      const error = refusalOf(candidates[0]?.sender?.organizationId ?? null, candidates.length);
      if (error !== undefined || candidates.length === 0)
        return Promise.resolve(candidates.map(() => ({ outcome: 'failed' as const, error })));
      return new Promise((resolve) => {
        const all: Settled[] = [];
        let open = candidates.length;
        candidates.forEach((candidate, index) => {
          buffer.submit(candidate, (settled) => {
            all[index] = settled;
            open -= 1;
            if (open === 0) resolve(all);
          });
        });
      });
    },
    refusal: () => refusalOf(null, 0),
    depth: () => buffer.depth,
    queue: () => watch.state(),
    async close() {
      await buffer.drain();
      await batches.close();
      watch.close();
      redis.off('ready', load);
      await queue.close();
    },
  };
}
