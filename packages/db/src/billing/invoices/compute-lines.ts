// What invoices come to: drafts whenever they are read, previews, and finalization make their lines here, with packages/rating and
// nothing else. Reads and changes nothing. Next: finalize.ts writes down what this computes.

import { microsOfText } from '@weir/shared/instant';
import { minorDigits } from '@weir/rating/currencies';
import { formatAmount, type Amount } from '@weir/rating/money';
import { rate, RATING_VERSION, type Days, type RatedDetail } from '@weir/rating/rate';
import { settle, type Settled } from '@weir/rating/settle';
import { hash128 } from '@weir/shared/hash';
import { sql, type Selectable } from 'kysely';
import type { Queries } from '../../database.ts';
import type { Tables } from '../../schema.ts';
import { readDueUsage, usageToRate, type DueUsage } from '../usage/due-usage.ts';
import { inOneGo, type Drive } from '../drive.ts';
import { dueKey, findDues, type AskedPeriod, type DueRow, type SubscriptionCycle } from '../subscriptions/dues.ts';
import { groupBy } from '../group-by.ts';
import { findLateDues } from '../subscriptions/late-events.ts';
import { amountOf } from './invoices.ts';
import { readReturnable } from './returnable.ts';
import type { LineKind } from '../tables.ts';

/** What is asked of an invoice: a row of invoices has all of it, and a preview makes it up with any id. */
export type InvoiceToCompute = Pick<
  Selectable<Tables['invoices']>,
  'id' | 'kind' | 'subscription_id' | 'cycle' | 'currency'
>;

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
  due: DueRow | null;
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

/** Dues whose usage is read in one statement, where it is read in slices: to write the statement takes some milliseconds. */
const DUES_AT_ONCE = 500;

/** A due, and the kind of line that is to settle it. */
interface DueOfInvoice {
  kind: Exclude<LineKind, 'ADJUSTMENT'>;
  due: DueRow;
}

type AdjustmentRow = Selectable<Tables['invoice_lines']>;

/**
 * Computes invoices of one organization that are not finalized, in the order given. Late changes are on the earliest draft of a
 * subscription, or on what is asked about where it has no draft. `closing`: usage at this closing; null: all that is recorded.
 * `upcoming` are dues that are not written yet, for a preview. Everything is read with `transaction`: for one snapshot let it be
 * `repeatable read`. Usage of all of them is one statement, but for what is computed with a `drive`, in slices.
 */
export async function computeInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
  closing: number | null,
  { upcoming = [], drive }: { upcoming?: readonly DueRow[]; drive?: Drive | undefined } = {},
): Promise<ComputedInvoice[]> {
  if (invoices.length === 0) return [];
  const work = drive ?? inOneGo;
  const written = await findDues(transaction, organizationId, periodsOf(invoices));
  const byCycle = groupBy([...written, ...upcoming], cycleKey);
  const late = await findLateOfInvoices(transaction, organizationId, invoices, closing);
  const added = await findAdjustments(transaction, organizationId, invoices);
  const parts = invoices.map((invoice) => duesOf(invoice, byCycle, late.get(invoice.id) ?? []));
  const atOnce = drive === undefined ? Infinity : DUES_AT_ONCE;
  const usage = await readUsage(transaction, organizationId, parts.flat(), closing, atOnce);
  const returning = await work(findReturning(invoices, parts, usage));
  const returnable = await readReturnable(
    transaction,
    organizationId,
    returning.map(({ due }) => due),
  );
  const computed: ComputedInvoice[] = [];
  for (const [index, invoice] of invoices.entries()) {
    const own = added.get(invoice.id) ?? [];
    computed.push(await work(computing(invoice, parts[index] ?? [], own, { usage, returnable }, closing)));
  }
  return computed;
}

function* findReturning(
  invoices: readonly InvoiceToCompute[],
  parts: readonly DueOfInvoice[][],
  usage: ReadonlyMap<DueRow, DueUsage>,
): Generator<undefined, DueOfInvoice[], undefined> {
  const returning: DueOfInvoice[] = [];
  for (const [index, { currency }] of invoices.entries()) {
    for (const part of parts[index] ?? []) {
      if (takesAway(part, usage, currency)) returning.push(part);
      yield;
    }
  }
  return returning;
}

/** An invoice is of the boundary between two periods: of the one that begins, what is billed in advance. */
function periodsOf(invoices: readonly InvoiceToCompute[]): AskedPeriod[] {
  const periods = new Map<string, AskedPeriod>();
  for (const { subscription_id, cycle } of invoices) {
    if (cycle === null) continue;
    for (const [each, inAdvanceOnly] of [[cycle - 1, false] as const, [cycle, true] as const]) {
      const period = { subscription_id, cycle: each, inAdvanceOnly };
      const key = cycleKey(period);
      // The period that begins with one invoice may end with another one.
      if (!inAdvanceOnly || !periods.has(key)) periods.set(key, period);
    }
  }
  return [...periods.values()];
}

function cycleKey({ subscription_id, cycle }: SubscriptionCycle): string {
  return `${subscription_id} ${cycle}`;
}

/** In the order of the lines: usage of the period by charge, fixed, late by period. */
function duesOf(
  { subscription_id, cycle, currency }: InvoiceToCompute,
  byCycle: ReadonlyMap<string, DueRow[]>,
  late: readonly DueRow[],
): DueOfInvoice[] {
  if (cycle === null) return late.map(lateLine);
  const ended = byCycle.get(cycleKey({ subscription_id, cycle: cycle - 1 })) ?? [];
  const begun = byCycle.get(cycleKey({ subscription_id, cycle })) ?? [];
  const usage = ended.filter(({ terms }) => terms.type === 'USAGE');
  const fixed = [
    ...ended.filter((due) => !isInAdvance(due) && due.terms.type === 'FIXED'),
    ...ended.filter((due) => isInAdvance(due) && wasCut(due, currency)),
    ...begun.filter(isInAdvance),
  ];
  // What was billed in advance, and is to be billed again, may have been cut as well.
  const listed = new Set([...usage, ...fixed].map(dueKey));
  return [
    ...usage.map((due): DueOfInvoice => ({ kind: 'USAGE', due })),
    ...fixed.map((due): DueOfInvoice => ({ kind: 'FIXED', due })),
    ...late.filter((due) => !listed.has(dueKey(due))).map(lateLine),
  ];
}

/** Late changes, and what is to be billed again. */
function lateLine(due: DueRow): DueOfInvoice {
  return { kind: due.rebilling ? due.terms.type : 'LATE_USAGE', due };
}

function isInAdvance({ terms }: DueRow): boolean {
  return terms.type === 'FIXED' && terms.timing === 'in_advance';
}

/** Whether a due was billed in advance and comes to another amount by now: the period ended early. */
function wasCut(due: DueRow, currency: string): boolean {
  if (due.closing === null) return false;
  return settleDue(due, undefined, minorDigits(currency)).amount !== 0n;
}

/** Whether more was billed for a due than it comes to by now. */
function takesAway({ due }: DueOfInvoice, usage: ReadonlyMap<DueRow, DueUsage>, currency: string): boolean {
  if (due.closing === null) return false;
  return settleDue(due, usage.get(due), minorDigits(currency)).amount < 0n;
}

/** Late changes of each subscription, by the invoice that takes them: the first that is finalized. */
async function findLateOfInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
  closing: number | null,
): Promise<Map<string, DueRow[]>> {
  const subscriptionIds = [...new Set(invoices.map(({ subscription_id }) => subscription_id))];
  const late = await findLateDues(transaction, organizationId, subscriptionIds, closing);
  if (late.length === 0) return new Map();
  const earliest = await transaction
    .selectFrom('invoices')
    .select(({ fn }) => ['subscription_id', fn.min('cycle').as('cycle')])
    .where('organization_id', '=', organizationId)
    .where('subscription_id', 'in', subscriptionIds)
    .where('status', '=', 'DRAFT')
    .where('cycle', 'is not', null)
    .groupBy('subscription_id')
    .execute();
  const firstDraft = new Map(earliest.map(({ subscription_id, cycle }) => [subscription_id, cycle]));
  const bySubscription = groupBy(late.sort(byPeriod), ({ subscription_id }) => subscription_id);
  const taken = new Map<string, DueRow[]>();
  for (const { id, subscription_id, cycle } of invoices) {
    const first = firstDraft.get(subscription_id);
    if (first !== undefined && first !== cycle) continue;
    taken.set(id, bySubscription.get(subscription_id) ?? []);
    bySubscription.delete(subscription_id);
  }
  return taken;
}

function byPeriod(a: DueRow, b: DueRow): number {
  return a.cycle - b.cycle || (a.charge_id < b.charge_id ? -1 : 1);
}

/** What an admin added, by invoice. */
async function findAdjustments(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
): Promise<Map<string, AdjustmentRow[]>> {
  const ids = invoices.map(({ id }) => id);
  const rows = await transaction
    .selectFrom('invoice_lines')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`invoice_id = ANY (${ids}::uuid[])`)
    .where('kind', '=', 'ADJUSTMENT')
    .orderBy('position')
    .orderBy('id')
    .execute();
  return groupBy(rows, ({ invoice_id }) => invoice_id);
}

async function readUsage(
  transaction: Queries,
  organizationId: string,
  parts: readonly DueOfInvoice[],
  closing: number | null,
  atOnce: number,
): Promise<Map<DueRow, DueUsage>> {
  const asked = parts.flatMap(({ due }) => {
    const { meter_id: meterId, aggregation, customer_external_id: customerExternalId } = due;
    if (meterId === null || aggregation === null) return [];
    const [start, end] = [microsOfText(due.period_start), microsOfText(due.period_end)];
    return [{ due, question: { organizationId, meterId, customerExternalId, aggregation, start, end, closing } }];
  });
  const questions = asked.map(({ question }) => question);
  const read: DueUsage[] = [];
  for (let from = 0; from < questions.length; from += atOnce) {
    for (const usage of await readDueUsage(transaction, questions.slice(from, from + atOnce))) read.push(usage);
  }
  return new Map(
    asked.map(({ due }, index) => {
      const usage = read[index];
      if (usage === undefined) throw new Error('the usage of a due was asked for and is not among the answers');
      return [due, usage];
    }),
  );
}

function* computing(
  invoice: InvoiceToCompute,
  parts: readonly DueOfInvoice[],
  added: readonly AdjustmentRow[],
  read: { usage: ReadonlyMap<DueRow, DueUsage>; returnable: ReadonlyMap<string, Amount> },
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
  due: DueRow,
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

function adjustmentLine(row: AdjustmentRow, position: number): ComputedLine {
  const { organization_id: _, created_at: __, ...line } = row;
  return { ...line, position, due: null, detail: null };
}

interface SettledAmounts extends Settled {
  detail: RatedDetail | null;
  billedBefore: Amount;
}

function settleDue(due: DueRow, usage: DueUsage | undefined, digits: number, returnable?: Amount): SettledAmounts {
  const { exact, detail } = rate(due.terms, usageToRate(usage), daysOf(due));
  const billedBefore = amountOf(due.billed, digits);
  return { detail, billedBefore, ...settle(exact, billedBefore, digits, returnable) };
}

function daysOf({ days_in_force: inForce, days_in_period: inPeriod }: DueRow): Days | null {
  return inForce === null || inPeriod === null ? null : { inForce, inPeriod };
}

/** A UUIDv8 (RFC 9562, section 5.8): an invoice has one line for each due. */
function lineId(invoiceId: string, { subscription_id, cycle, charge_id }: DueRow): string {
  const hex = hash128(`${invoiceId} ${subscription_id} ${cycle} ${charge_id}`);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0b11) | 0b1000).toString(16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20)].join('-');
}
