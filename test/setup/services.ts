import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { migrate } from '@weir/db/migrate';
import { openTemporaryServices } from '@weir/services/temporary';
import type { TestProject } from 'vitest/node';
import { openContainers } from './containers.ts';
import { queryOnce, withDatabase } from './query.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A Postgres on which databases may be made. */
    databaseUrl: string;
    /** A migrated and empty database on it; nobody connects to it, tests clone it. */
    templateDatabase: string;
    redisUrl: string;
  }
}

const repositoryHome = fileURLToPath(new URL('../../.weir', import.meta.url));

/**
 * Real services for the whole run of the tests: the ones that DATABASE_URL and REDIS_URL name, else containers where
 * a Docker engine answers, else the embedded ones in a temporary home. Whatever it brings up, the teardown it answers
 * takes down.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = (line: string): void => console.log(line);
  const given = {
    databaseUrl: process.env.DATABASE_URL || undefined,
    redisUrl: process.env.REDIS_URL || undefined,
  };
  const services =
    (await openContainers(given, log)) ??
    (await openTemporaryServices({ ...given, cacheHome: process.env.WEIR_HOME || repositoryHome, log }));
  try {
    const { databaseUrl, redisUrl } = services;
    const templateDatabase = `weir_template_${randomBytes(6).toString('hex')}`;
    await queryOnce(databaseUrl, `CREATE DATABASE ${templateDatabase}`);
    const dropTemplate = () => queryOnce(databaseUrl, `DROP DATABASE ${templateDatabase} WITH (FORCE)`);
    try {
      await migrate(withDatabase(databaseUrl, templateDatabase));
    } catch (error) {
      await dropTemplate();
      throw error;
    }
    project.provide('databaseUrl', databaseUrl);
    project.provide('templateDatabase', templateDatabase);
    project.provide('redisUrl', redisUrl);
    return async () => {
      await dropTemplate();
      await services.close();
    };
  } catch (error) {
    await services.close();
    throw error;
  }
}
