// The rollups: what the events of a stretch of time add up to, each written down here once. The record statement, the check
// and its repair, corrections, moves, and what fills a database for the benchmark are made of these; the tables are in migrations/.
// A new one needs a migration and an entry in ROLLUPS. Moves take usage of customers by hours and by parts of
// an hour: of another grain, as the days, it needs a statement of its own there.

/** A table that the record statement keeps equal to what the events give. */
export interface Rollup {
  table: string;
  /** Whose events a row adds up: those of a meter and customer, or of a whole meter. */
  scope: 'customer' | 'meter';
  /** What it keeps: amounts of the events of every meter, or the distinct values of the UNIQUE_COUNT ones. */
  keeps: 'usage' | 'values';
  /** The stretch of time of a row (UTC), which is also the name of the column with its first instant. */
  grain: 'day' | 'hour' | 'quarter';
  /** Whether it keeps each combination of metadata values by itself, and only events of meters that name keys. */
  isGrouped?: boolean;
  /** Whether several rows, one for each part, add up to what one would be. */
  isSplit?: boolean;
  /** Of which finer rollup the record statement makes it, where that is less work than from events. */
  madeOf?: Rollup;
}

const customerUsageHours: Rollup = {
  table: 'customer_usage_hours',
  scope: 'customer',
  keeps: 'usage',
  grain: 'hour',
};

const customerValueDays: Rollup = { table: 'customer_value_days', scope: 'customer', keeps: 'values', grain: 'day' };

const customerGroupValueDays: Rollup = {
  table: 'customer_group_value_days',
  scope: 'customer',
  keeps: 'values',
  grain: 'day',
  isGrouped: true,
};

export const ROLLUPS = {
  customerUsageHours,
  customerUsageDays: {
    table: 'customer_usage_days',
    scope: 'customer',
    keeps: 'usage',
    grain: 'day',
    madeOf: customerUsageHours,
  },
  meterUsageQuarters: {
    table: 'meter_usage_quarters',
    scope: 'meter',
    keeps: 'usage',
    grain: 'quarter',
    isSplit: true,
  },
  customerValueDays,
  meterValueDays: {
    table: 'meter_value_days',
    scope: 'meter',
    keeps: 'values',
    grain: 'day',
    madeOf: customerValueDays,
  },
  customerGroupHours: {
    table: 'customer_group_hours',
    scope: 'customer',
    keeps: 'usage',
    grain: 'hour',
    isGrouped: true,
  },
  meterGroupQuarters: {
    table: 'meter_group_quarters',
    scope: 'meter',
    keeps: 'usage',
    grain: 'quarter',
    isGrouped: true,
    isSplit: true,
  },
  customerGroupValueDays,
  meterGroupValueDays: {
    table: 'meter_group_value_days',
    scope: 'meter',
    keeps: 'values',
    grain: 'day',
    isGrouped: true,
    madeOf: customerGroupValueDays,
  },
} as const satisfies Record<string, Rollup>;

/** In the order in which every statement writes to them. */
export const ALL_ROLLUPS: readonly Rollup[] = Object.values(ROLLUPS);

/** Those that take the events of every meter. */
export const PLAIN_ROLLUPS = ALL_ROLLUPS.filter(({ isGrouped }) => isGrouped !== true);

/** Those of meters that name keys of their metadata. */
export const GROUP_ROLLUPS = ALL_ROLLUPS.filter(({ isGrouped }) => isGrouped === true);

/** The group of all events beyond the combinations of a day that are kept, as SQL; see the table metadata_groups. */
export const OVERFLOW = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** Into so many parts the rows of a rollup are split: so many connections can add to a busy meter at the same time. */
export const PARTS = 4;

/** SQL for the first instant of the stretch that a time lies in. */
export const BEGINNING: Record<Rollup['grain'], (time: string) => string> = {
  day: (time) => `date_trunc('day', ${time}, 'UTC')`,
  hour: (time) => `date_trunc('hour', ${time}, 'UTC')`,
  quarter: (time) => `date_bin('15 minutes', ${time}, TIMESTAMPTZ '2000-01-01 00:00:00Z')`,
};

/** What is kept, by column: how it is made of events, how of rows of a rollup, and how the row that is there (`kept`) takes more. */
interface Column {
  ofEvents: string;
  ofRows: string;
  /** Where it is missing, the columns of the last event are set together. */
  added?: string;
}

/** SQL for what the last event has, of those of a condition where there is one. */
export const ofLast = (column: string, time: string, id: string, where = ''): string =>
  `(array_agg(${column} ORDER BY ${time} DESC, ${id} DESC)${where === '' ? '' : ` FILTER (${where})`})[1]`;
const lastOf = (ofEvent: string, ofRow: string): UsageColumnMade => ({
  ofEvent,
  ofEvents: ofLast(ofEvent, '"timestamp"', 'id'),
  ofRows: ofLast(ofRow, 'last_timestamp', 'last_event_id'),
});

/** A column of usage also says what a single event has in its place. */
interface UsageColumnMade extends Column {
  ofEvent: string;
}

const USAGE = {
  event_count: {
    ofEvent: '1',
    ofEvents: 'count(*)',
    ofRows: 'sum(event_count)',
    added: 'kept.event_count + excluded.event_count',
  },
  quantity_sum: {
    ofEvent: 'quantity',
    ofEvents: 'sum(quantity)',
    ofRows: 'sum(quantity_sum)',
    added: 'kept.quantity_sum + excluded.quantity_sum',
  },
  quantity_min: {
    ofEvent: 'quantity',
    ofEvents: 'min(quantity)',
    ofRows: 'min(quantity_min)',
    added: 'least(kept.quantity_min, excluded.quantity_min)',
  },
  quantity_max: {
    ofEvent: 'quantity',
    ofEvents: 'max(quantity)',
    ofRows: 'max(quantity_max)',
    added: 'greatest(kept.quantity_max, excluded.quantity_max)',
  },
  // The latest event by timestamp, then by id.
  last_timestamp: lastOf('"timestamp"', 'last_timestamp'),
  last_event_id: lastOf('id', 'last_event_id'),
  last_quantity: lastOf('quantity', 'last_quantity'),
} satisfies Record<string, UsageColumnMade>;

/** What a row of usage says of its events. */
export type UsageColumn = keyof typeof USAGE;
export const USAGE_COLUMNS = Object.keys(USAGE) as UsageColumn[];

const VALUES: Record<string, Column> = {
  quarters: {
    ofEvents: 'bit_or(quarter_bit("timestamp"))',
    ofRows: 'bit_or(quarters)',
    added: 'kept.quarters | excluded.quarters',
  },
};

const COLUMNS: Record<Rollup['keeps'], Record<string, Column>> = { usage: USAGE, values: VALUES };

/** What a row is found by, apart from its part. */
export function keyOf({ scope, keeps, grain, isGrouped }: Rollup): string[] {
  const customer = scope === 'customer' ? ['customer_external_id'] : [];
  const group = isGrouped === true ? ['group_hash'] : [];
  const value = keeps === 'values' ? ['value_hash'] : [];
  return ['organization_id', 'meter_id', ...customer, grain, ...group, ...value];
}

/** SQL that adds up a column of usage from rows of a rollup. */
export function addedUp(column: UsageColumn): string {
  return USAGE[column].ofRows;
}

/** SQL for what a single event has in the place of a column of usage. */
export function ofEvent(column: UsageColumn): string {
  return USAGE[column].ofEvent;
}

/** What a row says of its events. */
export function columnsOf({ keeps }: Rollup): string[] {
  return Object.keys(COLUMNS[keeps]);
}

/** Columns whose sums say by how much a table is off. */
export function amountsOf({ keeps }: Rollup): string[] {
  return keeps === 'usage' ? ['event_count', 'quantity_sum'] : [];
}

/**
 * Selects the rows that events give. `events` has their columns, `value_hash` for distinct values, and `group_hash` for what is
 * kept by group; `part` says in SQL which part each goes to, and `order` may put the rows in another order than that of their keys.
 */
export function rowsOfEvents(rollup: Rollup, events: string, part = '0', order?: string): string {
  return groupedRows(rollup, { from: events, time: '"timestamp"', how: 'ofEvents', part, order });
}

/** Selects the rows that those of a finer rollup give. */
export function rowsOfFiner(rollup: Rollup, finer: Rollup, rows: string): string {
  return groupedRows(rollup, { from: rows, time: finer.grain, how: 'ofRows', part: '0' });
}

/** Selects the rows that a table has under a condition, those of several parts as one. */
export function rowsOfTable(rollup: Rollup, condition: string): string {
  const { table, grain } = rollup;
  const from = `${table} WHERE ${condition}`;
  if (rollup.isSplit !== true) return `SELECT ${[...keyOf(rollup), ...columnsOf(rollup)].join(', ')} FROM ${from}`;
  return groupedRows(rollup, { from, time: grain, how: 'ofRows', part: undefined });
}

interface Grouping {
  from: string;
  time: string;
  how: 'ofEvents' | 'ofRows';
  /** Undefined: without the column. */
  part: string | undefined;
  order?: string | undefined;
}

function groupedRows(rollup: Rollup, { from, time, how, part, order }: Grouping): string {
  const key = keyOf(rollup).map((name) =>
    name === rollup.grain && time !== name ? `${BEGINNING[rollup.grain](time)} AS ${name}` : name,
  );
  if (rollup.isSplit === true && part !== undefined) key.push(`${part} AS part`);
  const kept = Object.entries(COLUMNS[rollup.keeps]).map(([name, column]) => `${column[how]} AS ${name}`);
  const places = key.map((_, index) => index + 1).join(', ');
  return `SELECT ${[...key, ...kept].join(', ')} FROM ${from} GROUP BY ${places} ORDER BY ${order ?? places}`;
}

/** The beginning of a statement that inserts rows as the functions above select them. The row that is there is called `kept`. */
export function insertInto(rollup: Rollup): string {
  return `INSERT INTO ${rollup.table} AS kept (${[...fullKeyOf(rollup), ...columnsOf(rollup)].join(', ')})`;
}

function fullKeyOf(rollup: Rollup): string[] {
  return rollup.isSplit === true ? [...keyOf(rollup), 'part'] : keyOf(rollup);
}

/**
 * Inserts rows, and adds them to those that are there. A value that is there already in these quarters of the hour, as nearly all are,
 * is left out before the insert, which would lock its row for the other workers.
 */
export function addTo(rollup: Rollup, rows: string): string {
  const added = Object.entries(COLUMNS[rollup.keeps]).flatMap(([name, column]) =>
    column.added === undefined ? [] : [`${name} = ${column.added}`],
  );
  const conflict = `ON CONFLICT (${fullKeyOf(rollup).join(', ')}) DO UPDATE SET ${added.join(', ')}`;
  if (rollup.keeps === 'usage') return `${insertInto(rollup)} ${rows} ${conflict}, ${LAST_ADDED}`;
  const key = keyOf(rollup);
  const tuple = (side: string): string => `(${key.map((name) => `${side}.${name}`).join(', ')})`;
  return `${insertInto(rollup)}
    SELECT * FROM (${rows}) AS made WHERE NOT EXISTS (SELECT FROM ${rollup.table} AS there
      WHERE ${tuple('there')} = ${tuple('made')} AND there.quarters & made.quarters = made.quarters)
    ORDER BY ${key.join(', ')}
    ${conflict} WHERE kept.quarters & excluded.quarters <> excluded.quarters`;
}

const LAST_ADDED = `(last_timestamp, last_event_id, last_quantity) = (
      SELECT CASE WHEN newer THEN excluded.last_timestamp ELSE kept.last_timestamp END,
             CASE WHEN newer THEN excluded.last_event_id ELSE kept.last_event_id END,
             CASE WHEN newer THEN excluded.last_quantity ELSE kept.last_quantity END
      FROM (SELECT (excluded.last_timestamp, excluded.last_event_id) > (kept.last_timestamp, kept.last_event_id) AS newer) AS n)`;
