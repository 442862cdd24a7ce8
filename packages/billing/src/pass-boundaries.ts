// Takes one subscription over each of its boundaries that has passed. Pure: open-periods.ts of packages/db reads what this
// asks for, and writes what it returns.

import type { Interval } from '@weir/rating/periods';
import { dateOf } from '@weir/rating/local-date';
import type { Days } from '@weir/rating/rate';
import { isoOf, microsOfText, type Micros } from '@weir/shared/instant';
import { ROW_BYTES, type Room } from './chunk-weight.ts';
import { subscriptionData } from './feed-events.ts';
import type { Drafting } from './grace.ts';
import { newInvoice, type NewInvoice } from './new-invoice.ts';
import type { PeriodCache } from './schedules.ts';
import type { SubscriptionState } from './subscription.ts';

/** A charge, as an opening has to know it. */
export interface ChargeOfPlan {
  id: string;
  meter_id: string | null;
  /** Whether the invoice of the boundary where the period begins has it. */
  is_in_advance: boolean;
  /** Of its terms, as text. */
  bytes: number;
  effective_from: Micros;
  /** Null: it has no end. */
  ended_at: Micros | null;
}

/** A plan, as an opening has to know it. */
export interface PlanCharges {
  billing_interval: Interval;
  /** All that may be in force at a boundary that is passed, also those that ended since, and those that are to come. */
  charges: readonly ChargeOfPlan[];
}

export interface BoundaryFacts extends Drafting {
  plans: ReadonlyMap<string, PlanCharges>;
  /** Whether the open period has dues that are billed at its end. */
  hasArrears: boolean;
  periods: PeriodCache;
  /** Shared by all subscriptions of a transaction: where it is used up, the next transaction goes on. */
  room: Room;
}

export interface OpenedPeriod {
  cycle: number;
  plan_id: string;
  period_start: string;
  period_end: string;
  days: Days | null;
  charges: readonly ChargeOfPlan[];
}

/** One thing to tell in the feed, and the boundary that it belongs to. */
interface BoundaryEvent {
  cycle: number;
  type: 'subscription.activated' | 'subscription.changed' | 'subscription.canceled' | 'invoice.created';
  data: Record<string, unknown>;
}

/** A subscription that has passed its boundaries, and the rows to write. */
export interface Passage<State extends SubscriptionState = SubscriptionState> {
  /** As it is afterwards. */
  subscription: State;
  periods: OpenedPeriod[];
  invoices: NewInvoice[];
  /** Boundaries with nothing to bill, but for late changes. */
  withoutLines: NewInvoice[];
  events: BoundaryEvent[];
}

/**
 * Takes a subscription over every boundary up to now, while there is room. Without one, it is returned as it was, with nothing else.
 * It can stop after each boundary, for whoever serves others meanwhile.
 */
export function* passingBoundaries<State extends SubscriptionState>(
  before: State,
  facts: BoundaryFacts,
): Generator<undefined, Passage<State>, undefined> {
  const after = { ...before };
  const subscription: SubscriptionState = after;
  const passage: Passage<State> = { subscription: after, periods: [], invoices: [], withoutLines: [], events: [] };
  let { hasArrears } = facts;
  if (subscription.is_scheduled && microsOfText(subscription.start_at) <= facts.now) start(passage);
  while (
    facts.room.isLeft &&
    subscription.status !== 'CANCELED' &&
    microsOfText(subscription.current_period_end) <= facts.now
  ) {
    const opened = passBoundary(passage, { ...facts, hasArrears });
    facts.room.take(weightOf(opened));
    hasArrears = opened?.charges.some(({ is_in_advance }) => !is_in_advance) ?? false;
    yield;
  }
  subscription.run_at = nextRunOf(subscription);
  return passage;
}

/** When the run has something to do for a subscription; null: never again. */
export function nextRunOf(row: SubscriptionState): string | null {
  if (row.status === 'CANCELED') return null;
  return row.is_scheduled ? row.start_at : row.current_period_end;
}

/** Its start has come. Without a trial it is the first boundary as well, which tells of it. */
function start({ subscription: row, events }: Passage): void {
  row.is_scheduled = false;
  if (row.start_at !== row.current_period_end)
    events.push({ cycle: nextCycleOf(row), type: 'subscription.activated', data: subscriptionData(row) });
}

function weightOf(opened: OpenedPeriod | undefined): number {
  const dues = opened?.charges ?? [];
  return dues.reduce((sum, { bytes }) => sum + bytes + ROW_BYTES, ROW_BYTES);
}

function passBoundary(passage: Passage, facts: BoundaryFacts): OpenedPeriod | undefined {
  const { subscription: row, events } = passage;
  const at = row.current_period_end;
  const isFirst = row.cycle === null;
  const cycle = nextCycleOf(row);
  const invoice = newInvoice(row, { cycle, start: isFirst ? at : row.current_period_start, end: at, ...facts });
  if (row.cancel_at_period_end) {
    end(row, at);
    if (!isFirst) (facts.hasArrears ? passage.invoices : passage.withoutLines).push(invoice);
    events.push({ cycle, type: 'subscription.canceled', data: subscriptionData(row) });
    return undefined;
  }
  const hasChanged = row.pending_plan_id !== null;
  if (row.pending_plan_id !== null) applyPendingPlan(row, planOf(facts.plans, row.pending_plan_id).billing_interval);
  const opened = openPeriod(row, cycle, facts);
  passage.periods.push(opened);
  const hasLines = facts.hasArrears || opened.charges.some(({ is_in_advance }) => is_in_advance);
  if (hasLines) passage.invoices.push(invoice);
  else if (!isFirst) passage.withoutLines.push(invoice);
  if (isFirst) events.push({ cycle, type: 'subscription.activated', data: subscriptionData(row) });
  if (hasChanged) events.push({ cycle, type: 'subscription.changed', data: subscriptionData(row) });
  return opened;
}

/** From here on nothing of it is billed but what is due already. */
function end(row: SubscriptionState, at: string): void {
  row.status = 'CANCELED';
  row.ended_at = at;
  row.pending_plan_id = null;
}

/** Puts its pending plan in force from the end of its period on. Another interval begins with another anchor. */
export function applyPendingPlan(row: SubscriptionState, interval: Interval): void {
  row.plan_id = row.pending_plan_id ?? row.plan_id;
  row.pending_plan_id = null;
  if (interval === row.billing_interval) return;
  row.billing_interval = interval;
  row.anchor = dateOf(row.time_zone, microsOfText(row.current_period_end));
  row.anchor_at = row.current_period_end;
  row.anchor_cycle = nextCycleOf(row);
}

/** The boundary at the end of the open period, counted. */
export function nextCycleOf({ cycle, anchor_cycle }: SubscriptionState): number {
  return cycle === null ? anchor_cycle : cycle + 1;
}

/**
 * When a charge has to be in force for a period to be billed by it: at the period's start, and not when somebody gets to open it, so that a
 * run that comes late changes nothing; and not before somebody subscribed, who may have chosen a start in the past.
 */
export function pricedAt({ created_at }: Pick<SubscriptionState, 'created_at'>, start: Micros): Micros {
  return Math.max(start, microsOfText(created_at));
}

/**
 * Which plan, and when (ISO 8601) its charges have to be in force, for what is open to be billed by them. Before the first period nothing
 * is billed: there it is what bills that one.
 */
export function pricedBy(
  row: Pick<
    SubscriptionState,
    'plan_id' | 'pending_plan_id' | 'cycle' | 'current_period_start' | 'current_period_end' | 'created_at'
  >,
): { plan_id: string; priced_at: string } {
  const isFirst = row.cycle === null;
  const start = isFirst ? row.current_period_end : row.current_period_start;
  return {
    plan_id: isFirst ? (row.pending_plan_id ?? row.plan_id) : row.plan_id,
    priced_at: isoOf(pricedAt(row, microsOfText(start))),
  };
}

/** Opens the period that begins where the open one ends; `isPart`: not at a boundary of the schedule. */
export function openPeriod(
  row: SubscriptionState,
  cycle: number,
  { plans, periods }: Pick<BoundaryFacts, 'plans' | 'periods'>,
  { isPart = false } = {},
): OpenedPeriod {
  const { start, end, days } = periods.periodOf(row, cycle, microsOfText(row.current_period_end), { isPart });
  row.current_period_start = isoOf(start);
  row.current_period_end = isoOf(end);
  row.cycle = cycle;
  if (row.status === 'TRIAL') row.status = 'ACTIVE';
  const at = pricedAt(row, start);
  const charges = planOf(plans, row.plan_id).charges.filter(
    ({ effective_from, ended_at }) => effective_from <= at && (ended_at === null || ended_at > at),
  );
  const { plan_id, current_period_start: period_start, current_period_end: period_end } = row;
  return { cycle, plan_id, period_start, period_end, days, charges };
}

function planOf(plans: BoundaryFacts['plans'], id: string): PlanCharges {
  const plan = plans.get(id);
  if (plan === undefined) throw new Error(`the plan ${id} of a subscription was not read`);
  return plan;
}
