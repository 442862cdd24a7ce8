import { Kysely, PostgresDialect, type PostgresPool, type PostgresQueryResult } from 'kysely';
import { errorCodeOf } from '@weir/shared/errors';
import pg from 'pg';
import { withoutOptions } from './database-url.ts';
import { isOfConnection, NotingClient } from './noting-client.ts';
import { endWithClient, READ_ONLY, setUpSession } from './session-settings.ts';
import type { Tables } from './schema.ts';

/** Where queries run: the database itself, or a transaction on it. */
export type Queries = Kysely<Tables>;

/** Access to Postgres: `kysely` for what an admin asks, `pool` for the statements of the track path. */
export interface Database {
  kysely: Queries;
  pool: pg.Pool;
  /** Waits for the queries under way and ends every connection. */
  close(): Promise<void>;
}

/** Numbers that decide how many connections one process takes, and for how long. */
export interface DatabaseOptions {
  connectionsMax: number;
  /**
   * After this a statement is cancelled by Postgres, and a transaction is ended whose next statement does not come (after 15 s at
   * the latest); 0 lets both go on for as long as this process lives.
   */
  statementTimeoutMs: number;
  /** How long to wait for a connection, new or from the pool. 5 s by default. */
  connectTimeoutMs?: number;
  /**
   * Called with an error of a connection on which no query was under way. It is replaced, and whoever holds it learns of
   * the error from the next query: it is only worth a log line.
   */
  onConnectionError: (error: Error) => void;
}

/** No transaction of Weir computes for longer than this between two statements. */
export const IDLE_IN_TRANSACTION_MS_MAX = 15_000;

const TIMESTAMPTZ = 1184;
const DATE = 1082;
const parsers = new pg.TypeOverrides();
// To the microsecond and in UTC, as text: a JavaScript Date would cut microseconds off. Every connection speaks UTC.
parsers.setTypeParser(TIMESTAMPTZ, (text) => isoOfPostgres(text));
// A date has no time zone, and a JavaScript Date has one.
parsers.setTypeParser(DATE, (text) => text);

function isoOfPostgres(text: string): string {
  const [seconds = '', fraction = ''] = text.replace(' ', 'T').replace(/\+00$/, '').split('.');
  return `${seconds}.${fraction.padEnd(fraction.length > 3 ? 6 : 3, '0')}Z`;
}

/**
 * Opens a pool. Nothing is connected yet, so this also works while Postgres is away. What a role or a database has set for
 * itself does not get in the way: each connection sets what Weir relies on.
 */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { connectionString, given } = withoutOptions(url);
  const { statementTimeoutMs } = options;
  // A client that went silent within a transaction would hold its rows until TCP gives up, which takes hours. Postgres ends
  // it as soon as a statement does not come in the time that one may take.
  const idleMs = Math.min(statementTimeoutMs, IDLE_IN_TRANSACTION_MS_MAX);
  const limits = { statement_timeout: statementTimeoutMs, idle_in_transaction_session_timeout: idleMs };
  const pool = new pg.Pool({
    Client: NotingClient,
    connectionString,
    max: options.connectionsMax,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // A connection that went silent is noticed by us: Postgres's own time-out does not help when nobody hears from it.
    query_timeout: statementTimeoutMs === 0 ? undefined : statementTimeoutMs + Math.min(statementTimeoutMs, 2_000),
    keepAliveInitialDelayMillis: 10_000,
    types: parsers,
    ...(given !== '' && { options: given }),
    application_name: 'weir',
    // No statement here runs for so long that compiling it first pays.
    // The pool waits for it and gives nobody a connection on which it failed, though its types do not say so.
    // oxlint-disable-next-line typescript/no-misused-promises
    onConnect: async (client) => {
      await setUpSession(client, { jit: 'off', ...limits });
      if (statementTimeoutMs === 0) await endWithClient(client);
    },
  });
  // Also of a connection that somebody holds between two queries: the pool tells of idle ones only, and an error that
  // nobody listens to ends the process.
  pool.on('connect', (client) => client.on('error', options.onConnectionError));
  pool.on('error', () => {});
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: droppingLost(pool) }) });
  return {
    kysely,
    pool,
    async close() {
      await kysely.destroy();
      // Kysely lets go of a pool only if it has used it.
      if (!pool.ended) await pool.end();
    },
  };
}

/**
 * A connection whose query was not answered in time is out of step: its next query would wait behind the lost one. One that takes no
 * writes leads to a former primary, and one that was ended there leads nowhere. `pg` drops it by itself when it is told of the error at
 * the release, and Kysely does not tell; so this does.
 */
function droppingLost(pool: pg.Pool): PostgresPool {
  return {
    async connect() {
      const client = await pool.connect();
      let lost: Error | undefined;
      let isSilent = false;
      return {
        // Kysely's other form, with a cursor, is for streams; nothing here streams.
        async query<Row>(sql: unknown, parameters?: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
          if (isSilent) throw lost;
          try {
            return (await client.query(String(sql), [...(parameters ?? [])])) as unknown as PostgresQueryResult<Row>;
          } catch (error) {
            isSilent ||= error instanceof Error && error.message === 'Query read timeout';
            if (isSilent || isOfLostServer(error)) lost = error as Error;
            throw error;
          }
        },
        release: () => client.release(lost),
      } as Awaited<ReturnType<PostgresPool['connect']>>;
    },
    end: () => pool.end(),
  };
}

/** Whether a connection that met this error is of no use any more, whatever it is asked next. */
function isOfLostServer(error: unknown): boolean {
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  return code === READ_ONLY || code?.startsWith('57P0') === true;
}

/** The name of the constraint that a statement violated, or undefined for any other error. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code?.startsWith('23') === true ? error.constraint : undefined;
}

/** Whether an error says that a row is bad (SQLSTATE classes 22 and 23), so that trying again is in vain. */
export function isBadData(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '');
}

/** Whether a row refers to something that is not there, such as usage to a meter. */
export function isMissingReference(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23503';
}

/** Whether a statement was cancelled since it took too long. */
export function isTimedOut(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '57014';
}

/** Whether a lock was not given in the time for which it is waited. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

/** Others have a row in hand that a transaction has to change and cannot wait for: it is given up, and may be tried again. */
export class InOtherHands extends Error {}

/** The synchronous standby has not answered others for seconds: who needs it is not made to wait as well. */
export class StandbyAway extends Error {
  constructor() {
    super('the synchronous standby of this Postgres does not answer');
  }
}

export function isStandbyAway(error: unknown): boolean {
  return error instanceof StandbyAway;
}

/**
 * Whether an error says that there is no connection to Postgres, or that it gives none: it is not reached, is not trusted, is starting or
 * stopping, has too many, or does not know the role or the database (SQLSTATE classes 08 and 28; 57P01 to 57P05, 53300, 3D000; 25006 of a standby).
 */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|28|57P0|53300|3D000|25006)/.test(error.code ?? '');
  return error instanceof Error && (isOfConnection(error) || MESSAGES_OF_THE_DRIVER.test(error.message));
}

const MESSAGES_OF_THE_DRIVER =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|not queryable|^SASL: |SSL connection/;

/** Codes of errors of the network and of TLS. */
const CODES_OF_THE_NETWORK = /^E[A-Z]+$|^EAI_|^UNABLE_TO_|CERT|^HOSTNAME_MISMATCH$|^ERR_(TLS|SSL)_/;

/**
 * Whether an error of a query says that Postgres cannot answer now: away, timed out, deadlocked, out of room (SQLSTATE classes 40, 53,
 * 57, 58; 55P03; 25P03, a transaction in which this process was silent for too long), without its standby, or not of rows that others have
 * in hand.
 */
export function isUnavailable(error: unknown): boolean {
  if (isDatabaseAway(error) || isStandbyAway(error) || error instanceof InOtherHands) return true;
  if (error instanceof pg.DatabaseError) return /^(40|53|57|58|25P03|55P03)/.test(error.code ?? '');
  return error instanceof Error && CODES_OF_THE_NETWORK.test(errorCodeOf(error) ?? '');
}

/** Resolves when Postgres answers; throws when it cannot be reached. */
export async function pingDatabase(database: Database): Promise<void> {
  await database.pool.query('SELECT 1');
}
