// The statements that make rows, one for each table. What the product's own statement writes for an event, these write for
// all of them: a table that is added there is added here.

/**
 * Some events, evenly over the span: $1 organization, $2 meters, $3 customers, $4 the first event and $5 the one after the
 * last, $6 how many there are in all, $7 the end in milliseconds since 1970, $8 the span in milliseconds, $9 users. Each was
 * received when it happened. Meter, quantity and user are drawn from the digest: taken in turn they would go in step with
 * the customers.
 */
export const INSERT_EVENTS = `
INSERT INTO events (id, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, metadata)
SELECT (lpad(to_hex(ms), 12, '0') || '7' || substr(digest, 1, 3) || '8' || substr(digest, 4, 15))::uuid, $1::uuid,
  ($2::uuid[])[1 + ('x' || substr(digest, 25, 7))::bit(28)::integer % cardinality($2::uuid[])], 'customer-' || (i * 7919) % $3::bigint,
  1 + ('x' || substr(digest, 20, 4))::bit(16)::integer % 10, to_timestamp(ms / 1000.0), 'fill-' || i,
  ('{"user_id":"user-' || ('x' || substr(digest, 9, 7))::bit(28)::integer % $9::integer || '","model":"large","region":"eu-central-1"}')::json
FROM (
  SELECT i, md5($1::text || i) AS digest, $7::bigint - $8::bigint + (i::numeric * $8::bigint / $6::bigint)::bigint AS ms
  FROM generate_series($4::bigint, $5::bigint - 1) AS i
) AS numbered`;

/**
 * The keys of all events of the parameters ($1 organization, $2 meters), in the order of their index: one that grew in any
 * other order would be written many times over.
 */
export const INSERT_KEYS = `
INSERT INTO idempotency_keys (key_hash, event_id)
SELECT idempotency_key_hash(organization_id, idempotency_key), id
FROM events
WHERE organization_id = $1 AND meter_id = ANY ($2::uuid[]) AND idempotency_key LIKE 'fill-%'
ORDER BY 1`;

/** By their ids, since these hold when they happened and have an index. */
const OF_DAY = `organization_id = $1 AND meter_id = ANY ($2::uuid[]) AND id >= $3::uuid AND id < $4::uuid`;

const WITH_VALUE = `${OF_DAY} AND meter_id IN (SELECT m.id FROM meters m WHERE m.organization_id = $1 AND m.aggregation_type = 'UNIQUE_COUNT')`;

const AMOUNTS = 'event_count, quantity_sum, quantity_min, quantity_max, last_timestamp, last_event_id, last_quantity';
const OF_EVENTS = `count(*), sum(quantity), min(quantity), max(quantity),
  (array_agg("timestamp" ORDER BY "timestamp" DESC, id DESC))[1],
  (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1],
  (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1]`;

const HOUR = `date_trunc('hour', "timestamp", 'UTC')`;
const DAY = `date_trunc('day', "timestamp", 'UTC')`;
const QUARTER = `date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z')`;

/**
 * By the first event of each row, as the workers write them: the rows of one customer, or meter, then lie far apart, each among
 * others of its hour. In the order of their keys they would lie side by side, and be read several times as fast as they are.
 */
const AS_THEY_CAME = 'ORDER BY min("timestamp")';

/** A table that is made of the events of one day (UTC) at a time: $1 organization, $2 meters, $3 and $4 the ids of the day. */
export interface DailyTable {
  table: string;
  insert: string;
}

/** Rows of meter, customer and a stretch of time. */
function ofCustomers(table: string, stretch: string, start: string): DailyTable {
  const insert = `
INSERT INTO ${table} (organization_id, meter_id, customer_external_id, ${stretch}, ${AMOUNTS})
SELECT organization_id, meter_id, customer_external_id, ${start}, ${OF_EVENTS}
FROM events WHERE ${OF_DAY} GROUP BY 1, 2, 3, 4 ${AS_THEY_CAME}`;
  return { table, insert };
}

/** Rows of meter, customer, a stretch of time and a distinct value. */
function ofValues(table: string, stretch: string, start: string): DailyTable {
  const insert = `
INSERT INTO ${table} (organization_id, meter_id, customer_external_id, ${stretch}, value_hash)
SELECT organization_id, meter_id, customer_external_id, ${start}, unique_value_hash(metadata)
FROM events WHERE ${WITH_VALUE} GROUP BY 1, 2, 3, 4, 5 ${AS_THEY_CAME}`;
  return { table, insert };
}

/** Rows of meter, a stretch of time and a distinct value, with what of the events. */
function ofMeterValues(
  table: string,
  [stretch, start]: [string, string],
  [column, what]: [string, string],
): DailyTable {
  const insert = `
INSERT INTO ${table} (organization_id, meter_id, ${stretch}, value_hash, ${column})
SELECT organization_id, meter_id, ${start}, unique_value_hash(metadata), ${what}
FROM events WHERE ${WITH_VALUE} GROUP BY 1, 2, 3, 4 ${AS_THEY_CAME}`;
  return { table, insert };
}

export const DAILY_TABLES: readonly DailyTable[] = [
  ofCustomers('usage_rollups', 'hour', HOUR),
  ofCustomers('usage_days', 'day', DAY),
  {
    table: 'meter_quarters',
    // In all parts that workers would have written to, which is the most there is to read.
    insert: `
INSERT INTO meter_quarters (organization_id, meter_id, quarter, part, ${AMOUNTS})
SELECT organization_id, meter_id, ${QUARTER}, (uuid_hash(id) & 3)::smallint, ${OF_EVENTS}
FROM events WHERE ${OF_DAY} GROUP BY 1, 2, 3, 4 ${AS_THEY_CAME}`,
  },
  ofValues('unique_values', 'hour', HOUR),
  ofValues('unique_days', 'day', DAY),
  ofMeterValues('meter_value_days', ['day', DAY], ['quarters', 'bit_or(quarter_bit("timestamp"))']),
  ofMeterValues('meter_value_quarters', ['quarter', QUARTER], ['first_timestamp', 'min("timestamp")']),
];
