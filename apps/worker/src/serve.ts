// Opens a worker and closes it again, last opened first.

import { openDatabase, pingDatabase } from '@weir/db/database';
import { Closer } from '@weir/shared/closer';
import type { Logger } from '@weir/shared/log';
import { queueKeys, workerConnection } from '@weir/shared/queue';
import { requireRedisPolicy } from '@weir/shared/redis-policy';
import { explainTakenPort } from '@weir/shared/settings';
import { Redis } from 'ioredis';
import { Aggregations } from './aggregations.ts';
import { openConsumer } from './consume.ts';
import { openDuties } from './duties.ts';
import { buildHealth } from './health.ts';
import { buildWorkerMetrics } from './metrics.ts';
import type { WorkerSettings } from './settings.ts';

/** A worker that runs. */
export interface RunningWorker {
  /** The address of its health and metrics. */
  url: string;
  /** Takes no more jobs, finishes those under way, and lets go of everything. */
  close(): Promise<void>;
}

/** What is left of the time for a stop when what could not be closed in order is given up. */
const STOP_SPARE_MS = 250;

/** Starts a worker; waits for Redis where it is away. Throws a SettingsError for a Redis that would lose events. */
export async function serveWorker(settings: WorkerSettings, log: Logger): Promise<RunningWorker> {
  const closer = new Closer();
  let isDraining = false;
  try {
    const keys = queueKeys(settings.QUEUE_PREFIX);
    const metrics = buildWorkerMetrics();
    const database = openDatabase(settings.DATABASE_URL, {
      // One for each batch in hand, one for a duty, one for health.
      connectionsMax: settings.WORKER_CONCURRENCY + 2,
      statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
      onConnectionError: (error) => log.warn({ err: error }, 'an idle connection to Postgres was lost'),
    });
    closer.add('the database', () => database.close());

    const redis = new Redis(settings.REDIS_URL, workerConnection());
    redis.on('error', (error) => log.warn({ err: error }, 'the connection to Redis was lost'));
    closer.add('Redis', () => redis.disconnect());

    const health = buildHealth(metrics, {
      postgres: () => pingDatabase(database),
      redis: () => (redis.status === 'ready' ? redis.ping() : Promise.reject(new Error('not connected'))),
      isDraining: () => isDraining,
    });
    closer.add('health', () => health.close());
    const { WORKER_PORT: port, HOST: host } = settings;
    const url = await explainTakenPort(health.listen({ port, host }), { setting: 'WORKER_PORT', port, host });

    const warning = await requireRedisPolicy(redis);
    if (warning !== undefined) log.warn(warning);

    const duties = openDuties({
      redisUrl: settings.REDIS_URL,
      keys,
      database,
      sweepIntervalMs: settings.SWEEP_INTERVAL_MS,
      sweepAgeMs: settings.SWEEP_AGE_MS,
      log,
      metrics,
    });
    closer.add('the duties', () => duties.close());
    const parts = { database, redis, keys, aggregations: new Aggregations(database) };
    const consumer = openConsumer(settings.REDIS_URL, keys, parts, {
      concurrency: settings.WORKER_CONCURRENCY,
      log,
      metrics,
    });
    closer.add('the consumer', () => consumer.close());
    return {
      url,
      async close() {
        isDraining = true;
        try {
          await closer.close(settings.DRAIN_TIMEOUT_MS - STOP_SPARE_MS);
        } catch (error) {
          // A Redis or Postgres that does not answer keeps jobs in hand and connections open. The jobs go to other workers.
          log.warn({ err: error }, 'not everything could be closed in order; nothing is lost');
        }
      },
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}
