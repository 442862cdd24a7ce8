// Whether the rollups are what the events give, and making them so. The unit is one meter in one month of the events' own
// time (UTC): its events are copied out once, and every table is compared with the copy in the same snapshot, so that events
// and rollups agree in it however many workers write. A table that is made of events, and is new, needs an entry in ROLLUPS
// and nothing else.
//
// No index leads to the events of a meter: each unit reads through all events of its organization once.

import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { CountFilter } from './accounted.ts';
import type { Tables } from './schema.ts';

/** A table that the record statement keeps equal to what the events give. */
interface Rollup {
  table: string;
  /** What a row is found by, after organization and meter. `time` is among it. */
  key: readonly string[];
  /** The column that says when the events of a row were, by its beginning. */
  time: string;
  values: readonly string[];
  /** Columns whose sums are told when they are off. */
  amounts: readonly string[];
  /** The key and the values, of the copied events. */
  ofEvents: string;
  /** The same of the rows that are kept, where several of them add up to one; they are $1 organization, $2 meter, $3 to $4. */
  ofKept?: string;
}

const HOUR = `date_trunc('hour', "timestamp", 'UTC') AS hour`;
const DAY = `date_trunc('day', "timestamp", 'UTC') AS day`;
const QUARTER = `date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z') AS quarter`;

const AMOUNTS = [
  'event_count',
  'quantity_sum',
  'quantity_min',
  'quantity_max',
  'last_timestamp',
  'last_event_id',
  'last_quantity',
];
const OF_EVENTS = `count(*) AS event_count, sum(quantity) AS quantity_sum, min(quantity) AS quantity_min, max(quantity) AS quantity_max,
  (array_agg("timestamp" ORDER BY "timestamp" DESC, id DESC))[1] AS last_timestamp,
  (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1] AS last_event_id,
  (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1] AS last_quantity`;
const OF_PARTS = `sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum, min(quantity_min) AS quantity_min,
  max(quantity_max) AS quantity_max,
  (array_agg(last_timestamp ORDER BY last_timestamp DESC, last_event_id DESC))[1] AS last_timestamp,
  (array_agg(last_event_id ORDER BY last_timestamp DESC, last_event_id DESC))[1] AS last_event_id,
  (array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC))[1] AS last_quantity`;

const usage = { values: AMOUNTS, amounts: ['event_count', 'quantity_sum'] };
const distinct = { values: [], amounts: [] };
const WITH_VALUE = 'unit_events WHERE value_hash IS NOT NULL';

const ROLLUPS: readonly Rollup[] = [
  {
    ...usage,
    table: 'usage_rollups',
    key: ['customer_external_id', 'hour'],
    time: 'hour',
    ofEvents: `SELECT customer_external_id, ${HOUR}, ${OF_EVENTS} FROM unit_events GROUP BY 1, 2`,
  },
  {
    ...usage,
    table: 'usage_days',
    key: ['customer_external_id', 'day'],
    time: 'day',
    ofEvents: `SELECT customer_external_id, ${DAY}, ${OF_EVENTS} FROM unit_events GROUP BY 1, 2`,
  },
  {
    ...usage,
    table: 'meter_quarters',
    key: ['quarter'],
    time: 'quarter',
    ofEvents: `SELECT ${QUARTER}, ${OF_EVENTS} FROM unit_events GROUP BY 1`,
    ofKept: `SELECT quarter, ${OF_PARTS} FROM meter_quarters
      WHERE organization_id = $1 AND meter_id = $2 AND quarter >= $3 AND quarter < $4 GROUP BY 1`,
  },
  {
    ...distinct,
    table: 'unique_values',
    key: ['customer_external_id', 'hour', 'value_hash'],
    time: 'hour',
    ofEvents: `SELECT DISTINCT customer_external_id, ${HOUR}, value_hash FROM ${WITH_VALUE}`,
  },
  {
    ...distinct,
    table: 'unique_days',
    key: ['customer_external_id', 'day', 'value_hash'],
    time: 'day',
    ofEvents: `SELECT DISTINCT customer_external_id, ${DAY}, value_hash FROM ${WITH_VALUE}`,
  },
  {
    table: 'meter_value_days',
    key: ['day', 'value_hash'],
    time: 'day',
    values: ['quarters'],
    amounts: [],
    ofEvents: `SELECT ${DAY}, value_hash, bit_or(quarter_bit("timestamp")) AS quarters FROM ${WITH_VALUE} GROUP BY 1, 2`,
  },
  {
    table: 'meter_value_quarters',
    key: ['quarter', 'value_hash'],
    time: 'quarter',
    values: ['first_timestamp'],
    amounts: [],
    ofEvents: `SELECT ${QUARTER}, value_hash, min("timestamp") AS first_timestamp FROM ${WITH_VALUE} GROUP BY 1, 2`,
  },
];

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
}

/** Every unit that has an event or a row of a rollup, in the order of organization, meter and month. Reads all of them. */
export async function listUnits(database: Database, filter: CountFilter): Promise<Unit[]> {
  const { organizationId, month } = filter;
  const times = [{ table: 'events', time: '"timestamp"' }, ...ROLLUPS];
  const each = times.map(({ table, time }) => {
    const column = sql.raw(time);
    const ofOrganization = organizationId === undefined ? sql`true` : sql`organization_id = ${organizationId}::uuid`;
    const ofMonth =
      month === undefined
        ? sql`true`
        : sql`${column} >= ${startOf(month)}::timestamptz AND ${column} < ${startOf(monthAfter(month))}::timestamptz`;
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
    return compareAll(snapshot, unit);
  });
}

/**
 * Makes the rollups of a unit what its events give, and answers how they were not. Workers wait meanwhile, before they have
 * written anything, and go on with the rows that are then right. What was right already stays untouched.
 */
export async function rebuildUnit(database: Database, unit: Unit): Promise<RollupDifference[]> {
  return database.kysely.transaction().execute(async (transaction) => {
    // Every record statement writes to this table, so its lock holds all of them off: it is granted when those under way
    // have committed, and what is read after it is all there is. They take it before they write to any table.
    await sql`LOCK TABLE usage_rollups IN SHARE ROW EXCLUSIVE MODE`.execute(transaction);
    await copyEvents(transaction, unit);
    const differences = await compareAll(transaction, unit);
    for (const { table } of differences) {
      const rollup = ROLLUPS.find((each) => each.table === table);
      if (rollup !== undefined) await rebuild(transaction, rollup, unit);
    }
    return differences;
  });
}

/** The events of a unit, as a table that goes with the transaction. */
async function copyEvents(transaction: Transaction<Tables>, unit: Unit): Promise<void> {
  const { organizationId, meterId, month } = unit;
  await sql`CREATE TEMP TABLE unit_events (
    id uuid, customer_external_id text, "timestamp" timestamptz, quantity numeric, value_hash bytea) ON COMMIT DROP`.execute(
    transaction,
  );
  await sql`INSERT INTO unit_events
    SELECT id, customer_external_id, "timestamp", quantity, CASE WHEN EXISTS (SELECT FROM meters
      WHERE meters.organization_id = ${organizationId}::uuid AND meters.id = ${meterId}::uuid AND aggregation_type = 'UNIQUE_COUNT')
      THEN unique_value_hash(metadata) END
    FROM events
    WHERE organization_id = ${organizationId}::uuid AND meter_id = ${meterId}::uuid
      AND "timestamp" >= ${startOf(month)}::timestamptz AND "timestamp" < ${startOf(monthAfter(month))}::timestamptz`.execute(
    transaction,
  );
  // It has no statistics of its own, and the planner would guess.
  await sql`ANALYZE unit_events`.execute(transaction);
}

async function compareAll(db: Kysely<Tables>, unit: Unit): Promise<RollupDifference[]> {
  const differences: RollupDifference[] = [];
  for (const rollup of ROLLUPS) {
    const row = await run(db, comparison(rollup), unit);
    const difference = differenceOf(rollup, row ?? {});
    if (difference !== undefined) differences.push(difference);
  }
  return differences;
}

function comparison(rollup: Rollup): string {
  const { key, values, amounts, ofEvents } = rollup;
  const both = 'made.present AND kept.present';
  const row = (side: string) => `(${['present', ...values].map((column) => `${side}.${column}`).join(', ')})`;
  const told = [
    'count(*) FILTER (WHERE kept.present IS NULL) AS missing',
    'count(*) FILTER (WHERE made.present IS NULL) AS extra',
    ...values.map((name) => `count(*) FILTER (WHERE ${both} AND kept.${name} <> made.${name}) AS wrong_${name}`),
    ...amounts.map(
      (name) => `trim_scale(coalesce(sum(kept.${name}), 0) - coalesce(sum(made.${name}), 0))::text AS off_${name}`,
    ),
  ];
  return `WITH made AS (SELECT *, true AS present FROM (${ofEvents}) AS m),
    kept AS (SELECT *, true AS present FROM (${keptRows(rollup)}) AS k)
    SELECT ${told.join(', ')} FROM made FULL JOIN kept USING (${key.join(', ')})
    WHERE ${row('made')} IS DISTINCT FROM ${row('kept')}`;
}

function keptRows({ table, key, time, values, ofKept }: Rollup): string {
  return (
    ofKept ??
    `SELECT ${[...key, ...values].join(', ')} FROM ${table}
      WHERE organization_id = $1 AND meter_id = $2 AND ${time} >= $3 AND ${time} < $4`
  );
}

function differenceOf(
  { table, values, amounts }: Rollup,
  row: Record<string, string | null>,
): RollupDifference | undefined {
  const wrong = Object.fromEntries(values.map((name) => [name, Number(row[`wrong_${name}`])]));
  const [missing, extra] = [Number(row['missing']), Number(row['extra'])];
  if (missing + extra + Object.values(wrong).reduce((sum, rows) => sum + rows, 0) === 0) return undefined;
  return {
    table,
    missing,
    extra,
    wrong: Object.fromEntries(Object.entries(wrong).filter(([, rows]) => rows > 0)),
    off: Object.fromEntries(amounts.map((name) => [name, row[`off_${name}`] ?? '0'])),
  };
}

async function rebuild(db: Kysely<Tables>, rollup: Rollup, unit: Unit): Promise<void> {
  const { table, key, time, values, ofEvents, ofKept } = rollup;
  const columns = [...key, ...values];
  const tuple = (side: string) => `(${columns.map((name) => `${side}.${name}`).join(', ')})`;
  // Of several rows that add up to one, all stay or all go, and one comes in their place.
  const isRight =
    ofKept === undefined
      ? `SELECT FROM made WHERE ${tuple('made')} = ${tuple('kept')}`
      : `SELECT FROM made JOIN (${ofKept}) AS whole ON ${tuple('made')} = ${tuple('whole')} WHERE made.${time} = kept.${time}`;
  await run(
    db,
    `WITH made AS (${ofEvents})
     DELETE FROM ${table} AS kept WHERE organization_id = $1 AND meter_id = $2 AND ${time} >= $3 AND ${time} < $4
       AND NOT EXISTS (${isRight})`,
    unit,
  );
  const isThere = key.map((name) => `kept.${name} = made.${name}`).join(' AND ');
  const part = ofKept === undefined ? { name: '', value: '' } : { name: 'part, ', value: '0, ' };
  await run(
    db,
    `INSERT INTO ${table} (organization_id, meter_id, ${part.name}${columns.join(', ')})
     SELECT $1, $2, ${part.value}${columns.join(', ')} FROM (${ofEvents}) AS made
     WHERE NOT EXISTS (SELECT FROM ${table} AS kept WHERE kept.organization_id = $1 AND kept.meter_id = $2 AND ${isThere})`,
    unit,
  );
}

async function run(db: Kysely<Tables>, text: string, unit: Unit): Promise<Record<string, string | null> | undefined> {
  const { organizationId, meterId, month } = unit;
  const parameters: Record<string, ReturnType<typeof sql>> = {
    $1: sql`${organizationId}::uuid`,
    $2: sql`${meterId}::uuid`,
    $3: sql`${startOf(month)}::timestamptz`,
    $4: sql`${startOf(monthAfter(month))}::timestamptz`,
  };
  const parts = text.split(/(\$\d)/).map((part) => parameters[part] ?? sql.raw(part));
  const { rows } = await sql<Record<string, string | null>>`${sql.join(parts, sql``)}`.execute(db);
  return rows[0];
}

function startOf(month: string): string {
  return `${month}-01T00:00:00Z`;
}

function monthAfter(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 7);
}
