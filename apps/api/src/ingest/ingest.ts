// The stages of the track path, put together: buffer → batches → admit → enqueue.

import type { QueueKeys } from '@weir/shared/queue';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';
import { admit, loadAdmitScript, type Admission, type Candidate } from './admit.ts';
import { Batches } from './batches.ts';
import { FlushBuffer } from './buffer.ts';
import { openRecordQueue } from './enqueue.ts';
import { openRedisWatch, type RedisState } from './redis-watch.ts';

/** The way into the queue. */
export interface Ingest {
  /** Settles when Redis has the event on disk, or has refused it; throws a Refusal when Redis does not answer. */
  submit(candidate: Candidate): Promise<Admission>;
  /** Events that wait in memory for a flush. */
  depth(): number;
  /** What was last seen of Redis. */
  queue(): Readonly<RedisState>;
  /** Takes no more events and waits until all that were handed in are answered. */
  close(): Promise<void>;
}

export interface IngestOptions {
  claimTtlSeconds: number;
  /** How many batches may wait in Redis to be recorded. */
  batchesMax: number;
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
  const batches = new Batches((batch) => queue.enqueue(batch));
  const buffer = new FlushBuffer((candidates) =>
    batches.stage(candidates.length, (batch) => admit(redis, keys, batch, candidates, options.claimTtlSeconds)),
  );
  const watch = openRedisWatch(redis, keys, options.batchesMax, log);
  return {
    submit(candidate) {
      const refusal = watch.refusal();
      return refusal === undefined ? buffer.submit(candidate) : Promise.reject(refusal);
    },
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
