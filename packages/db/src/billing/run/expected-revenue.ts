// What an organization may expect to invoice: what its drafts come to, what its open periods that end in this month have come to so
// far, and what was voided to be billed again, by currency and before credits. Prices are no matter of SQL, so a worker reckons it in steps of some subscriptions each, and what it came to
// is kept. It is reckoned only where somebody looks, and then seldom: docs/decisions/0088.

import { amountOf, amountText } from '@weir/billing/amounts';
import type { InvoiceToCompute } from '@weir/billing/dues-of-invoices';
import { dateOf, type LocalDate } from '@weir/rating/local-date';
import { newId } from '@weir/shared/ids';
import { microsOfText } from '@weir/shared/instant';
import { sql } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { findTimeZone } from '../../organizations.ts';
import { BESIDE } from '../../standby.ts';
import { cutBoundaries } from '../invoices/cut-by-weight.ts';
import { computeEach } from '../invoices/compute-lines.ts';
import { inSnapshot } from '../snapshot.ts';
import { isRebilling } from '../subscriptions/dues.ts';

const PARTS = ['drafts', 'open_periods'] as const;
type Part = (typeof PARTS)[number];

/** What an amount is of. `rebilled` is what no draft and no period that ends in this month has. */
const KINDS = [...PARTS, 'rebilled'] as const;
type Kind = (typeof KINDS)[number];

/** By currency. What workers of the version before reckon has no `rebilled`. */
type Sums = Record<string, Record<Part, string> & { rebilled?: string; left_out: number }>;

/** What was reckoned is good for so long, and for so many times as long as it took: it is a fiftieth of what a worker does. */
const GOOD_MINUTES = 10;
const GOOD_FACTOR = 50;

/** One that is under way for longer begins anew: its first steps are of another time. */
const UNDER_WAY_MINUTES = 60;

/** Subscriptions, or drafts, of a step: some tens of milliseconds. It is fewer where they weigh more than is computed at once. */
const STEP = 100;

export interface ReckonOptions {
  /** So many subscriptions, or drafts, are a step at most. */
  step?: number;
}

export interface ExpectedRevenue {
  /** When the reckoning began and ended: each step of it read what was recorded by then. ISO 8601 UTC. */
  began_at: string;
  ended_at: string;
  /** In the order of their codes. Amounts have exactly the minor digits. */
  currencies: {
    currency: string;
    drafts: string;
    open_periods: string;
    rebilled: string;
    total: string;
    /** Drafts and open periods that are not in it, since they cannot be computed. */
    left_out: number;
  }[];
}

/**
 * Returns what was reckoned last, null before the first time, and asks workers for the next time where that is old. A Postgres that takes
 * no writes is not asked to. Where one does not take that now, `onUnasked` hears of it, and who looks next asks.
 */
export async function readExpectedRevenue(
  db: Queries,
  organizationId: string,
  onUnasked: (error: unknown) => void,
): Promise<ExpectedRevenue | null> {
  const { rows } = await sql<{ began_at: string | null; ended_at: string | null; expected: Sums | null; due: boolean }>`
    SELECT began_at, ended_at, expected, ${isDue} AND current_setting('transaction_read_only') = 'off' AS due
    FROM (SELECT) AS asked LEFT JOIN revenue_reckonings r ON organization_id = ${organizationId}::uuid`.execute(db);
  const [row] = rows;
  if (row?.due === true) await begin(db, organizationId).catch(onUnasked);
  if (row === undefined || row.began_at === null || row.ended_at === null) return null;
  const currencies = Object.entries(row.expected ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { drafts, open_periods, rebilled = amountText(0n, currency), left_out }]) => {
      const total = [drafts, open_periods, rebilled].reduce((sum, each) => sum + amountOf(each, currency), 0n);
      return { currency, drafts, open_periods, rebilled, total: amountText(total, currency), left_out };
    });
  return { began_at: row.began_at, ended_at: row.ended_at, currencies };
}

/** Of row `r`, also where there is none: what it holds is old, and none is under way, or one that does not come to its end. */
const isDue = sql<boolean>`(CASE
  WHEN r.begun_at IS NOT NULL THEN billing_clock() - r.begun_at > make_interval(mins => ${UNDER_WAY_MINUTES}::integer)
  WHEN r.ended_at IS NULL THEN true
  ELSE billing_clock() - r.ended_at > greatest(
    make_interval(mins => ${GOOD_MINUTES}::integer), (r.ended_at - r.began_at) * ${GOOD_FACTOR}::float8) END)`;

async function begin(db: Queries, organizationId: string): Promise<void> {
  await sql`
    INSERT INTO revenue_reckonings AS r (organization_id, begun_at, part, stepped_at, sums)
    SELECT ${organizationId}::uuid, billing_clock(), ${PARTS[0]}, billing_clock(), '{}' FROM ${BESIDE}
    ON CONFLICT (organization_id) DO UPDATE
    SET begun_at = excluded.begun_at, part = excluded.part, after = NULL, stepped_at = excluded.stepped_at, sums = excluded.sums
    WHERE ${isDue}`.execute(db);
}

interface Step {
  organization_id: string;
  part: Part;
  /** The subscription behind which the step begins. */
  after: string | null;
  sums: Sums;
}

/**
 * Goes on with all reckonings that are under way until the time is over, at least with one step; each organization has a step in its
 * turn. Safe to run in several processes at once, and to be cut off anywhere. Returns how many came to their end. One that fails is
 * given up, and who looks the next time asks for it again. `onError` hears of it, and of the first draft or period of a reckoning that is
 * left out.
 */
export async function reckonRevenue(
  database: Database,
  milliseconds: number,
  onError: (error: unknown, organizationId: string) => void,
  { step: size = STEP }: ReckonOptions = {},
): Promise<number> {
  const until = performance.now() + milliseconds;
  for (let ended = 0; ;) {
    const step = await nextStep(database.kysely);
    if (step === undefined) return ended;
    try {
      const { isEnd, leftOut } = await take(database, step, size);
      if (isEnd) ended += 1;
      if (leftOut !== undefined) onError(leftOut, step.organization_id);
    } catch (error) {
      onError(error, step.organization_id);
      await giveUp(database.kysely, step);
    }
    if (performance.now() > until) return ended;
  }
}

async function nextStep(db: Queries): Promise<Step | undefined> {
  const { rows } = await sql<Step>`
    SELECT organization_id, part, after, sums FROM revenue_reckonings
    WHERE begun_at IS NOT NULL AND part IS NOT NULL ORDER BY stepped_at, organization_id LIMIT 1`.execute(db);
  return rows[0];
}

interface Taken {
  /** Whether it was the last one. */
  isEnd: boolean;
  /** Why something is left out, where nothing was before. */
  leftOut: Error | undefined;
}

async function take(database: Database, step: Step, size: number): Promise<Taken> {
  const { organization_id: organizationId, part } = step;
  const { last, amounts } = await inSnapshot(database, (snapshot) => reckon(snapshot, step, size));
  const sums = { ...step.sums };
  for (const { currency, kind, total } of amounts) {
    const nothing = amountText(0n, currency);
    const before = { drafts: nothing, open_periods: nothing, rebilled: nothing, left_out: 0, ...sums[currency] };
    sums[currency] =
      total instanceof Error
        ? { ...before, left_out: before.left_out + 1 }
        : { ...before, [kind]: amountText(amountOf(before[kind], currency) + total, currency) };
  }
  const isFirst = Object.values(step.sums).every(({ left_out }) => left_out === 0);
  const leftOut = isFirst ? amounts.map(({ total }) => total).find((total) => total instanceof Error) : undefined;
  const text = JSON.stringify(sums);
  const isLast = last === undefined && part === PARTS[1];
  // Of two workers that took the same step one counts.
  const isSame = sql`organization_id = ${organizationId}::uuid AND part = ${part}
    AND after IS NOT DISTINCT FROM ${step.after}::uuid`;
  if (isLast) {
    const { numAffectedRows = 0n } = await sql`
      UPDATE revenue_reckonings SET began_at = begun_at, ended_at = billing_clock(), expected = ${text}::jsonb, ${NONE}
      WHERE ${isSame}`.execute(database.kysely);
    return { isEnd: numAffectedRows > 0n, leftOut };
  }
  await sql`
    UPDATE revenue_reckonings SET part = ${last === undefined ? PARTS[1] : part}, after = ${last ?? null}::uuid,
      stepped_at = billing_clock(), sums = ${text}::jsonb
    WHERE ${isSame}`.execute(database.kysely);
  return { isEnd: false, leftOut };
}

/** None is under way. */
const NONE = sql`begun_at = NULL, part = NULL, after = NULL, stepped_at = NULL, sums = NULL`;

async function giveUp(db: Queries, { organization_id: organizationId }: Step): Promise<void> {
  await sql`UPDATE revenue_reckonings SET ${NONE} WHERE organization_id = ${organizationId}::uuid`.execute(db);
}

interface Reckoned {
  /** The last subscription that is in it; undefined where no other follows it. */
  last: string | undefined;
  /** What each comes to, or why that cannot be computed. */
  amounts: { currency: string; kind: Kind; total: bigint | Error }[];
}

async function reckon(
  snapshot: Queries,
  { organization_id: organizationId, part, after }: Step,
  size: number,
): Promise<Reckoned> {
  const find = part === 'drafts' ? findDrafts : findOpenPeriods;
  const { last, invoices } = await find(snapshot, organizationId, { after, size });
  const amounts: Reckoned['amounts'] = [];
  const chunks = await cutBoundaries(snapshot, organizationId, invoices);
  for (const [index, some] of chunks.entries()) {
    const computed = await computeEach(snapshot, organizationId, some, null);
    for (const [at, { currency, kind }] of some.entries()) {
      const each = computed[at];
      const isSettlement = part === 'open_periods' && kind === 'ADJUSTMENT';
      const total = each instanceof Error ? each : (each?.total ?? 0n);
      amounts.push({ currency, kind: isSettlement ? 'rebilled' : part, total });
    }
    const [one, next] = [some.at(-1)?.subscription_id, chunks[index + 1]?.[0]?.subscription_id];
    // The rest is of the next step, but for other drafts of the same subscription.
    if (next !== undefined && next !== one) return { last: one, amounts };
  }
  return { last, amounts };
}

interface Page {
  after: string | null;
  size: number;
}

interface Found {
  last: string | undefined;
  invoices: InvoiceToCompute[];
}

/** The drafts of the next subscriptions that have any: some of them, and all of a subscription. */
async function findDrafts(db: Queries, organizationId: string, { after, size }: Page): Promise<Found> {
  const isBehind = sql`organization_id = ${organizationId}::uuid AND status = 'DRAFT'
    AND (${after}::uuid IS NULL OR subscription_id > ${after}::uuid)`;
  const { rows } = await sql<InvoiceToCompute>`
    WITH last AS MATERIALIZED (
      SELECT subscription_id AS id FROM (
        SELECT subscription_id FROM invoices WHERE ${isBehind} ORDER BY subscription_id LIMIT ${size}::integer) AS next
      ORDER BY subscription_id DESC LIMIT 1
    )
    SELECT id, kind, subscription_id, cycle, currency FROM invoices
    WHERE ${isBehind} AND subscription_id <= (SELECT id FROM last) ORDER BY subscription_id, cycle`.execute(db);
  return { last: rows.length < size ? undefined : rows.at(-1)?.subscription_id, invoices: rows };
}

/**
 * The invoices that the next boundaries of some subscriptions would make, if they came now: of the usage so far, and of what is
 * billed at the end. What is billed in advance is of the period after it. A period that ends in a later month is of that month; where
 * something is to be billed again before, it is the invoice that settles it now, and what came late. Where there is a draft, that has it.
 */
async function findOpenPeriods(db: Queries, organizationId: string, { after, size }: Page): Promise<Found> {
  const organizationZone = await findTimeZone(db, organizationId);
  const { rows } = await sql<OpenPeriod & Of>`
    SELECT id, currency, cycle, cycle IS NOT NULL AND (ended_at IS NULL OR ended_at > billing_now()) AS is_open,
      ${isRebilling} AND NOT ${hasDraft} AS is_unbilled, time_zone, least(current_period_end, ended_at) AS ends_at,
      billing_now() AS now
    FROM subscriptions AS s
    WHERE organization_id = ${organizationId}::uuid AND (${after}::uuid IS NULL OR id > ${after}::uuid)
    ORDER BY id LIMIT ${size}::integer`.execute(db);
  const invoices = rows.flatMap(({ id, currency, cycle, is_open, is_unbilled, ...period }): InvoiceToCompute[] => {
    const made = { id: newId(), subscription_id: id, currency };
    if (is_open && cycle !== null && isOfThisMonth(period, organizationZone))
      return [{ ...made, kind: 'SUBSCRIPTION', cycle: cycle + 1 }];
    return is_unbilled ? [{ ...made, kind: 'ADJUSTMENT', cycle: null }] : [];
  });
  return { last: rows.length < size ? undefined : rows.at(-1)?.id, invoices };
}

/** SQL for whether an invoice of the subscription `s` is a draft. It is no EXISTS, of which Postgres may read all there are. */
const hasDraft = sql`coalesce((SELECT true FROM invoices i
  WHERE i.organization_id = s.organization_id AND i.subscription_id = s.id AND i.status = 'DRAFT' LIMIT 1), false)`;

/** A subscription, and what may be expected of it. */
interface Of {
  id: string;
  currency: string;
  cycle: number | null;
  is_open: boolean;
  /** Whether something of it is to be billed again, of which there is no draft, of a boundary or of none. */
  is_unbilled: boolean;
}

interface OpenPeriod {
  time_zone: string;
  ends_at: string;
  now: string;
}

/** Whether the last day of a period, where its customer is, is in the month that it is now where the organization is. */
function isOfThisMonth({ time_zone: timeZone, ends_at: endsAt, now }: OpenPeriod, organizationZone: string): boolean {
  const lastDay = dateOf(timeZone, microsOfText(endsAt) - 1);
  return monthOf(lastDay) <= monthOf(dateOf(organizationZone, microsOfText(now)));
}

const monthOf = (date: LocalDate) => date.slice(0, 'YYYY-MM'.length);
