import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { migrate } from '@weir/db/migrate';
import { openTemporaryServices } from '@weir/services/temporary';
import type { TestProject } from 'vitest/node';
import { openContainers } from './containers.ts';
import { dropDatabases } from './drop-databases.ts';
import { queryOnce, withDatabase } from './query.ts';
import { hasTestsOfTheWhole } from './tests-of-the-whole.ts';
import { PROGRAMS } from '../programs-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A Postgres on which databases may be made. */
    databaseUrl: string;
    /** A migrated and empty database on it; nobody connects to it, tests clone it. */
    templateDatabase: string;
    redisUrl: string;
  }
}

/**
 * Real services for the whole run of the tests: the ones that DATABASE_URL and REDIS_URL name, else containers where
 * a Docker engine answers, else the embedded ones in a temporary home. Whatever it brings up, the teardown it returns
 * takes down.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!hasTestsOfTheWhole(project)) return undefined;
  const log = (line: string): void => console.log(line);
  const given = {
    databaseUrl: process.env.DATABASE_URL || undefined,
    redisUrl: process.env.REDIS_URL || undefined,
  };
  const services =
    (await openContainers(given, log)) ?? (await openTemporaryServices({ ...given, cacheHome: PROGRAMS, log }));
  const { databaseUrl, redisUrl } = services;
  const templateDatabase = `weir_test_${randomBytes(6).toString('hex')}`;
  const close = async (): Promise<void> => {
    await dropDatabases(databaseUrl, templateDatabase);
    await services.close();
  };
  if (given.databaseUrl !== undefined) dropWhenStopped(databaseUrl, templateDatabase);
  try {
    if (given.databaseUrl === undefined) await hashPasswordOnce(databaseUrl);
    await queryOnce(databaseUrl, `CREATE DATABASE ${templateDatabase}`);
    await migrate(withDatabase(databaseUrl, templateDatabase));
  } catch (error) {
    await close();
    throw error;
  }
  project.provide('databaseUrl', databaseUrl);
  project.provide('templateDatabase', templateDatabase);
  project.provide('redisUrl', redisUrl);
  return close;
}

/**
 * Whoever connects hashes the password as often as the server did when it was set, by default 4,096 times: all tests together spent
 * seconds on it. Before Postgres 16 there is no such setting, and this changes none.
 */
async function hashPasswordOnce(databaseUrl: string): Promise<void> {
  const { password } = new URL(databaseUrl);
  await queryOnce(
    databaseUrl,
    `UPDATE pg_settings SET setting = '1' WHERE name = 'scram_iterations'; ALTER ROLE CURRENT_USER PASSWORD '${password}'`,
  );
}

/**
 * At Ctrl-C vitest ends a millisecond later, without a teardown. What was brought up for the tests goes by itself then;
 * databases on a server that stays have to be dropped within that moment, by a process that is waited for.
 */
function dropWhenStopped(databaseUrl: string, templateDatabase: string): void {
  const script = fileURLToPath(new URL('./drop-databases-main.ts', import.meta.url));
  const drop = (): void => {
    spawnSync(process.execPath, ['--import', 'tsx', script, databaseUrl, templateDatabase], { timeout: 10_000 });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.prependOnceListener(signal, drop);
}
