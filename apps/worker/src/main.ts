import '@weir/shared/v8-options';
import { createLog } from '@weir/shared/log';
import { runUntilStopped } from '@weir/shared/process';
import { loadSettings } from '@weir/shared/settings';
import { serveWorker } from './serve.ts';
import { workerSettings } from './settings.ts';

await runUntilStopped(async () => {
  const settings = loadSettings(workerSettings, process.env);
  const log = createLog('weir-worker', settings.LOG_LEVEL);
  const worker = await serveWorker(settings, log);
  log.info({ url: worker.url }, 'the worker takes batches');
  return { log, url: worker.url, drainTimeoutMs: settings.DRAIN_TIMEOUT_MS, close: () => worker.close() };
});
