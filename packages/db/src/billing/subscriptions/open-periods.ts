// Brings subscriptions up to date with the time. What happens at a boundary is decided in pass-boundaries.ts; here it is read and
// written for a whole chunk at once, in a few statements however many subscriptions and boundaries there are.

import { Room } from '@weir/billing/chunk-weight';
import { inOneGo, type Drive } from '@weir/billing/drive';
import { type NewFeedEvent, draftData } from '@weir/billing/feed-events';
import type { Drafting } from '@weir/billing/grace';
import {
  nextRunOf,
  passingBoundaries,
  pricedAt,
  type ChargeOfPlan,
  type OpenedPeriod,
  type Passage,
  type PlanCharges,
} from '@weir/billing/pass-boundaries';
import type { NewInvoice } from '@weir/billing/new-invoice';
import { PeriodCache } from '@weir/billing/schedules';
import type { SubscriptionRow } from './subscriptions.ts';
import { isoOf, microsOfText, type Micros } from '@weir/shared/instant';
import type { Interval } from '@weir/rating/periods';
import { newId } from '@weir/shared/ids';
import { sql } from 'kysely';
import { touchOpened } from '../../alerts/touched-usage.ts';
import type { Queries } from '../../database.ts';
import { billMeters, MeterTaken, releaseMeters, type MeterClaim } from './billed-meters.ts';
import { readDrafting } from '../drafting.ts';
import { appendFeed } from '../feed.ts';
import { findLateDues } from './late-events.ts';

/** A row as it is afterwards, with all of its columns. */
type Passed = Passage<SubscriptionRow>;

/**
 * Opens every period of these subscriptions that has begun, while there is `room`, and does in order all that happens at the
 * boundaries before it: a trial ends, a change of plan takes place, a cancellation does. Writes periods, dues, the drafts of invoices (without lines:
 * those are computed), billed meters and the feed. What is open already is left as it is, so doing it again changes nothing. So is what goes
 * on with a plan that somebody changes at this moment.
 * Expects the rows of the subscriptions locked FOR UPDATE by the caller, and locks the feed, so nothing is locked after it. Returns how many
 * subscriptions were brought on, be it not as far as they should be.
 */
export async function openPeriods(
  transaction: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
  room = new Room(),
): Promise<number> {
  const { events, passed } = await passAll(transaction, organizationId, subscriptionIds, room);
  if (events.length > 0) await appendFeed(transaction, organizationId, events);
  return passed;
}

/** The same, but for the feed: returns what the caller has to append to it at the end of the transaction. */
export async function bringUpToDate(
  transaction: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
  room: Room,
  drive: Drive = inOneGo,
): Promise<NewFeedEvent[]> {
  const { events } = await passAll(transaction, organizationId, subscriptionIds, room, drive);
  return events;
}

async function passAll(
  transaction: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
  room: Room,
  drive: Drive = inOneGo,
): Promise<{ events: NewFeedEvent[]; passed: number }> {
  const drafting = await readDrafting(transaction, organizationId);
  const { now } = drafting;
  const rows = await readSubscriptions(transaction, organizationId, subscriptionIds);
  const reached = rows.filter((row) => row.status !== 'CANCELED' && isReached(row, now));
  const stray = rows.filter((row) => !reached.includes(row) && isStray(row));
  const behind = await holdPlans(transaction, organizationId, reached, now);
  if (behind.length === 0 && stray.length === 0) return { events: [], passed: 0 };
  const plans = await readPlans(transaction, organizationId, behind);
  const withArrears = await findArrears(transaction, organizationId, behind);
  const periods = new PeriodCache();
  const passages: Passed[] = [];
  for (const row of [...behind, ...stray]) {
    // What there is no room for is left as it is.
    if (!room.isLeft) break;
    const facts = { ...drafting, plans, hasArrears: withArrears.has(row.id), periods, room };
    passages.push(await drive(passingBoundaries(row, facts)));
  }
  const events = await writePassages(transaction, organizationId, passages, { drafting, actor: 'weir' });
  return { events, passed: passages.length };
}

/** Writes down what happened to subscriptions, and returns what the feed is to say of it. */
export async function writePassages(
  transaction: Queries,
  organizationId: string,
  passages: readonly Passed[],
  { drafting, actor }: { drafting: Drafting; actor: string },
): Promise<NewFeedEvent[]> {
  await addInvoicesOfLateDues(transaction, organizationId, passages);
  await insertPeriods(transaction, organizationId, passages);
  await insertDues(transaction, organizationId, passages);
  await updateSubscriptions(transaction, organizationId, passages);
  const ids = await insertInvoices(
    transaction,
    organizationId,
    passages.flatMap(({ invoices }) => invoices),
  );
  await billOpened(transaction, organizationId, passages);
  // Usage may be there already: of a period long past, or from a clock that is ahead. A trial that begins is a period for alerts as well.
  const begun = passages.filter(
    ({ periods, events }) => periods.length > 0 || events.some(({ type }) => type === 'subscription.activated'),
  );
  await touchOpened(
    transaction,
    organizationId,
    begun.map(({ subscription }) => subscription.customer_external_id),
  );
  return passages.flatMap(({ events, invoices }) => {
    const drafts = invoices.map((invoice) => {
      return {
        cycle: invoice.cycle,
        type: 'invoice.created' as const,
        data: draftData({ ...invoice, id: ids.get(invoice) ?? '', kind: 'SUBSCRIPTION' }, drafting),
      };
    });
    // What a boundary does to the subscription comes before the draft of it.
    const told = [...events, ...drafts].sort((one, other) => one.cycle - other.cycle);
    return told.map(({ type, data }) => ({ type, actor, data }));
  });
}

/** Whether its next boundary is past, or its start is that nobody has told of. */
function isReached({ is_scheduled, start_at, current_period_end }: SubscriptionRow, now: Micros): boolean {
  return microsOfText(current_period_end) <= now || (is_scheduled && microsOfText(start_at) <= now);
}

/** Whether the run would look at it again and again, with nothing to do. */
function isStray(row: SubscriptionRow): boolean {
  return row.run_at !== nextRunOf(row);
}

async function readSubscriptions(transaction: Queries, organizationId: string, ids: readonly string[]) {
  return await transaction
    .selectFrom('subscriptions')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`id = ANY(${ids}::uuid[])`)
    .orderBy('id')
    .execute();
}

/**
 * Holds the plans that these subscriptions are on, or go over to, and returns the subscriptions of which that could be done. Whoever
 * prices a plan holds it until the commit, and what is priced then may begin before a boundary that is past by now: opened meanwhile, some
 * subscriptions of the plan would be billed by the price before, and others by the new one. It may wait for subscriptions that are held
 * here, so nobody waits for it.
 */
async function holdPlans(
  transaction: Queries,
  organizationId: string,
  rows: readonly SubscriptionRow[],
  now: Micros,
): Promise<SubscriptionRow[]> {
  const plansOf = (row: SubscriptionRow) => plansAtBoundary(row, now);
  const ids = [...new Set(rows.flatMap(plansOf))];
  if (ids.length === 0) return [...rows];
  const { rows: plans } = await sql<{ id: string }>`
    SELECT id FROM plans WHERE organization_id = ${organizationId} AND id = ANY(${ids}::uuid[])
    ORDER BY id FOR SHARE SKIP LOCKED`.execute(transaction);
  const held = new Set(plans.map(({ id }) => id));
  return rows.filter((row) => plansOf(row).every((id) => held.has(id)));
}

/** Which plans may say what happens at its next boundary: none where it ends there, or where only its start with a trial has come. */
function plansAtBoundary(row: SubscriptionRow, now: Micros): string[] {
  const { cancel_at_period_end, current_period_end, plan_id, pending_plan_id } = row;
  if (cancel_at_period_end || microsOfText(current_period_end) > now) return [];
  return pending_plan_id === null ? [plan_id] : [plan_id, pending_plan_id];
}

/**
 * The plans that these subscriptions are on, or go over to, with what a period may be billed by that begins where the open one of its
 * subscription ends, or later. Charges that ended before are without number, and are left out.
 */
export async function readPlans(
  transaction: Queries,
  organizationId: string,
  rows: readonly SubscriptionRow[],
): Promise<Map<string, PlanCharges>> {
  const earliest = new Map<string, Micros>();
  for (const row of rows) {
    const at = pricedAt(row, microsOfText(row.current_period_end));
    for (const id of [row.plan_id, row.pending_plan_id])
      if (id !== null) earliest.set(id, Math.min(at, earliest.get(id) ?? at));
  }
  const { rows: found } = await sql<{
    plan_id: string;
    billing_interval: Interval;
    id: string | null;
    meter_id: string | null;
    is_in_advance: boolean;
    bytes: number;
    effective_from: string;
    ended_at: string | null;
  }>`
    SELECT plans.id AS plan_id, plans.billing_interval, charge.*
    FROM unnest(${[...earliest.keys()]}::uuid[], ${[...earliest.values()].map(isoOf)}::timestamptz[]) AS asked (id, earliest)
    JOIN plans ON plans.organization_id = ${organizationId} AND plans.id = asked.id
    LEFT JOIN LATERAL (
      SELECT id, meter_id, effective_from, ended_at, octet_length(terms::text) AS bytes,
        type = 'FIXED' AND terms ->> 'timing' = 'in_advance' AS is_in_advance
      FROM charges
      WHERE charges.organization_id = plans.organization_id AND charges.plan_id = plans.id
        -- What was taken back ends where it would have begun, which may be to come.
        AND (ended_at IS NULL OR ended_at > greatest(asked.earliest, effective_from))
      OFFSET 0
    ) AS charge ON true`.execute(transaction);
  const plans = new Map<string, PlanCharges & { charges: ChargeOfPlan[] }>();
  for (const { plan_id, billing_interval, id, effective_from, ended_at, ...charge } of found) {
    const plan = plans.get(plan_id) ?? { billing_interval, charges: [] };
    plans.set(plan_id, plan);
    if (id === null) continue;
    const [from, end] = [microsOfText(effective_from), ended_at === null ? null : microsOfText(ended_at)];
    plan.charges.push({ ...charge, id, effective_from: from, ended_at: end });
  }
  return plans;
}

/** Which of these have dues in their open period that are billed at its end. */
export async function findArrears(
  transaction: Queries,
  organizationId: string,
  rows: readonly SubscriptionRow[],
): Promise<Set<string>> {
  const { rows: found } = await sql<{ subscription_id: string }>`
    SELECT DISTINCT dues.subscription_id
    FROM unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ cycle }) => cycle)}::integer[]) AS open (id, cycle)
    JOIN dues ON dues.organization_id = ${organizationId} AND dues.subscription_id = open.id AND dues.cycle = open.cycle
    WHERE dues.meter_id IS NOT NULL OR dues.terms ->> 'timing' = 'in_arrears'`.execute(transaction);
  return new Set(found.map(({ subscription_id }) => subscription_id));
}

/** Late changes go onto whatever draft there is; only where there is none, one is made for them. */
async function addInvoicesOfLateDues(
  transaction: Queries,
  organizationId: string,
  passages: readonly Passed[],
): Promise<void> {
  const candidates = new Map<string, Passed>();
  for (const passage of passages)
    if (passage.invoices.length === 0 && passage.withoutLines.length > 0)
      candidates.set(passage.subscription.id, passage);
  for (const id of await findLateWithoutDraft(transaction, organizationId, [...candidates.keys()])) {
    const passage = candidates.get(id);
    passage?.invoices.push(...passage.withoutLines.slice(0, 1));
  }
}

/** Those of these subscriptions with late changes that wait, and no draft that takes them. */
export async function findLateWithoutDraft(
  transaction: Queries,
  organizationId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const late = await findLateDues(transaction, organizationId, ids, null);
  const found = new Set(late.map(({ subscription_id }) => subscription_id));
  if (found.size === 0) return found;
  const drafts = await transaction
    .selectFrom('invoices')
    .select('subscription_id')
    .where('organization_id', '=', organizationId)
    .where('subscription_id', 'in', [...found])
    .where('status', '=', 'DRAFT')
    .execute();
  for (const { subscription_id } of drafts) found.delete(subscription_id);
  return found;
}

async function insertPeriods(transaction: Queries, organizationId: string, passages: readonly Passed[]): Promise<void> {
  const periods = ofPassages(passages);
  if (periods.length === 0) return;
  await sql`
    INSERT INTO subscription_periods (organization_id, subscription_id, cycle, plan_id, period_start, period_end,
      days_in_force, days_in_period)
    SELECT ${organizationId}::uuid, * FROM unnest(
      ${periods.map(({ subscription }) => subscription.id)}::uuid[],
      ${periods.map(({ period }) => period.cycle)}::integer[],
      ${periods.map(({ period }) => period.plan_id)}::uuid[],
      ${periods.map(({ period }) => period.period_start)}::timestamptz[],
      ${periods.map(({ period }) => period.period_end)}::timestamptz[],
      ${periods.map(({ period }) => period.days?.inForce ?? null)}::integer[],
      ${periods.map(({ period }) => period.days?.inPeriod ?? null)}::integer[])`.execute(transaction);
}

/** Each due takes its copy of the charge from Postgres itself. */
async function insertDues(transaction: Queries, organizationId: string, passages: readonly Passed[]): Promise<void> {
  const dues = ofPassages(passages).flatMap(({ subscription, period }) =>
    period.charges.map(({ id }) => ({ subscription_id: subscription.id, cycle: period.cycle, charge_id: id })),
  );
  if (dues.length === 0) return;
  await sql`
    INSERT INTO dues (organization_id, subscription_id, cycle, charge_id, display_name, terms, meter_id,
      customer_external_id, period_start, period_end, days_in_force, days_in_period)
    SELECT ${organizationId}::uuid, due.subscription_id, due.cycle, due.charge_id, charges.display_name, charges.terms,
      charges.meter_id, subscriptions.customer_external_id, period.period_start, period.period_end,
      period.days_in_force, period.days_in_period
    FROM unnest(
      ${dues.map(({ subscription_id }) => subscription_id)}::uuid[],
      ${dues.map(({ cycle }) => cycle)}::integer[],
      ${dues.map(({ charge_id }) => charge_id)}::uuid[]) AS due (subscription_id, cycle, charge_id)
    JOIN charges ON charges.organization_id = ${organizationId} AND charges.id = due.charge_id
    JOIN subscriptions ON subscriptions.organization_id = ${organizationId} AND subscriptions.id = due.subscription_id
    JOIN subscription_periods AS period ON period.organization_id = ${organizationId}
      AND period.subscription_id = due.subscription_id AND period.cycle = due.cycle`.execute(transaction);
}

function ofPassages(passages: readonly Passed[]): { subscription: SubscriptionRow; period: OpenedPeriod }[] {
  return passages.flatMap(({ subscription, periods }) => periods.map((period) => ({ subscription, period })));
}

/** Inserts drafts, and returns their ids. Those of one subscription rise with their cycles, so that lists by id are in order. */
export async function insertInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly NewInvoice[],
): Promise<Map<NewInvoice, string>> {
  if (invoices.length === 0) return new Map();
  const ids = invoices.map(() => newId()).sort();
  await sql`
    INSERT INTO invoices (organization_id, kind, status, id, subscription_id, customer_id, cycle, currency, period_start,
      period_end, finalizes_at, run_at)
    SELECT ${organizationId}::uuid, 'SUBSCRIPTION', 'DRAFT', draft.*, draft.finalizes_at FROM unnest(
      ${ids}::uuid[],
      ${invoices.map(({ subscription_id }) => subscription_id)}::uuid[],
      ${invoices.map(({ customer_id }) => customer_id)}::uuid[],
      ${invoices.map(({ cycle }) => cycle)}::integer[],
      ${invoices.map(({ currency }) => currency)}::text[],
      ${invoices.map(({ period_start }) => period_start)}::timestamptz[],
      ${invoices.map(({ period_end }) => period_end)}::timestamptz[],
      ${invoices.map(({ finalizes_at }) => finalizes_at)}::timestamptz[])
      AS draft (id, subscription_id, customer_id, cycle, currency, period_start, period_end, finalizes_at)
  `.execute(transaction);
  return new Map(invoices.map((invoice, index) => [invoice, ids[index] ?? '']));
}

async function updateSubscriptions(
  transaction: Queries,
  organizationId: string,
  passages: readonly Passed[],
): Promise<void> {
  const rows = passages.map(({ subscription }) => subscription);
  const column = <Column extends keyof SubscriptionRow>(name: Column): SubscriptionRow[Column][] =>
    rows.map((row) => row[name]);
  await sql`
    UPDATE subscriptions SET status = after.status, plan_id = after.plan_id, pending_plan_id = after.pending_plan_id,
      billing_interval = after.billing_interval, anchor = after.anchor, anchor_at = after.anchor_at,
      anchor_cycle = after.anchor_cycle, cycle = after.cycle, current_period_start = after.current_period_start,
      current_period_end = after.current_period_end, ended_at = after.ended_at, run_at = after.run_at,
      is_scheduled = after.is_scheduled, run_error = NULL
    FROM unnest(${column('id')}::uuid[], ${column('status')}::text[], ${column('plan_id')}::uuid[],
      ${column('pending_plan_id')}::uuid[], ${column('billing_interval')}::text[], ${column('anchor')}::date[],
      ${column('anchor_at')}::timestamptz[], ${column('anchor_cycle')}::integer[], ${column('cycle')}::integer[],
      ${column('current_period_start')}::timestamptz[], ${column('current_period_end')}::timestamptz[],
      ${column('ended_at')}::timestamptz[], ${column('run_at')}::timestamptz[],
      ${column('is_scheduled')}::boolean[])
      AS after (id, status, plan_id, pending_plan_id, billing_interval, anchor, anchor_at, anchor_cycle, cycle,
        current_period_start, current_period_end, ended_at, run_at, is_scheduled)
    WHERE subscriptions.organization_id = ${organizationId} AND subscriptions.id = after.id`.execute(transaction);
}

/** Meters of charges that are new go on being billed, and those of charges that ended are let go. */
async function billOpened(transaction: Queries, organizationId: string, passages: readonly Passed[]): Promise<void> {
  const claims = new Map<string, MeterClaim>();
  for (const { subscription, period } of ofPassages(passages)) {
    for (const { meter_id } of period.charges) {
      const key = `${subscription.id} ${meter_id}`;
      if (meter_id === null || claims.has(key)) continue;
      const { id: subscription_id, customer_external_id } = subscription;
      claims.set(key, { meter_id, customer_external_id, subscription_id, from: period.period_start });
    }
  }
  const [refused] = await billMeters(transaction, organizationId, [...claims.values()]);
  if (refused !== undefined) throw new MeterTaken(refused);
  await releaseMeters(
    transaction,
    organizationId,
    passages.map(({ subscription }) => subscription.id),
  );
}
