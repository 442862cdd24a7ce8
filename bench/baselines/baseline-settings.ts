import { databaseUrl } from '@weir/db/database-url';
import { loadSettings, port, redisUrl } from '@weir/shared/settings';
import { z } from 'zod';

/** What the processes of the other patterns are told. */
const baselineSettings = z.object({
  PORT: port.default(0),
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  QUEUE_PREFIX: z.string(),
  API_KEY: z.string(),
  METER_TOKEN: z.string(),
  METER_ID: z.uuid(),
  ORGANIZATION_ID: z.uuid(),
});

export type BaselineSettings = z.output<typeof baselineSettings>;

export function loadBaselineSettings(): BaselineSettings {
  return loadSettings(baselineSettings, process.env);
}
