// The lines of an invoice, made of its dues and of what an admin added, with packages/rating and nothing else.

import { minorDigits } from '@weir/rating/currencies';
import { formatAmount, type Amount } from '@weir/rating/money';
import { RATING_VERSION, type RatedDetail } from '@weir/rating/rate';
import { hash128 } from '@weir/shared/hash';
import { amountOf } from './amounts.ts';
import { dueKey, settleDue, type Due, type DueUsage } from './due.ts';
import type { DueOfInvoice, InvoiceToCompute } from './dues-of-invoices.ts';
import type { LineKind } from './kinds.ts';

/** What invoice_lines holds of a line, but for its organization and when it was made. Amounts have the currency's digits. */
export interface ComputedLine {
  /** Made of the invoice and the due, so that a draft's line keeps it when it is finalized. */
  id: string;
  invoice_id: string;
  /** From 0. */
  position: number;
  kind: LineKind;
  description: string;
  /** The due that it settles, as it was before; null for what an admin added. */
  due: Due | null;
  /** Of the due. */
  subscription_id: string | null;
  cycle: number | null;
  charge_id: string | null;
  period_start: string | null;
  period_end: string | null;
  days_in_force: number | null;
  days_in_period: number | null;
  /** Null for what has no meter. */
  quantity: string | null;
  event_count: string | null;
  detail: RatedDetail | null;
  exact_amount: string;
  billed_before: string;
  amount: string;
  /** What would have come back, had it been asked for; null where nothing was cut off. */
  waived: string | null;
  /** How many void invoices of the due there were that do not count. */
  rebills: number;
  /** Null in a draft. */
  closing: string | null;
  rating_version: number;
}

/** What an invoice comes to. One without lines is not made. */
export interface ComputedInvoice {
  id: string;
  lines: ComputedLine[];
  subtotal: Amount;
  total: Amount;
}

/** An adjustment: a line that an admin added to a draft. */
export type Adjustment = Omit<ComputedLine, 'position' | 'due' | 'detail'>;

/** Makes the lines of one invoice; stops after each. `closing`: the one that its usage was read at, null in a draft. */
export function* computeInvoice(
  invoice: InvoiceToCompute,
  parts: readonly DueOfInvoice[],
  added: readonly Adjustment[],
  read: { usage: ReadonlyMap<Due, DueUsage>; returnable: ReadonlyMap<string, Amount> },
  closing: number | null,
): Generator<undefined, ComputedInvoice, undefined> {
  const digits = minorDigits(invoice.currency);
  const ofDues: { line: ComputedLine; amount: Amount }[] = [];
  for (const [position, { kind, due }] of parts.entries()) {
    const { line, amount } = lineOfDue(invoice.id, due, read.usage.get(due), digits, read.returnable.get(dueKey(due)));
    ofDues.push({ line: { ...line, position, kind, closing: closing === null ? null : String(closing) }, amount });
    yield;
  }
  const ofAdmins = added.map((row, index) => ({
    line: adjustmentLine(row, ofDues.length + index),
    amount: amountOf(row.amount, digits),
  }));
  const all = [...ofDues, ...ofAdmins];
  const subtotal = all.reduce<Amount>((sum, { amount }) => sum + amount, 0n);
  return { id: invoice.id, lines: all.map(({ line }) => line), subtotal, total: subtotal };
}

function lineOfDue(
  invoiceId: string,
  due: Due,
  usage: DueUsage | undefined,
  digits: number,
  returnable: Amount | undefined,
): { line: Omit<ComputedLine, 'position' | 'kind' | 'closing'>; amount: Amount } {
  const { detail, exactAmount, billedBefore, amount, waived } = settleDue(due, usage, digits, returnable);
  const line = {
    id: lineId(invoiceId, due),
    invoice_id: invoiceId,
    description: due.display_name,
    due,
    subscription_id: due.subscription_id,
    cycle: due.cycle,
    charge_id: due.charge_id,
    period_start: due.period_start,
    period_end: due.period_end,
    days_in_force: due.days_in_force,
    days_in_period: due.days_in_period,
    quantity: usage?.quantity ?? null,
    event_count: usage === undefined ? null : String(usage.eventCount),
    detail,
    exact_amount: exactAmount,
    billed_before: formatAmount(billedBefore, digits),
    amount: formatAmount(amount, digits),
    waived: waived === null ? null : formatAmount(waived, digits),
    rebills: due.rebills,
    rating_version: RATING_VERSION,
  };
  return { line, amount };
}

function adjustmentLine(added: Adjustment, position: number): ComputedLine {
  return { ...added, position, due: null, detail: null };
}

/** A UUIDv8 (RFC 9562, section 5.8): an invoice has one line for each due. */
function lineId(invoiceId: string, { subscription_id, cycle, charge_id }: Due): string {
  const hex = hash128(`${invoiceId} ${subscription_id} ${cycle} ${charge_id}`);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0b11) | 0b1000).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20)].join('-');
}
