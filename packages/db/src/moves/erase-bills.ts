// What bills an erased customer, as the last walks of its erasure (perform-moves.ts): of years, or by the day, these are far more rows than
// one statement has time for. Until the erasure ends nobody reads usage of either id, settles or computes an invoice of it, so that nobody
// goes by dues of which some have the new id already.

import { sql } from 'kysely';
import type { Queries } from '../database.ts';
import { BEFORE_ALL, ERASED, type RunningMove } from './usage-moves.ts';

/** Periods of one subscription, each with up to a hundred dues. */
const CYCLES_MAX = 10;

/** Rows with texts of some kilobytes. */
const INVOICES_MAX = 500;

/** Takes the copies of the customer from invoices, and what was written to them and their payments, in the order of issue dates. */
export async function eraseCopies(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, customer_id, copies_issued_before } = move;
  if (customer_id === null || copies_issued_before === null) return undefined;
  const [date = '', id = BEFORE_ALL] = after === '' ? ['-infinity'] : after.split(' ');
  const own = sql`organization_id = ${organization_id}::uuid`;
  const isHeld = sql`ANY (ARRAY(SELECT id FROM held))`;
  // Found by the indexes of customers and of lines, however many others the organization has.
  const { rows } = await sql<{ id: string; issue_date: string }>`
    WITH page AS MATERIALIZED (
      SELECT id, issue_date FROM invoices
      WHERE (${own}) IS TRUE AND customer_id = ${customer_id}::uuid AND issue_date < ${copies_issued_before}::date
        AND (issue_date, id) > (${date}::date, ${id}::uuid)
      ORDER BY issue_date, id LIMIT ${INVOICES_MAX}
    ), held AS MATERIALIZED (
      -- In the order in which an invoice below zero holds those that it pays.
      SELECT id FROM invoices WHERE ${own} AND id = ANY (ARRAY(SELECT id FROM page)) ORDER BY id FOR NO KEY UPDATE
    ), without_notes AS (
      UPDATE payments SET reference = NULL, note = NULL WHERE ${own} AND invoice_id = ${isHeld}
    ), without_descriptions AS (
      UPDATE invoice_lines SET description = ${ERASED} WHERE (${own}) IS TRUE AND kind = 'ADJUSTMENT' AND invoice_id = ${isHeld}
    ), without_copies AS (
      UPDATE invoices SET customer = NULL, buyer = NULL, note = NULL, reference = NULL WHERE ${own} AND id = ${isHeld}
    )
    SELECT id, issue_date::text FROM page ORDER BY page.issue_date, page.id`.execute(db);
  const last = rows.length < INVOICES_MAX ? undefined : rows.at(-1);
  return last && `${last.issue_date} ${last.id}`;
}

/** Gives dues the new id, one subscription after the other, which is held as by whoever else changes its dues. */
export async function eraseDues(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, from_external_id, to_external_id } = move;
  const [place = '', cycle] = after.split(' ');
  const since = Number(cycle ?? -1);
  const until = since + CYCLES_MAX;
  const own = sql`organization_id = ${organization_id}::uuid`;
  const former = sql`customer_external_id = ${from_external_id}::text`;
  const next = sql`SELECT min(id::text)::uuid FROM subscriptions WHERE ${own} AND ${former} AND id > ${place || BEFORE_ALL}::uuid`;
  const { rows } = await sql<{ id: string; goes_on: boolean }>`
    WITH held AS MATERIALIZED (
      SELECT id FROM subscriptions WHERE ${own} AND id = (${cycle === undefined ? next : sql`${place}::uuid`}) FOR UPDATE
    ), written AS (
      UPDATE dues SET customer_external_id = ${to_external_id} FROM held
      WHERE ${own} AND subscription_id = held.id AND cycle > ${since}::integer AND cycle <= ${until}::integer AND (${former}) IS TRUE
    )
    SELECT id, EXISTS (SELECT FROM dues WHERE ${own} AND subscription_id = held.id AND cycle > ${until}::integer) AS goes_on
    FROM held`.execute(db);
  return rows.map(({ id, goes_on }) => (goes_on ? `${id} ${until}` : id)).at(0);
}
