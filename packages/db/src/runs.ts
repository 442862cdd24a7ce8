import { CompiledQuery, type Kysely } from 'kysely';

interface Ran<Row> {
  rows: Row[];
  rowCount: number | null;
}

/** What runs a statement at a time: a pool of Postgres, a client of one, or {@link runsOf} a transaction. */
export interface Runs {
  query<Row extends object>(
    statement: string | { name?: string; text: string; values?: unknown[] },
    values?: unknown[],
  ): Promise<Ran<Row>>;
}

/** Runs statements where Kysely does; there none is prepared under its name. */
export function runsOf(db: Pick<Kysely<unknown>, 'executeQuery'>): Runs {
  return {
    async query<Row extends object>(statement: Parameters<Runs['query']>[0], given: unknown[] = []): Promise<Ran<Row>> {
      const { text, values = given } = typeof statement === 'string' ? { text: statement } : statement;
      const { rows, numAffectedRows } = await db.executeQuery<Row>(CompiledQuery.raw(text, values));
      return { rows, rowCount: Number(numAffectedRows ?? rows.length) };
    },
  };
}
