// The command: the only file that reads the environment and the arguments.
// Exit status: 0 all is equal (after --repair: is now), 1 something differs, 2 it could not be found out.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RepairUnderWay } from '@weir/db/accepted';
import { isUnavailable, openDatabase } from '@weir/db/database';
import { Closer } from '@weir/shared/closer';
import { errorCodeOf } from '@weir/shared/errors';
import { queueKeys } from '@weir/shared/queue';
import { isRedisAway } from '@weir/shared/redis-away';
import { SettingsError, databaseUrl, loadSettings, redisUrl } from '@weir/shared/settings';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { OptionError, parseOptions, usage, type ReconcileOptions } from './options.ts';
import { Progress } from './progress.ts';
import { describe, toJson } from './report.ts';
import { reconcile } from './run.ts';

const settingsSchema = z.object({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  QUEUE_PREFIX: z
    .string()
    .regex(/^\{[a-zA-Z0-9_-]+\}$/, 'must be a hash tag such as {weir}')
    .default('{weir}'),
});

/** Redis cannot be reached. */
class RedisError extends Error {}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options) process.exitCode = await run(options);
  else console.log(usage);
} catch (error) {
  process.exitCode = 2;
  const line = explain(error);
  console.error(line === undefined ? error : `reconcile: ${line}`);
}

async function run(options: ReconcileOptions): Promise<number> {
  const settings = loadSettings(settingsSchema, { ...loadServices(process.env), ...given(process.env) });
  const progress = new Progress(process.stderr);
  const closer = new Closer();
  try {
    const redis = await connectRedis(settings.REDIS_URL);
    closer.add('Redis', () => redis.disconnect());
    // One to look through, one for a repair, one for its lock.
    const database = openDatabase(settings.DATABASE_URL, {
      connectionsMax: 3,
      statementTimeoutMs: 0,
      onConnectionError: () => {},
    });
    closer.add('the database', () => database.close());
    const found = await reconcile(
      { database, redis, keys: queueKeys(settings.QUEUE_PREFIX), onPart: (name) => progress.part(name) },
      options,
    );
    progress.clear();
    console.log(options.json ? toJson(found) : describe(found, options));
    return found.isEqual ? 0 : 1;
  } finally {
    progress.clear();
    await closer.close();
  }
}

/** Connected, or it throws: nobody waits for a Redis that is away. */
async function connectRedis(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  redis.on('error', (error) => (reason = error));
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw new RedisError(messageOf(reason ?? error), { cause: error });
  }
}

/** Empty values count as unset. */
function given(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}

/** What npm start leaves in services.json for tools on the same machine: the services it brought up. */
function loadServices(env: NodeJS.ProcessEnv): { DATABASE_URL?: string; REDIS_URL?: string } {
  let text: string;
  try {
    text = readFileSync(join(env.WEIR_HOME || '.weir', 'services.json'), 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return {};
    throw error;
  }
  const { database_url, redis_url } = JSON.parse(text) as { database_url?: string; redis_url?: string };
  return {
    ...(database_url !== undefined && !env.DATABASE_URL_FILE && { DATABASE_URL: database_url }),
    ...(redis_url !== undefined && !env.REDIS_URL_FILE && { REDIS_URL: redis_url }),
  };
}

function explain(error: unknown): string | undefined {
  const code = errorCodeOf(error);
  if (error instanceof OptionError) return `${error.message} (--help shows the options)`;
  if (error instanceof SettingsError || error instanceof RepairUnderWay) return error.message;
  if (error instanceof RedisError || isRedisAway(error)) {
    return `Redis cannot be reached (${messageOf(error)}). Check REDIS_URL, or start Weir with npm start.`;
  }
  if (code === '42P01') return 'the database is not migrated to this version: run npm run migrate.';
  if (isUnavailable(error) || code?.startsWith('28') === true || code === '3D000') {
    return `Postgres cannot be read (${messageOf(error)}). Check DATABASE_URL, or start Weir with npm start.`;
  }
  return undefined;
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
