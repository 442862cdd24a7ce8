// The lines of an invoice, made of its dues and of what an admin added, with packages/rating and nothing else.

import type { Amount } from '@weir/rating/money';
import { RATING_VERSION, type RatedDetail } from '@weir/rating/rate';
import { hash128 } from '@weir/shared/hash';
import { amountText } from './amounts.ts';
import { dueKey, settleDue, type Due, type DueName, type DueUsage, type SettledAmounts } from './due.ts';
import type { DueOfInvoice, InvoiceToCompute } from './dues-of-invoices.ts';
import type { LineKind } from './kinds.ts';

/** A row of invoice_lines, but for its organization and when it was made. Amounts have the currency's digits. */
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
  /** What all lines of the due add up to with this one; null for what an admin added. */
  billed: string | null;
  /** What would have come back, had it been asked for; null where nothing was cut off. */
  waived: string | null;
  /** How many void invoices of the due there were that do not count. */
  rebills: number;
  /** Null in a draft. */
  closing: string | null;
  rating_version: number;
}

/** The lines of an invoice and their total. One without lines is not made. */
export interface ComputedInvoice {
  id: string;
  /** How many there are, and how many of them admins added, which are the last. */
  lines: number;
  added: number;
  subtotal: Amount;
  total: Amount;
}

/** Some of the dues of an invoice, whose lines follow each other. */
export interface Slice {
  invoice: InvoiceToCompute;
  /** The position of the first of their lines. */
  from: number;
  parts: readonly DueOfInvoice[];
}

/**
 * Makes the lines of some dues of an invoice, as if all that was billed for them could come back; stops after each. `closing`: the one
 * that their usage was read at, null in a draft.
 */
export function* computeLines(
  { invoice, from, parts }: Slice,
  usage: ReadonlyMap<Due, DueUsage>,
  closing: number | null,
): Generator<undefined, ComputedLine[], undefined> {
  const { id, currency } = invoice;
  const lines: ComputedLine[] = [];
  for (const [index, { kind, due }] of parts.entries()) {
    const counted = usage.get(due);
    lines.push({
      ...lineOfDue(id, due, settleDue(due, counted, currency), currency),
      position: from + index,
      kind,
      quantity: counted?.quantity ?? null,
      event_count: counted === undefined ? null : String(counted.eventCount),
      closing: closing === null ? null : String(closing),
    });
    yield;
  }
  return lines;
}

/** The due of a line that takes away what was billed before; undefined where it does not. */
export function returningDue({ due, amount }: ComputedLine): Due | undefined {
  return due !== null && due.closing !== null && amount.startsWith('-') ? due : undefined;
}

/**
 * The same lines, of which those that take away give back no more than was asked for: `returnable`, by {@link dueKey}. Stops after
 * each.
 */
export function* withReturnable(
  lines: readonly ComputedLine[],
  currency: string,
  usage: ReadonlyMap<Due, DueUsage>,
  returnable: ReadonlyMap<string, Amount>,
): Generator<undefined, ComputedLine[], undefined> {
  const bounded: ComputedLine[] = [];
  for (const line of lines) {
    const due = returningDue(line);
    if (due === undefined) bounded.push(line);
    else {
      const settled = settleDue(due, usage.get(due), currency, returnable.get(dueKey(due)));
      bounded.push({ ...line, ...amountsOf(settled, currency) });
      yield;
    }
  }
  return bounded;
}

type LineOfDue = Omit<ComputedLine, 'position' | 'kind' | 'quantity' | 'event_count' | 'closing'>;

function lineOfDue(invoiceId: string, due: Due, settled: SettledAmounts, currency: string): LineOfDue {
  return {
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
    detail: settled.detail,
    ...amountsOf(settled, currency),
    rebills: due.rebills,
    rating_version: RATING_VERSION,
  };
}

function amountsOf(
  { exactAmount, billedBefore, amount, waived }: SettledAmounts,
  currency: string,
): Pick<ComputedLine, 'exact_amount' | 'billed_before' | 'amount' | 'billed' | 'waived'> {
  return {
    exact_amount: exactAmount,
    billed_before: amountText(billedBefore, currency),
    amount: amountText(amount, currency),
    billed: amountText(billedBefore + amount, currency),
    waived: waived === null ? null : amountText(waived, currency),
  };
}

/** A UUIDv8 (RFC 9562, section 5.8): an invoice has one line for each due. */
export function lineId(invoiceId: string, { subscription_id, cycle, charge_id }: DueName): string {
  const hex = hash128(`${invoiceId} ${subscription_id} ${cycle} ${charge_id}`);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0b11) | 0b1000).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20)].join('-');
}
