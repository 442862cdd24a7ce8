// What is left to do of an erasure when no usage has the former id any more: what was kept of events that do not count, the audit log,
// the feed, and last what bills: its dues get the new id in the transaction that ends the erasure.
//
// Each step finds what it has not done yet, so it may be cut off anywhere, and run twice.

import { sql } from 'kysely';
import { touchUsage, type Touched } from '../alerts/touched-usage.ts';
import type { Database, Queries } from '../database.ts';
import { ROLLUPS } from '../rollups.ts';
import type { RunningMove } from './usage-moves.ts';

/** Rows that one statement looks at: it takes well under a second. */
const ROWS_MAX = 10_000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** In place of what named somebody. */
const ERASED = '[erased]';

/** Ends an erasure: nothing that is kept names the customer then, but for invoices. Throws what Postgres says. */
export async function finishErasure({ kysely }: Database, move: RunningMove): Promise<void> {
  await deleteTouched(kysely, move);
  await eraseRejected(kysely, move);
  await eraseDuplicates(kysely, move);
  await eraseCrossings(kysely, move);
  await eraseFeed(kysely, move);
  await eraseAudit(kysely, move);
  await eraseKeptAnswers(kysely, move);
  await kysely.transaction().execute((transaction) => finish(transaction, move));
}

/**
 * Waits for whoever took such a row before the erasure was asked for: what he writes down of the former id is there when crossings are
 * erased. Whoever takes one later leaves the customer out.
 */
async function deleteTouched(db: Queries, { organization_id, from_external_id }: RunningMove): Promise<void> {
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

/** They are few. Their texts may be such that Postgres cannot take them apart. */
async function eraseRejected(db: Queries, move: RunningMove): Promise<void> {
  const { organization_id, from_external_id, to_external_id } = move;
  await eachPage(async (after) => {
    const { rows } = await sql<{ id: string; event: string; is_own: boolean }>`
      SELECT id, CASE WHEN is_own THEN event END AS event, is_own FROM (
        SELECT id, event, customer_external_id = ${from_external_id}::text AS is_own FROM rejected_events
        WHERE organization_id = ${organization_id}::uuid AND id > ${after}::uuid ORDER BY id LIMIT ${ROWS_MAX}) AS page`.execute(
      db,
    );
    const own = rows.filter(({ is_own }) => is_own);
    if (own.length > 0)
      await sql`UPDATE rejected_events SET customer_external_id = ${to_external_id}, event = own.event,
          reason = regexp_replace(reason, '^(Postgres does not take it).*', '\\1')
        FROM unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ event }) => withoutNames(event, to_external_id))}::text[]) AS own (id, event)
        WHERE organization_id = ${organization_id}::uuid AND rejected_events.id = own.id`.execute(db);
    return rows;
  });
}

async function eraseDuplicates(db: Queries, move: RunningMove): Promise<void> {
  const { organization_id, from_external_id, to_external_id } = move;
  await eachPage(async (after) => {
    const { rows } = await sql<{ id: string; event: string; is_own: boolean }>`
      SELECT id, CASE WHEN is_own THEN event END AS event, is_own FROM (
        SELECT id, event, event::json ->> 'customer_external_id' = ${from_external_id}::text AS is_own FROM duplicate_events
        WHERE organization_id = ${organization_id}::uuid AND id > ${after}::uuid ORDER BY id LIMIT ${ROWS_MAX}) AS page`.execute(
      db,
    );
    const own = rows.filter(({ is_own }) => is_own);
    if (own.length > 0)
      await sql`UPDATE duplicate_events SET event = own.event
        FROM unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ event }) => withoutNames(event, to_external_id))}::text[]) AS own (id, event)
        WHERE organization_id = ${organization_id}::uuid AND duplicate_events.id = own.id`.execute(db);
    return rows;
  });
}

/** One that the new id has as well goes: each is there once. */
async function eraseCrossings(db: Queries, move: RunningMove): Promise<void> {
  const { organization_id, from_external_id, to_external_id } = move;
  await sql`DELETE FROM alert_crossings AS former
    WHERE organization_id = ${organization_id}::uuid AND customer_external_id = ${from_external_id}::text AND currency IS NULL
      AND EXISTS (SELECT FROM alert_crossings AS kept
        WHERE kept.organization_id = ${organization_id}::uuid AND kept.alert_id = former.alert_id AND kept.currency IS NULL
          AND kept.customer_external_id = ${to_external_id} AND kept.period_start = former.period_start
          AND kept.threshold = former.threshold)`.execute(db);
  await eachPage(async (after) => {
    const { rows } = await sql<{ id: string }>`
      WITH page AS MATERIALIZED (
        SELECT id, customer_external_id FROM alert_crossings
        WHERE organization_id = ${organization_id}::uuid AND id > ${after}::uuid ORDER BY id LIMIT ${ROWS_MAX}
      ), written AS (
        UPDATE alert_crossings AS crossings SET customer_external_id = ${to_external_id} FROM page
        WHERE crossings.organization_id = ${organization_id}::uuid AND crossings.id = page.id
          AND page.customer_external_id = ${from_external_id}::text
      )
      SELECT id FROM page`.execute(db);
    return rows;
  });
}

/** Of an invoice, and of a payment. */
const WITHOUT_TEXTS = sql`'{"reference": null, "note": null}'::jsonb`;

/**
 * The ids that the organization gave to its subscriptions may be made of names, crossings of alerts name whose they are, and what was
 * written to payments goes with the copies on invoices.
 */
async function eraseFeed(db: Queries, move: RunningMove): Promise<void> {
  const { organization_id, customer_id, from_external_id, to_external_id, copies_issued_before } = move;
  for (let after = 0; ; after += ROWS_MAX) {
    const page = sql`organization_id = ${organization_id}::uuid AND sequence > ${after} AND sequence <= ${after + ROWS_MAX}`;
    await sql`UPDATE billing_events SET data = data || '{"external_id": null}'
      WHERE ${page} AND data ->> 'customer_id' = ${customer_id}::text AND data ->> 'external_id' IS NOT NULL`.execute(
      db,
    );
    if (copies_issued_before !== null)
      await sql`UPDATE billing_events SET data = data || ${WITHOUT_TEXTS}
          || CASE WHEN data ? 'payment' THEN jsonb_build_object('payment', data -> 'payment' || ${WITHOUT_TEXTS}) ELSE '{}' END
        WHERE ${page} AND data ->> 'customer_id' = ${customer_id}::text
          AND (data ->> 'issue_date')::date < ${copies_issued_before}::date`.execute(db);
    await sql`UPDATE billing_events SET data = data || jsonb_build_object('customer_external_id', ${to_external_id}::text)
      WHERE ${page} AND data ->> 'customer_external_id' = ${from_external_id}::text`.execute(db);
    const { rows } = await sql`SELECT FROM billing_events
      WHERE organization_id = ${organization_id}::uuid AND sequence > ${after + ROWS_MAX} LIMIT 1`.execute(db);
    if (rows.length === 0) return;
  }
}

/** Who changed what stays; what was sent goes where it is about the customer, or names it by its external id. */
async function eraseAudit(db: Queries, move: RunningMove): Promise<void> {
  const { organization_id, from_external_id, to_external_id } = move;
  const own = sql`${await listOwn(db, move)}::uuid[]`;
  const ofOwn = sql`((page.resource_id = ANY (${own}) OR page.changes ->> 'customer_id' = ANY (${own}::text[])
    OR page.changes ->> 'invoice_id' = ANY (${own}::text[])) IS TRUE)`;
  const isOf = (table: string) => sql`EXISTS (SELECT FROM ${sql.table(table)} AS kept
    WHERE kept.organization_id = ${organization_id}::uuid AND kept.id = page.resource_id AND kept.customer_external_id = ${to_external_id})`;
  const isCorrected = sql`EXISTS (
    SELECT FROM jsonb_array_elements(page.changes -> 'corrections') AS asked JOIN events AS kept
      ON kept.organization_id = ${organization_id}::uuid AND kept.id::text = asked ->> 'event_id'
    WHERE kept.customer_external_id = ${to_external_id})`;
  // As the value of a member, to the letter: quotes inside of texts are escaped, so nothing else looks like this.
  const value = sql`': ' || to_jsonb(${from_external_id}::text)::text`;
  await eachPage(async (after) => {
    const { rows } = await sql<{ id: string }>`
      WITH page AS MATERIALIZED (
        SELECT id, action, resource_id, changes FROM audit_entries
        WHERE organization_id = ${organization_id}::uuid AND id > ${after}::uuid ORDER BY id LIMIT ${ROWS_MAX}
      ), erased AS MATERIALIZED (
        SELECT id, CASE WHEN NOT ${ofOwn} AND action NOT IN ('event.replay', 'event.void', 'event.amend', 'correction.create')
          THEN replace(changes::text, ${value}, ${`: "${ERASED}"`})::jsonb END AS changes
        FROM page WHERE changes IS NOT NULL AND (${ofOwn} OR strpos(changes::text, ${value}) > 0
          OR action IN ('event.replay', 'event.void', 'event.amend') AND (${isOf('events')} OR ${isOf('rejected_events')})
          OR action = 'correction.create' AND ${isCorrected})
      ), written AS (
        UPDATE audit_entries AS entries SET changes = erased.changes FROM erased
        WHERE entries.organization_id = ${organization_id}::uuid AND entries.id = erased.id
      )
      SELECT id FROM page`.execute(db);
    return rows;
  });
}

/** A repeat of what was asked about the customer is not done again, and is told nothing any more. There is a bound to what is kept. */
async function eraseKeptAnswers(db: Queries, move: RunningMove): Promise<void> {
  const { organization_id, from_external_id, to_external_id } = move;
  const names = [JSON.stringify(from_external_id), ...(await listOwn(db, move))];
  await sql`
    UPDATE request_keys SET answer = '{}', withheld = ARRAY(SELECT json_object_keys(answer::json))
    WHERE organization_id = ${organization_id}::uuid AND answer IS NOT NULL AND strpos(answer, ${to_external_id}) = 0
      AND EXISTS (SELECT FROM unnest(${names}::text[]) AS name WHERE strpos(answer, name) > 0)`.execute(db);
}

/** The ids of the customer, and of what was made for it. */
async function listOwn(
  db: Queries,
  { organization_id, customer_id, from_external_id }: RunningMove,
): Promise<string[]> {
  const ofCustomer = sql`organization_id = ${organization_id}::uuid AND customer_id = ${customer_id}::uuid`;
  const { rows } = await sql<{ id: string }>`
    SELECT ${customer_id}::uuid AS id WHERE ${customer_id}::uuid IS NOT NULL
    UNION SELECT id FROM subscriptions WHERE organization_id = ${organization_id}::uuid AND customer_external_id = ${from_external_id}
    UNION SELECT id FROM subscriptions WHERE ${ofCustomer}
    UNION SELECT id FROM invoices WHERE ${ofCustomer}
    UNION SELECT id FROM credit_grants WHERE ${ofCustomer}`.execute(db);
  return rows.map(({ id }) => id);
}

/** From page to page of rows that are in the order of their ids. */
async function eachPage(use: (after: string) => Promise<{ id: string }[]>): Promise<void> {
  for (let after = FIRST_ID; ;) {
    const rows = await use(after);
    if (rows.length < ROWS_MAX) return;
    after = rows.reduce((last, { id }) => (id > last ? id : last), after);
  }
}

async function finish(transaction: Queries, move: RunningMove): Promise<void> {
  const { organization_id, id, customer_id, from_external_id, to_external_id, copies_issued_before } = move;
  const own = sql`organization_id = ${organization_id}::uuid`;
  const former = sql`customer_external_id = ${from_external_id}::text`;
  await sql`SELECT FROM usage_moves WHERE ${own} AND id = ${id}::uuid FOR UPDATE`.execute(transaction);
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM subscriptions WHERE ${own} AND ${former} ORDER BY id FOR UPDATE`.execute(transaction);
  const subscriptions = sql`subscription_id = ANY (${rows.map((row) => row.id)}::uuid[])`;
  for (const table of ['dues', 'billed_meters'])
    await sql`UPDATE ${sql.table(table)} SET customer_external_id = ${to_external_id}
      WHERE ${own} AND ${subscriptions} AND ${former}`.execute(transaction);
  await sql`UPDATE subscriptions SET customer_external_id = ${to_external_id}, external_id = NULL, cancel_reason = NULL
    WHERE ${own} AND ${former}`.execute(transaction);
  await sql`DELETE FROM widget_tokens WHERE ${own} AND ${former}`.execute(transaction);
  await touchUsage(transaction, organization_id, [
    { customerExternalId: to_external_id, meterId: null },
    ...(await listLeft(transaction, move)),
  ]);
  if (customer_id !== null) {
    await sql`UPDATE credit_grants SET external_id = NULL, note = NULL WHERE ${own} AND customer_id = ${customer_id}::uuid`.execute(
      transaction,
    );
    if (copies_issued_before !== null) {
      await sql`UPDATE payments SET reference = NULL, note = NULL
        WHERE ${own} AND invoice_id IN (SELECT id FROM invoices
          WHERE ${own} AND customer_id = ${customer_id}::uuid AND issue_date < ${copies_issued_before}::date)`.execute(
        transaction,
      );
      await sql`UPDATE invoices SET customer = NULL, buyer = NULL, note = NULL, reference = NULL
        WHERE ${own} AND customer_id = ${customer_id}::uuid AND issue_date < ${copies_issued_before}::date`.execute(
        transaction,
      );
    }
  }
  for (const end of ['from_external_id', 'to_external_id'])
    await sql`UPDATE usage_moves SET ${sql.ref(end)} = ${to_external_id}
      WHERE ${own} AND kind = 'MOVE' AND ${sql.ref(end)} = ${from_external_id}::text`.execute(transaction);
  await sql`UPDATE usage_moves SET finished_at = now(), from_external_id = NULL WHERE ${own} AND id = ${id}::uuid`.execute(
    transaction,
  );
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
