// What has to be done again and again, by any one worker: BullMQ keeps the schedule, so ten workers do it as often as one.

import { makePartitions } from '@weir/db/partitions';
import type { Database } from '@weir/db/database';
import { deleteExpiredSessions } from '@weir/db/sessions';
import { deleteExpiredWidgetTokens } from '@weir/db/widget-tokens';
import {
  DUTIES,
  DUTY_QUEUE,
  RECORD_QUEUE,
  workerConnection,
  workerTiming,
  type Duty,
  type QueueKeys,
  type RecordJob,
} from '@weir/shared/queue';
import type { Logger } from '@weir/shared/log';
import type { Ownership } from '@weir/shared/ownership';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { WorkerMetrics } from './metrics.ts';
import { setTaking } from './consume.ts';
import { bringCountsBack, fold } from './fold.ts';
import { sweep } from './sweep.ts';

/** What Redis forgets between two folds is missing in the door's count; the events themselves are not touched by it. */
const FOLD_INTERVAL_MS = 10_000;

/** Partitions are made months ahead, so looking a few times a day is plenty. */
const PARTITIONS_INTERVAL_MS = 6 * 3_600_000;

/** An ended session or widget token opens nothing; deleting it only spares room. */
const SESSIONS_INTERVAL_MS = 3_600_000;

/** Redis may lose its memory, and the schedule with it; each worker writes it anew this often. */
const RESCHEDULE_INTERVAL_MS = 30_000;

export interface DutyOptions {
  redisUrl: string;
  keys: QueueKeys;
  database: Database;
  ownership: Pick<Ownership, 'check'>;
  sweepIntervalMs: number;
  sweepAgeMs: number;
  isTaking: boolean;
  log: Logger;
  metrics: WorkerMetrics;
}

export interface Duties {
  /** Whether duties are done. */
  take(isOn: boolean): void;
  /** Stops doing duties and waits for the one under way. The schedule stays for other workers. */
  close(): Promise<void>;
}

export function openDuties(options: DutyOptions): Duties {
  const { redisUrl, keys, log } = options;
  const connection = new Redis(redisUrl, workerConnection());
  connection.on('error', (error) => log.warn({ err: error }, 'the duties lost their connection to Redis'));
  const records = new Queue<RecordJob>(RECORD_QUEUE, { connection, prefix: keys.prefix });
  const duties = new Queue<unknown, unknown, Duty>(DUTY_QUEUE, { connection, prefix: keys.prefix });
  const worker = new Worker<unknown, unknown, Duty>(
    DUTY_QUEUE,
    (job) => perform(job.name, options, connection, records),
    {
      connection,
      prefix: keys.prefix,
      ...workerTiming,
    },
  );
  const onError = (error: Error) => log.warn({ err: error }, 'the duties met an error');
  records.on('error', onError);
  duties.on('error', onError);
  worker.on('error', onError);
  worker.on('failed', (job, error) =>
    log.error({ err: error, duty: job?.name }, 'a duty failed; it will be done again'),
  );

  const schedule = () => {
    scheduleAll(duties, options.sweepIntervalMs).catch((error: unknown) =>
      log.warn({ err: error }, 'the duties could not be scheduled'),
    );
  };
  schedule();
  const timer = setInterval(schedule, RESCHEDULE_INTERVAL_MS);
  const take = (isOn: boolean) => setTaking(worker, isOn);
  take(options.isTaking);
  return {
    take,
    async close() {
      clearInterval(timer);
      await worker.close();
      await duties.close();
      await records.close();
      connection.disconnect();
    },
  };
}

async function scheduleAll(queue: Queue<unknown, unknown, Duty>, sweepIntervalMs: number): Promise<void> {
  const every = {
    sweep: sweepIntervalMs,
    fold: FOLD_INTERVAL_MS,
    partitions: PARTITIONS_INTERVAL_MS,
    sessions: SESSIONS_INTERVAL_MS,
  } satisfies Record<Duty, number>;
  const opts = { removeOnComplete: true, removeOnFail: true };
  for (const duty of DUTIES) {
    // A machine whose clock was ahead has put the next time so far off that it would not come for as long.
    const next = (await queue.getJobScheduler(duty))?.next ?? 0;
    if (next > Date.now() + 2 * every[duty]) await queue.removeJobScheduler(duty);
    await queue.upsertJobScheduler(duty, { every: every[duty] }, { name: duty, data: {}, opts });
  }
}

async function perform(duty: Duty, options: DutyOptions, redis: Redis, records: Queue<RecordJob>): Promise<void> {
  // What another Weir has counted must not be folded into this one's database.
  await options.ownership.check();
  switch (duty) {
    case 'sweep': {
      const swept = await sweep(redis, options.keys, records, options.sweepAgeMs);
      options.metrics.sweptBatches.inc(swept);
      if (swept > 0) options.log.info({ batches: swept }, 'batches without a job were enqueued again');
      return;
    }
    case 'fold': {
      const folded = await fold(redis, options.keys, options.database);
      if (folded?.outcome === 'again' && folded.events !== 0) {
        const { id, events } = folded;
        options.log.warn(
          { tally: id, events },
          'Redis came back with an older state: some counts of the door are lost',
        );
      }
      const events = await bringCountsBack(redis, options.keys, options.database);
      if (events !== undefined)
        options.log.warn({ events }, 'events that Postgres had counted before it went back in time are counted again');
      return;
    }
    case 'partitions': {
      const client = await options.database.pool.connect();
      try {
        const made = await makePartitions(client, new Date());
        if (made.length > 0) options.log.info({ partitions: made }, 'partitions were made');
      } finally {
        client.release();
      }
      return;
    }
    case 'sessions': {
      await deleteExpiredSessions(options.database.kysely);
      await deleteExpiredWidgetTokens(options.database.kysely);
    }
  }
}
