// That money adds up: lines, invoices, dues and credits, with arithmetic of the judge's own.

import { dueOf, listsBy, type BillingState, type StoredInvoice } from './billing-state.ts';
import { Check } from './check.ts';
import { decimalOf, unitsOf } from './exact.ts';

/** Minor digits of the currency of the run, which is USD. */
const MINOR_UNIT = unitsOf('0.01');

/** Lines are rounded once and add up, on each invoice and for each due. */
export function amountsAddUp({ invoices, lines }: BillingState): Check {
  const check = new Check(
    'sums',
    'Each amount is its exact amount, rounded once, less what was billed before but for what is waived of that; the lines of an invoice add up to its subtotal and total, those of a due to one rounding.',
  );
  const finalized = new Set(invoices.filter(({ status }) => status !== 'DRAFT').map(({ id }) => id));
  const counted = lines.filter(({ invoice }) => finalized.has(invoice));
  for (const { id, exactAmount, billedBefore, amount, waived } of counted) {
    check.examine();
    if (unitsOf(amount) !== roundedOf(exactAmount) - unitsOf(billedBefore) + unitsOf(waived))
      check.violate(
        `line ${id} has ${amount}: ${exactAmount} rounded, less ${billedBefore} of which ${waived} are waived, is another`,
      );
  }
  const byInvoice = listsBy(counted, ({ invoice }) => invoice);
  for (const invoice of invoices.filter(({ id }) => finalized.has(id))) {
    check.examine();
    const sum = sumOf(byInvoice.get(invoice.id) ?? []);
    if (!isUnits(invoice.subtotal, sum) || !isUnits(invoice.total, sum))
      check.violate(
        `invoice ${invoice.id} has lines of ${decimalOf(sum)}, the subtotal ${invoice.subtotal} and the total ${invoice.total}`,
      );
    const problem = stateProblem(invoice, sum);
    if (problem !== undefined) check.violate(`invoice ${invoice.id} ${problem}`);
  }
  for (const [due, own] of listsBy(counted, dueOf)) {
    check.examine();
    // A fixed price in advance has lines without a closing of usage, and its last one is the one with most billed before it.
    const isWhole = own.some(({ exactAmount, waived }) => roundedOf(exactAmount) + unitsOf(waived) === sumOf(own));
    const ordered = own.toSorted((a, b) => (a.closing ?? -1) - (b.closing ?? -1));
    const last = ordered.at(-1);
    if (!isWhole || last === undefined || roundedOf(last.exactAmount) + unitsOf(last.waived) !== sumOf(own))
      check.violate(`the lines of ${due} add up to ${decimalOf(sumOf(own))}, and it came to ${last?.exactAmount}`);
  }
  return check;
}

function sumOf(rows: readonly { amount: string }[]): bigint {
  return rows.reduce((sum, { amount }) => sum + unitsOf(amount), 0n);
}

function isUnits(text: string | null, units: bigint): boolean {
  return text !== null && unitsOf(text) === units;
}

/** What is wrong with the state of an invoice, going by its amounts. */
function stateProblem({ status, creditsApplied, amountPaid }: StoredInvoice, total: bigint): string | undefined {
  if (creditsApplied === null || amountPaid === null) return 'is finalized without credits or payments';
  const owed = total < 0n ? 0n : total;
  const left = owed - unitsOf(creditsApplied) - unitsOf(amountPaid);
  if (left < 0n) return `of ${decimalOf(total)} took ${creditsApplied} of credits and ${amountPaid} of payments`;
  if (status === 'PAID' && left !== 0n) return `is PAID, and ${decimalOf(left)} is due`;
  if (status === 'OPEN' && left === 0n) return 'is OPEN, and nothing is due';
  return undefined;
}

/** An exact amount, `1.25` or `7/3`, to the minor digits, half away from zero. */
export function roundedOf(exact: string): bigint {
  const [top = '', bottom = '1'] = exact.split('/');
  // Both in the units of the judge, so that these cancel out.
  const [n, d] = [unitsOf(top), unitsOf(bottom)];
  const size = n < 0n ? -n : n;
  const scale = unitsOf('1');
  const minor = (2n * size * (scale / MINOR_UNIT) + d) / (2n * d);
  return (n < 0n ? -minor : minor) * MINOR_UNIT;
}

/** Every grant is what was granted, less what was drawn of it, and never below zero. */
export function grantsAddUp({ invoices, grants, draws }: BillingState): Check {
  const check = new Check(
    'credits',
    'No grant is below zero, each has left what was not drawn of it or ended, and each invoice drew what it says.',
  );
  const byGrant = listsBy(draws, ({ grant }) => grant);
  for (const { id, amount, remaining } of grants) {
    check.examine();
    const own = byGrant.get(id) ?? [];
    const taken = (kind: string) => sumOf(own.filter((draw) => draw.kind === kind));
    const left = unitsOf(amount) - taken('DRAW') + taken('RETURN') - taken('VOID');
    if (unitsOf(remaining) !== left)
      check.violate(`grant ${id} says ${remaining}, and ${decimalOf(left)} is left of it`);
    if (left < 0n || unitsOf(remaining) < 0n) check.violate(`grant ${id} is at ${decimalOf(left)}`);
  }
  const byInvoice = listsBy(draws, ({ invoice }) => invoice ?? undefined);
  for (const { id, status, creditsApplied } of invoices) {
    check.examine();
    const own = byInvoice.get(id) ?? [];
    const drawn = sumOf(own.filter(({ kind }) => kind === 'DRAW'));
    const returned = sumOf(own.filter(({ kind }) => kind === 'RETURN'));
    if (drawn !== unitsOf(creditsApplied ?? '0'))
      check.violate(`invoice ${id} drew ${decimalOf(drawn)} and says ${creditsApplied}`);
    if (returned !== (status === 'VOID' ? drawn : 0n))
      check.violate(`invoice ${id} is ${status}, drew ${decimalOf(drawn)} and gave back ${decimalOf(returned)}`);
  }
  return check;
}
