/**
 * An event as it is staged (see StagedEvent), made of the columns of a row, as JSON text. Metadata is the text that was sent,
 * to the letter.
 */
export const EVENT_JSON = `json_strip_nulls(json_build_object('id', id, 'organization_id', organization_id, 'meter_id', meter_id,
  'customer_external_id', customer_external_id, 'quantity', trim_scale(quantity)::text,
  'timestamp', to_char("timestamp" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
  'idempotency_key', idempotency_key, 'metadata', metadata::text))::text`;
