// Writes down invoices that are finalized, any number in a few statements: their lines, what these settle, the credits
// that are applied, then the numbers, and the feed last. The order is that of the locks in all of billing.

import type { ComputedInvoice, ComputedLine } from '@weir/billing/lines';
import type { NewFeedEvent } from '@weir/billing/feed-events';
import { amountOf } from '@weir/billing/amounts';
import { minorDigits } from '@weir/rating/currencies';
import { formatAmount, type Amount } from '@weir/rating/money';
import { sql } from 'kysely';
import { buyerOfCustomer, copyOfCustomer } from '../../customer-fields.ts';
import type { Queries } from '../../database.ts';
import { isAutomatic } from '../drafting.ts';
import { applyCredits, type PayableInvoice } from '../credits/apply-credits.ts';
import { updateDues, type SettledDue } from '../subscriptions/dues.ts';
import { appendFeed } from '../feed.ts';
import { takeNumbers, type Issue } from '../invoices/invoice-numbers.ts';
import { invoiceData } from '../invoices/invoice-data.ts';
import type { InvoiceRow } from '../invoices/invoices.ts';
import { activateSubscriptions, lockOpenInvoices, lowerInvoices } from './lower-invoices.ts';

/** A draft whose row is locked, and what it comes to. Its lines are not empty. */
export interface LockedInvoice {
  row: InvoiceRow;
  computed: ComputedInvoice;
}

/**
 * Finalizes invoices at a closing, and numbers them in the order given. Expects their rows and those of their subscriptions locked.
 * `before`: events for the feed that come before those of the invoices.
 */
export async function writeFinalized(
  transaction: Queries,
  organizationId: string,
  invoices: readonly LockedInvoice[],
  closing: number,
  actor: string,
  before: readonly NewFeedEvent[] = [],
): Promise<void> {
  if (invoices.length === 0) return;
  const lines = invoices.flatMap(({ computed }) => computed.lines);
  await insertLines(transaction, organizationId, lines);
  await moveAdjustments(transaction, organizationId, lines);
  await updateDues(transaction, organizationId, closing, invoices.flatMap(settledDues));
  await updateSubscriptions(transaction, organizationId, invoices, closing);
  const moving = invoices.map(payableInvoice);
  const giving = moving.filter(({ amountDue }) => amountDue < 0n).map(({ customerId }) => customerId);
  const open = await lockOpenInvoices(transaction, organizationId, giving);
  const credits = await applyCredits(transaction, organizationId, moving, open);
  // From here on others of the organization wait.
  const issue = await takeNumbers(transaction, organizationId, invoices.length);
  const rows = await updateInvoices(transaction, organizationId, invoices, credits.applied, issue);
  const events = rows.flatMap((row) => finalizedEvents(row, actor, credits.granted.get(row.id)));
  const paid = await lowerInvoices(transaction, organizationId, credits.lowered, issue.finalized_at);
  for (const row of paid) events.push({ type: 'invoice.paid', actor, data: invoiceData(row) });
  const subscriptions = [...invoices.map(({ row }) => row), ...paid].map(({ subscription_id }) => subscription_id);
  events.push(...(await activateSubscriptions(transaction, organizationId, subscriptions, actor)));
  await appendFeed(transaction, organizationId, [...before, ...events]);
}

async function insertLines(
  transaction: Queries,
  organizationId: string,
  lines: readonly ComputedLine[],
): Promise<void> {
  const ofDues = lines.flatMap(({ due, ...line }) => (due === null ? [] : [line]));
  if (ofDues.length === 0) return;
  await sql`
    INSERT INTO invoice_lines (organization_id, id, invoice_id, position, kind, description, subscription_id, cycle, charge_id,
      period_start, period_end, days_in_force, days_in_period, quantity, event_count, detail, exact_amount, billed_before,
      amount, waived, rebills, closing, rating_version)
    SELECT ${organizationId}::uuid, id, invoice_id, position, kind, description, subscription_id, cycle, charge_id,
      period_start, period_end, days_in_force, days_in_period, quantity, event_count, detail, exact_amount, billed_before,
      amount, waived, rebills, closing, rating_version
    FROM json_to_recordset(${JSON.stringify(ofDues)}::json) AS line (id uuid, invoice_id uuid, position integer, kind text,
      description text, subscription_id uuid, cycle integer, charge_id uuid, period_start timestamptz,
      period_end timestamptz, days_in_force integer, days_in_period integer, quantity numeric, event_count bigint,
      detail jsonb, exact_amount text, billed_before numeric, amount numeric, waived numeric, rebills integer, closing bigint, rating_version integer)
    ORDER BY id`.execute(transaction);
}

/** What an admin added stands behind what was computed. */
async function moveAdjustments(
  transaction: Queries,
  organizationId: string,
  lines: readonly ComputedLine[],
): Promise<void> {
  const added = lines.filter(({ due }) => due === null);
  if (added.length === 0) return;
  await sql`
    UPDATE invoice_lines SET position = moved.position
    FROM unnest(${added.map(({ id }) => id)}::uuid[], ${added.map(({ position }) => position)}::integer[])
      AS moved (id, position)
    WHERE organization_id = ${organizationId}::uuid AND invoice_lines.id = moved.id`.execute(transaction);
}

function settledDues({ row, computed }: LockedInvoice): SettledDue[] {
  const digits = minorDigits(row.currency);
  return computed.lines.flatMap(({ due, billed_before, amount }) => {
    if (due === null) return [];
    const billed = formatAmount(amountOf(billed_before, digits) + amountOf(amount, digits), digits);
    return [{ subscription_id: due.subscription_id, cycle: due.cycle, charge_id: due.charge_id, billed }];
  });
}

/** All that was late before this closing is settled by now. */
async function updateSubscriptions(
  transaction: Queries,
  organizationId: string,
  invoices: readonly LockedInvoice[],
  closing: number,
): Promise<void> {
  const ids = [...new Set(invoices.map(({ row }) => row.subscription_id))];
  await sql`
    UPDATE subscriptions SET closing = ${closing}
    WHERE organization_id = ${organizationId}::uuid AND id = ANY (${ids}::uuid[])`.execute(transaction);
}

function payableInvoice({ row, computed }: LockedInvoice): PayableInvoice {
  return { id: row.id, customerId: row.customer_id, currency: row.currency, amountDue: computed.total };
}

/** The customer is looked up for each: joined, all customers of the organization were read for each chunk. */
async function updateInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly LockedInvoice[],
  appliedCredits: ReadonlyMap<string, Amount>,
  { numbers, finalized_at, issue_date, due_date, past_due_at }: Issue,
): Promise<InvoiceRow[]> {
  const changes = invoices.map(({ row, computed }, index) => {
    const digits = minorDigits(row.currency);
    const applied = appliedCredits.get(row.id) ?? 0n;
    const isPaid = computed.total - applied <= 0n;
    return {
      id: row.id,
      invoice_number: numbers[index],
      status: isPaid ? 'PAID' : 'OPEN',
      paid_at: isPaid ? finalized_at : null,
      subtotal: formatAmount(computed.subtotal, digits),
      total: formatAmount(computed.total, digits),
      credits_applied: formatAmount(applied, digits),
      amount_paid: formatAmount(0n, digits),
    };
  });
  const { rows } = await sql<InvoiceRow>`
    UPDATE invoices SET
      run_at = NULL, run_error = NULL, finalized_at = ${finalized_at}, issue_date = ${issue_date},
      due_date = ${due_date}, past_due_at = ${past_due_at}, invoice_number = change.invoice_number,
      status = change.status, paid_at = change.paid_at, subtotal = change.subtotal, total = change.total,
      credits_applied = change.credits_applied, amount_paid = change.amount_paid,
      finalizes_at = CASE WHEN ${isAutomatic(organizationId)} THEN invoices.finalizes_at END,
      buyer = (SELECT ${buyerOfCustomer()} FROM customers c
        WHERE c.organization_id = invoices.organization_id AND c.id = invoices.customer_id),
      seller = (SELECT o.seller FROM organizations o WHERE o.id = ${organizationId}::uuid),
      customer = (SELECT ${copyOfCustomer()} FROM customers c
        WHERE c.organization_id = invoices.organization_id AND c.id = invoices.customer_id),
      issuer = (SELECT coalesce(o.invoice_issuer, o.name) FROM organizations o WHERE o.id = ${organizationId}::uuid)
    FROM json_to_recordset(${JSON.stringify(changes)}::json) AS change (id uuid, invoice_number text, status text,
      paid_at timestamptz, subtotal numeric, total numeric, credits_applied numeric, amount_paid numeric)
    WHERE invoices.organization_id = ${organizationId}::uuid AND invoices.id = change.id
    RETURNING invoices.*`.execute(transaction);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return invoices.map(({ row }) => {
    const updated = byId.get(row.id);
    // Its number is taken: without this it would be missing for ever.
    if (updated === undefined) throw new Error(`the invoice ${row.id} went away while it was being finalized`);
    return updated;
  });
}

function finalizedEvents(row: InvoiceRow, actor: string, grant: Record<string, unknown> | undefined): NewFeedEvent[] {
  const data = invoiceData(row);
  const events: NewFeedEvent[] = [{ type: 'invoice.finalized', actor, data }];
  if (row.status === 'PAID') events.push({ type: 'invoice.paid', actor, data });
  if (grant !== undefined) events.push({ type: 'credit.granted', actor, data: grant });
  return events;
}
