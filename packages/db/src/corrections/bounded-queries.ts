// The statements of a transaction that holds others off: together they may take so long, and no longer.

import {
  CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type QueryResult,
} from 'kysely';
import { isTimedOut, type Queries } from '../database.ts';
import type { Tables } from '../schema.ts';

/** Others would be held off for too long. */
export class StopTooLong extends Error {}

/**
 * Asks a transaction until an instant (of `performance.now()`): each statement may take what is left, and none begins after it. Throws
 * what is made by `tooLong` in place of either. `statement_timeout` stays at what the last statement was given.
 */
export function boundQueries(
  transaction: Queries,
  until: number,
  tooLong = (cause?: unknown): Error => new StopTooLong('others would be held off for too long', { cause }),
): Queries {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new BoundedDriver(transaction, until, tooLong),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/** Its one connection is that of the transaction. */
class BoundedDriver extends DummyDriver {
  readonly #connection: DatabaseConnection;

  constructor(transaction: Queries, until: number, tooLong: (cause?: unknown) => Error) {
    super();
    this.#connection = {
      async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
        const left = until - performance.now();
        if (left <= 0) throw tooLong();
        try {
          await limitStatements(transaction, Math.ceil(left));
          return await transaction.executeQuery<Row>(query);
        } catch (error) {
          if (isTimedOut(error)) throw tooLong(error);
          throw error;
        }
      },
      streamQuery() {
        throw new Error('nothing is streamed while others are held off');
      },
    };
  }

  override acquireConnection(): Promise<DatabaseConnection> {
    return Promise.resolve(this.#connection);
  }
}

/** How long each further statement of a transaction may take. */
export async function limitStatements(transaction: Queries, ms: number): Promise<void> {
  await transaction.executeQuery(CompiledQuery.raw("SELECT set_config('statement_timeout', $1, true)", [String(ms)]));
}
