import { createDatabase, queryServer, type TestDatabase } from './setup/database.ts';

/**
 * Copies a database as it is at this moment: what a backup holds, and what a restored one is. Whoever is connected to it is cut off for
 * a moment, since Postgres copies none that is in use.
 */
export async function copyDatabase(url: string): Promise<TestDatabase> {
  const original = new URL(url).pathname.slice(1);
  await queryServer(`ALTER DATABASE ${original} ALLOW_CONNECTIONS false`);
  let copy: TestDatabase;
  try {
    await queryServer(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${original}'`);
    copy = await createDatabase(`TEMPLATE ${original}`);
  } finally {
    await queryServer(`ALTER DATABASE ${original} ALLOW_CONNECTIONS true`);
  }
  await queryServer(`ALTER DATABASE ${copy.name} ALLOW_CONNECTIONS true`);
  return copy;
}
