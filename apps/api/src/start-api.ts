import { isDatabaseAway, isStandbyAway } from '@weir/db/database';
import { isRedisAway } from '@weir/queue/redis-away';
import { readBuild } from '@weir/shared/build';
import { createLog } from '@weir/shared/log';
import type { Running } from '@weir/shared/process';
import { serveApi } from './serve.ts';
import type { ApiSettings } from './settings.ts';

/** What the network says is of Postgres where it is not known to be of Redis. */
const PARTS = [
  { name: 'Redis', isAway: isRedisAway },
  { name: 'Postgres', isAway: isDatabaseAway },
  { name: 'the standby', isAway: isStandbyAway },
];

/** Starts the API that writes its log, and says so in it. */
export async function startApi(settings: ApiSettings): Promise<Running> {
  const log = createLog('weir-api', settings.LOG_LEVEL, PARTS);
  const api = await serveApi(settings, log);
  log.info({ url: api.url, ...readBuild(), schema: api.schema() }, 'the API listens');
  const drainTimeoutMs = settings.DRAIN_DELAY_MS + settings.DRAIN_TIMEOUT_MS;
  return { log, url: api.url, drainTimeoutMs, close: () => api.close() };
}
