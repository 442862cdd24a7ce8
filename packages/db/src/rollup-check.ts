// Whether the rollups are what the events give, and making them so. The unit is one meter in one month of the events' own
// time (UTC): its events are copied out once, and every table is compared with the copy in the same snapshot, so that events
// and rollups agree in it however many workers write.
//
// No index leads to the events of a meter: each unit reads through all events of its organization once.

import { setTimeout as delay } from 'node:timers/promises';
import { monthAfter, startOfMonth } from '@weir/shared/months';
import { sql, type Kysely, type Transaction } from 'kysely';
import { valueHash } from './aggregations.ts';
import { IDLE_IN_TRANSACTION_MS_MAX, type Database } from './database.ts';
import type { CountFilter } from './accounted.ts';
import { AHEAD, completeFrom } from './months-taken-out.ts';
import {
  ALL_ROLLUPS,
  amountsOf,
  columnsOf,
  insertInto,
  keyOf,
  BEGINNING,
  OVERFLOW,
  PLAIN_ROLLUPS,
  ROLLUPS,
  rowsOfEvents,
  rowsOfTable,
  type Rollup,
} from './rollups.ts';
import type { Tables } from './schema.ts';
import { hasGivenUpWaiting, WAIT_BRIEFLY_FOR_TABLES } from './table-lock.ts';
import { IS_VOID } from './usage/usage-rows.ts';

/** The rows of a unit; see `run`. */
const ofUnit = ({ grain }: Rollup): string =>
  `organization_id = $1 AND meter_id = $2 AND ${grain} >= $3 AND ${grain} < $4`;

/** The rows that the copied events give. */
function madeRows(rollup: Rollup): string {
  const conditions = [
    ...(rollup.keeps === 'values' ? ['value_hash IS NOT NULL'] : []),
    ...(rollup.isGrouped === true ? ['group_hash IS NOT NULL'] : []),
  ];
  return rowsOfEvents(rollup, `unit_events${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}`);
}

/** One meter in one month (`2026-11`) of the time of its events. */
export interface Unit {
  organizationId: string;
  meterId: string;
  month: string;
}

/** How a table is not what the events give. */
export interface RollupDifference {
  table: string;
  /** Rows that the events give and the table does not have, and the other way round. */
  missing: number;
  extra: number;
  /** How many of the rows that are there have the wrong value, by column. A row may be wrong in several. */
  wrong: Record<string, number>;
  /** By how much the sums of the table are too high, or with a minus too low: exact decimals, by column. */
  off: Record<string, string>;
  /** The rollups of the unit may have counted events that are gone. They are all that is left of these, and are not rebuilt. */
  mayBeAllThereIs: boolean;
}

/** How a table differs, before it is known of its unit. */
type TableDifference = Omit<RollupDifference, 'mayBeAllThereIs'>;

/** Every unit that has an event or a row of a rollup, in the order of organization, meter and month. Reads all of them. */
export async function listUnits(database: Database, filter: CountFilter): Promise<Unit[]> {
  const { organizationId, month } = filter;
  const times = [
    { table: 'events', time: '"timestamp"' },
    ...ALL_ROLLUPS.map(({ table, grain }) => ({ table, time: grain })),
  ];
  const each = times.map(({ table, time }) => {
    const column = sql.raw(time);
    const ofOrganization = organizationId === undefined ? sql`true` : sql`organization_id = ${organizationId}::uuid`;
    const ofMonth =
      month === undefined
        ? sql`true`
        : sql`${column} >= ${startOfMonth(month)}::timestamptz AND ${column} < ${startOfMonth(monthAfter(month))}::timestamptz`;
    return sql`SELECT DISTINCT organization_id, meter_id, date_trunc('month', ${column}, 'UTC') AS month
      FROM ${sql.raw(table)} WHERE ${ofOrganization} AND ${ofMonth}`;
  });
  const { rows } = await sql<Unit>`
    SELECT organization_id AS "organizationId", meter_id AS "meterId", to_char(month AT TIME ZONE 'UTC', 'YYYY-MM') AS month
    FROM (${sql.join(each, sql` UNION `)}) AS units ORDER BY organization_id, meter_id, units.month`.execute(
    database.kysely,
  );
  return rows;
}

/** How the rollups of a unit are not what its events give; nothing when they are. */
export async function compareUnit(database: Database, unit: Unit): Promise<RollupDifference[]> {
  // The snapshot is that of the copy, for all tables.
  const transaction = database.kysely.transaction().setIsolationLevel('repeatable read');
  return transaction.execute(async (snapshot) => {
    await copyEvents(snapshot, unit);
    const differences = [...(await compareGroups(snapshot, unit)), ...(await compareAll(snapshot, unit))];
    const mayBeAllThereIs = differences.length > 0 && (await mayHaveCountedGone(snapshot, unit));
    return differences.map((difference) => ({ ...difference, mayBeAllThereIs }));
  });
}

/** Between two attempts, in which those go on that have waited. */
const LOCK_PAUSE_MS = 500;

/** After this a unit is left as it is: something holds the lock all the time. */
export const LOCKED_MS_MAX = 300_000;

/** A unit was left as it is, since something held a lock that its repair needs. */
export class UnitLocked extends Error {}

/**
 * Makes the rollups of a unit what its events give, unless they may be all there is, and returns how they were not. Workers wait
 * meanwhile, before they have written anything, and go on with the rows that are then right. What was right already stays untouched.
 *
 * Something else may hold the lock for hours, such as a vacuum by hand. Whoever waits for it has all wait who record, so this waits a
 * second or two at a time, tells `onWait`, and begins again. Throws UnitLocked after `msMax`.
 */
export async function rebuildUnit(
  database: Database,
  unit: Unit,
  msMax = LOCKED_MS_MAX,
  onWait: () => void = () => {},
): Promise<RollupDifference[]> {
  for (const giveUpAt = performance.now() + msMax; ;) {
    try {
      return await rebuildUnlessLocked(database, unit);
    } catch (error) {
      if (!hasGivenUpWaiting(error)) throw error;
      if (performance.now() >= giveUpAt)
        throw new UnitLocked('something holds a lock that the repair needs', { cause: error });
    }
    onWait();
    await delay(LOCK_PAUSE_MS);
  }
}

async function rebuildUnlessLocked(database: Database, unit: Unit): Promise<RollupDifference[]> {
  return database.kysely.transaction().execute(async (transaction) => {
    // Of a command that goes silent: its statements may take as long as they do, and nobody records while it holds the lock.
    await sql`SELECT set_config('idle_in_transaction_session_timeout', ${String(IDLE_IN_TRANSACTION_MS_MAX)}, true)`.execute(
      transaction,
    );
    // Its keys are not changed meanwhile, nor its groups made by new ones. First, so that nobody is held off for this wait.
    await run(transaction, 'SELECT FROM meters WHERE organization_id = $1 AND id = $2 FOR SHARE', unit);
    await run(
      transaction,
      'SELECT FROM metadata_backfills WHERE organization_id = $1 AND meter_id = $2 FOR SHARE',
      unit,
    );
    // Every record statement writes to this table, so its lock holds all of them off: it is granted when those under way
    // have committed, and what is read after it is all there is. They take it before they write to any table.
    // From here on all wait whom this makes wait, for whichever lock.
    await sql.raw(WAIT_BRIEFLY_FOR_TABLES).execute(transaction);
    await sql`LOCK TABLE ${sql.table(ROLLUPS.customerUsageHours.table)} IN SHARE ROW EXCLUSIVE MODE`.execute(
      transaction,
    );
    await copyEvents(transaction, unit);
    // Again: a month may have been taken out since it was compared, and cannot be any more.
    const mayBeAllThereIs = await mayHaveCountedGone(transaction, unit);
    const groups = await compareGroups(transaction, unit);
    if (groups.length > 0 && !mayBeAllThereIs) await keepGroups(transaction, unit);
    const differences = await compareAll(transaction, unit);
    for (const rollup of mayBeAllThereIs ? [] : ALL_ROLLUPS) {
      if (differences.some(({ table }) => table === rollup.table)) await rebuild(transaction, rollup, unit);
    }
    return [...groups, ...differences].map((difference) => ({ ...difference, mayBeAllThereIs }));
  });
}

const HOURS = ROLLUPS.customerUsageHours;

/**
 * An hour has counted more events than there are, and its last one is gone, or a month that may hold some of them was taken out, or events
 * that may be among them were written off: those of a month of receipt that reaches to before the unit, as far as an event may be ahead.
 * All that is counted is in `events`, also what was voided, moved or erased since; only of a month that was taken out it is elsewhere.
 */
const FIND_COUNTED_GONE = `
SELECT 'yes' AS found FROM ${HOURS.table} AS kept LEFT JOIN (${madeRows(HOURS)}) AS made USING (${keyOf(HOURS).join(', ')})
WHERE ${ofUnit(HOURS)} AND kept.event_count > coalesce(made.event_count, 0) AND (
  NOT EXISTS (SELECT FROM events WHERE events.organization_id = $1 AND events.id = kept.last_event_id OFFSET 0)
  OR kept.hour < ${completeFrom('$3', '= $1')}
  OR EXISTS (SELECT FROM accepted_corrections AS written WHERE written.organization_id = $1 AND written.events < 0
    AND (written.month + interval '1 month') AT TIME ZONE 'UTC' + ${AHEAD} > $3)
) LIMIT 1`;

async function mayHaveCountedGone(db: Kysely<Tables>, unit: Unit): Promise<boolean> {
  return (await run(db, FIND_COUNTED_GONE, unit)) !== undefined;
}

/** The events of a unit, as a table that goes with the transaction. */
async function copyEvents(transaction: Transaction<Tables>, unit: Unit): Promise<void> {
  const { organizationId, meterId, month } = unit;
  await sql`CREATE TEMP TABLE unit_events (
    organization_id uuid, meter_id uuid, id uuid, customer_external_id text, "timestamp" timestamptz, quantity numeric, value_hash bytea,
    day timestamptz, group_values text[], group_hash uuid) ON COMMIT DROP`.execute(transaction);
  await sql`INSERT INTO unit_events
    SELECT organization_id, meter_id, id, customer_external_id, "timestamp", quantity, value_hash, day, combined, group_hash(combined)
    FROM (SELECT events.*, ${sql.raw(BEGINNING.day('"timestamp"'))} AS day,
        ${sql.raw(valueHash('aggregation_type'))},
        CASE WHEN metadata_keys <> '{}' THEN group_values(metadata_keys, metadata) END AS combined
      FROM events LEFT JOIN (SELECT aggregation_type, metadata_keys FROM meters
        WHERE organization_id = ${organizationId}::uuid AND id = ${meterId}::uuid) AS meter ON true
      WHERE organization_id = ${organizationId}::uuid AND meter_id = ${meterId}::uuid
        AND "timestamp" >= ${startOfMonth(month)}::timestamptz AND "timestamp" < ${startOfMonth(monthAfter(month))}::timestamptz
        AND NOT ${sql.raw(IS_VOID)}
      OFFSET 0) AS found`.execute(transaction);
  // It has no statistics of its own, and the planner would guess.
  await sql`ANALYZE unit_events`.execute(transaction);
  await run(transaction, MARK_OVERFLOW, unit);
}

/** What a full day does not keep counts as one. A day that is not full has to keep all that came. */
const MARK_OVERFLOW = `
WITH full_days AS MATERIALIZED (
  SELECT day FROM metadata_groups WHERE organization_id = $1 AND meter_id = $2 AND day >= $3 AND day < $4
  GROUP BY day HAVING count(*) >= metadata_groups_max()
)
UPDATE unit_events SET group_hash = ${OVERFLOW} FROM full_days
WHERE unit_events.day = full_days.day AND group_hash IS NOT NULL AND NOT EXISTS (
  SELECT FROM metadata_groups AS kept WHERE (kept.organization_id, kept.meter_id, kept.day, kept.group_hash)
    = (unit_events.organization_id, unit_events.meter_id, unit_events.day, unit_events.group_hash))`;

/** The combinations of the copied events that are kept by themselves, beside what is there of them. */
const GROUPS = `(SELECT DISTINCT organization_id, meter_id, day, group_hash, group_values FROM unit_events
    WHERE group_hash <> ${OVERFLOW}) AS made
  LEFT JOIN metadata_groups AS kept USING (organization_id, meter_id, day, group_hash)`;

/** How what is kept of combinations is not what the events have. One that no event has does no harm: it came with a duplicate. */
async function compareGroups(db: Kysely<Tables>, unit: Unit): Promise<TableDifference[]> {
  if (await isBackfilled(db, unit)) return [];
  const row = await run(
    db,
    `SELECT count(*) FILTER (WHERE kept.group_values IS NULL) AS missing,
       count(*) FILTER (WHERE kept.group_values <> made.group_values) AS wrong FROM ${GROUPS}`,
    unit,
  );
  const [missing, wrong] = [Number(row?.['missing']), Number(row?.['wrong'])];
  if (missing + wrong === 0) return [];
  return [{ table: 'metadata_groups', missing, extra: 0, wrong: wrong === 0 ? {} : { group_values: wrong }, off: {} }];
}

async function keepGroups(db: Kysely<Tables>, unit: Unit): Promise<void> {
  await run(
    db,
    `UPDATE metadata_groups AS kept SET group_values = made.group_values FROM unit_events AS made
     WHERE (kept.organization_id, kept.meter_id, kept.day, kept.group_hash)
       = (made.organization_id, made.meter_id, made.day, made.group_hash) AND kept.group_values <> made.group_values`,
    unit,
  );
  await run(
    db,
    `SELECT count(*)::text AS kept FROM keep_combinations(ARRAY(
       SELECT ROW(organization_id, meter_id, day, group_hash, made.group_values)::metadata_groups FROM ${GROUPS}))`,
    unit,
  );
  await run(db, MARK_OVERFLOW, unit);
}

/** Whether the groups of the meter are being made, and are not expected to be what the events give yet. */
async function isBackfilled(db: Kysely<Tables>, unit: Unit): Promise<boolean> {
  const pending = `SELECT 'yes' AS pending FROM metadata_backfills WHERE organization_id = $1 AND meter_id = $2`;
  return (await run(db, pending, unit)) !== undefined;
}

async function compareAll(db: Kysely<Tables>, unit: Unit): Promise<TableDifference[]> {
  const differences: TableDifference[] = [];
  const rollups = (await isBackfilled(db, unit)) ? PLAIN_ROLLUPS : ALL_ROLLUPS;
  for (const rollup of rollups) {
    const row = await run(db, comparison(rollup), unit);
    const difference = differenceOf(rollup, row ?? {});
    if (difference !== undefined) differences.push(difference);
  }
  return differences;
}

function comparison(rollup: Rollup): string {
  const columns = columnsOf(rollup);
  const both = 'made.present AND kept.present';
  const row = (side: string) => `(${['present', ...columns].map((column) => `${side}.${column}`).join(', ')})`;
  const told = [
    'count(*) FILTER (WHERE kept.present IS NULL) AS missing',
    'count(*) FILTER (WHERE made.present IS NULL) AS extra',
    ...columns.map((name) => `count(*) FILTER (WHERE ${both} AND kept.${name} <> made.${name}) AS wrong_${name}`),
    ...amountsOf(rollup).map(
      (name) => `trim_scale(coalesce(sum(kept.${name}), 0) - coalesce(sum(made.${name}), 0))::text AS off_${name}`,
    ),
  ];
  return `WITH made AS (SELECT *, true AS present FROM (${madeRows(rollup)}) AS m),
    kept AS (SELECT *, true AS present FROM (${rowsOfTable(rollup, ofUnit(rollup))}) AS k)
    SELECT ${told.join(', ')} FROM made FULL JOIN kept USING (${keyOf(rollup).join(', ')})
    WHERE ${row('made')} IS DISTINCT FROM ${row('kept')}`;
}

function differenceOf(rollup: Rollup, row: Record<string, string | null>): TableDifference | undefined {
  const wrong = Object.fromEntries(columnsOf(rollup).map((name) => [name, Number(row[`wrong_${name}`])]));
  const [missing, extra] = [Number(row['missing']), Number(row['extra'])];
  if (missing + extra + Object.values(wrong).reduce((sum, rows) => sum + rows, 0) === 0) return undefined;
  return {
    table: rollup.table,
    missing,
    extra,
    wrong: Object.fromEntries(Object.entries(wrong).filter(([, rows]) => rows > 0)),
    off: Object.fromEntries(amountsOf(rollup).map((name) => [name, row[`off_${name}`] ?? '0'])),
  };
}

async function rebuild(db: Kysely<Tables>, rollup: Rollup, unit: Unit): Promise<void> {
  const key = keyOf(rollup);
  const whole = [...key, ...columnsOf(rollup)];
  const tuple = (side: string, columns: string[]): string => `(${columns.map((name) => `${side}.${name}`).join(', ')})`;
  // Of several rows that add up to one, all stay or all go, and one comes in their place.
  await run(
    db,
    `WITH made AS (${madeRows(rollup)}), whole AS (${rowsOfTable(rollup, ofUnit(rollup))})
     DELETE FROM ${rollup.table} AS kept WHERE ${ofUnit(rollup)} AND NOT EXISTS (
       SELECT FROM made JOIN whole ON ${tuple('made', whole)} = ${tuple('whole', whole)}
       WHERE ${tuple('made', key)} = ${tuple('kept', key)})`,
    unit,
  );
  await run(
    db,
    `${insertInto(rollup)} SELECT * FROM (${madeRows(rollup)}) AS made WHERE NOT EXISTS (
       SELECT FROM ${rollup.table} AS there WHERE ${tuple('there', key)} = ${tuple('made', key)})`,
    unit,
  );
}

async function run(db: Kysely<Tables>, text: string, unit: Unit): Promise<Record<string, string | null> | undefined> {
  const { organizationId, meterId, month } = unit;
  const parameters: Record<string, ReturnType<typeof sql>> = {
    $1: sql`${organizationId}::uuid`,
    $2: sql`${meterId}::uuid`,
    $3: sql`${startOfMonth(month)}::timestamptz`,
    $4: sql`${startOfMonth(monthAfter(month))}::timestamptz`,
  };
  const parts = text.split(/(\$\d)/).map((part) => parameters[part] ?? sql.raw(part));
  const { rows } = await sql<Record<string, string | null>>`${sql.join(parts, sql``)}`.execute(db);
  return rows[0];
}
