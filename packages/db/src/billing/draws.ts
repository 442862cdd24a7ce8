// What invoices take of the money that a customer has in advance. Finalizing draws, voiding gives back, and a total below zero
// becomes a grant. Which grant is drawn first is for packages/rating to say.
//
// A grant is changed by whoever holds its row, and rows are locked in the order of their ids: so many invoices of one
// customer can be finalized at once, and none draws what another has drawn.

import { type DrawableGrant, planDraws } from '@weir/rating/draws';
import type { Amount } from '@weir/rating/money';
import { newId } from '@weir/shared/ids';
import { microsOf, parseInstant, type Micros } from '@weir/shared/instant';
import { sql } from 'kysely';
import type { Queries } from '../page.ts';
import { amountOf, amountText } from './stored-amounts.ts';

/** An invoice that is being finalized, and what is to be paid of it before credits. */
export interface DrawingInvoice {
  id: string;
  customerId: string;
  currency: string;
  /** Nothing is drawn for one that is not above 0. */
  amountDue: Amount;
}

/**
 * Draws what there is for each invoice, in the order given, and returns how much that is, with an entry for each of them.
 * Needs a transaction that holds the invoices, before it takes numbers; locks the customers' grants in the order of their ids.
 */
export async function drawCredits(
  transaction: Queries,
  organizationId: string,
  invoices: readonly DrawingInvoice[],
): Promise<Map<string, Amount>> {
  const drawn = new Map(invoices.map(({ id }) => [id, 0n]));
  const drawing = invoices.filter(({ amountDue }) => amountDue > 0n);
  if (drawing.length === 0) return drawn;
  const grants = await lockGrants(transaction, organizationId, drawing);
  if (grants.size === 0) return drawn;
  // Read once all of them are held: a grant may have expired while others were waited for.
  const now = await clock(transaction);
  const draws = drawing.flatMap(({ id: invoiceId, customerId, currency, amountDue }) => {
    const own = grants.get(pocketOf(customerId, currency)) ?? [];
    return planDraws(amountDue, own, microsOfText(now)).map(({ id: grantId, amount }) => {
      const grant = own.find(({ id }) => id === grantId);
      if (grant !== undefined) grant.remaining -= amount;
      drawn.set(invoiceId, (drawn.get(invoiceId) ?? 0n) + amount);
      const text = amountText(amount, currency);
      return { id: newId(), grant_id: grantId, invoice_id: invoiceId, amount: text };
    });
  });
  if (draws.length > 0) await writeDraws(transaction, organizationId, draws, now);
  return drawn;
}

/** What one customer has in one currency. */
function pocketOf(customerId: string, currency: string): string {
  return `${customerId} ${currency}`;
}

/** Locks all grants of some customers that have something left, and returns them by pocket. */
async function lockGrants(
  transaction: Queries,
  organizationId: string,
  invoices: readonly DrawingInvoice[],
): Promise<Map<string, DrawableGrant[]>> {
  const customers = [...new Set(invoices.map(({ customerId }) => customerId))];
  const rows = await transaction
    .selectFrom('credit_grants')
    .select(['id', 'customer_id', 'currency', 'remaining', 'priority', 'expires_at', 'created_at'])
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`customer_id = ANY (${customers}::uuid[])`)
    .where('remaining', '>', '0')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  const grants = new Map<string, DrawableGrant[]>();
  for (const { id, customer_id, currency, remaining, priority, expires_at, created_at } of rows) {
    const pocket = pocketOf(customer_id, currency);
    const grant = {
      id,
      remaining: amountOf(remaining, currency),
      priority,
      expiresAt: expires_at === null ? null : microsOfText(expires_at),
      createdAt: microsOfText(created_at),
    };
    grants.set(pocket, [...(grants.get(pocket) ?? []), grant]);
  }
  return grants;
}

/** Writes them down, and takes them off the grants. That none has less than is drawn is a check of the table as well. */
async function writeDraws(
  transaction: Queries,
  organizationId: string,
  draws: readonly { id: string; grant_id: string; invoice_id: string; amount: string }[],
  now: string,
): Promise<void> {
  await sql`
    WITH draws AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(draws)}::jsonb)
        AS draw (id uuid, grant_id uuid, invoice_id uuid, amount numeric)
    ), entries AS (
      INSERT INTO credit_entries (organization_id, grant_id, id, kind, amount, invoice_id, created_at)
      SELECT ${organizationId}::uuid, grant_id, id, 'DRAW', amount, invoice_id, ${now}::timestamptz FROM draws
    )
    UPDATE credit_grants SET remaining = remaining - drawn.amount
    FROM (SELECT grant_id, sum(amount) AS amount FROM draws GROUP BY grant_id) AS drawn
    WHERE organization_id = ${organizationId}::uuid AND id = drawn.grant_id`.execute(transaction);
}

/**
 * Gives back what an invoice drew; a second time it finds nothing. Needs a transaction that holds the invoice; locks the
 * grants in the order of their ids. What comes back to a grant that is past its expires_at expires at once, and what comes
 * back to a void one is void.
 */
export async function returnDraws(transaction: Queries, organizationId: string, invoiceId: string): Promise<void> {
  const grants = await transaction
    .selectFrom('credit_grants')
    .select(['id', 'voided_at'])
    .where('organization_id', '=', organizationId)
    .where(({ eb, selectFrom }) =>
      eb(
        'id',
        'in',
        selectFrom('credit_entries')
          .select('grant_id')
          .where('organization_id', '=', organizationId)
          .where('invoice_id', '=', invoiceId),
      ),
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  if (grants.length === 0) return;
  const entries = grants.map(({ id, voided_at }) => ({
    grant_id: id,
    return_id: newId(),
    // After the return, so that it stands after it in the order of ids.
    void_id: voided_at === null ? null : newId(),
  }));
  await sql`
    WITH returns AS (
      SELECT grants.*, net.amount
      FROM jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) AS grants (grant_id uuid, return_id uuid, void_id uuid)
      JOIN (
        SELECT grant_id, sum(CASE kind WHEN 'DRAW' THEN amount ELSE -amount END) AS amount
        FROM credit_entries WHERE organization_id = ${organizationId}::uuid AND invoice_id = ${invoiceId}::uuid
        GROUP BY grant_id
      ) AS net USING (grant_id)
      WHERE net.amount > 0
    ), entries AS (
      INSERT INTO credit_entries (organization_id, grant_id, id, kind, amount, invoice_id, created_at)
      SELECT ${organizationId}::uuid, grant_id, return_id, 'RETURN', amount, ${invoiceId}::uuid, billing_clock() FROM returns
      UNION ALL
      SELECT ${organizationId}::uuid, grant_id, void_id, 'VOID', amount, NULL, billing_clock()
      FROM returns WHERE void_id IS NOT NULL
    )
    UPDATE credit_grants SET remaining = remaining + returns.amount
    FROM returns WHERE organization_id = ${organizationId}::uuid AND id = grant_id AND void_id IS NULL`.execute(
    transaction,
  );
}

/**
 * Makes the other side of an invoice whose total, `amount`, is below zero: a grant of as much, without an end. Returns the
 * data of `credit.granted`, which the caller appends to the feed.
 */
export async function grantForNegative(
  transaction: Queries,
  organizationId: string,
  invoice: { id: string; customerId: string; currency: string; amount: Amount },
): Promise<Record<string, unknown>> {
  const { id: invoice_id, customerId: customer_id, currency } = invoice;
  if (invoice.amount >= 0n) throw new Error(`invoice ${invoice_id} is not below zero`);
  const id = newId();
  const amount = amountText(-invoice.amount, currency);
  await transaction
    .insertInto('credit_grants')
    .values({
      organization_id: organizationId,
      id,
      customer_id,
      currency,
      amount,
      remaining: amount,
      invoice_id,
      created_at: sql<string>`billing_clock()`,
    })
    .execute();
  return { credit_id: id, customer_id, currency, amount, invoice_id };
}

async function clock(db: Queries): Promise<string> {
  const { rows } = await sql<{ now: string }>`SELECT billing_clock() AS now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('Postgres returned no time');
  return row.now;
}

function microsOfText(text: string): Micros {
  const instant = parseInstant(text);
  if ('problem' in instant) throw new Error(`Postgres returned no time: ${text.slice(0, 40)}`);
  return microsOf(instant);
}
