// How the rollups of customers follow events that go to another external id: those of whole hours as rows, and those of a part of an hour
// by what its events add up to. Behind the locks of move-slice.ts.
//
// While only a part of an hour has gone, the rows under the former id have the count, the sums and the time of the last event of what is
// left. Their smallest and largest quantity, and their distinct values, may be of events that have gone: to tell, each part would have to
// read all that is left. The last part takes these rows with the rest of the events. Until then nobody reads them by the former id, but
// lists of all customers have them. Nor is what a living customer has in such an hour corrected (../corrections/correct-events.ts), so
// that all that they say is true of the new id. The last event that counts is in no part before: by the row of the hour it is found that
// there is a part left.

import { countsValues, type AggregationType } from '@weir/shared/meter';
import {
  addTo,
  ALL_ROLLUPS,
  BEGINNING,
  columnsOf,
  keyOf,
  ROLLUPS,
  rowsOfEvents,
  rowsOfFiner,
  type Rollup,
} from '../rollups.ts';
import { everInStream, IS_VOID, own, quartersOf } from '../usage/usage-rows.ts';

export const { customerUsageHours: HOURS, customerUsageDays: DAYS } = ROLLUPS;

export const ORGANIZATION = '$1::uuid';
export const METER = '$2::uuid';
export const FROM = '$3::text';
export const TO = '$4::text';
/** The first instants of the hours of the slice, ascending. */
export const WHICH = '$5::timestamptz[]';
/** The keys that the meter is grouped by. */
export const KEYS = '$6::text[]';
/** The events that are moved. */
const IDS = '$7::uuid[]';

export const METER_SCOPE = { organization: ORGANIZATION, meter: METER };
export const OF_FROM = own({ ...METER_SCOPE, customer: FROM });
export const IN_HOURS = `hour = ANY (${WHICH})`;
export const IN_DAYS = `day IN (SELECT ${BEGINNING.day('hour')} FROM unnest(${WHICH}) AS hour)`;

/** A time in the hours of the slice. */
export const isInHours = (time: string): string => `${time} >= (${WHICH})[1]
  AND ${time} < (${WHICH})[cardinality(${WHICH})] + interval '1 hour' AND ${BEGINNING.hour(time)} = ANY (${WHICH})`;

/** The events under the former id in the hours of the slice, void or not. */
export const EVENTS_OF_FROM = `${everInStream(METER_SCOPE, FROM)} AND ${isInHours('"timestamp"')}`;

/** Those that are to be moved. Nobody else changes them meanwhile. */
export const FOUND = `organization_id = ${ORGANIZATION} AND id = ANY (${IDS}) AND customer_external_id = ${FROM}`;

/** The same when they have the new id. */
const MOVED = `organization_id = ${ORGANIZATION} AND id = ANY (${IDS}) AND customer_external_id = ${TO}`;

/** Those of customers but for hours and days, in the order of lock 21 of decision 94: these come first, then days, and hours last. */
const OTHERS = ALL_ROLLUPS.filter(
  (rollup) => rollup.scope === 'customer' && rollup !== HOURS && rollup !== DAYS,
).toReversed();

/** What says in which rollups a meter is counted. */
export interface CountingMeter {
  metadata_keys: string[];
  aggregation_type: AggregationType;
}

const isKept = (meter: CountingMeter, { keeps, isGrouped }: Rollup): boolean =>
  (isGrouped !== true || meter.metadata_keys.length > 0) &&
  (keeps !== 'values' || countsValues(meter.aggregation_type));

const columnsAs = (rollup: Rollup, customer: string): string =>
  [...keyOf(rollup), ...columnsOf(rollup)]
    .map((name) => (name === 'customer_external_id' ? `${customer} AS ${name}` : name))
    .join(', ');

/** What events under a condition add up to; those that are void do not. */
function madeOf(rollup: Rollup, condition: string): string {
  const values = rollup.keeps === 'values' ? ', unique_value_hash(metadata) AS value_hash' : '';
  const group =
    rollup.isGrouped === true
      ? `, group_of(organization_id, meter_id, ${KEYS}, "timestamp", metadata) AS group_hash`
      : '';
  return rowsOfEvents(
    rollup,
    `(SELECT organization_id, meter_id, customer_external_id, "timestamp", id, quantity ${values} ${group}
      FROM events WHERE ${condition} AND NOT ${IS_VOID} OFFSET 0) AS found`,
  );
}

/** The row under the former id of what was made of events that have the new one. */
const isFormer = (rollup: Rollup): string =>
  keyOf(rollup)
    .map((name) => (name === 'customer_external_id' ? `kept.${name} = ${FROM}` : `kept.${name} = made.${name}`))
    .join(' AND ');

/** Adds the events that are moved to the rows of the new id. */
const addMoved = (rollup: Rollup): string => addTo(rollup, madeOf(rollup, MOVED));

/** Takes them out of the rows of the former id, which have others as well. */
function takeMoved(rollup: Rollup): string {
  return `WITH made AS MATERIALIZED (${madeOf(rollup, MOVED)}), gone AS (
  DELETE FROM ${rollup.table} AS kept USING made WHERE ${isFormer(rollup)} AND kept.event_count <= made.event_count
)
UPDATE ${rollup.table} AS kept SET event_count = kept.event_count - made.event_count, quantity_sum = kept.quantity_sum - made.quantity_sum
FROM made WHERE ${isFormer(rollup)} AND kept.event_count > made.event_count`;
}

/** Adds the rows of the hours as they are. */
const addRows = (rollup: Rollup): string =>
  addTo(
    rollup,
    `SELECT ${columnsAs(rollup, TO)} FROM ${rollup.table} WHERE ${OF_FROM} AND ${IN_HOURS} ORDER BY ${keyOf(rollup).join(', ')}`,
  );
const takeRows = ({ table }: Rollup): string => `DELETE FROM ${table} WHERE ${OF_FROM} AND ${IN_HOURS}`;

/** What the hours add up to, by day. They are read before they are gone. */
const ADD_ROWS_TO_DAYS = addTo(
  DAYS,
  rowsOfFiner(
    DAYS,
    HOURS,
    `(SELECT ${columnsAs(HOURS, TO)} FROM ${HOURS.table} WHERE ${OF_FROM} AND ${IN_HOURS}) AS moved`,
  ),
);

/** What is left in hours of these days adds up to. */
const REMAINING = rowsOfFiner(
  DAYS,
  HOURS,
  `${HOURS.table} WHERE ${OF_FROM} AND ${BEGINNING.day('hour')} IN (SELECT ${BEGINNING.day('moved')} FROM unnest(${WHICH}) AS moved)
     AND hour >= ${BEGINNING.day(`(${WHICH})[1]`)} AND hour < ${BEGINNING.day(`(${WHICH})[cardinality(${WHICH})]`)} + interval '24 hours'`,
);
const TAKE_DAYS = `
WITH remaining AS MATERIALIZED (${REMAINING}), gone AS (
  DELETE FROM ${DAYS.table} WHERE ${OF_FROM} AND ${IN_DAYS} AND day NOT IN (SELECT day FROM remaining)
)
UPDATE ${DAYS.table} AS kept SET ${columnsOf(DAYS)
  .map((name) => `${name} = remaining.${name}`)
  .join(', ')}
FROM remaining WHERE ${keyOf(DAYS)
  .map((name) => `kept.${name} = remaining.${name}`)
  .join(' AND ')}`;

/** The quarters of the hours of the slice, by day. */
const MASKS = `moved AS MATERIALIZED (
  SELECT ${BEGINNING.day('hour')} AS day, bit_or(${quartersOf('hour', "hour + interval '1 hour'")}) AS mask
  FROM unnest(${WHICH}) AS hour GROUP BY 1
)`;
const OF_KEPT = `kept.organization_id = ${ORGANIZATION} AND kept.meter_id = ${METER} AND kept.customer_external_id = ${FROM}`;

/** Adds the values of events that are moved, and those of the rows, which have those of lost ones. */
function addValues(rollup: Rollup): string {
  const key = keyOf(rollup).map((name) =>
    name === 'customer_external_id' ? `${TO} AS customer_external_id` : `kept.${name}`,
  );
  const ofRows = `WITH ${MASKS} SELECT ${key.join(', ')}, quarters & mask AS quarters FROM ${rollup.table} AS kept, moved
    WHERE ${OF_KEPT} AND kept.day = moved.day AND quarters & mask <> B'0'::bit(96)`;
  return addTo(rollup, rowsOfFiner(rollup, rollup, `((${madeOf(rollup, MOVED)}) UNION ALL (${ofRows})) AS found`));
}

function takeValues({ table }: Rollup): string {
  return `
WITH ${MASKS}, gone AS (
  DELETE FROM ${table} AS kept USING moved WHERE ${OF_KEPT} AND kept.day = moved.day AND quarters & ~mask = B'0'::bit(96)
)
UPDATE ${table} AS kept SET quarters = quarters & ~mask FROM moved
WHERE ${OF_KEPT} AND kept.day = moved.day AND quarters & mask <> B'0'::bit(96) AND quarters & ~mask <> B'0'::bit(96)`;
}

/**
 * A statement that takes values of parts that have gone: of rows that no event of the last part has, as many as a slice has ($8). The
 * new id has them, but for those of lost events, which are in these rows alone. It returns how many.
 */
function takeValuesOfParts(rollup: Rollup): string {
  const { table } = rollup;
  const key = keyOf(rollup);
  const names = key.join(', ');
  const none = "B'0'::bit(96)";
  const same = key.map((name) => `kept.${name} = page.${name}`).join(' AND ');
  const renamed = key.map((name) => (name === 'customer_external_id' ? `${TO} AS ${name}` : name)).join(', ');
  // Put together and not joined: there may be very many on both sides, and Postgres does not know. Of twice as many as are taken of the
  // hour, no more than a slice has can be of events of the last part, so no more are looked for. Values of other hours of the day that come
  // before them are read over.
  return `
WITH ${MASKS}, page AS MATERIALIZED (
  SELECT ${names}, bit_or(kept_bits) & ~bit_or(left_bits) AS bits FROM (
    SELECT enough.*, ${none} AS left_bits FROM moved CROSS JOIN LATERAL (
      SELECT ${key.map((name) => `kept.${name}`).join(', ')}, quarters & mask AS kept_bits
      FROM ${table} AS kept WHERE ${OF_KEPT} AND kept.day = moved.day AND quarters & mask <> ${none}
      ORDER BY ${key.map((name) => `kept.${name}`).join(', ')} LIMIT 2 * $8::int) AS enough
    UNION ALL SELECT ${names}, ${none}, quarters FROM (${madeOf(rollup, FOUND)}) AS left_behind
  ) AS both_sides GROUP BY ${names} HAVING bit_or(kept_bits) & ~bit_or(left_bits) <> ${none} LIMIT $8::int
), added AS (
  ${addTo(rollup, `SELECT ${renamed}, bits AS quarters FROM page ORDER BY ${key.join(', ')}`)}
), gone AS (
  DELETE FROM ${table} AS kept USING page WHERE ${same} AND kept.quarters & ~bits = B'0'::bit(96)
), less AS (
  UPDATE ${table} AS kept SET quarters = kept.quarters & ~bits FROM page
  WHERE ${same} AND kept.quarters & ~bits <> B'0'::bit(96)
)
SELECT count(*)::int AS taken FROM page`;
}

/** The statements that take what parts have left of values. Each is to be run until it finds fewer than a slice has, before the last part goes. */
export function statementsOfParts(meter: CountingMeter): string[] {
  return OTHERS.filter((rollup) => rollup.keeps === 'values' && isKept(meter, rollup)).map(takeValuesOfParts);
}

/**
 * The statements that have the rollups of customers follow: of a part of the events, or of all. They write to the rows of the new id in the
 * order that record statements have.
 */
export function statementsFor(meter: CountingMeter, isPart: boolean): string[] {
  const others = OTHERS.filter((rollup) => isKept(meter, rollup));
  if (isPart)
    return [
      ...others.flatMap((rollup) =>
        rollup.keeps === 'usage' ? [addMoved(rollup), takeMoved(rollup)] : [addMoved(rollup)],
      ),
      addMoved(DAYS),
      addMoved(HOURS),
      takeMoved(HOURS),
      TAKE_DAYS,
    ];
  return [
    ...others.flatMap((rollup) =>
      rollup.keeps === 'usage' ? [addRows(rollup), takeRows(rollup)] : [addValues(rollup), takeValues(rollup)],
    ),
    ADD_ROWS_TO_DAYS,
    addRows(HOURS),
    takeRows(HOURS),
    TAKE_DAYS,
  ];
}

/** The statements that add the distinct values of what has stayed in the hours where they are missing. */
export function repairsFor(meter: CountingMeter): string[] {
  return OTHERS.filter((rollup) => rollup.keeps === 'values' && isKept(meter, rollup)).map((rollup) =>
    addTo(rollup, madeOf(rollup, EVENTS_OF_FROM)),
  );
}
