import { microsOfText } from '@weir/shared/instant';
import { toEnd } from '@weir/shared/to-end';
import { describe, expect, test } from 'vitest';
import { Room } from './chunk-weight.ts';
import { passingBoundaries, type BoundaryFacts, type ChargeOfPlan } from './pass-boundaries.ts';
import { PeriodCache } from './schedules.ts';
import type { SubscriptionState } from './subscription.ts';

const BEGINNING = '2026-01-31T00:00:00.000Z';

const subscription: SubscriptionState = {
  id: 'sub',
  external_id: null,
  customer_id: 'customer',
  currency: 'EUR',
  plan_id: 'small',
  pending_plan_id: null,
  status: 'ACTIVE',
  start_at: BEGINNING,
  is_scheduled: false,
  time_zone: 'UTC',
  billing_interval: 'month',
  billing_alignment: 'anniversary',
  anchor: '2026-01-31',
  anchor_at: BEGINNING,
  anchor_cycle: 0,
  cycle: null,
  current_period_start: BEGINNING,
  current_period_end: BEGINNING,
  cancel_at_period_end: false,
  canceled_at: null,
  ended_at: null,
  run_at: BEGINNING,
  created_at: BEGINNING,
};

function charge(id: string, more: Partial<ChargeOfPlan> = {}): ChargeOfPlan {
  return { id, meter_id: null, is_in_advance: true, bytes: 100, effective_from: 0, ended_at: null, ...more };
}

function facts(now: string, more: Partial<BoundaryFacts> = {}): BoundaryFacts {
  return {
    now: microsOfText(now),
    graceHours: 24,
    isManual: false,
    plans: new Map([['small', { billing_interval: 'month', charges: [charge('seat')] }]]),
    hasArrears: false,
    periods: new PeriodCache(),
    room: new Room(),
    ...more,
  };
}

const after = (state: SubscriptionState, known: BoundaryFacts) => toEnd(passingBoundaries(state, known));

describe('what happens at the boundaries of a subscription', () => {
  test('whoever serves others meanwhile can stop behind each of them', () => {
    const known = () => facts('2027-01-31T00:00:00Z');
    const passing = passingBoundaries(subscription, known());
    let stops = 0;
    let step = passing.next();
    for (; step.done !== true; step = passing.next()) stops += 1;
    expect(stops).toBe(13);
    expect(step.value).toEqual(after(subscription, known()));
    expect(step.value.periods).toHaveLength(13);
  });

  test('each period begins where the one before ends, counted from the anchor, and has a draft in advance', () => {
    const { periods, invoices, events, subscription: now } = after(subscription, facts('2026-03-31T00:00:00Z'));
    expect(periods.map(({ cycle, period_start, period_end }) => [cycle, period_start, period_end])).toEqual([
      [0, '2026-01-31T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
      [1, '2026-02-28T00:00:00.000Z', '2026-03-31T00:00:00.000Z'],
      [2, '2026-03-31T00:00:00.000Z', '2026-04-30T00:00:00.000Z'],
    ]);
    expect(invoices.map(({ cycle, finalizes_at }) => [cycle, finalizes_at])).toEqual([
      [0, '2026-04-01T00:00:00.000Z'],
      [1, '2026-04-01T00:00:00.000Z'],
      [2, '2026-04-01T00:00:00.000Z'],
    ]);
    expect(events.map(({ type }) => type)).toEqual(['subscription.activated']);
    expect(now).toMatchObject({ cycle: 2, run_at: '2026-04-30T00:00:00.000Z' });
    expect(subscription.cycle, 'what was passed in stays as it was').toBeNull();
  });

  test('nothing happens one microsecond before a boundary', () => {
    const { periods } = after(subscription, facts('2026-02-27T23:59:59.999999Z'));
    expect(periods).toHaveLength(1);
  });

  test('a first period with nothing in advance makes no draft, and the boundary after it does', () => {
    const plans = new Map([
      [
        'small',
        { billing_interval: 'month' as const, charges: [charge('calls', { meter_id: 'm', is_in_advance: false })] },
      ],
    ]);
    const { invoices } = after(subscription, facts('2026-02-28T00:00:00Z', { plans }));
    expect(invoices.map(({ cycle, period_start, period_end }) => [cycle, period_start, period_end])).toEqual([
      [1, '2026-01-31T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
    ]);
  });

  test('a period has the charges that are in force when it begins, however late it is opened', () => {
    const [before, then, later] = ['2026-02-27', '2026-02-28', '2026-03-01'].map((day) =>
      microsOfText(`${day}T00:00:00Z`),
    );
    const charges = [
      charge('ended', { ended_at: then ?? 0 }),
      charge('replaced', { ended_at: later ?? 0 }),
      charge('new', { effective_from: then ?? 0 }),
      charge('to come', { effective_from: later ?? 0 }),
      charge('of before', { effective_from: before ?? 0 }),
    ];
    const plans = new Map([['small', { billing_interval: 'month' as const, charges }]]);
    const { periods } = after(subscription, facts('2026-03-15T00:00:00Z', { plans }));
    expect(periods[1]?.charges.map(({ id }) => id)).toEqual(['replaced', 'new', 'of before']);
  });

  test('one that is to end makes its last draft where something was in arrears, and opens no period', () => {
    const ending = {
      ...subscription,
      cycle: 0,
      current_period_end: '2026-02-28T00:00:00.000Z',
      cancel_at_period_end: true,
    };
    const billed = after(ending, facts('2026-05-01T00:00:00Z', { hasArrears: true }));
    expect(billed.invoices.map(({ cycle }) => cycle)).toEqual([1]);
    expect(billed.periods).toEqual([]);
    expect(billed.subscription).toMatchObject({
      status: 'CANCELED',
      ended_at: '2026-02-28T00:00:00.000Z',
      run_at: null,
    });
    const unbilled = after(ending, facts('2026-05-01T00:00:00Z'));
    expect([unbilled.invoices, unbilled.withoutLines.map(({ cycle }) => cycle)]).toEqual([[], [1]]);
  });

  test('a trial that is to end makes no draft', () => {
    const trial = { ...subscription, status: 'TRIAL' as const, cancel_at_period_end: true };
    const passage = after(trial, facts('2026-02-01T00:00:00Z', { hasArrears: true }));
    expect([passage.invoices, passage.withoutLines, passage.subscription.status]).toEqual([[], [], 'CANCELED']);
  });

  test('another plan begins at the boundary, and with another interval an anchor of its own', () => {
    const yearly = { billing_interval: 'year' as const, charges: [charge('license')] };
    const plans = new Map([...facts(BEGINNING).plans, ['large', yearly] as const]);
    const changing = {
      ...subscription,
      cycle: 0,
      current_period_end: '2026-02-28T00:00:00.000Z',
      pending_plan_id: 'large',
    };
    const { periods, events, subscription: now } = after(changing, facts('2026-03-01T00:00:00Z', { plans }));
    expect(periods).toMatchObject([{ cycle: 1, plan_id: 'large', period_end: '2027-02-28T00:00:00.000Z' }]);
    expect(now).toMatchObject({ anchor: '2026-02-28', anchor_cycle: 1, pending_plan_id: null });
    expect(events.map(({ type }) => type)).toEqual(['subscription.changed']);
  });

  test('where there is no more room the rest is left, and goes on from there', () => {
    const first = after(subscription, facts('2026-06-30T00:00:00Z', { room: new Room(1) }));
    expect(first.periods).toHaveLength(1);
    const rest = after(first.subscription, facts('2026-06-30T00:00:00Z'));
    const whole = after(subscription, facts('2026-06-30T00:00:00Z'));
    expect([...first.periods, ...rest.periods]).toEqual(whole.periods);
    expect(rest.subscription).toEqual(whole.subscription);
  });
});
