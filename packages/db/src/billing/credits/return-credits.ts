// Gives back what an invoice took of credits that is being voided, and ends what other invoices gave of what it had billed.

import { amountOf, amountText } from '@weir/billing/amounts';
import type { Amount } from '@weir/rating/money';
import { newId } from '@weir/shared/ids';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';

/** What was ended of a grant. */
export interface EndedCredit {
  credit_id: string;
  customer_id: string;
  currency: string;
  amount: string;
}

/**
 * Gives back what was applied to an invoice; a second time it finds nothing. What comes back to a grant that is past its expires_at
 * expires at once, and what comes back to a void one is void. `givenBack` is what invoices below zero gave of what this one billed, by
 * the invoice that gave it: so much of their grants ends. Returns what it ended, or undefined where not all of it is left, and then
 * changes nothing. Needs a transaction that holds the invoice and its subscription; locks the grants in the order of their ids.
 */
export async function returnCredits(
  transaction: Queries,
  organizationId: string,
  invoiceId: string,
  givenBack: ReadonlyMap<string, Amount> = new Map(),
): Promise<EndedCredit[] | undefined> {
  const grants = await lockGrants(transaction, organizationId, invoiceId, [...givenBack.keys()]);
  const drawn = await readDrawn(transaction, organizationId, invoiceId);
  const leftOfVoid = await readLeftOfVoid(transaction, organizationId, grants);
  const byOrigin = new Map(grants.map((grant) => [grant.invoice_id, grant]));
  const ending = new Map<string, Amount>();
  for (const [origin, amount] of givenBack) {
    const grant = byOrigin.get(origin);
    if (grant === undefined) return undefined;
    const { id, currency, remaining, voided_at } = grant;
    const rest = voided_at === null ? remaining : (leftOfVoid.get(id) ?? '0');
    if (amountOf(rest, currency) + amountOf(drawn.get(id) ?? '0', currency) < amount) return undefined;
    ending.set(id, amount);
  }
  const entries = grants.map(({ id, voided_at, currency }) => {
    const returned = drawn.get(id) ?? '0';
    const voided = voided_at === null ? amountText(ending.get(id) ?? 0n, currency) : returned;
    // The return has the lower id, so that it stands before the end.
    return { grant_id: id, return_id: newId(), void_id: newId(), returned, voided };
  });
  if (entries.length > 0) await writeEntries(transaction, organizationId, invoiceId, entries);
  return grants.flatMap(({ id, customer_id, currency, voided_at }) => {
    const amount = ending.get(id);
    if (amount === undefined || voided_at !== null) return [];
    return [{ credit_id: id, customer_id, currency, amount: amountText(amount, currency) }];
  });
}

interface LockedGrant {
  id: string;
  customer_id: string;
  voided_at: string | null;
  currency: string;
  remaining: string;
  invoice_id: string | null;
}

/** Each by itself, by the key: in the order of ids Postgres would rather walk over all of an organization. */
async function lockGrants(
  transaction: Queries,
  organizationId: string,
  invoiceId: string,
  origins: string[],
): Promise<LockedGrant[]> {
  const { rows } = await sql<LockedGrant>`
    SELECT held.* FROM unnest(ARRAY(
      SELECT grant_id FROM credit_entries WHERE invoice_id = ${invoiceId}::uuid AND (organization_id = ${organizationId}::uuid) IS TRUE
      UNION SELECT id FROM credit_grants
      WHERE invoice_id = ANY (${origins}::uuid[]) AND (organization_id = ${organizationId}::uuid) IS TRUE
      ORDER BY 1)) AS named (id)
    CROSS JOIN LATERAL (
      SELECT id, customer_id, voided_at, currency, remaining, invoice_id FROM credit_grants
      WHERE organization_id = ${organizationId}::uuid AND credit_grants.id = named.id FOR NO KEY UPDATE
    ) AS held`.execute(transaction);
  return rows;
}

/** What an invoice has of each grant, once they are held. */
async function readDrawn(db: Queries, organizationId: string, invoiceId: string): Promise<Map<string, string>> {
  const { rows } = await sql<{ grant_id: string; amount: string }>`
    SELECT grant_id, sum(CASE kind WHEN 'DRAW' THEN amount ELSE -amount END) AS amount
    FROM credit_entries WHERE invoice_id = ${invoiceId}::uuid AND (organization_id = ${organizationId}::uuid) IS TRUE
    GROUP BY grant_id`.execute(db);
  return new Map(rows.map(({ grant_id, amount }) => [grant_id, amount]));
}

/** What a person had ended of grants of invoices, without what ended before since nobody had paid it. */
async function readLeftOfVoid(
  db: Queries,
  organizationId: string,
  grants: readonly LockedGrant[],
): Promise<Map<string, string>> {
  const ids = grants.filter((each) => each.voided_at !== null && each.invoice_id !== null).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: string; amount: string }>`
    SELECT g.id, ended.amount + taken.amount AS amount FROM credit_grants g
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0) AS amount FROM credit_entries
      WHERE organization_id = g.organization_id AND grant_id = g.id AND kind = 'VOID'
    ) AS ended
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0) AS amount FROM invoice_lines
      WHERE invoice_id = g.invoice_id AND (organization_id = g.organization_id) IS TRUE AND rebilled IS NOT NULL
    ) AS taken
    WHERE g.organization_id = ${organizationId}::uuid AND g.id = ANY (${ids}::uuid[])`.execute(db);
  return new Map(rows.map(({ id, amount }) => [id, amount]));
}

interface ReturnEntry {
  grant_id: string;
  return_id: string;
  void_id: string;
  returned: string;
  voided: string;
}

async function writeEntries(
  transaction: Queries,
  organizationId: string,
  invoiceId: string,
  entries: readonly ReturnEntry[],
): Promise<void> {
  await sql`
    WITH moved AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(entries)}::jsonb)
        AS moved (grant_id uuid, return_id uuid, void_id uuid, returned numeric, voided numeric)
    ), entries AS (
      INSERT INTO credit_entries (organization_id, grant_id, id, kind, amount, invoice_id, created_at)
      SELECT ${organizationId}::uuid, grant_id, return_id, 'RETURN', returned, ${invoiceId}::uuid, billing_clock()
      FROM moved WHERE returned > 0
      UNION ALL
      SELECT ${organizationId}::uuid, grant_id, void_id, 'VOID', voided, NULL, billing_clock() FROM moved WHERE voided > 0
    )
    UPDATE credit_grants SET remaining = remaining + moved.returned - moved.voided
    FROM moved WHERE organization_id = ${organizationId}::uuid AND id = grant_id AND moved.returned <> moved.voided
      AND id = ANY (${entries.map((each) => each.grant_id)}::uuid[])`.execute(transaction);
}
