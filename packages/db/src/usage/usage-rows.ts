// The rows that usage is summed up from, as SQL: for each stretch of a window those of the coarsest table that has it (see
// @weir/shared/levels), so that no read grows with the number of events but where a window or a bucket cuts an hour.
//
// Where the end of the window cuts a day, an hour or a quarter, its row says by itself whether it lies in the window: if
// its last event does, all of them do. Only rows that have an event from the end on are looked at more closely.
//
// OFFSET 0 keeps the planner from turning a loop over stretches or customers around: each turn of it is one short scan of
// an index, however many there are.

import type { CustomerLevels, MeterLevels, Stretches, SumLevels, ValueLevels } from '@weir/shared/levels';

/** The values of a statement. Each is written where it is used, as `$1` and so on. */
export class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

/** Whose rows: SQL expressions. Without a customer, those of all customers of the meter. */
export interface Scope {
  organization: string;
  meter: string;
  customer?: string | undefined;
}

/** From which tables, and what of their rows. */
export interface Source {
  days: 'usage_days' | 'unique_days';
  hours: 'usage_rollups' | 'unique_values';
  /** Of a row of these tables, and of `meter_quarters`. */
  ofRollup: string;
  /** The same of a single event. */
  ofEvent: string;
}

/** What rows are told apart by: an SQL expression, given the time of a row. */
export type Key = (time: string) => string;

/** Which rows, and what of them. */
export interface RowsRequest {
  parameters: Parameters;
  scope: Scope;
  source: Source;
  key: Key;
  /** The end of the window. */
  end: string;
}

/** A day counts where its noon does. */
const noonOf: Key = (time) => `date_trunc('day', ${time}, 'UTC') + interval '12 hours'`;

/** Rows of each customer for sums, with their key as `key`; what is taken off a key comes with the other sign. */
export function summandsOfCustomers(request: RowsRequest, { counted, moved }: SumLevels): string {
  const { source, key } = request;
  const amounts = source.ofRollup.split(', ').map((column) => `factor * ${column}`);
  const parts = hoursAndEvents({ ...request, key: (time) => time }, moved);
  return `${rowsOfCustomers(request, counted)}
    UNION ALL SELECT place.key, ${amounts.join(', ')} FROM (${parts.join(' UNION ALL ')}) AS moved CROSS JOIN LATERAL
      (VALUES (${key('moved.key')}, 1), (${key(noonOf('moved.key'))}, -1)) AS place (key, factor)`;
}

/** Rows of each customer, with their key as `key`. */
export function rowsOfCustomers(request: RowsRequest, levels: CustomerLevels): string {
  const { parameters, scope, source, key } = request;
  const parts: string[] = [];
  if (levels.days.from.length > 0) {
    parts.push(`SELECT found.* FROM ${stretches(parameters, levels.days)} CROSS JOIN LATERAL (
      SELECT ${key(noonOf('day'))} AS key, ${source.ofRollup} FROM ${source.days}
      WHERE ${own(scope)} AND day >= since AND day < before OFFSET 0) AS found`);
  }
  parts.push(...hoursAndEvents(request, levels));
  if (levels.last !== null) {
    const from = parameters.add(levels.last.from, 'timestamptz');
    const end = parameters.add(request.end, 'timestamptz');
    if (levels.last.isLarge) {
      parts.push(`SELECT ${key('day')} AS key, ${source.ofRollup} FROM ${source.days} AS kept
        WHERE ${own(scope)} AND day = ${from} AND ${isOver(source.days, end)}`);
    }
    parts.push(...lastHours(request, { from, until: end, since: levels.last.isLarge ? end : from }));
  }
  return parts.join(' UNION ALL ');
}

function hoursAndEvents(request: RowsRequest, { hours, cut }: Pick<CustomerLevels, 'hours' | 'cut'>): string[] {
  const { parameters, scope, source, key } = request;
  const parts: string[] = [];
  if (hours.from.length > 0) {
    // Distinct values can be found by their hour alone; hours of usage are found by their customer.
    const isDirect = scope.customer !== undefined || source.hours === 'unique_values';
    const someone = isDirect ? '' : `CROSS JOIN LATERAL ${customersSince(scope, 'since')}`;
    parts.push(`SELECT found.* FROM ${stretches(parameters, hours)} ${someone} CROSS JOIN LATERAL (
      SELECT ${key('hour')} AS key, ${source.ofRollup} FROM ${source.hours}
      WHERE ${own(isDirect ? scope : ofSomeone(scope))} AND hour >= since AND hour < before OFFSET 0) AS found`);
  }
  if (cut.from.length > 0) parts.push(events(request, stretches(parameters, cut)));
  return parts;
}

/** Rows of a whole meter, with their key as `key`. `source` says what of them; they come from `meter_quarters`. */
export function rowsOfMeter(request: RowsRequest, levels: MeterLevels): string {
  const { parameters, scope, source, key } = request;
  const parts: string[] = [];
  if (levels.quarters.from.length > 0) {
    parts.push(`SELECT found.* FROM ${stretches(parameters, levels.quarters)} CROSS JOIN LATERAL (
      SELECT ${key('quarter')} AS key, ${source.ofRollup} FROM meter_quarters
      WHERE ${own(scope)} AND quarter >= since AND quarter < before OFFSET 0) AS found`);
  }
  if (levels.cut.from.length > 0) parts.push(events(request, stretches(parameters, levels.cut)));
  if (levels.last !== null) {
    const from = parameters.add(levels.last.from, 'timestamptz');
    const end = parameters.add(request.end, 'timestamptz');
    const inLast = `${own(scope)} AND quarter >= ${from} AND quarter < ${end}`;
    // Of a quarter that has an event from the end on, no part says which of its events come before: then customers are
    // asked, each of which knows that of its own hour.
    const goesOn = `EXISTS (SELECT FROM meter_quarters WHERE ${inLast} AND last_timestamp >= ${end})`;
    parts.push(
      `SELECT ${key('quarter')} AS key, ${source.ofRollup} FROM meter_quarters WHERE ${inLast} AND NOT ${goesOn}`,
    );
    if (levels.last.isLarge) parts.push(...lastHours(request, { from, until: end, since: from, onlyIf: goesOn }));
    else parts.push(events(request, `(SELECT ${from} AS since, ${end} AS before) AS stretch`, goesOn));
  }
  return parts.join(' UNION ALL ');
}

/** The distinct values of a whole meter, with their key as `key`. A value may come several times. */
export function valuesOfMeter(request: RowsRequest, levels: ValueLevels): string {
  const { parameters, scope, key } = request;
  const parts: string[] = [];
  if (levels.days.from.length > 0) {
    // Of a whole day the index says all, and its key is made once.
    parts.push(`SELECT stretch.key, found.value_hash FROM (
        SELECT ${key('since')} AS key, since FROM ${stretches(parameters, levels.days)} OFFSET 0
      ) AS stretch CROSS JOIN LATERAL (
        SELECT value_hash FROM meter_value_days WHERE ${own(scope)} AND day = stretch.since OFFSET 0) AS found`);
  }
  if (levels.partsOfDays.from.length > 0) {
    // Key and mask are made once for each stretch; every row of its day is held against them. The mask has as many ones as
    // the stretch has quarters, moved to the place of its first.
    parts.push(`SELECT stretch.key, found.value_hash FROM (
        SELECT ${key('since')} AS key, date_trunc('day', since, 'UTC') AS day,
          ~(~B'0'::bit(96) >> (extract(epoch FROM before - since) / 900)::integer)
            >> (extract(epoch FROM since - date_trunc('day', since, 'UTC')) / 900)::integer AS mask
        FROM ${stretches(parameters, levels.partsOfDays)} OFFSET 0
      ) AS stretch CROSS JOIN LATERAL (
        SELECT value_hash FROM meter_value_days
        WHERE ${own(scope)} AND day = stretch.day AND quarters & stretch.mask <> B'0'::bit(96) OFFSET 0) AS found`);
  }
  const ofQuarters = `SELECT ${key('quarter')} AS key, value_hash FROM meter_value_quarters WHERE ${own(scope)}`;
  if (levels.quarters.from.length > 0) {
    parts.push(`SELECT found.* FROM ${stretches(parameters, levels.quarters)} CROSS JOIN LATERAL (
      ${ofQuarters} AND quarter >= since AND quarter < before OFFSET 0) AS found`);
  }
  if (levels.cut.from.length > 0) parts.push(events(request, stretches(parameters, levels.cut)));
  if (levels.last !== null) {
    const quarter = parameters.add(levels.last, 'timestamptz');
    const end = parameters.add(request.end, 'timestamptz');
    parts.push(`${ofQuarters} AND quarter = ${quarter} AND first_timestamp < ${end}`);
  }
  return parts.join(' UNION ALL ');
}

/** In a window of this length it is quicker to ask for each customer of the meter than to read all of their days. */
const LONG_MS = 7 * 86_400_000;

/**
 * The customers with a day in the window: from each to the next one by the index, and one day of each (PostgreSQL wiki, "Loose
 * indexscan").
 */
function customersOneByOne(scope: Scope, inWindow: string): string {
  const next = (after: string) =>
    `SELECT customer_external_id AS customer FROM usage_days WHERE ${own(scope)} ${after} ORDER BY customer_external_id LIMIT 1`;
  return `SELECT customer FROM (
      WITH RECURSIVE someone AS (
        (${next('')})
        UNION ALL
        SELECT (${next('AND customer_external_id > someone.customer')}) FROM someone WHERE someone.customer IS NOT NULL
      )
      SELECT customer FROM someone WHERE customer IS NOT NULL
    ) AS someone
    WHERE EXISTS (SELECT FROM usage_days WHERE ${own(ofSomeone(scope))} AND ${inWindow})`;
}

/**
 * How many customers of a meter have an event in a window. A day whose last event is in the window has one in it; a day
 * that goes on after the end is asked for a single event before it.
 */
export function customersIn(parameters: Parameters, scope: Scope, window: { start: string; end: string }): string {
  const start = parameters.add(window.start, 'timestamptz');
  const end = parameters.add(window.end, 'timestamptz');
  const inWindow = `day >= date_trunc('day', ${start}, 'UTC') AND day < ${end} AND last_timestamp >= ${start} AND last_timestamp < ${end}`;
  const isLong = Date.parse(window.end) - Date.parse(window.start) >= LONG_MS;
  return `SELECT count(*) AS customers FROM (
    ${isLong ? customersOneByOne(scope, inWindow) : `SELECT customer_external_id FROM usage_days WHERE ${own(scope)} AND ${inWindow}`}
    UNION
    SELECT customer_external_id FROM usage_days AS kept WHERE ${own(scope)} AND day = date_trunc('day', ${end}, 'UTC')
      AND last_timestamp >= ${end} AND EXISTS (SELECT FROM events
        WHERE ${inStream(scope, 'kept.customer_external_id')} AND "timestamp" >= greatest(${start}, kept.day) AND "timestamp" < ${end})
  ) AS present`;
}

/**
 * The hours of the last stretch, and the events of those that go on after the end: of the customers whose last event of
 * that day is not before `since`.
 */
function lastHours(
  { scope, source, key }: RowsRequest,
  { from, until, since, onlyIf }: { from: string; until: string; since: string; onlyIf?: string },
): string[] {
  const hours = `hour >= ${from} AND hour < ${until}`;
  return [
    `SELECT found.* FROM (SELECT ${from} AS since) AS stretch CROSS JOIN LATERAL ${customersSince(scope, since, onlyIf)}
      CROSS JOIN LATERAL (
        SELECT ${key('hour')} AS key, ${source.ofRollup} FROM ${source.hours} AS kept
        WHERE ${own(ofSomeone(scope))} AND ${hours} AND ${isOver(source.hours, until)} OFFSET 0) AS found`,
    `SELECT found.* FROM (SELECT ${from} AS since) AS stretch CROSS JOIN LATERAL ${customersSince(scope, until, onlyIf)}
      CROSS JOIN LATERAL (
        SELECT hour FROM usage_rollups
        WHERE ${own(ofSomeone(scope))} AND ${hours} AND last_timestamp >= ${until} OFFSET 0) AS cut
      CROSS JOIN LATERAL (
        SELECT ${key('"timestamp"')} AS key, ${source.ofEvent} FROM events
        WHERE ${inStream(scope, 'customer')} AND "timestamp" >= cut.hour AND "timestamp" < ${until} OFFSET 0) AS found`,
  ];
}

/** The single events of stretches that each lie within a day. */
function events({ scope, source, key }: RowsRequest, from: string, onlyIf?: string): string {
  return `SELECT found.* FROM ${from} CROSS JOIN LATERAL ${customersSince(scope, 'since', onlyIf)} CROSS JOIN LATERAL (
    SELECT ${key('"timestamp"')} AS key, ${source.ofEvent} FROM events
    WHERE ${inStream(scope, 'customer')} AND "timestamp" >= since AND "timestamp" < before OFFSET 0) AS found`;
}

function stretches(parameters: Parameters, { from, to }: Stretches): string {
  return `unnest(${parameters.add(from, 'timestamptz[]')}, ${parameters.add(to, 'timestamptz[]')}) AS stretch (since, before)`;
}

/** The customers with an event at `since` or later on the day of the stretch: nobody else has one in what is left of it. */
function customersSince(scope: Scope, since: string, onlyIf = 'true'): string {
  return `(SELECT customer_external_id AS customer FROM usage_days
    WHERE ${own(scope)} AND day = date_trunc('day', stretch.since, 'UTC') AND last_timestamp >= ${since} AND ${onlyIf} OFFSET 0) AS someone`;
}

/** The events of one customer by the index of streams. Two streams may have one number, hence the other conditions. */
function inStream({ organization, meter }: Scope, customer: string): string {
  return `event_stream(meter_id, customer_external_id) = event_stream(${meter}, ${customer})
    AND organization_id = ${organization} AND meter_id = ${meter} AND customer_external_id = ${customer}`;
}

function own({ organization, meter, customer }: Scope): string {
  const mine = `organization_id = ${organization} AND meter_id = ${meter}`;
  return customer === undefined ? mine : `${mine} AND customer_external_id = ${customer}`;
}

function ofSomeone(scope: Scope): Scope {
  return { ...scope, customer: 'someone.customer' };
}

/** Whether all events of a row (called `kept`) are before the end. A distinct value does not say; its day or hour of usage does. */
function isOver(table: Source['days' | 'hours'], end: string): string {
  if (table === 'usage_days' || table === 'usage_rollups') return `last_timestamp < ${end}`;
  const [usage, time] = table === 'unique_days' ? ['usage_days', 'day'] : ['usage_rollups', 'hour'];
  const names = ['organization_id', 'meter_id', 'customer_external_id', time];
  const same = names.map((name) => `whole.${name} = kept.${name}`);
  return `EXISTS (SELECT FROM ${usage} AS whole WHERE ${same.join(' AND ')} AND whole.last_timestamp < ${end})`;
}
