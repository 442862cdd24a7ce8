// The other end of one job for each request: one transaction for each job.

import { openDatabase } from '@weir/db/database';
import { createLog } from '@weir/shared/log';
import { runUntilStopped } from '@weir/shared/process';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { EVENT_QUEUE, type EventJob } from './event-job.ts';
import { recordOne } from './record-one.ts';
import { loadBaselineSettings } from './baseline-settings.ts';

/** On two cores fewer recorded less: each job waits for its own fsync, so many have to wait at once. */
const CONCURRENCY = 100;
const CONNECTIONS = 50;

await runUntilStopped(async () => {
  const settings = loadBaselineSettings();
  const log = createLog('job-worker', 'warn');
  const database = openDatabase(settings.DATABASE_URL, {
    connectionsMax: CONNECTIONS,
    statementTimeoutMs: 0,
    onConnectionError: (error) => log.warn({ err: error }, 'a connection was lost'),
  });
  const connection = new Redis(settings.REDIS_URL, { maxRetriesPerRequest: null });
  const worker = new Worker<EventJob>(
    EVENT_QUEUE,
    async ({ data }) => {
      await recordOne(database.pool, data.event, data.keyHash);
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
