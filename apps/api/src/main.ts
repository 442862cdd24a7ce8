import '@weir/shared/v8-options';
import { createLog } from '@weir/shared/log';
import { runUntilStopped } from '@weir/shared/process';
import { loadSettings } from '@weir/shared/settings';
import { serveApi } from './serve.ts';
import { apiSettings } from './settings.ts';

await runUntilStopped(async () => {
  const settings = loadSettings(apiSettings, process.env);
  const log = createLog('weir-api', settings.LOG_LEVEL);
  const api = await serveApi(settings, log);
  log.info({ url: api.url }, 'the API listens');
  return { log, url: api.url, drainTimeoutMs: settings.DRAIN_TIMEOUT_MS, close: () => api.close() };
});
