import { isDatabaseAway, isStandbyAway } from '@weir/db/database';
import { isRedisAway } from '@weir/queue/redis-away';
import { readBuild } from '@weir/shared/build';
import { createLog } from '@weir/shared/log';
import { runUntilStopped } from '@weir/shared/process';
import { loadSettings } from '@weir/shared/settings';
import { serveWorker } from './serve.ts';
import { workerSettings } from './settings.ts';

/** What the network says is of Postgres where it is not known to be of Redis. */
const PARTS = [
  { name: 'Redis', isAway: isRedisAway },
  { name: 'Postgres', isAway: isDatabaseAway },
  { name: 'the standby', isAway: isStandbyAway },
];

/** Runs a worker with these settings until it is told to stop. */
export async function runWorker(env: Record<string, string | undefined>): Promise<void> {
  await runUntilStopped(async () => {
    const settings = loadSettings(workerSettings, env);
    const log = createLog('weir-worker', settings.LOG_LEVEL, PARTS);
    const worker = await serveWorker(settings, log);
    log.info({ url: worker.url, ...readBuild(), schema: worker.schema() }, 'the worker takes batches');
    return { log, url: worker.url, drainTimeoutMs: settings.DRAIN_TIMEOUT_MS, close: () => worker.close() };
  });
}
