// Which dues an invoice has, by which kinds of line they are settled, and which invoice takes what came late.

import { dueKey, settleDue, type AskedPeriod, type Due, type LateDue, type SubscriptionCycle } from './due.ts';
import { groupBy } from './group-by.ts';
import type { InvoiceKind, LineKind } from './kinds.ts';

/** An invoice whose dues are looked for. A preview makes it up, with any id. */
export interface InvoiceToCompute {
  id: string;
  kind: InvoiceKind;
  subscription_id: string;
  /** The boundary that it is of; null for a settlement. */
  cycle: number | null;
  currency: string;
}

/** A due, and the kind of line that is to settle it. */
export interface DueOfInvoice {
  kind: Exclude<LineKind, 'ADJUSTMENT'>;
  due: Due;
}

/** The same before a late one is read. */
export interface PartOfInvoice {
  kind: DueOfInvoice['kind'];
  due: Due | LateDue;
}

/** An invoice is of the boundary between two periods: of the one that begins, what is billed in advance. */
export function periodsOf(invoices: readonly InvoiceToCompute[]): AskedPeriod[] {
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

/** Names a period within its organization. */
export function cycleKey({ subscription_id, cycle }: SubscriptionCycle): string {
  return `${subscription_id} ${cycle}`;
}

/** In the order of the lines: usage of the period by charge, fixed, late by period. */
export function duesOf(
  { subscription_id, cycle, currency }: InvoiceToCompute,
  byCycle: ReadonlyMap<string, Due[]>,
  late: readonly LateDue[],
): PartOfInvoice[] {
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
    ...usage.map((due): PartOfInvoice => ({ kind: 'USAGE', due })),
    ...fixed.map((due): PartOfInvoice => ({ kind: 'FIXED', due })),
    ...late.filter((due) => !listed.has(dueKey(due))).map(lateLine),
  ];
}

/** Late changes, and what is to be billed again. */
function lateLine(due: LateDue): PartOfInvoice {
  return { kind: due.rebilling ? due.type : 'LATE_USAGE', due };
}

function isInAdvance({ terms }: Due): boolean {
  return terms.type === 'FIXED' && terms.timing === 'in_advance';
}

/** Whether a due was billed in advance and comes to another amount by now: the period ended early. */
function wasCut(due: Due, currency: string): boolean {
  if (due.closing === null) return false;
  return settleDue(due, undefined, currency).amount !== 0n;
}

/**
 * Late changes by the invoice that takes them: of each subscription its first draft, by `firstDrafts`, or what is asked about where it
 * has none.
 */
export function takersOfLate(
  invoices: readonly InvoiceToCompute[],
  late: readonly LateDue[],
  firstDrafts: ReadonlyMap<string, number | null>,
): Map<string, LateDue[]> {
  const bySubscription = groupBy(late.toSorted(byPeriod), ({ subscription_id }) => subscription_id);
  const taken = new Map<string, LateDue[]>();
  for (const { id, subscription_id, cycle } of invoices) {
    const first = firstDrafts.get(subscription_id);
    if (first !== undefined && first !== cycle) continue;
    taken.set(id, bySubscription.get(subscription_id) ?? []);
    bySubscription.delete(subscription_id);
  }
  return taken;
}

function byPeriod(a: LateDue, b: LateDue): number {
  return a.cycle - b.cycle || (a.charge_id < b.charge_id ? -1 : 1);
}
