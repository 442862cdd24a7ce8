// Reads usage by what is in the metadata: of all events with some values, and by the values of one key. The rows are those of the
// other reads (usage-rows.ts), of rollups that keep each combination of values by itself; a group is the sum of the combinations
// that have its value. All of it is one statement, so the groups and the rest always add up to the total.

import { countsValues } from '@weir/shared/meter';
import { HOUR } from '@weir/shared/time-zone';
import type { Window } from '@weir/shared/window';
import type pg from 'pg';
import { columnsRead, readingOf } from '../aggregations.ts';
import { addedUp, BEGINNING, OVERFLOW, ROLLUPS } from '../rollups.ts';
import { textArray } from '../array-text.ts';
import { planCustomerGroups, planMeter, planValues } from './plan-read.ts';
import {
  rankOf,
  refuseTakenOut,
  scopeOf,
  usageOf,
  type MeterUsage,
  type Usage,
  type UsageQuestion,
} from './read-usage.ts';
import {
  asInstant,
  customersIn,
  inStream,
  joined,
  monthOfCutHours,
  own,
  Parameters,
  rowsOfCustomers,
  rowsOfMeter,
  valuesOfCustomers,
  valuesOfMeter,
  type Scope,
  type Source,
} from './usage-rows.ts';
import { WRITTEN_SUMS, WrittenSums } from './written-sums.ts';

const HOURS = ROLLUPS.customerGroupHours.table;

/** Usage of one meter by its metadata. */
export interface GroupQuestion extends UsageQuestion {
  /** Those of the meter, in their order; by others nothing is read. */
  keys: readonly string[];
  /** One value for some of the keys. */
  filters: readonly { key: string; value: string }[];
  /** One of the keys, and how many of its values are told apart. */
  groupBy?: { key: string; limit: number } | undefined;
}

/** The usage of the events with one value of a key; of those with all other values, where it is the rest. */
interface Group extends Pick<MeterUsage, 'total' | 'ofBucket'> {
  /** Null for events without a value, and for the rest. */
  value: string | null;
  isRest: boolean;
}

export interface GroupedUsage extends MeterUsage {
  /** Largest first, and last the rest where there is any. Undefined where nothing is grouped. */
  groups: Group[] | undefined;
  /** Events of days that have more combinations of values than are kept: in the rest, and with no value. */
  overflowCount: number;
}

// Series are told apart by a number: the total, the rest, and the groups by their place.
const TOTAL = -1;
const REST = 0;

/** Reads usage by metadata; undefined while the groups of the meter are made anew, since its keys were changed. */
export async function readGroupedUsage(pool: pg.Pool, question: GroupQuestion): Promise<GroupedUsage | undefined> {
  const { aggregation, groupBy } = question;
  const parameters = new Parameters();
  const text = statement(parameters, question);
  const { rows } = await pool.query<{
    is_ready: boolean;
    /** By series. */
    sums: Record<string, string> | null;
    customers: string;
    taken_out: string | null;
    overflow: string | null;
    groups: [place: number, value: string | null][] | null;
  }>(text, parameters.values);
  const [row] = rows;
  if (row?.is_ready !== true) return undefined;
  refuseTakenOut(row.taken_out);
  const sums = row.sums ?? {};
  const seriesOf = (series: number): Pick<MeterUsage, 'total' | 'ofBucket'> => {
    const written = new WrittenSums(sums[series] ?? null);
    const ofKey = (key: number): Usage => usageOf(aggregation, written.find(key));
    return { total: ofKey(0), ofBucket: (index) => ofKey(index + 1) };
  };
  const groups = (row.groups ?? []).map(([place, value]) => ({ value, isRest: false, ...seriesOf(place) }));
  const rest: Group[] = sums[REST] === undefined ? [] : [{ value: null, isRest: true, ...seriesOf(REST) }];
  const whole = seriesOf(TOTAL);
  return {
    ...whole,
    uniqueCustomers: whole.total.event_count === 0 ? 0 : Number(row.customers),
    groups: groupBy === undefined ? undefined : [...groups, ...rest],
    overflowCount: Number(row.overflow ?? 0),
  };
}

function statement(parameters: Parameters, question: GroupQuestion): string {
  const { aggregation, keys, filters, groupBy, window } = question;
  const scope = scopeOf(parameters, question);
  const keysOfMeter = parameters.add(textArray(keys), 'text[]');
  const source = groupSource(keysOfMeter);
  const isOfMeter = question.customerExternalId === undefined;
  const isUnique = countsValues(aggregation);
  const { columns, usage } = columnsRead(aggregation);
  const request = {
    parameters,
    scope,
    source,
    reading: withGroup(keysOfMeter, readingOf(columns)),
    key: (time: string) => `width_bucket(${time}, (SELECT boundaries FROM bounds))`,
    plan: isOfMeter ? planMeter(window) : planCustomerGroups(window),
  };
  const bounds = `SELECT array_agg(${asInstant('at')}) AS boundaries FROM ${parameters.instants(request.plan.boundaries)} AS at`;
  const rows = isOfMeter ? rowsOfMeter(request) : rowsOfCustomers(request);
  // Combinations are many and values few: rows are added up by their value first.
  const counted = `SELECT key, ${NTH} AS nth, ${columns.map((name) => `${addedUp(name)} AS ${name}`).join(', ')}
    FROM ${inChosen(rows)} GROUP BY 1, 2`;
  const uniques = (): string => {
    const ofValues = { ...request, plan: planValues(window) };
    return `SELECT DISTINCT key, ${NTH} AS nth, value_hash
      FROM ${inChosen(isOfMeter ? valuesOfMeter(ofValues) : valuesOfCustomers(ofValues))}`;
  };
  const limit = parameters.add(groupBy?.limit ?? 0, 'bigint');
  const inSeries = filters.length > 0 ? 'nth > 0' : 'true';
  const all = isUnique ? uniqueSeries(inSeries) : seriesOf(trimmed(usage), inSeries);
  const customers = `SELECT count(*) FROM (${customersIn(parameters, scope, window)}) AS present
    ${filters.length > 0 ? `WHERE ${hasChosenEvent(parameters, scope, window, keysOfMeter)}` : ''}`;
  return `WITH bounds AS MATERIALIZED (${bounds}),
    chosen AS MATERIALIZED (${chosenGroups(parameters, scope, question)}),
    counted AS MATERIALIZED (${counted}),
    ${isUnique ? `uniques AS MATERIALIZED (${uniques()}),` : ''}
    whole AS MATERIALIZED (${isUnique ? UNIQUE_WHOLE : `SELECT nth, sum(event_count) AS event_count, ${usage} AS usage FROM counted GROUP BY nth`}),
    placed AS MATERIALIZED (
      SELECT nth, CASE WHEN nth > 0 AND place <= ${limit} THEN place ELSE ${REST} END AS series FROM (
        SELECT nth, row_number() OVER (ORDER BY nth = 0, ${rankOf(aggregation)} DESC, nth) AS place FROM whole) AS ranked
    ),
    summed AS (${all})
    SELECT (SELECT json_object_agg(series, sums)
         FROM (SELECT series, ${WRITTEN_SUMS} AS sums FROM summed GROUP BY series) AS written) AS sums,
      (SELECT json_agg(json_build_array(series, value) ORDER BY series)
         FROM ${joined('placed', '(SELECT DISTINCT nth, value FROM chosen) AS named', 'nth')} WHERE series > 0) AS groups,
      (SELECT event_count FROM whole WHERE nth = 0) AS overflow,
      (${isOfMeter ? customers : 'SELECT 1'}) AS customers,
      ${isOfMeter ? 'NULL' : monthOfCutHours(request)} AS taken_out,
      EXISTS (SELECT FROM meters WHERE organization_id = ${scope.organization} AND id = ${scope.meter} AND metadata_keys = ${keysOfMeter})
        AND NOT EXISTS (SELECT FROM metadata_backfills WHERE ${own({ ...scope, customer: undefined })}) AS is_ready`;
}

/** The group of an event that is read by itself. */
const groupOfEvent = (keys: string): string => `group_of(organization_id, meter_id, ${keys}, "timestamp", metadata)`;

function withGroup(keys: string, { ofRow, ofEvent }: { ofRow: string; ofEvent: string }): Source['value'] {
  return { ofRow: `group_hash, ${ofRow}`, ofEvent: `${groupOfEvent(keys)} AS group_hash, ${ofEvent}` };
}

function groupSource(keys: string): Source {
  return {
    hours: HOURS,
    quarters: ROLLUPS.meterGroupQuarters.table,
    customerValues: ROLLUPS.customerGroupValueDays.table,
    meterValues: ROLLUPS.meterGroupValueDays.table,
    value: withGroup(keys, { ofRow: 'value_hash', ofEvent: 'unique_value_hash(metadata) AS value_hash' }),
  };
}

/**
 * The combinations in the window that the filters let through, each with the value it is grouped by and the number of that
 * value, from 1 on. A combination is the same on all days.
 */
function chosenGroups(parameters: Parameters, scope: Scope, { keys, filters, groupBy, window }: GroupQuestion): string {
  const value = (key: string): string => `group_values[${keys.indexOf(key) + 1}]`;
  const [start, end] = [parameters.instant(window.start), parameters.instant(window.end)];
  const conditions = filters.map(
    (filter) => `AND ${value(filter.key)} = group_value(${parameters.add(filter.value, 'text')})`,
  );
  return `SELECT DISTINCT group_hash, value, dense_rank() OVER (ORDER BY value COLLATE "C") AS nth FROM (
      SELECT group_hash, ${groupBy === undefined ? 'NULL::text' : value(groupBy.key)} AS value FROM metadata_groups
      WHERE ${own({ ...scope, customer: undefined })} AND day >= ${BEGINNING.day(start)} AND day < ${end} ${conditions.join(' ')}) AS kept`;
}

// What no filter lets through is left out; what is beyond the combinations that are kept has the number 0.
const NTH = 'coalesce(nth, 0)';
const inChosen = (rows: string): string =>
  `${joined(`(SELECT true AS is_found, * FROM (${rows}) AS each) AS found`, 'chosen', 'group_hash')}
    WHERE is_found AND (nth IS NOT NULL OR group_hash = ${OVERFLOW})`;

const trimmed = (usage: string): string => `trim_scale(${usage})`;

// The total of a series has the key 0; buckets count from 1.
const SERIES = `CASE WHEN grouping(series) = 1 THEN ${TOTAL} ELSE series END AS series, CASE WHEN grouping(key) = 1 THEN 0 ELSE key END AS key`;
const EACH_SERIES = 'GROUP BY GROUPING SETS ((series, key), (series), (key), ())';

function seriesOf(usage: string, inSeries: string): string {
  return `SELECT ${SERIES}, sum(event_count) AS event_count, ${usage} AS usage
    FROM ${joined('counted', 'placed', 'nth')} WHERE key IS NOT NULL AND ${inSeries} ${EACH_SERIES}`;
}

/** A value that several groups have counts once in what they add up to. */
function uniqueSeries(inSeries: string): string {
  return `SELECT series, key, event_count, usage
    FROM ${joined(
      `(SELECT series, key, event_count FROM (${seriesOf('0', inSeries)}) AS each) AS counts`,
      `(SELECT ${SERIES}, count(DISTINCT value_hash) AS usage FROM ${joined('uniques', 'placed', 'nth')}
        WHERE key IS NOT NULL AND ${inSeries} ${EACH_SERIES}) AS uniquely`,
      'series, key',
    )} WHERE event_count IS NOT NULL AND usage IS NOT NULL`;
}

const UNIQUE_WHOLE = `SELECT nth, event_count, usage
  FROM ${joined(
    '(SELECT nth, sum(event_count) AS event_count FROM counted GROUP BY nth) AS counts',
    '(SELECT nth, count(DISTINCT value_hash) AS usage FROM uniques GROUP BY nth) AS uniquely',
    'nth',
  )} WHERE event_count IS NOT NULL AND usage IS NOT NULL`;

/** Whether a customer that is `present` has an event with a chosen combination: as `customersIn` finds out for days, by the hour. */
function hasChosenEvent(parameters: Parameters, scope: Scope, window: Window, keys: string): string {
  const [start, end] = [parameters.instant(window.start), parameters.instant(window.end)];
  // Written so that the list of combinations is hashed, and each customer asked by the primary key.
  const mine = `${own({ ...scope, customer: 'present.customer' })} AND (group_hash IN (SELECT group_hash FROM chosen)) IS TRUE`;
  const isOver = `EXISTS (SELECT FROM ${HOURS} WHERE ${mine}
      AND hour >= ${BEGINNING.hour(start)} AND hour < ${end} AND last_timestamp >= ${start} AND last_timestamp < ${end})`;
  // The hour that begins with the end has nothing in the window.
  if (window.end % HOUR === 0) return isOver;
  return `CASE WHEN ${isOver} THEN true
    ELSE EXISTS (SELECT FROM (SELECT hour, group_hash FROM ${HOURS}
        WHERE ${mine} AND hour = ${BEGINNING.hour(end)} AND last_timestamp >= ${end} OFFSET 0) AS kept
      CROSS JOIN LATERAL (SELECT FROM events WHERE ${inStream(scope, 'present.customer')}
        AND "timestamp" >= greatest(${start}, kept.hour) AND "timestamp" < ${end}
        AND ${groupOfEvent(keys)} = kept.group_hash ORDER BY "timestamp" LIMIT 1) AS before_end) END`;
}
