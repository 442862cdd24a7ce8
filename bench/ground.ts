// What every round stands on: a fresh database and an empty Redis.

import { migrate } from '@weir/db/migrate';
import { openTemporaryServices } from '@weir/services/temporary';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const REPOSITORY_HOME = fileURLToPath(new URL('../../.weir', import.meta.url));

export interface Ground {
  redisUrl: string;
  redis: Redis;
  /** Of all keys of a round. */
  prefix: string;
  /** Postgres and Redis, by name and version. */
  versions: Record<string, string>;
  /** Makes an empty, migrated database and empties Redis. */
  clear(): Promise<RoundDatabase>;
  close(): Promise<void>;
}

export interface RoundDatabase {
  url: string;
  client: pg.Client;
  drop(): Promise<void>;
}

/** Opens the services that DATABASE_URL and REDIS_URL name, and embedded ones for those that are not set. */
export async function openGround(log: (line: string) => void): Promise<Ground> {
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
  const empty = () => (given.redisUrl === undefined ? redis.flushall() : deleteKeys(redis, prefix));
  const close = async () => {
    await queryOnce(databaseUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    if (given.redisUrl !== undefined) await empty();
    redis.disconnect();
    await services.close();
  };
  try {
    await queryOnce(databaseUrl, `CREATE DATABASE ${name}`);
    await migrate(withDatabase(databaseUrl, name));
    const versions = await versionsOf(databaseUrl, redis);
    const clear = async () => {
      await empty();
      return cloneDatabase(databaseUrl, name);
    };
    return { redisUrl, redis, prefix, versions, clear, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function cloneDatabase(databaseUrl: string, template: string): Promise<RoundDatabase> {
  const name = `${template}_round`;
  await queryOnce(databaseUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = withDatabase(databaseUrl, name);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    url,
    client,
    async drop() {
      await client.end();
      // Also writes a checkpoint, so that no round pays for what the one before has left in memory.
      await queryOnce(databaseUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
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
