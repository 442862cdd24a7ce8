import { isDatabaseAway, isStandbyAway } from '@weir/db/database';
import { isRedisAway } from '@weir/queue/redis-away';
import { readBuild } from '@weir/shared/build';
import { createLog } from '@weir/shared/log';
import type { Running } from '@weir/shared/process';
import { serveWorker } from './serve.ts';
import type { WorkerSettings } from './settings.ts';

/** What the network says is of Postgres where it is not known to be of Redis. */
const PARTS = [
  { name: 'Redis', isAway: isRedisAway },
  { name: 'Postgres', isAway: isDatabaseAway },
  { name: 'the standby', isAway: isStandbyAway },
];

/** Starts a worker that writes its log, and says so in it. */
export async function startWorker(settings: WorkerSettings): Promise<Running> {
  const log = createLog('weir-worker', settings.LOG_LEVEL, PARTS);
  const worker = await serveWorker(settings, log);
  log.info({ url: worker.url, ...readBuild(), schema: worker.schema() }, 'the worker takes batches');
  const drainTimeoutMs = settings.DRAIN_TIMEOUT_MS;
  return { log, url: worker.url, drainTimeoutMs, close: (uncaught) => worker.close(uncaught) };
}
