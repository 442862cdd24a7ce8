import { firstIdAt } from '@weir/shared/ids';
import { monthAfter, startOfMonth, utcMonthOf } from '@weir/shared/months';
import type { ClientBase, QueryConfig } from 'pg';
import { PARTITION_LOCK } from './advisory-locks.ts';
import { tableOf } from './months-taken-out.ts';
import { clientTransaction } from './pool-transaction.ts';

/** Months that are ready before they begin: a worker that is away for weeks still finds its partition. */
const MONTHS_AHEAD = 3;

/**
 * While this waits for its lock, everything that records into the default partition waits behind it. Whoever holds it, a backup
 * or a reconciliation, may do so for hours: the month is then made another time.
 */
const LOCK_WAIT_MS_MAX = 3_000;

/** Millions of rows that have gathered in the default partition take minutes to move, and must be moved some time. */
const MOVE_MS_MAX = 3_600_000;

interface Month {
  table: string;
  /** The first id of the month, and the first of the next one. */
  from: string;
  to: string;
}

function partitionOf(month: string): Month {
  const firstId = (of: string) => firstIdAt(Date.parse(startOfMonth(of)));
  return { table: tableOf(month), from: firstId(month), to: firstId(monthAfter(month)) };
}

/**
 * Makes the partitions of `events` for the month of `now` and the three after it, where they are missing, and moves
 * into each what had gone to the default partition. Returns the names of those it made. Safe to run at the same time
 * in several processes, and while events are recorded; what belongs into the default partition is not recorded while a month
 * is moved out of it, and waits in the queue. Throws when it does not get its lock in time, with nothing changed.
 */
export async function makePartitions(client: ClientBase, now: Date): Promise<string[]> {
  const made: string[] = [];
  let name = utcMonthOf(now.getTime());
  for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead += 1, name = monthAfter(name)) {
    const month = partitionOf(name);
    const isMade = await clientTransaction(client, async () => {
      await client.query('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
      const { rows } = await client.query('SELECT to_regclass($1) AS found', [month.table]);
      if (rows[0]?.found !== null) return false;
      await makePartition(client, month);
      return true;
    });
    if (isMade) made.push(month.table);
  }
  return made;
}

/** Whether the month of `now` has its partition. */
export async function hasPartition(client: ClientBase, now: Date): Promise<boolean> {
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS found', [
    tableOf(utcMonthOf(now.getTime())),
  ]);
  return rows[0]?.found === true;
}

// The names and bounds come from a date above, never from a request, since no statement of definition takes parameters.
async function makePartition(client: ClientBase, { table, from, to }: Month): Promise<void> {
  // Without this lock a row could reach the default partition between the move and the attachment, and fail the latter.
  await client.query(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS_MAX}`);
  await client.query('LOCK TABLE events_default IN ACCESS EXCLUSIVE MODE');
  await client.query(`SET LOCAL statement_timeout = ${MOVE_MS_MAX}`);
  await client.query(`CREATE TABLE ${table} (LIKE events INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)`);
  await client.query(
    patiently(`WITH moved AS (DELETE FROM events_default WHERE id >= '${from}' AND id < '${to}' RETURNING *)
     INSERT INTO ${table} SELECT * FROM moved`),
  );
  await client.query(
    patiently(`ALTER TABLE events ATTACH PARTITION ${table} FOR VALUES FROM ('${from}') TO ('${to}')`),
  );
}

/** The connection gives a statement up that takes longer than the others may. */
function patiently(text: string): QueryConfig {
  const query = { text, query_timeout: MOVE_MS_MAX };
  return query;
}
