// What corrections take out of the rollups, as SQL. A sum is less by what is taken. Of a largest, smallest or last quantity that goes,
// and of a distinct value, what is left is looked up in the events of its row: for as long as it takes to find another that says the
// same, and only where there is none for the whole row.
//
// All of it runs behind the locks of correct-events.ts, once the corrections are written: `inStream` leaves those events out then. A part of
// a quarter that was begun since then is behind none of them. So each row is written only as it was read, and `missed` says how many are
// not any more.

import { valueHash } from '../aggregations.ts';
import {
  addedUp,
  ALL_ROLLUPS,
  BEGINNING,
  columnsOf,
  keyOf,
  ROLLUPS,
  rowsOfFiner,
  USAGE_COLUMNS,
  type Rollup,
} from '../rollups.ts';
import { inStream, ofAll, own } from '../usage/usage-rows.ts';

const { customerUsageHours: HOURS, customerUsageDays: DAYS, customerGroupHours: GROUP_HOURS } = ROLLUPS;

export const ORGANIZATION = '$1::uuid';
const IDS = '$2::uuid[]';

/** How long the stretch of a row is. */
const LENGTH: Record<Rollup['grain'], string> = { hour: '1 hour', day: '24 hours', quarter: '15 minutes' };

/** The events that are taken out, with what their meter groups them by and the value that it counts, where it does. */
const TAKEN = `taken AS MATERIALIZED (
  SELECT found.*, keys, CASE WHEN keys IS NOT NULL THEN group_of(organization_id, meter_id, keys, "timestamp", metadata) END AS group_hash,
    ${valueHash('aggregation_type')}
  FROM unnest(${IDS}) AS asked (id)
  CROSS JOIN LATERAL (
    SELECT id, organization_id, meter_id, customer_external_id, "timestamp", quantity, metadata FROM events
    WHERE organization_id = ${ORGANIZATION} AND events.id = asked.id OFFSET 0
  ) AS found
  CROSS JOIN LATERAL (
    SELECT aggregation_type, nullif(metadata_keys, '{}') AS keys FROM meters
    WHERE organization_id = ${ORGANIZATION} AND meters.id = found.meter_id OFFSET 0
  ) AS meter
)`;

/** The columns of a key, as a row of `taken` has them. */
const keyOfTaken = (rollup: Rollup): string[] =>
  keyOf(rollup).map((name) => (name === rollup.grain ? `${BEGINNING[rollup.grain]('"timestamp"')} AS ${name}` : name));

export const sameKey = (rollup: Rollup, one: string, other: string): string =>
  keyOf(rollup)
    .map((name) => `${one}.${name} = ${other}.${name}`)
    .join(' AND ');

/** Events that are left in the stretch of a row, of its group where it has one: those of its customer, or of everybody. */
export function leftIn(rollup: Rollup, row: string, columns: string, condition: string): string {
  const scope = { organization: ORGANIZATION, meter: `${row}.meter_id` };
  const at = `${row}.${rollup.grain}`;
  const ofGroup =
    rollup.isGrouped === true
      ? `AND group_of(organization_id, meter_id, ${row}.keys, "timestamp", metadata) = ${row}.group_hash`
      : '';
  const of = (customer: string): string => `SELECT ${columns} FROM events WHERE ${inStream(scope, customer)}
    AND "timestamp" >= ${at} AND "timestamp" < ${at} + interval '${LENGTH[rollup.grain]}' AND ${condition} ${ofGroup}`;
  if (rollup.scope === 'customer') return of(`${row}.customer_external_id`);
  // Nobody else has an event of the group: these rows have changed before. To tell the group of an event costs far more than to read it.
  const rows =
    rollup.isGrouped === true
      ? `${GROUP_HOURS.table} WHERE ${ofAll(scope)} AND hour = ${BEGINNING.hour(at)} AND group_hash = ${row}.group_hash`
      : `${DAYS.table} WHERE ${ofAll(scope)} AND day = ${BEGINNING.day(at)}`;
  return `SELECT each.* FROM (
      SELECT customer_external_id AS customer FROM ${rows} OFFSET 0
    ) AS someone CROSS JOIN LATERAL (${of('someone.customer')} OFFSET 0) AS each`;
}

/** What a smallest or largest quantity is now. */
function extremeOf(rollup: Rollup, column: string, isElsewhere: string, taken: string, made: string): string {
  const still = leftIn(rollup, 'there', 'quantity', `quantity = there.${column}`);
  const left = leftIn(rollup, 'there', 'quantity', 'true');
  return `CASE WHEN there.events = there.event_count THEN NULL WHEN there.${column} ${isElsewhere} there.${taken} OR EXISTS (${still})
    THEN there.${column} ELSE (SELECT ${made}(quantity) FROM (${left}) AS each) END AS ${column}`;
}

/**
 * A statement that takes the events out of a rollup of usage that is made of them. Of several parts one stays, which has it all. It returns
 * how many rows others have written to since it began (`xmin` is who wrote a row).
 */
function takeUsage(rollup: Rollup): string {
  const { table, isGrouped } = rollup;
  const [key, isSplit] = [keyOf(rollup), rollup.isSplit === true];
  const places = [...key.keys(), ...(isGrouped === true ? [key.length] : [])].map((index) => index + 1).join(', ');
  const isLastGone = 'there.event_count > there.events AND there.last_event_id = ANY (there.ids)';
  const last = leftIn(rollup, 'there', '"timestamp", id, quantity', isLastGone);
  const asRead = `${sameKey(rollup, 'kept', 'still')} AND kept.xmin = ANY (still.writers)`;
  return `WITH ${TAKEN}, gone AS MATERIALIZED (
  SELECT ${[...keyOfTaken(rollup), ...(isGrouped === true ? ['keys'] : [])].join(', ')},
    count(*) AS events, sum(quantity) AS quantity, min(quantity) AS least, max(quantity) AS most, array_agg(id) AS ids
  FROM taken ${isGrouped === true ? 'WHERE group_hash IS NOT NULL' : ''} GROUP BY ${places}
), there AS MATERIALIZED (
  SELECT gone.*, kept.* FROM gone CROSS JOIN LATERAL (
    SELECT ${USAGE_COLUMNS.map((name) => `${addedUp(name)} AS ${name}`).join(', ')}, array_agg(xmin) AS writers
      ${isSplit ? ', min(part) AS part' : ''}
    FROM ${table} AS rows WHERE ${sameKey(rollup, 'rows', 'gone')} OFFSET 0
  ) AS kept WHERE kept.event_count IS NOT NULL
), still AS MATERIALIZED (
  SELECT ${key.map((name) => `there.${name}`).join(', ')} ${isSplit ? ', there.part' : ''}, there.writers,
    (there.event_count - there.events)::bigint AS event_count, there.quantity_sum - there.quantity AS quantity_sum,
    ${extremeOf(rollup, 'quantity_min', '<', 'least', 'min')},
    ${extremeOf(rollup, 'quantity_max', '>', 'most', 'max')},
    coalesce(last."timestamp", there.last_timestamp) AS last_timestamp, coalesce(last.id, there.last_event_id) AS last_event_id,
    coalesce(last.quantity, there.last_quantity) AS last_quantity
  FROM there LEFT JOIN LATERAL (
    SELECT * FROM (${last}) AS each ORDER BY "timestamp" DESC, id DESC LIMIT 1
  ) AS last ON true
), emptied AS (
  DELETE FROM ${table} AS kept USING still
  WHERE ${asRead} AND (still.event_count <= 0 ${isSplit ? 'OR kept.part <> still.part' : ''}) RETURNING 1
), changed AS (
  UPDATE ${table} AS kept SET ${USAGE_COLUMNS.map((name) => `${name} = still.${name}`).join(', ')} FROM still
  WHERE ${asRead} AND still.event_count > 0 ${isSplit ? 'AND kept.part = still.part' : ''} RETURNING 1
)
SELECT (SELECT coalesce(sum(cardinality(writers)), 0) FROM still)::int
  - (SELECT count(*) FROM emptied)::int - (SELECT count(*) FROM changed)::int AS missed`;
}

/** Days are made of their hours, which have changed before. */
const TAKE_DAYS = `WITH touched AS MATERIALIZED (
  SELECT DISTINCT meter_id, customer_external_id, ${BEGINNING.day('"timestamp"')} AS day
  FROM events WHERE organization_id = ${ORGANIZATION} AND id = ANY (${IDS})
), still AS MATERIALIZED (
  ${rowsOfFiner(
    DAYS,
    HOURS,
    `(SELECT found.* FROM touched CROSS JOIN LATERAL (
      SELECT * FROM ${HOURS.table}
      WHERE ${own({ organization: ORGANIZATION, meter: 'touched.meter_id', customer: 'touched.customer_external_id' })}
        AND hour >= touched.day AND hour < touched.day + interval '24 hours' OFFSET 0) AS found) AS hours`,
  )}
), emptied AS (
  DELETE FROM ${DAYS.table} AS kept USING touched
  WHERE kept.organization_id = ${ORGANIZATION} AND (kept.meter_id, kept.customer_external_id, kept.day)
      = (touched.meter_id, touched.customer_external_id, touched.day)
    AND NOT EXISTS (SELECT FROM still WHERE ${sameKey(DAYS, 'kept', 'still')})
)
UPDATE ${DAYS.table} AS kept SET ${columnsOf(DAYS)
  .map((name) => `${name} = still.${name}`)
  .join(', ')}
FROM still WHERE ${sameKey(DAYS, 'kept', 'still')}`;

/** A statement that takes quarters of an hour off the values that no event has in them any more. It returns how many values. */
function takeValues(rollup: Rollup): string {
  const { table, isGrouped, scope } = rollup;
  const key = keyOf(rollup);
  const isOfGroup = isGrouped === true;
  const places = key.map((_, index) => index + 1).join(', ');
  // What remains is joined in full, which can only be hashed or merged, and stays so behind OFFSET: there may be thousands on both sides.
  return `WITH ${TAKEN}, quarters AS MATERIALIZED (
  SELECT DISTINCT ${keyOfTaken(rollup).join(', ')}, ${BEGINNING.quarter('"timestamp"')} AS quarter ${isOfGroup ? ', keys' : ''}
  FROM taken WHERE value_hash IS NOT NULL ${isOfGroup ? 'AND group_hash IS NOT NULL' : ''}
), ${scope === 'customer' ? goneOfCustomers(rollup) : goneOfAll(rollup)},
gone AS MATERIALIZED (
  SELECT ${key.join(', ')}, bit_or(quarter_bit(quarter)) AS quarters FROM emptied_quarters GROUP BY ${places}
), emptied AS (
  DELETE FROM ${table} AS kept USING gone
  WHERE ${sameKey(rollup, 'kept', 'gone')} AND kept.quarters & ~gone.quarters = B'0'::bit(96)
), changed AS (
  UPDATE ${table} AS kept SET quarters = kept.quarters & ~gone.quarters FROM gone
  WHERE ${sameKey(rollup, 'kept', 'gone')} AND kept.quarters & ~gone.quarters <> B'0'::bit(96)
)
SELECT count(*)::int AS gone FROM gone`;
}

/** Of so many values of a quarter each is looked for by itself, which ends with the first event that has it. Of more the quarter is read once. */
const VALUES_APART_MAX = 4;

/** The parts that find the values that no event of the customer has in a quarter any more. */
function goneOfCustomers(rollup: Rollup): string {
  const ofGroup = rollup.isGrouped === true;
  const stretch = ['meter_id', 'customer_external_id', 'quarter', ...(ofGroup ? ['keys'] : [])];
  const names = [...stretch.slice(0, 3), ...(ofGroup ? ['group_hash'] : []), 'value_hash'];
  const byQuarter: Rollup = { ...rollup, grain: 'quarter' };
  const group = 'group_of(organization_id, meter_id, many.keys, "timestamp", metadata) AS group_hash, ';
  const values = `${ofGroup ? group : ''}unique_value_hash(metadata) AS value_hash`;
  return `counted AS MATERIALIZED (
  SELECT *, count(*) OVER (PARTITION BY meter_id, customer_external_id, quarter) AS values FROM quarters
), remaining AS MATERIALIZED (
  SELECT DISTINCT ${names.map((name) => (stretch.includes(name) ? `many.${name}` : `found.${name}`)).join(', ')}
  FROM (SELECT DISTINCT ${stretch.join(', ')} FROM counted WHERE values > ${VALUES_APART_MAX}) AS many
  CROSS JOIN LATERAL (${leftIn({ ...byQuarter, isGrouped: false }, 'many', values, 'true')} OFFSET 0) AS found
), compared AS (
  SELECT counted.*, remaining.value_hash IS NOT NULL AS is_left FROM counted
    FULL JOIN remaining ON ${names.map((name) => `remaining.${name} = counted.${name}`).join(' AND ')} OFFSET 0
), emptied_quarters AS (
  SELECT * FROM compared AS asked WHERE meter_id IS NOT NULL AND NOT is_left AND NOT (values <= ${VALUES_APART_MAX}
    AND EXISTS (${leftIn(byQuarter, 'asked', '', 'unique_value_hash(metadata) = asked.value_hash')}))
)`;
}

/** Of more values than these the values of a day are all put together, and else each is compared with these. */
const VALUES_COMPARED_MAX = 50;

/** The parts that find the values that no customer has in a quarter any more, whose rows have changed before. The values of a day are read once. */
function goneOfAll(rollup: Rollup): string {
  const ofCustomers = rollup.madeOf?.table ?? '';
  const names = [...(rollup.isGrouped === true ? ['group_hash'] : []), 'value_hash'];
  return `remaining AS MATERIALIZED (
  SELECT days.meter_id, days.day, found.*
  FROM (SELECT meter_id, day, array_agg(DISTINCT value_hash) AS hashes FROM quarters GROUP BY 1, 2) AS days
  CROSS JOIN LATERAL (
    SELECT ${names.join(', ')}, bit_or(quarters) AS present FROM ${ofCustomers} AS kept
    WHERE ${ofAll({ organization: ORGANIZATION, meter: 'days.meter_id' })} AND day = days.day
      AND (cardinality(days.hashes) > ${VALUES_COMPARED_MAX} OR value_hash = ANY (days.hashes))
    GROUP BY ${names.join(', ')} OFFSET 0
  ) AS found
), compared AS (
  SELECT quarters.*, coalesce(present & quarter_bit(quarter) <> B'0'::bit(96), false) AS is_left FROM quarters
    FULL JOIN remaining ON ${['meter_id', 'day', ...names].map((name) => `remaining.${name} = quarters.${name}`).join(' AND ')} OFFSET 0
), emptied_quarters AS (
  SELECT * FROM compared WHERE meter_id IS NOT NULL AND NOT is_left
)`;
}

const statementOf = (rollup: Rollup): string => {
  if (rollup.keeps === 'values') return takeValues(rollup);
  return rollup === DAYS ? TAKE_DAYS : takeUsage(rollup);
};

const STATEMENTS = ALL_ROLLUPS.map((rollup) => ({ rollup, text: statementOf(rollup) }));

/** What events need: those of meters that name keys of the metadata, or that count distinct values, are in more rollups. */
interface Needs {
  isGrouped: boolean;
  hasValues: boolean;
}

/** What a statement that takes usage out of a rollup says of it. */
export interface Taken {
  /** Of values: how many no event has any more. */
  gone?: number;
  /** Of usage: how many rows have been written to by others meanwhile, and are as these left them. */
  missed?: number;
}

/**
 * What takes events ($2) of an organization ($1) out of its rollups, in the order in which every statement writes to them. Each returns
 * a {@link Taken}.
 */
export function statementsFor({ isGrouped, hasValues }: Needs): string[] {
  return STATEMENTS.flatMap(({ rollup, text }) => {
    const isNeeded = (isGrouped || rollup.isGrouped !== true) && (hasValues || rollup.keeps === 'usage');
    return isNeeded ? [text] : [];
  });
}
