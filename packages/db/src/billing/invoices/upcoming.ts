// What a subscription comes to before there is an invoice: its open period as of now, and the invoice that its next boundary
// makes. The boundary is passed by the code that opens periods, and nothing is written.

import { Room } from '@weir/billing/chunk-weight';
import type { Drive } from '@weir/billing/drive';
import { cycleKey } from '@weir/billing/dues-of-invoices';
import { usageToRate, type DueUsage, type SubscriptionCycle } from '@weir/billing/due';
import { newInvoice, type NewInvoice } from '@weir/billing/new-invoice';
import { passingBoundaries, pricedBy, type OpenedPeriod } from '@weir/billing/pass-boundaries';
import { PeriodCache } from '@weir/billing/schedules';
import type { SubscriptionRow } from '../subscriptions/subscriptions.ts';
import type { ChargeTerms } from '@weir/rating/charge-terms';
import { minorDigits } from '@weir/rating/currencies';
import { formatAmount, type Amount } from '@weir/rating/money';
import { rate, type UsageOfDue } from '@weir/rating/rate';
import { settle } from '@weir/rating/settle';
import { newId } from '@weir/shared/ids';
import { isoOf, microsOfText } from '@weir/shared/instant';
import type { AggregationType } from '@weir/shared/meter';
import { toEnd } from '@weir/shared/to-end';
import { sql } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { MonthTakenOut } from '../../months-taken-out.ts';
import { cutBoundaries } from './cut-by-weight.ts';
import { computeFirstLines } from './draft-lines.ts';
import { readDrafting } from '../drafting.ts';
import { QUESTIONS_AT_ONCE, readDueUsageToTell, told } from '../usage/due-usage.ts';
import type { DueRow } from '../subscriptions/dues.ts';
import { fieldsOfComputed, lineOf, questionOfLine, type InvoiceLine } from './invoice-lines.ts';
import { invoiceOf, type Invoice, type InvoiceRow } from './invoices.ts';
import { findArrears, readPlans } from '../subscriptions/open-periods.ts';
import { inSnapshot } from '../snapshot.ts';

/** An invoice that is not made yet. */
type InvoicePreview = Omit<Invoice, 'id' | 'invoice_number'> & {
  lines: Omit<InvoiceLine, 'id'>[];
  lines_total?: number;
};

export type PreviewOutcome =
  | { outcome: 'done'; invoice: InvoicePreview }
  /** It has no next boundary. */
  | { outcome: 'not_found' | 'subscription_ended' };

/** Computes the next invoice of a subscription as of now, with its first lines. */
export async function previewInvoice(
  database: Database,
  organizationId: string,
  subscriptionId: string,
  drive?: Drive,
): Promise<PreviewOutcome> {
  return await inSnapshot(database, async (snapshot) => {
    const subscription = await findSubscriptionRow(snapshot, organizationId, subscriptionId);
    if (subscription === undefined) return { outcome: 'not_found' };
    if (subscription.status === 'CANCELED') return { outcome: 'subscription_ended' };
    const { invoice, opened, now, isManual } = await passNext(snapshot, organizationId, subscription);
    const upcoming = opened === undefined ? [] : await duesOf(snapshot, organizationId, subscription, opened);
    const row: InvoiceRow = { ...NOT_MADE, ...invoice, organization_id: organizationId, id: newId(), created_at: now };
    const { computed, page } = await computeFirstLines(snapshot, organizationId, row, { upcoming, drive });
    const { id: _, invoice_number: __, ...whole } = invoiceOf(row, { totals: computed, at: now, isManual });
    const lines = page.lines.map((line) => {
      const { id: ___, ...rest } = lineOf(fieldsOfComputed(line), row.currency);
      return rest;
    });
    const some = page.next === undefined ? {} : { lines_total: computed.lines };
    return { outcome: 'done', invoice: { ...whole, lines, ...some } };
  });
}

/** What a row says of an invoice that is not finalized. */
const NOT_MADE = {
  kind: 'SUBSCRIPTION',
  status: 'DRAFT',
  run_at: null,
  run_error: null,
  finalized_at: null,
  invoice_number: null,
  issue_date: null,
  due_date: null,
  past_due_at: null,
  subtotal: null,
  total: null,
  credits_applied: null,
  amount_paid: null,
  customer: null,
  issuer: null,
  seller: null,
  buyer: null,
  is_past_due: false,
  paid_at: null,
  reference: null,
  note: null,
  uncollectible_at: null,
} as const;

/** What the next boundary will do, if everything stays as it is now. */
async function passNext(
  snapshot: Queries,
  organizationId: string,
  row: SubscriptionRow,
): Promise<{ invoice: NewInvoice; opened: OpenedPeriod | undefined; now: string; isManual: boolean }> {
  const drafting = await readDrafting(snapshot, organizationId);
  const end = row.current_period_end;
  const { periods } = toEnd(
    passingBoundaries(row, {
      ...drafting,
      now: microsOfText(end),
      plans: await readPlans(snapshot, organizationId, [row]),
      hasArrears: (await findArrears(snapshot, organizationId, [row])).has(row.id),
      periods: new PeriodCache(),
      room: new Room(),
    }),
  );
  const isFirst = row.cycle === null;
  const cycle = row.cycle === null ? row.anchor_cycle : row.cycle + 1;
  const start = isFirst ? end : row.current_period_start;
  const invoice = newInvoice(row, { cycle, start, end, ...drafting });
  return { invoice, opened: periods[0], now: isoOf(drafting.now), isManual: drafting.isManual };
}

/** The dues that are billed at the boundary where their period begins. */
async function duesOf(
  snapshot: Queries,
  organizationId: string,
  { id, customer_external_id }: SubscriptionRow,
  { cycle, period_start, period_end, days, charges }: OpenedPeriod,
): Promise<DueRow[]> {
  const inAdvance = charges.filter(({ is_in_advance }) => is_in_advance);
  if (inAdvance.length === 0) return [];
  const rows = await snapshot
    .selectFrom('charges')
    .select(['id', 'display_name', 'terms'])
    .where('organization_id', '=', organizationId)
    .where(
      'id',
      'in',
      inAdvance.map(({ id }) => id),
    )
    .orderBy('id')
    .execute();
  return rows.map((charge) => ({
    organization_id: organizationId,
    subscription_id: id,
    cycle,
    charge_id: charge.id,
    display_name: charge.display_name,
    terms: charge.terms,
    meter_id: null,
    customer_external_id,
    period_start,
    period_end,
    days_in_force: days?.inForce ?? null,
    days_in_period: days?.inPeriod ?? null,
    closing: null,
    billed: '0',
    rebills: 0,
    rebilling: false,
    aggregation: null,
  }));
}

/** What one charge for usage comes to in the open period, as of now. */
export interface ChargeUsage {
  charge_id: string;
  meter_id: string;
  quantity: string;
  amount: string;
}

/** What each charge for usage comes to in the open period, as of now; in a trial what was used, which costs nothing. */
export async function readSubscriptionUsage(
  database: Database,
  organizationId: string,
  subscriptionId: string,
): Promise<ChargeUsage[] | undefined> {
  return await inSnapshot(database, async (snapshot) => {
    const subscription = await findSubscriptionRow(snapshot, organizationId, subscriptionId);
    if (subscription === undefined) return undefined;
    const { id, cycle, currency } = subscription;
    const priced =
      cycle === null
        ? await pricedInTrial(snapshot, organizationId, subscription)
        : await pricedInPeriods(snapshot, organizationId, [{ subscription_id: id, cycle }]);
    const usage = (await readPriced(snapshot, organizationId, priced)).map(told);
    const digits = minorDigits(currency);
    return priced.map((each, index) => {
      const { charge_id, meter_id } = each;
      const counted = usageToRate(usage[index]);
      const comesTo = cycle === null ? 0n : comesToOf(each, counted, digits);
      return { charge_id, meter_id, quantity: counted.quantity, amount: formatAmount(comesTo, digits) };
    });
  });
}

/**
 * What all usage comes to in periods of subscriptions, in their order: of an open one the sum of the amounts that
 * {@link readSubscriptionUsage} returns. Where it cannot be told, why. What is held of them at once is bounded, however many there are.
 */
export async function readUsageAmounts(
  db: Queries,
  organizationId: string,
  periods: readonly (SubscriptionCycle & { currency: string })[],
): Promise<(Amount | MonthTakenOut)[]> {
  const sums = new Map<string, Amount | MonthTakenOut>();
  const digits = new Map(periods.map((period) => [cycleKey(period), minorDigits(period.currency)]));
  // A period weighs what the invoice of its end does.
  const ends = periods.map(({ subscription_id, cycle }) => ({ subscription_id, cycle: cycle + 1 }));
  for (const part of await cutBoundaries(db, organizationId, ends)) {
    const some = part.map(({ subscription_id, cycle }) => ({ subscription_id, cycle: cycle - 1 }));
    const priced = await pricedInPeriods(db, organizationId, some);
    const usage = await readPriced(db, organizationId, priced);
    for (const [index, each] of priced.entries()) {
      const key = cycleKey(each);
      const [sum, counted] = [sums.get(key) ?? 0n, usage[index]];
      if (sum instanceof MonthTakenOut) continue;
      const isTold = !(counted instanceof MonthTakenOut);
      sums.set(key, isTold ? sum + comesToOf(each, usageToRate(counted), digits.get(key) ?? 0) : counted);
    }
  }
  return periods.map((period) => sums.get(cycleKey(period)) ?? 0n);
}

type PricedMeter = Pick<
  DueRow,
  'charge_id' | 'customer_external_id' | 'period_start' | 'period_end' | 'days_in_force' | 'days_in_period'
> & { meter_id: string; terms: ChargeTerms; aggregation_type: AggregationType };

async function readPriced(
  db: Queries,
  organizationId: string,
  priced: readonly PricedMeter[],
): Promise<(DueUsage | MonthTakenOut | undefined)[]> {
  const usage: (DueUsage | MonthTakenOut)[] = [];
  for (let from = 0; from < priced.length; from += QUESTIONS_AT_ONCE) {
    const questions = priced
      .slice(from, from + QUESTIONS_AT_ONCE)
      .flatMap((each) => questionOfLine(organizationId, { ...each, closing: null }) ?? []);
    usage.push(...(await readDueUsageToTell(db, questions)));
  }
  return usage;
}

function comesToOf(
  { terms, days_in_force: inForce, days_in_period: inPeriod }: PricedMeter,
  counted: UsageOfDue,
  digits: number,
): Amount {
  const days = inForce === null || inPeriod === null ? null : { inForce, inPeriod };
  return settle(rate(terms, counted, days).exact, 0n, digits).comesTo;
}

async function pricedInPeriods(
  db: Queries,
  organizationId: string,
  periods: readonly SubscriptionCycle[],
): Promise<(PricedMeter & SubscriptionCycle)[]> {
  const { rows } = await sql<PricedMeter & SubscriptionCycle>`
    SELECT due.*, aggregation_type
    FROM unnest(${periods.map(({ subscription_id }) => subscription_id)}::uuid[], ${periods.map(({ cycle }) => cycle)}::integer[])
      AS asked (subscription_id, cycle)
    CROSS JOIN LATERAL (
      SELECT subscription_id, cycle, charge_id, meter_id, customer_external_id, terms, period_start, period_end, days_in_force,
        days_in_period
      FROM dues WHERE organization_id = ${organizationId}::uuid AND dues.subscription_id = asked.subscription_id
        AND dues.cycle = asked.cycle AND meter_id IS NOT NULL OFFSET 0
    ) AS due
    CROSS JOIN LATERAL (
      SELECT aggregation_type FROM meters WHERE organization_id = ${organizationId}::uuid AND meters.id = due.meter_id OFFSET 0
    ) AS meter
    ORDER BY subscription_id, cycle, charge_id`.execute(db);
  return rows;
}

async function pricedInTrial(db: Queries, organizationId: string, row: SubscriptionRow): Promise<PricedMeter[]> {
  const { plan_id, priced_at } = pricedBy(row);
  const { rows } = await sql<PricedMeter>`
    SELECT charges.id AS charge_id, meter_id, ${row.customer_external_id}::text AS customer_external_id, terms,
      ${row.current_period_start}::timestamptz AS period_start, ${row.current_period_end}::timestamptz AS period_end,
      NULL AS days_in_force, NULL AS days_in_period, aggregation_type
    FROM charges JOIN meters ON meters.organization_id = charges.organization_id AND meters.id = charges.meter_id
    WHERE charges.organization_id = ${organizationId}::uuid AND plan_id = ${plan_id}::uuid
      AND effective_from <= ${priced_at}::timestamptz AND (ended_at IS NULL OR ended_at > ${priced_at}::timestamptz)
    ORDER BY charges.id`.execute(db);
  return rows;
}

async function findSubscriptionRow(
  db: Queries,
  organizationId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  return await db
    .selectFrom('subscriptions')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}
