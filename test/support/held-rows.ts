// What a process holds of the database at once: how many rows a statement returns to it.

import type { Database } from '@weir/db/database';

/** A database, and for each statement that it has answered since the last look: its columns and how many rows. */
export interface Watched {
  database: Database;
  /** How many rows with this column were returned, in all and at most by one statement. Forgets them. */
  take(column: string): { all: number; most: number };
}

export function watchRows(database: Database): Watched {
  let seen: object[][] = [];
  const kysely = database.kysely.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      seen.push(result.rows);
      return Promise.resolve(result);
    },
  });
  return {
    database: { ...database, kysely },
    take(column) {
      const counts = seen.map((rows) => (column in (rows[0] ?? {}) ? rows.length : 0));
      seen = [];
      return { all: counts.reduce((sum, count) => sum + count, 0), most: Math.max(0, ...counts) };
    },
  };
}
