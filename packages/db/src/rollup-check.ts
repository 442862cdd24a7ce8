// Whether the rollups are what the events give, and making them so. The unit is one meter in one month of the events' own
// time (UTC): small enough to be compared in one statement, which is one snapshot, so that events and rollups agree in it
// however many workers write. A table that is made of events, and is new, needs an entry in ROLLUPS and nothing else.

import { sql, type Kysely } from 'kysely';
import type { Database } from './database.ts';
import type { CountFilter } from './accounted.ts';
import type { Queries } from './page.ts';
import type { Tables } from './schema.ts';

/** A table that the record statement keeps equal to what the events give. */
interface Rollup {
  table: string;
  /** What a row is found by, after organization and meter. `hour` is among it. */
  key: readonly string[];
  values: readonly string[];
  /** Columns whose sums are told when they are off. */
  amounts: readonly string[];
  /** The key and the values, of the events of one meter ($1 organization, $2 meter) from $3 up to $4. */
  ofEvents: string;
}

const HOUR = `date_trunc('hour', "timestamp", 'UTC') AS hour`;
const EVENTS_OF_UNIT = `events WHERE organization_id = $1 AND meter_id = $2 AND "timestamp" >= $3 AND "timestamp" < $4`;

const ROLLUPS: readonly Rollup[] = [
  {
    table: 'usage_rollups',
    key: ['customer_external_id', 'hour'],
    values: [
      'event_count',
      'quantity_sum',
      'quantity_min',
      'quantity_max',
      'last_timestamp',
      'last_event_id',
      'last_quantity',
    ],
    amounts: ['event_count', 'quantity_sum'],
    ofEvents: `SELECT customer_external_id, ${HOUR},
        count(*) AS event_count, sum(quantity) AS quantity_sum, min(quantity) AS quantity_min, max(quantity) AS quantity_max,
        (array_agg("timestamp" ORDER BY "timestamp" DESC, id DESC))[1] AS last_timestamp,
        (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1] AS last_event_id,
        (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1] AS last_quantity
      FROM ${EVENTS_OF_UNIT} GROUP BY 1, 2`,
  },
  {
    table: 'unique_values',
    key: ['customer_external_id', 'hour', 'value_hash'],
    values: [],
    amounts: [],
    ofEvents: `SELECT DISTINCT customer_external_id, ${HOUR}, unique_value_hash(metadata) AS value_hash
      FROM ${EVENTS_OF_UNIT} AND unique_value_hash(metadata) IS NOT NULL AND EXISTS (SELECT FROM meters
        WHERE meters.organization_id = $1 AND meters.id = $2 AND aggregation_type = 'UNIQUE_COUNT')`,
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

/** Every unit that has an event or a row of a rollup, in the order of organization, meter and month. */
export async function* listUnits(database: Database, filter: CountFilter): AsyncGenerator<Unit> {
  const db = database.kysely;
  let meter = await nextMeter(db, filter.organizationId, undefined);
  while (meter !== undefined) {
    let month = await nextMonth(db, meter, filter.month);
    while (month !== undefined && (filter.month === undefined || month === filter.month)) {
      yield { ...meter, month };
      month = await nextMonth(db, meter, monthAfter(month));
    }
    meter = await nextMeter(db, filter.organizationId, meter);
  }
}

const TIMES = [{ table: 'events', time: '"timestamp"' }, ...ROLLUPS.map(({ table }) => ({ table, time: 'hour' }))];

type Meter = Pick<Unit, 'organizationId' | 'meterId'>;

// Each step is one look into an index, where DISTINCT would read all of the events.
async function nextMeter(
  db: Queries,
  organizationId: string | undefined,
  after: Meter | undefined,
): Promise<Meter | undefined> {
  const from = after ?? { organizationId: organizationId ?? LEAST, meterId: LEAST };
  const least = TIMES.map(
    ({ table }) => sql`(SELECT organization_id, meter_id FROM ${sql.raw(table)}
      WHERE (organization_id, meter_id) > (${from.organizationId}::uuid, ${from.meterId}::uuid) ORDER BY 1, 2 LIMIT 1)`,
  );
  const { rows } = await sql<{ organization_id: string; meter_id: string }>`
    SELECT * FROM (${sql.join(least, sql` UNION ALL `)}) AS least ORDER BY 1, 2 LIMIT 1`.execute(db);
  const [row] = rows;
  if (row === undefined || row.organization_id !== (organizationId ?? row.organization_id)) return undefined;
  return { organizationId: row.organization_id, meterId: row.meter_id };
}

const LEAST = '00000000-0000-0000-0000-000000000000';

async function nextMonth(db: Queries, meter: Meter, since: string | undefined): Promise<string | undefined> {
  const from = since === undefined ? '-infinity' : startOf(since);
  const least = TIMES.map(
    ({ table, time }) => sql`SELECT min(${sql.raw(time)}) AS time FROM ${sql.raw(table)}
      WHERE organization_id = ${meter.organizationId} AND meter_id = ${meter.meterId}
        AND ${sql.raw(time)} >= ${from}::timestamptz`,
  );
  const { rows } = await sql<{ month: string | null }>`
    SELECT to_char(min(time) AT TIME ZONE 'UTC', 'YYYY-MM') AS month
    FROM (${sql.join(least, sql` UNION ALL `)}) AS least`.execute(db);
  return rows[0]?.month ?? undefined;
}

/** How the rollups of a unit are not what its events give; nothing when they are. */
export async function compareUnit(database: Database, unit: Unit): Promise<RollupDifference[]> {
  return compareAll(database.kysely, unit);
}

/**
 * Makes the rollups of a unit what its events give, and answers how they were not. Workers wait meanwhile, before they have
 * written anything, and go on with the rows that are then right. What was right already stays untouched.
 */
export async function rebuildUnit(database: Database, unit: Unit): Promise<RollupDifference[]> {
  return database.kysely.transaction().execute(async (transaction) => {
    // Every record statement writes to this table, so its lock holds all of them off: it is granted when those under way
    // have committed, and what is read after it is all there is.
    await sql`LOCK TABLE usage_rollups IN SHARE ROW EXCLUSIVE MODE`.execute(transaction);
    const differences = await compareAll(transaction, unit);
    for (const { table } of differences) {
      const rollup = ROLLUPS.find((each) => each.table === table);
      if (rollup !== undefined) await rebuild(transaction, rollup, unit);
    }
    return differences;
  });
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

function comparison({ table, key, values, amounts, ofEvents }: Rollup): string {
  const columns = [...key, ...values].join(', ');
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
    kept AS (SELECT ${columns}, true AS present FROM ${table}
      WHERE organization_id = $1 AND meter_id = $2 AND hour >= $3 AND hour < $4)
    SELECT ${told.join(', ')} FROM made FULL JOIN kept USING (${key.join(', ')})
    WHERE ${row('made')} IS DISTINCT FROM ${row('kept')}`;
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

async function rebuild(db: Kysely<Tables>, { table, key, values, ofEvents }: Rollup, unit: Unit): Promise<void> {
  const columns = [...key, ...values];
  const list = columns.join(', ');
  await run(
    db,
    `WITH made AS (${ofEvents})
     DELETE FROM ${table} AS kept WHERE organization_id = $1 AND meter_id = $2 AND hour >= $3 AND hour < $4
       AND NOT EXISTS (SELECT FROM made WHERE (${columns.map((name) => `made.${name}`).join(', ')}) =
         (${columns.map((name) => `kept.${name}`).join(', ')}))`,
    unit,
  );
  await run(
    db,
    `INSERT INTO ${table} (organization_id, meter_id, ${list})
     SELECT $1, $2, ${list} FROM (${ofEvents}) AS made ON CONFLICT DO NOTHING`,
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
