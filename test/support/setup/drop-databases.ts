import { queryOnce } from './query.ts';

/** Drops the template of a run and every database that was cloned from it, whoever is still connected. */
export async function dropDatabases(adminUrl: string, templateDatabase: string): Promise<void> {
  const { rows } = await queryOnce(adminUrl, 'SELECT datname FROM pg_database');
  for (const { datname } of rows as { datname: string }[]) {
    if (!datname.startsWith(templateDatabase)) continue;
    await queryOnce(adminUrl, `DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
  }
}
