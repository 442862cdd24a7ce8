// Transactions that leave everything as it was.

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

/** Does what a change would do, and gives it up: returns what it came to. It holds the same locks meanwhile. */
export async function withoutKeeping<Result>(
  database: Database,
  change: (transaction: Queries) => Promise<Result>,
): Promise<Result> {
  const transaction = await database.kysely.startTransaction().execute();
  try {
    return await change(transaction);
  } finally {
    await transaction.rollback().execute();
  }
}
