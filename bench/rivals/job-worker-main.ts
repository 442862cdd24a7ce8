// The other end of one job for each request: one transaction for each job.

import { openDatabase } from '@weir/db/database';
import { createLog } from '@weir/shared/log';
import { runUntilStopped } from '@weir/shared/process';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { EVENT_QUEUE, type EventJob } from './event-job.ts';
import { recordOne } from './record-one.ts';
import { loadRivalSettings } from './settings.ts';

/** The best of 10, 20, 50 and 100 on two cores. */
const CONCURRENCY = Number(process.env['CONC'] ?? 50);

await runUntilStopped(async () => {
  const settings = loadRivalSettings();
  const log = createLog('job-worker', 'warn');
  const database = openDatabase(settings.DATABASE_URL, {
    connectionsMax: Number(process.env['PGC'] ?? 20),
    statementTimeoutMs: 0,
    onIdleError: (error) => log.warn({ err: error }, 'a connection was lost'),
  });
  const connection = new Redis(settings.REDIS_URL, { maxRetriesPerRequest: null });
  const worker = new Worker<EventJob>(
    EVENT_QUEUE,
    async ({ data }) => {
      await recordOne(database.pool, data.event, Buffer.from(data.keyHash, 'base64'));
    },
    { connection, prefix: settings.QUEUE_PREFIX, concurrency: CONCURRENCY },
  );
  worker.on('failed', (_job, error) => log.warn({ err: error }, 'a job failed'));
  worker.on('error', (error) => log.warn({ err: error }, 'the worker met an error'));
  await worker.waitUntilReady();
  const close = async () => {
    await worker.close();
    connection.disconnect();
    await database.close();
  };
  return { log, url: 'none', drainTimeoutMs: 5_000, close };
});
