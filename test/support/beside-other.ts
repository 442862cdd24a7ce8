import pg from 'pg';
import { until, type Answer, type Weir } from './harness.ts';
import { untilWaiting } from './until-waiting.ts';

/** A row that two requests want at once. */
interface Held {
  table: 'organizations' | 'plans' | 'meters';
  id: string;
}

/**
 * The answer to a request that is sent after another transaction, which holds the organization or another row, has run a statement. That
 * one commits once the request waits for it, or was answered before.
 */
export async function besideOther(
  { pool }: Pick<Weir, 'pool'>,
  organizationId: string,
  statement: string,
  request: () => Promise<Answer>,
  { table, id }: Held = { table: 'organizations', id: organizationId },
): Promise<Answer> {
  const other = await pool.connect();
  try {
    await other.query('BEGIN');
    await other.query(`SELECT FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`, [id]);
    await other.query(statement, [organizationId]);
    let isAnswered = false;
    const answer = request().finally(() => (isAnswered = true));
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND query ILIKE '%${table}%'`;
    await until(
      async () => isAnswered || ((await pool.query(waiting)).rowCount ?? 0) > 0,
      'the request waits for the other one, or is answered',
    );
    await other.query('COMMIT');
    return await answer;
  } finally {
    other.release(true);
  }
}

/**
 * Asks for something that waits for the organization, as behind whoever finalizes invoices, and meanwhile for what then waits for that, or
 * is answered.
 */
export async function askMeanwhile(
  weir: Pick<Weir, 'pool' | 'databaseUrl'>,
  organizationId: string,
  first: () => Promise<Answer>,
  meanwhile: () => Promise<Answer>,
): Promise<[Answer, Answer]> {
  const holder = new pg.Client({ connectionString: weir.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM organizations WHERE id = $1 FOR SHARE', [organizationId]);
    const asked = first();
    await untilWaiting(weir);
    const askedMeanwhile = meanwhile();
    await Promise.race([untilWaiting(weir, 2), askedMeanwhile]);
    await holder.query('COMMIT');
    return await Promise.all([asked, askedMeanwhile]);
  } finally {
    await holder.end();
  }
}
