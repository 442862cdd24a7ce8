// The ground of every round: a fresh database and an empty Redis.

import { migrate } from '@weir/db/migrate';
import type { Services } from '@weir/services/services';
import { openTemporaryServices } from '@weir/services/temporary';
import type { ProgressLine } from '@weir/shared/progress-line';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openReplica, openStandby, type SecondCopy, type Store } from './second-copy.ts';

const REPOSITORY_HOME = fileURLToPath(new URL('../../.weir', import.meta.url));

export interface Environment {
  redisUrl: string;
  redis: Redis;
  /** Of all keys of a round. */
  prefix: string;
  /** Postgres and Redis, by name and version. */
  versions: Record<string, string>;
  /** Makes an empty, migrated database and empties Redis. */
  clear(): Promise<RoundDatabase>;
  /** Makes a copy of a database that nobody uses, and empties Redis. The client of the original is closed. */
  copy(original: RoundDatabase): Promise<RoundDatabase>;
  /** Empties Redis; what databases there are stay as they are. */
  emptyRedis(): Promise<void>;
  /** Whether a store was brought up here and not given: only then can it have a second copy. */
  isOwn(store: Store): boolean;
  openSecondCopy(store: Store): Promise<SecondCopy>;
  /** Opens a Redis beside the one of all rounds. */
  openOtherRedis(): Promise<Pick<Services, 'redisUrl' | 'close'>>;
  close(): Promise<void>;
}

/** Needed by every measurement. */
export interface BenchDeps {
  environment: Environment;
  progress: ProgressLine;
  signal: AbortSignal;
}

export interface RoundDatabase {
  url: string;
  client: pg.Client;
  drop(): Promise<void>;
}

/** Opens the services that DATABASE_URL and REDIS_URL name, and embedded ones for those that are not set. */
export async function openEnvironment(log: (line: string) => void): Promise<Environment> {
  const given = {
    databaseUrl: process.env['DATABASE_URL'] || undefined,
    redisUrl: process.env['REDIS_URL'] || undefined,
  };
  const cacheHome = process.env['WEIR_HOME'] || REPOSITORY_HOME;
  const services = await openTemporaryServices({ ...given, cacheHome, log });
  const { databaseUrl, redisUrl } = services;
  const name = `weir_bench_${randomBytes(6).toString('hex')}`;
  const prefix = `{${name.replaceAll('_', '-')}}`;
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  redis.on('error', (error) => log(`Redis: ${error.message}`));
  const emptyRedis = async () => {
    if (given.redisUrl === undefined) await startAfresh(redis);
    else await deleteKeys(redis, prefix);
  };
  let cloned = 0;
  const databases = new Set<string>();
  const close = async () => {
    // Also those of a round that was broken off before it could drop its own.
    for (const each of [...databases, name])
      await queryOnce(databaseUrl, `DROP DATABASE IF EXISTS ${each} WITH (FORCE)`);
    if (given.redisUrl !== undefined) await emptyRedis();
    redis.disconnect();
    await services.close();
  };
  try {
    await queryOnce(databaseUrl, `CREATE DATABASE ${name}`);
    await migrate(withDatabase(databaseUrl, name));
    const versions = await versionsOf(databaseUrl, redis);
    const cloneOf = async (template: string) => {
      await emptyRedis();
      cloned += 1;
      const clone = `${name}_${cloned}`;
      databases.add(clone);
      return cloneDatabase(databaseUrl, template, clone, () => databases.delete(clone));
    };
    const copy = async (original: RoundDatabase) => {
      await original.client.end();
      return cloneOf(new URL(original.url).pathname.slice(1));
    };
    return {
      redisUrl,
      redis,
      prefix,
      versions,
      clear: () => cloneOf(name),
      copy,
      emptyRedis,
      isOwn: (store) => (store === 'Postgres' ? given.databaseUrl : given.redisUrl) === undefined,
      openSecondCopy: (store) => (store === 'Postgres' ? openStandby : openReplica)(services, { cacheHome, log }),
      openOtherRedis: () => openTemporaryServices({ databaseUrl, cacheHome, log }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function cloneDatabase(
  databaseUrl: string,
  template: string,
  name: string,
  onDropped: () => void,
): Promise<RoundDatabase> {
  await queryOnce(databaseUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = withDatabase(databaseUrl, name);
  const client = new pg.Client({ connectionString: url });
  // Whoever waits for a query is told of a lost connection by that query; without a listener the process would end.
  client.on('error', () => {});
  await client.connect();
  return {
    url,
    client,
    async drop() {
      await client.end();
      // Also writes a checkpoint, so that no round pays for what the one before has left in memory.
      await queryOnce(databaseUrl, `DROP DATABASE ${name} WITH (FORCE)`);
      onDropped();
    },
  };
}

/** Empties a Redis and its log, which would else be rewritten in the middle of a round for what earlier ones wrote to it. */
async function startAfresh(redis: Redis): Promise<void> {
  const rewritten = async () => {
    while (/aof_rewrite_(in_progress|scheduled):1/.test(await redis.info('persistence'))) await delay(10);
  };
  await rewritten();
  await redis.flushall();
  await redis.bgrewriteaof();
  await rewritten();
}

async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[]));
  }
}

async function versionsOf(databaseUrl: string, redis: Redis): Promise<Record<string, string>> {
  const { rows } = await queryOnce(
    databaseUrl,
    "SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync",
  );
  const [postgres] = rows as { version: string; fsync: string }[];
  const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1];
  // A Redis that is run by somebody else may not tell its settings.
  const config = await redis.config('GET', 'appendfsync').catch(() => []);
  return {
    postgres: `${postgres?.version} (fsync ${postgres?.fsync})`,
    redis: `${version} (appendfsync ${String(Array.isArray(config) ? config[1] : config)})`,
  };
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

async function queryOnce(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
