import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { queryOnce, withDatabase } from './setup/query.ts';

/** A copy of a database as it is at this moment: what a backup holds, and what a restored one is. */
export interface DatabaseCopy {
  url: string;
  drop(): Promise<void>;
}

/** Copies a database. Whoever is connected to it is cut off for a moment, since Postgres copies none that is in use. */
export async function copyDatabase(url: string): Promise<DatabaseCopy> {
  const admin = inject('databaseUrl');
  const original = new URL(url).pathname.slice(1);
  const name = `${inject('templateDatabase')}_${randomBytes(6).toString('hex')}`;
  await queryOnce(admin, `ALTER DATABASE ${original} ALLOW_CONNECTIONS false`);
  try {
    await queryOnce(
      admin,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${original}'`,
    );
    await queryOnce(admin, `CREATE DATABASE ${name} TEMPLATE ${original}`);
  } finally {
    await queryOnce(admin, `ALTER DATABASE ${original} ALLOW_CONNECTIONS true`);
  }
  await queryOnce(admin, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  return {
    url: withDatabase(admin, name),
    drop: async () => {
      await queryOnce(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}
