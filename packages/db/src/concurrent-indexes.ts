// Migrations that build indexes while everybody goes on writing. Postgres does that outside of a transaction only, and leaves an
// index behind that is not valid when it is kept from finishing.

import type { Runs } from './runs.ts';

/** Both may be run again: the index is there then, or gone. */
const STATEMENT =
  /^(?:CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS|DROP INDEX CONCURRENTLY IF EXISTS) (?<index>[a-z0-9_]+)(?:\s+ON\s.+)?$/s;

export interface Step {
  sql: string;
  index: string;
}

/**
 * The statements of a migration that runs outside of a transaction. Throws for one that could not be run again after it was cut
 * off.
 */
export function readSteps(text: string): Step[] {
  const statements = text
    .replace(/^--.*$/gm, '')
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  return statements.map((sql) => {
    const index = STATEMENT.exec(sql)?.groups?.['index'];
    if (index === undefined)
      throw new Error(
        `A migration without a transaction has only CREATE INDEX CONCURRENTLY IF NOT EXISTS <name> ON … and DROP INDEX CONCURRENTLY IF EXISTS <name>, not: ${sql}`,
      );
    return { sql, index };
  });
}

/**
 * Runs these statements, also after they were cut off: what is whole stays, and what is not is removed and built anew. When one
 * fails it leaves no index that is not valid, since a unique one refuses rows all the same.
 */
export async function runConcurrent(client: Runs, steps: readonly Step[]): Promise<void> {
  for (const { sql, index } of steps) {
    await dropInvalid(client, index);
    try {
      await client.query(sql);
    } catch (error) {
      // The connection may be gone too; then the next run removes it.
      await dropInvalid(client, index).catch(() => {});
      throw error;
    }
  }
}

async function dropInvalid(client: Runs, index: string): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid',
    [index],
  );
  if (rowCount !== 0) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
}
