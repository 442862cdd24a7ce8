import type { Database, Queries } from '../database.ts';

/** One snapshot of all that is recorded, for as many statements as it takes. */
export async function inSnapshot<Result>(
  database: Database,
  read: (snapshot: Queries) => Promise<Result>,
): Promise<Result> {
  return await database.kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(read);
}
