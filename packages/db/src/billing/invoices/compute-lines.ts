// What invoices come to: drafts whenever they are read, previews, and finalization have their lines from here. Reads what
// packages/billing makes them of, and changes nothing. An invoice may settle tens of thousands of late dues: lines are made slice by
// slice, and those that nobody takes are not held. Next: finalize.ts writes down what this computes.

import { amountOf } from '@weir/billing/amounts';
import { dueKey, type Due, type DueUsage, type LateDue } from '@weir/billing/due';
import {
  cycleKey,
  duesOf,
  periodsOf,
  takersOfLate,
  type DueOfInvoice,
  type InvoiceToCompute,
  type PartOfInvoice,
} from '@weir/billing/dues-of-invoices';
import { inOneGo, type Drive } from '@weir/billing/drive';
import { groupBy } from '@weir/billing/group-by';
import {
  computeLines,
  returningDue,
  withReturnable,
  type ComputedInvoice,
  type ComputedLine,
  type Slice,
} from '@weir/billing/lines';
import type { Amount } from '@weir/rating/money';
import { microsOfText } from '@weir/shared/instant';
import type { Queries } from '../../database.ts';
import { MonthTakenOut } from '../../months-taken-out.ts';
import { findDues, readDues } from '../subscriptions/dues.ts';
import { findLateDues } from '../subscriptions/late-events.ts';
import { readDueUsageToTell } from '../usage/due-usage.ts';
import { sumAdjustments } from './adjustments.ts';
import { readReturnable } from './returnable.ts';

/** What came late, and in a request all dues, so many at once: some tens of milliseconds, and of a hundred tiers each some megabytes. */
const DUES_AT_ONCE = 500;

export interface ComputeOptions {
  /** Dues that are not written yet, for a preview. */
  upcoming?: readonly Due[];
  drive?: Drive | undefined;
}

type ComputeAndTake = ComputeOptions & { take?: (lines: ComputedLine[]) => unknown };

/** Some parts of an invoice, of which late ones are not read yet. */
interface UnreadSlice extends Omit<Slice, 'parts'> {
  parts: readonly PartOfInvoice[];
}

/**
 * Computes invoices of one organization that are not finalized, in the order given. Late changes are on the earliest draft of a
 * subscription, or on what is asked about where it has no draft. `closing`: usage at this closing; null: all that is recorded.
 * `take` gets the lines of dues in their order; what admins added comes behind them, and is summed up alone. Everything is read with
 * `transaction`: for one snapshot let it be `repeatable read`. Throws where one of them cannot be computed.
 */
export async function computeInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
  closing: number | null,
  options: ComputeAndTake = {},
): Promise<ComputedInvoice[]> {
  return (await computeEach(transaction, organizationId, invoices, closing, options)).map(computed);
}

/**
 * The same, with why in the place of one that cannot be computed: its usage cannot be told (MonthTakenOut), or its terms be priced. From
 * the first of these on `take` gets no more lines; it may have got some of that one.
 */
export async function computeEach(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
  closing: number | null,
  { take, ...options }: ComputeAndTake = {},
): Promise<(ComputedInvoice | Error)[]> {
  if (invoices.length === 0) return [];
  const found = await findEachParts(transaction, organizationId, invoices, closing, options);
  const ids = invoices.map(({ id }) => id);
  const added = await sumAdjustments(transaction, organizationId, ids);
  const sums = new Map<string, Amount>();
  const failed = new Map<string, Error>();
  const isLeft = ({ invoice }: UnreadSlice): boolean => !failed.has(invoice.id);
  const wholes = found.flatMap((each) => (each instanceof Error ? [] : [each]));
  for (const [index, each] of found.entries()) if (each instanceof Error) failed.set(ids[index] ?? '', each);
  for (const all of cut(wholes, options.drive !== undefined)) {
    const slices = all.filter(isLeft);
    const lines = await linesOfSlices(transaction, organizationId, slices, closing, options.drive);
    for (const [index, { invoice }] of slices.entries()) {
      const own = lines[index] ?? [];
      if (own instanceof Error) failed.set(invoice.id, own);
      else sums.set(invoice.id, sumOf(own, invoice.currency, sums.get(invoice.id)));
    }
    if (failed.size === 0) await take?.(lines.flatMap(computed));
  }
  return found.map((each) => {
    if (each instanceof Error) return each;
    const { id, currency } = each.invoice;
    const why = failed.get(id);
    if (why !== undefined) return why;
    const { count, amount } = added.get(id) ?? { count: 0, amount: null };
    const total = (sums.get(id) ?? 0n) + amountOf(amount, currency);
    return { id, lines: each.parts.length + count, added: count, subtotal: total, total };
  });
}

function sumOf(lines: readonly ComputedLine[], currency: string, before: Amount = 0n): Amount {
  return lines.reduce((sum, { amount }) => sum + amountOf(amount, currency), before);
}

/** Throws why something could not be computed. */
function computed<Value>(value: Value | Error): Value {
  if (value instanceof Error) throw value;
  return value;
}

/** What something comes to, or what it throws: it is of one invoice, and others are computed beside it. */
async function attempt<Value>(work: () => Value | Promise<Value>): Promise<Value | Error> {
  try {
    return await work();
  } catch (error) {
    return error instanceof Error ? error : new Error('an invoice could not be computed', { cause: error });
  }
}

/** Which dues an invoice has, without reading those that came late. */
export async function findParts(
  transaction: Queries,
  organizationId: string,
  invoice: InvoiceToCompute,
): Promise<UnreadSlice> {
  const [parts] = await findEachParts(transaction, organizationId, [invoice], null);
  if (parts === undefined) throw new Error('the dues of an invoice were not looked for');
  return computed(parts);
}

async function findEachParts(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
  closing: number | null,
  { upcoming = [] }: ComputeOptions = {},
): Promise<(UnreadSlice | Error)[]> {
  const written = await findDues(transaction, organizationId, periodsOf(invoices));
  const byCycle = groupBy([...written, ...upcoming], cycleKey);
  const late = await findLateOfInvoices(transaction, organizationId, invoices, closing);
  const found: (UnreadSlice | Error)[] = [];
  for (const invoice of invoices)
    found.push(
      await attempt(() => ({ invoice, from: 0, parts: duesOf(invoice, byCycle, late.get(invoice.id) ?? []) })),
    );
  return found;
}

/** The lines of some parts of one invoice, slice by slice. */
export async function* linesOfParts(
  transaction: Queries,
  organizationId: string,
  parts: UnreadSlice,
  closing: number | null,
  drive: Drive | undefined,
): AsyncGenerator<ComputedLine[]> {
  for (const slices of cut([parts], true))
    yield (await linesOfSlices(transaction, organizationId, slices, closing, drive)).flatMap(computed);
}

/** Cuts invoices into slices, in their order: by what is late, or by all that they have. */
function* cut(wholes: readonly UnreadSlice[], byAll: boolean): Generator<UnreadSlice[]> {
  let slices: UnreadSlice[] = [];
  let room = DUES_AT_ONCE;
  for (const { invoice, from, parts } of wholes) {
    let begin = 0;
    for (const [at, { due }] of parts.entries()) {
      if (room === 0) {
        yield [...slices, { invoice, from: from + begin, parts: parts.slice(begin, at) }];
        [slices, room, begin] = [[], DUES_AT_ONCE, at];
      }
      if (byAll || !isRead(due)) room -= 1;
    }
    slices.push({ invoice, from: from + begin, parts: parts.slice(begin) });
  }
  yield slices;
}

function isRead(due: Due | LateDue): due is Due {
  return 'terms' in due;
}

/** The lines of each slice, or why they cannot be computed. Usage of all of them is one statement. */
async function linesOfSlices(
  transaction: Queries,
  organizationId: string,
  unread: readonly UnreadSlice[],
  closing: number | null,
  drive: Drive = inOneGo,
): Promise<(ComputedLine[] | Error)[]> {
  const slices = await readLate(transaction, organizationId, unread);
  const dues = slices.flatMap(({ parts }) => parts);
  const { usage, untold } = await readUsage(transaction, organizationId, dues, closing);
  const lines: (ComputedLine[] | Error)[] = [];
  for (const slice of slices) {
    const why = slice.parts.map(({ due }) => untold.get(due)).find((each) => each !== undefined);
    lines.push(why ?? (await attempt(() => drive(computeLines(slice, usage, closing)))));
  }
  const returning = lines.flatMap((some) =>
    some instanceof Error ? [] : some.flatMap((line) => returningDue(line) ?? []),
  );
  if (returning.length === 0) return lines;
  const returnable = await readReturnable(transaction, organizationId, returning);
  const bounded: (ComputedLine[] | Error)[] = [];
  for (const [index, { invoice }] of slices.entries()) {
    const some = lines[index] ?? [];
    const { currency } = invoice;
    bounded.push(
      some instanceof Error ? some : await attempt(() => drive(withReturnable(some, currency, usage, returnable))),
    );
  }
  return bounded;
}

async function readLate(
  transaction: Queries,
  organizationId: string,
  unread: readonly UnreadSlice[],
): Promise<Slice[]> {
  const late = unread.flatMap(({ parts }) => parts.flatMap(({ due }) => (isRead(due) ? [] : [due])));
  const found = new Map((await readDues(transaction, organizationId, late)).map((due) => [dueKey(due), due]));
  const read = (due: Due | LateDue): Due => {
    const one = isRead(due) ? due : found.get(dueKey(due));
    if (one === undefined) throw new Error('a due came late, and is not there');
    return one;
  };
  return unread.map(({ parts, ...slice }) => ({
    ...slice,
    parts: parts.map(({ kind, due }) => ({ kind, due: read(due) })),
  }));
}

/** Late changes of each subscription, by the invoice that takes them: the first that is finalized. */
async function findLateOfInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
  closing: number | null,
): Promise<Map<string, LateDue[]>> {
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
  return takersOfLate(invoices, late, new Map(earliest.map(({ subscription_id, cycle }) => [subscription_id, cycle])));
}

/** What is known of the usage of each due: how much it is, or why that cannot be told. */
interface ReadUsage {
  usage: Map<Due, DueUsage>;
  untold: Map<Due, MonthTakenOut>;
}

async function readUsage(
  transaction: Queries,
  organizationId: string,
  parts: readonly DueOfInvoice[],
  closing: number | null,
): Promise<ReadUsage> {
  const asked = parts.flatMap(({ due }) => {
    const { meter_id: meterId, aggregation, customer_external_id: customerExternalId } = due;
    if (meterId === null || aggregation === null) return [];
    const [start, end] = [microsOfText(due.period_start), microsOfText(due.period_end)];
    return [{ due, question: { organizationId, meterId, customerExternalId, aggregation, start, end, closing } }];
  });
  const read = await readDueUsageToTell(
    transaction,
    asked.map(({ question }) => question),
  );
  const known: ReadUsage = { usage: new Map(), untold: new Map() };
  for (const [index, { due }] of asked.entries()) {
    const usage = read[index];
    if (usage === undefined) throw new Error('the usage of a due was asked for and is not among the answers');
    if (usage instanceof MonthTakenOut) known.untold.set(due, usage);
    else known.usage.set(due, usage);
  }
  return known;
}
