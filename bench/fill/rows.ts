// The statements that make rows, one for each table. What the product's own statement writes for an event, these write for
// all of them.

import { insertInto, PARTS, PLAIN_ROLLUPS, rowsOfEvents } from '@weir/db/rollups';

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

/**
 * A rollup is made of the events of one day (UTC) at a time: $1 organization, $2 meters, $3 and $4 the ids of the day. By their
 * ids, since these hold when they happened and have an index.
 */
const OF_DAY = `events WHERE organization_id = $1 AND meter_id = ANY ($2::uuid[]) AND id >= $3::uuid AND id < $4::uuid`;
const VALUES_OF_DAY = `(SELECT organization_id, meter_id, customer_external_id, "timestamp", unique_value_hash(metadata) AS value_hash
  FROM ${OF_DAY} AND meter_id IN (
    SELECT m.id FROM meters m WHERE m.organization_id = $1 AND m.aggregation_type = 'UNIQUE_COUNT')) AS valued`;

/** In all parts that workers would have written to, which is the most there is to read. */
const ANY_PART = `(uuid_hash(id) & ${PARTS - 1})::smallint`;

/**
 * By the first event of each row, as the workers write them: the rows of one customer, or meter, then lie far apart, each among
 * others of its hour. In the order of their keys they would lie side by side, and be read several times as fast as they are.
 */
const AS_THEY_CAME = 'min("timestamp")';

export const DAILY_TABLES = PLAIN_ROLLUPS.map((rollup) => {
  const rows = rowsOfEvents(rollup, rollup.keeps === 'values' ? VALUES_OF_DAY : OF_DAY, ANY_PART, AS_THEY_CAME);
  return { table: rollup.table, insert: `${insertInto(rollup)} ${rows}` };
});
