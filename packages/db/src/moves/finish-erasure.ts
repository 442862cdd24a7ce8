// What is left to do of an erasure when no usage has the former id any more: what was kept of events that do not count, crossings of
// alerts, answers that are kept for repeats, the audit log, the feed, what receivers of it answered, and last what bills (erase-bills.ts):
// its subscriptions get the new id in the transaction that ends the erasure.
//
// Each of these is a walk, page by page (perform-moves.ts), that finds what it has not done yet. Those that others may write to meanwhile
// go on to what is newest by then.

import { sql } from 'kysely';
import { touchUsage, type Touched } from '../alerts/touched-usage.ts';
import { CUSTOMER_NAMES } from '../customer-fields.ts';
import type { Queries } from '../database.ts';
import { alsoOf, hashed, ofCustomer } from '../of-organization.ts';
import { ROLLUPS } from '../rollups.ts';
import { eraseCopies, eraseDues } from './erase-bills.ts';
import { deleteWidgetTokensOf } from '../widget-tokens.ts';
import { BEFORE_ALL, ERASED, type RunningMove, type Walk } from './usage-moves.ts';

/** Rows that one statement looks at, or sequences of the feed: it takes well under a second. */
const ROWS_MAX = 10_000;

/** Rows with texts of some kilobytes, or whose keys in indexes change. */
const TEXTS_MAX = 1_000;

/** Bytes of answers, or of entries of the audit log, of which each may name thousands of things. */
const BYTES_MAX = 2_000_000;

/** After these nothing that is kept names the customer, but its subscriptions and invoices. */
export const ERASURE_WALKS: Record<string, Walk> = {
  tokens: deleteTokens,
  touched: deleteTouched,
  rejected: eraseRejected,
  duplicates: eraseDuplicates,
  claims: deleteClaims,
  crossings: eraseCrossings,
  answers: eraseKeptAnswers,
  alerts: eraseAlerts,
  former: eraseFormerRecords,
  audit: eraseAudit,
  feed: eraseFeed,
  deliveries: eraseAnswersOfReceivers,
  copies: eraseCopies,
  dues: eraseDues,
};

/**
 * Where the erasure of a record begins that is erased already, and of which only copies can go: the stages before look for what has a
 * former id, and its usage has none.
 */
export const ERASED_AGAIN = 'answers';

/** They have ended, and there may be more than the request has deleted. No more are made of usage that is being moved. */
async function deleteTokens(db: Queries, move: RunningMove): Promise<string | undefined> {
  const { organization_id, from_external_id: customer_external_id } = move;
  const deleted = await deleteWidgetTokensOf(db, { organization_id, customer_external_id }, ROWS_MAX);
  return deleted < ROWS_MAX ? undefined : '';
}

/**
 * Waits for whoever took such a row before the erasure was asked for: what he writes down of the former id is there when crossings are
 * erased. Whoever takes one later leaves the customer out.
 */
async function deleteTouched(db: Queries, { organization_id, from_external_id }: RunningMove): Promise<undefined> {
  await sql`DELETE FROM touched_usage
    WHERE organization_id = ${organization_id}::uuid AND customer_external_id = ${from_external_id}::text`.execute(db);
}

// Of an event that does not count stays what it was for, so that it is still one that was accepted, and can be replayed.
const KEPT_OF_EVENT = ['id', 'organization_id', 'meter_id', 'quantity', 'timestamp', 'aggregation'] as const;

function withoutNames(event: string, to: string): string {
  const staged = JSON.parse(event) as Record<string, unknown>;
  const kept = Object.fromEntries(KEPT_OF_EVENT.flatMap((name) => (name in staged ? [[name, staged[name]]] : [])));
  return JSON.stringify({ ...kept, customer_external_id: to });
}

/** Their texts may be such that Postgres cannot take them apart. */
async function eraseRejected(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, from_external_id, to_external_id } = move;
  const { rows } = await sql<{ id: string; event: string; is_own: boolean }>`
    SELECT id, CASE WHEN is_own THEN event END AS event, is_own FROM (
      SELECT id, event, customer_external_id = ${from_external_id}::text AS is_own FROM rejected_events
      WHERE organization_id = ${organization_id}::uuid AND id > ${after || BEFORE_ALL}::uuid ORDER BY id LIMIT ${TEXTS_MAX}) AS page`.execute(
    db,
  );
  const own = rows.filter(({ is_own }) => is_own);
  if (own.length > 0)
    await sql`UPDATE rejected_events SET customer_external_id = ${to_external_id}, event = own.event,
        reason = regexp_replace(reason, '^(Postgres does not take it).*', '\\1')
      FROM unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ event }) => withoutNames(event, to_external_id))}::text[]) AS own (id, event)
      WHERE organization_id = ${organization_id}::uuid AND rejected_events.id = own.id`.execute(db);
  return lastOf(rows, TEXTS_MAX);
}

/** Those that are found are not found again. */
async function eraseDuplicates(db: Queries, move: RunningMove): Promise<string | undefined> {
  const { organization_id, from_external_id, to_external_id } = move;
  const { rows: own } = await sql<{ id: string; event: string }>`
    SELECT id, event FROM duplicate_events
    WHERE organization_id = ${organization_id}::uuid AND event::json ->> 'customer_external_id' = ${from_external_id}::text
    ORDER BY id LIMIT ${TEXTS_MAX}`.execute(db);
  await sql`UPDATE duplicate_events SET event = own.event
    FROM unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ event }) => withoutNames(event, to_external_id))}::text[]) AS own (id, event)
    WHERE organization_id = ${organization_id}::uuid AND duplicate_events.id = own.id`.execute(db);
  return own.length < TEXTS_MAX ? undefined : '';
}

/** Those of its events, which have the new id by now. Redis takes one that is sent again then, and a worker finds out whether it counts. */
async function deleteClaims(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, to_external_id } = move;
  const isOf = (table: string) => sql`EXISTS (SELECT FROM ${sql.table(table)} AS kept
    WHERE kept.organization_id = ${organization_id}::uuid AND kept.id = page.event_id AND kept.customer_external_id = ${to_external_id} OFFSET 0)`;
  const { rows } = await sql<{ id: string }>`
    WITH page AS MATERIALIZED (
      SELECT key_hash, event_id, organization_id = ${organization_id}::uuid AS is_here FROM pending_claims
      WHERE key_hash > ${after || BEFORE_ALL}::uuid ORDER BY key_hash LIMIT ${ROWS_MAX}
    ), gone AS (
      DELETE FROM pending_claims AS claims USING page
      WHERE claims.key_hash = page.key_hash AND is_here AND (${isOf('events')} OR ${isOf('rejected_events')})
    )
    SELECT key_hash AS id FROM page`.execute(db);
  return lastOf(rows, ROWS_MAX);
}

/** The same of crossings, found alert by alert. One that the new id has as well goes: each is there once. */
async function eraseCrossings(db: Queries, move: RunningMove): Promise<string | undefined> {
  const { organization_id, from_external_id, to_external_id } = move;
  const own = sql`organization_id = ${organization_id}::uuid AND alert_id = alerts.id AND customer_external_id = ${from_external_id}::text`;
  const { rows } = await sql<{ id: string }>`
    SELECT found.id FROM alerts CROSS JOIN LATERAL (
      SELECT id FROM alert_crossings WHERE ${own} AND currency IS NULL
      UNION ALL SELECT id FROM alert_crossings WHERE ${own} AND currency IS NOT NULL AND subscription_id = ANY (ARRAY(
        SELECT id FROM subscriptions WHERE ${billedAs(move)}))
      OFFSET 0
    ) AS found WHERE alerts.organization_id = ${organization_id}::uuid LIMIT ${TEXTS_MAX}`.execute(db);
  const found = sql`organization_id = ${organization_id}::uuid AND id = ANY (${rows.map(({ id }) => id)}::uuid[])`;
  await sql`DELETE FROM alert_crossings AS former WHERE ${found} AND currency IS NULL
    AND EXISTS (SELECT FROM alert_crossings AS kept
      WHERE kept.organization_id = ${organization_id}::uuid AND kept.alert_id = former.alert_id AND kept.currency IS NULL
        AND kept.customer_external_id = ${to_external_id} AND kept.period_start = former.period_start
        AND kept.threshold = former.threshold)`.execute(db);
  await sql`UPDATE alert_crossings SET customer_external_id = ${to_external_id} WHERE ${found}`.execute(db);
  return rows.length < TEXTS_MAX ? undefined : '';
}

/** Members that name a customer, where another thing is told. What else has the same text is not its name: an amount, say. */
const NAMING = ['customer_external_id', 'from_external_id', 'to_external_id'];

/** The ids that answers may name. */
const ID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

/** A repeat of what was asked about the customer is not done again, and is told nothing any more; that of the erasure is. */
async function eraseKeptAnswers(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, id, from_external_id } = move;
  // Quotes inside of texts are escaped, so nothing else looks like these.
  const names = [...NAMING, 'external_id'].map((name) => `"${name}":${JSON.stringify(from_external_id)}`);
  const [since = '', hash = ''] = after === '' ? ['-infinity'] : after.split(' ');
  const { rows } = await sql<{ created_at: string; hash: string }>`
    WITH page AS MATERIALIZED (
      SELECT key_hash, created_at FROM (
        SELECT key_hash, created_at, sum(bytes) OVER (ORDER BY created_at, key_hash) - bytes AS before FROM (
          SELECT key_hash, created_at, bytes FROM request_keys
          WHERE organization_id = ${organization_id}::uuid
            AND created_at >= ${since}::timestamptz AND (created_at, key_hash) > (${since}::timestamptz, decode(${hash}, 'hex'))
          ORDER BY created_at, key_hash LIMIT ${ROWS_MAX}) AS next) AS summed
      WHERE before < ${BYTES_MAX}
    ), own AS MATERIALIZED (
      SELECT page.key_hash FROM page CROSS JOIN LATERAL (
        SELECT answer FROM request_keys WHERE organization_id = ${organization_id}::uuid AND key_hash = page.key_hash OFFSET 0) AS kept
      WHERE strpos(answer, ${id}) = 0
        AND (EXISTS (SELECT FROM unnest(${names}::text[]) AS named WHERE strpos(answer, named) > 0) OR EXISTS (
          SELECT FROM regexp_matches(answer, ${ID}, 'g') AS named WHERE named[1] = ANY (${await listOwn(db, move)}::text[])))
    ), written AS (
      UPDATE request_keys AS keys SET answer = '{}', withheld = ARRAY(SELECT json_object_keys(answer::json)) FROM own
      WHERE keys.organization_id = ${organization_id}::uuid AND keys.key_hash = own.key_hash
    )
    SELECT created_at, encode(key_hash, 'hex') AS hash FROM page ORDER BY page.created_at, page.key_hash`.execute(db);
  const last = rows.at(-1);
  return last && `${last.created_at} ${last.hash}`;
}

/** Of an invoice, and of a payment. */
const WITHOUT_TEXTS = sql`'{"reference": null, "note": null}'::jsonb`;

/**
 * The ids that the organization gave to its subscriptions may be made of names, crossings of alerts name whose they are, and so may
 * alerts over one customer; what was written to payments goes with the copies on invoices. Events of the record may say an external id that
 * it had before.
 */
async function eraseFeed(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, customer_id, from_external_id, to_external_id, copies_issued_before } = move;
  const until = Number(after) + ROWS_MAX;
  const page = sql`organization_id = ${organization_id}::uuid AND sequence > ${Number(after)} AND sequence <= ${until}`;
  await sql`UPDATE billing_events SET data = data || '{"external_id": null}'
    WHERE ${page} AND data ->> 'customer_id' = ${customer_id}::text AND data ->> 'external_id' IS NOT NULL`.execute(db);
  if (copies_issued_before !== null)
    await sql`UPDATE billing_events SET data = data || ${WITHOUT_TEXTS}
        || CASE WHEN data ? 'payment' THEN jsonb_build_object('payment', data -> 'payment' || ${WITHOUT_TEXTS}) ELSE '{}' END
      WHERE ${page} AND data ->> 'customer_id' = ${customer_id}::text
        AND (data ->> 'issue_date')::date < ${copies_issued_before}::date`.execute(db);
  await sql`UPDATE billing_events SET data = data || jsonb_build_object('name', ${ERASED}::text)
    WHERE ${page} AND type = 'usage.threshold_reached'
      AND (data ->> 'customer_id' = ${customer_id}::text OR data ->> 'customer_external_id' = ${from_external_id}::text)
      AND NOT EXISTS (SELECT FROM alerts WHERE alerts.organization_id = ${organization_id}::uuid
        AND alerts.id = (data ->> 'alert_id')::uuid AND alerts.customer_id IS NULL)`.execute(db);
  await sql`UPDATE billing_events SET data = data || jsonb_build_object('customer_external_id', ${to_external_id}::text)
    WHERE ${page} AND (data ->> 'customer_external_id' = ${from_external_id}::text
      OR data ->> 'customer_external_id' IS NOT NULL AND data ->> 'customer_id' = ${customer_id}::text)`.execute(db);
  const { rows } = await sql`SELECT FROM billing_events
    WHERE organization_id = ${organization_id}::uuid AND sequence > ${until} LIMIT 1`.execute(db);
  return rows.length === 0 ? undefined : String(until);
}

/**
 * A receiver may have quoted what it was sent, and is sent from here on what the feed says by now. Endpoints are held before deliveries, as
 * whoever writes down what was answered holds them.
 */
async function eraseAnswersOfReceivers(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, customer_id, to_external_id } = move;
  const { rows } = await sql<{ id: string }>`
    WITH held AS MATERIALIZED (
      SELECT id FROM webhook_endpoints WHERE organization_id = ${organization_id}::uuid ORDER BY id FOR NO KEY UPDATE
    ), page AS MATERIALIZED (
      SELECT id, sequence FROM webhook_deliveries
      WHERE organization_id = ${organization_id}::uuid AND id > ${after || BEFORE_ALL}::uuid AND (SELECT count(*) FROM held) > 0
      ORDER BY id LIMIT ${TEXTS_MAX}
    ), own AS MATERIALIZED (
      SELECT page.id FROM page CROSS JOIN LATERAL (
        SELECT data FROM billing_events
        WHERE organization_id = ${organization_id}::uuid AND billing_events.sequence = page.sequence OFFSET 0) AS event
      WHERE data ->> 'customer_id' = ${customer_id}::text OR data ->> 'customer_external_id' = ${to_external_id}
    ), written AS (
      UPDATE webhook_deliveries AS deliveries SET attempts = (
        SELECT jsonb_agg(attempt || '{"answer": null}' ORDER BY place)
        FROM jsonb_array_elements(attempts) WITH ORDINALITY AS made (attempt, place))
      FROM own
      WHERE deliveries.organization_id = ${organization_id}::uuid AND deliveries.id = own.id AND attempts <> '[]'
    )
    SELECT id FROM page`.execute(db);
  return lastOf(rows, TEXTS_MAX);
}

/** What was sent of alerts over the customer alone, one alert after the other. The entry of its making, which names the customer, may be gone. */
async function eraseAlerts(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, alert_ids } = move;
  const [at = '', entry = BEFORE_ALL] = after === '' ? ['0'] : after.split(' ');
  const alertId = alert_ids[Number(at)];
  if (alertId === undefined) return undefined;
  const { rows } = await sql<{ id: string }>`
    WITH page AS MATERIALIZED (
      SELECT id FROM audit_entries
      WHERE resource_id = ${alertId}::uuid AND ${alsoOf(organization_id)} AND id > ${entry}::uuid
      ORDER BY id LIMIT ${TEXTS_MAX}
    ), written AS (
      UPDATE audit_entries AS entries SET changes = NULL FROM page
      WHERE entries.organization_id = ${organization_id}::uuid AND entries.id = page.id AND entries.changes IS NOT NULL
    )
    SELECT id FROM page`.execute(db);
  const last = lastOf(rows, TEXTS_MAX);
  return last === undefined ? `${Number(at) + 1} ${BEFORE_ALL}` : `${at} ${last}`;
}

/** A page of the audit log, as `page`: of entries that are not large in all. */
const auditPage = (organizationId: string, after: string) => sql`page AS MATERIALIZED (
  SELECT id, action, resource_id, changes FROM (
    SELECT *, sum(bytes) OVER (ORDER BY id) - bytes AS before FROM (
      SELECT id, action, resource_id, changes, coalesce(pg_column_size(changes), 0) AS bytes FROM audit_entries
      WHERE organization_id = ${organizationId}::uuid AND id > ${after || BEFORE_ALL}::uuid ORDER BY id LIMIT ${ROWS_MAX}) AS next) AS summed
  WHERE before < ${BYTES_MAX})`;

/**
 * What was sent of records that had the external id and were deleted, and of alerts on these or the customer, goes wherever it stands. So
 * does what was sent to make a record that would have got its id as the external id, and of which it is not known what came: by its names.
 */
async function eraseFormerRecords(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, id, customer_id, from_external_id } = move;
  const isNamesake = sql`action = 'customer.create' AND resource_id IS NULL AND changes ->> 'external_id' IS NULL
    AND ARRAY[${sql.join(CUSTOMER_NAMES.map((name) => sql`name_hash(changes ->> ${name}::text)`))}] && (
      SELECT name_hashes FROM usage_moves WHERE organization_id = ${organization_id}::uuid AND id = ${id}::uuid)`;
  const { rows } = await sql<{ id: string }>`
    WITH ${auditPage(organization_id, after)}, named AS MATERIALIZED (
      SELECT id, resource_id FROM page
      WHERE action IN ('customer.create', 'customer.update')
        AND (changes ->> 'external_id' = ${from_external_id}::text OR resource_id::text = ${from_external_id}::text OR ${isNamesake})
        AND NOT EXISTS (SELECT FROM customers WHERE customers.organization_id = ${organization_id}::uuid AND customers.id = page.resource_id)
    ), own AS MATERIALIZED (
      SELECT resource_id FROM named WHERE resource_id IS NOT NULL
      UNION SELECT resource_id FROM audit_entries
      WHERE ${hashed(organization_id, 0)} AND action = 'alert.create'
        AND changes ->> 'customer_id' IN (SELECT resource_id::text FROM named)
      UNION SELECT resource_id FROM page WHERE action = 'alert.create' AND changes ->> 'customer_id' = ${customer_id}::text
    ), written AS (
      UPDATE audit_entries AS entries SET changes = NULL
      WHERE entries.organization_id = ${organization_id}::uuid AND entries.changes IS NOT NULL AND entries.id = ANY (ARRAY(
        SELECT id FROM named
        UNION SELECT found.id FROM own CROSS JOIN LATERAL (SELECT id FROM audit_entries AS kept
          WHERE kept.resource_id = own.resource_id AND ${alsoOf(organization_id)} OFFSET 0) AS found))
    )
    SELECT id FROM page ORDER BY id`.execute(db);
  return rows.at(-1)?.id;
}

/** Who changed what stays; what was sent goes where it is about the customer. Where another thing is told to it, the name goes. */
async function eraseAudit(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, from_external_id, to_external_id } = move;
  const own = sql`${await listOwn(db, move)}::uuid[]`;
  const isOf = (table: string) => sql`EXISTS (SELECT FROM ${sql.table(table)} AS kept
    WHERE kept.organization_id = ${organization_id}::uuid AND kept.id = page.resource_id AND kept.customer_external_id = ${to_external_id})`;
  // One that was rejected may have been replayed, and have come twice.
  const isDuplicate = sql`EXISTS (SELECT FROM duplicate_events AS kept WHERE kept.organization_id = ${organization_id}::uuid
    AND kept.id = page.resource_id AND kept.event::json ->> 'customer_external_id' = ${to_external_id}::text)`;
  const isCorrected = sql`EXISTS (
    SELECT FROM jsonb_array_elements(page.changes -> 'corrections') AS asked CROSS JOIN LATERAL (
      SELECT customer_external_id FROM events AS kept WHERE kept.organization_id = ${organization_id}::uuid
        AND kept.id = (asked ->> 'event_id')::uuid OFFSET 0) AS kept
    WHERE kept.customer_external_id = ${to_external_id})`;
  const isOwn = sql`(page.resource_id = ANY (${own}) OR page.changes ->> 'customer_id' = ANY (${own}::text[])
    OR page.changes ->> 'invoice_id' = ANY (${own}::text[])
    OR action IN ('event.replay', 'event.void', 'event.amend') AND (${isOf('events')} OR ${isOf('rejected_events')} OR ${isDuplicate})
    OR action = 'correction.create' AND ${isCorrected}) IS TRUE`;
  const member = (name: string, value: string) => `"${name}": ${JSON.stringify(value)}`;
  const has = (name: string) => sql`strpos(changes::text, ${member(name, from_external_id)}) > 0`;
  // An external_id of something else is not that of a customer.
  const isNamed = sql`(${sql.join(NAMING.map(has), sql` OR `)} OR action LIKE 'customer.%' AND ${has('external_id')})`;
  const unnamed = [...NAMING, 'external_id'].reduce(
    (text, name) => sql`replace(${text}, ${member(name, from_external_id)}, ${member(name, ERASED)})`,
    sql`changes::text`,
  );
  const { rows } = await sql<{ id: string }>`
    WITH ${auditPage(organization_id, after)}, erased AS MATERIALIZED (
      SELECT id, CASE WHEN NOT is_own THEN ${unnamed}::jsonb END AS changes
      FROM (SELECT page.*, ${isOwn} AS is_own FROM page WHERE changes IS NOT NULL) AS page
      WHERE is_own OR ${isNamed}
    ), written AS (
      UPDATE audit_entries AS entries SET changes = erased.changes FROM erased
      WHERE entries.organization_id = ${organization_id}::uuid AND entries.id = erased.id
    )
    SELECT id FROM page ORDER BY id`.execute(db);
  return rows.at(-1)?.id;
}

/** Which subscriptions have the former id. */
const billedAs = ({ organization_id, from_external_id }: RunningMove) =>
  ofCustomer(organization_id, 'subscriptions.customer_external_id', sql`${from_external_id}::text`);

/** The ids of the customer, and of what was made for it. */
async function listOwn(db: Queries, move: RunningMove): Promise<string[]> {
  const { organization_id, customer_id, from_external_id } = move;
  const ofRecord = sql`organization_id = ${organization_id}::uuid AND customer_id = ${customer_id}::uuid`;
  const { rows } = await sql<{ id: string }>`
    SELECT ${customer_id}::uuid AS id WHERE ${customer_id}::uuid IS NOT NULL
    UNION SELECT id FROM subscriptions WHERE ${billedAs(move)}
    UNION SELECT id FROM subscriptions WHERE ${ofRecord}
    UNION SELECT id FROM invoices WHERE ${ofRecord}
    UNION SELECT id FROM credit_grants WHERE ${ofRecord}
    UNION SELECT id FROM usage_moves WHERE organization_id = ${organization_id}::uuid AND kind = 'MOVE'
      AND (from_external_id = ${from_external_id} OR to_external_id = ${from_external_id})`.execute(db);
  return rows.map(({ id }) => id);
}

/** Behind which of them, in the order of their ids, the next page begins; undefined where there is none. */
function lastOf(rows: readonly { id: string }[], max: number): string | undefined {
  return rows.length < max ? undefined : rows.map(({ id }) => id).reduce((one, other) => (other > one ? other : one));
}

/** Ends an erasure: nothing that is kept names the customer then, but for invoices. False: it has been ended. Needs a transaction. */
export async function endErasure(transaction: Queries, move: RunningMove): Promise<boolean> {
  const { organization_id, id, customer_id, from_external_id, to_external_id } = move;
  const own = sql`organization_id = ${organization_id}::uuid`;
  const former = sql`customer_external_id = ${from_external_id}::text`;
  const { rows: running } =
    await sql`SELECT FROM usage_moves WHERE ${own} AND id = ${id}::uuid AND finished_at IS NULL FOR UPDATE`.execute(
      transaction,
    );
  if (running.length === 0) return false;
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM subscriptions WHERE ${billedAs(move)} ORDER BY id FOR UPDATE`.execute(transaction);
  await sql`UPDATE billed_meters SET customer_external_id = ${to_external_id}
    WHERE ${own} AND subscription_id = ANY (${rows.map((row) => row.id)}::uuid[]) AND ${former}`.execute(transaction);
  await sql`UPDATE subscriptions SET customer_external_id = ${to_external_id}, external_id = NULL, cancel_reason = NULL
    WHERE ${billedAs(move)}`.execute(transaction);
  await sql`DELETE FROM widget_tokens WHERE ${own} AND ${former}`.execute(transaction);
  await sql`DELETE FROM ended_widget_tokens WHERE ${own} AND ${former}`.execute(transaction);
  await touchUsage(transaction, organization_id, [
    { customerExternalId: to_external_id, meterId: null },
    ...(await listLeft(transaction, move)),
  ]);
  if (customer_id !== null) {
    await sql`UPDATE credit_grants SET external_id = NULL, note = NULL WHERE ${own} AND customer_id = ${customer_id}::uuid`.execute(
      transaction,
    );
  }
  // Where its usage came from may be a name of the same person, and where it went to: nothing leads from the new id to either.
  await sql`UPDATE usage_moves SET from_external_id = ${ERASED},
      to_external_id = CASE to_external_id WHEN ${from_external_id}::text THEN ${to_external_id} ELSE to_external_id END
    WHERE ${own} AND kind = 'MOVE' AND (from_external_id = ${from_external_id}::text OR to_external_id = ${from_external_id}::text)`.execute(
    transaction,
  );
  await sql`UPDATE usage_moves SET finished_at = now(), from_external_id = NULL, name_hashes = NULL, grouped_meter_id = NULL
    WHERE ${own} AND id = ${id}::uuid`.execute(transaction);
  return true;
}

/** Forgets what a worker of 1.0.0, which does not know of it, has left of the erasures that it has ended. */
export async function forgetNames(db: Queries): Promise<void> {
  await sql`UPDATE usage_moves SET name_hashes = NULL, grouped_meter_id = NULL
    WHERE finished_at IS NOT NULL AND name_hashes IS NOT NULL`.execute(db);
}

/** Meters with usage that was sent under the former id since. */
async function listLeft(db: Queries, { organization_id, from_external_id }: RunningMove): Promise<Touched[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT meters.id FROM meters CROSS JOIN LATERAL (
      SELECT FROM ${sql.table(ROLLUPS.customerUsageDays.table)} AS days WHERE days.organization_id = meters.organization_id
        AND days.meter_id = meters.id AND days.customer_external_id = ${from_external_id}::text LIMIT 1) AS used
    WHERE meters.organization_id = ${organization_id}::uuid`.execute(db);
  return rows.map(({ id }) => ({ customerExternalId: from_external_id, meterId: id }));
}
