import { expect, test } from 'vitest';
import type { AlertFact, FaultLine } from '../history.ts';
import { reachedBy, thresholdsAreToldInTime, thresholdsAreToldOnce, waitsOf } from './alerts.ts';
import type { StoredFeedEvent } from './billing-state.ts';
import { madeUpBilling, type MadeUpBilling } from './made-up-billing.ts';
import { eventOf, idOf, SUM } from './made-up-run.ts';

const BEGIN = Date.parse('2026-11-18T00:00:00Z');
const HOUR_MS = 3_600_000;

/** Of the run: a second of it is an hour of billing's time, which stops while the third day is open. */
const STOP_AT = 84_000;

const starts = ['2026-11-18T23:00:00.000Z', '2026-11-19T23:00:00.000Z', '2026-11-20T23:00:00.000Z'];
const ends = [...starts.slice(1), '2026-11-21T23:00:00.000Z'];

let sequences = 100;

/** The feed tells of a threshold, within the day. */
function crossing(day: number, threshold: string, more: Record<string, unknown> = {}, at = 0): StoredFeedEvent {
  const start = starts[day] ?? '';
  const data = {
    alert_id: 'alert',
    customer_external_id: 'acme',
    subscription_id: 'sub',
    currency: null,
    period_start: start,
    period_end: ends[day],
    threshold,
    value: threshold,
    ...more,
  };
  const createdAt = new Date(Date.parse(start) + 11 * HOUR_MS + at).toISOString();
  return { organization: 0, sequence: (sequences += 1), type: 'usage.threshold_reached', createdAt, data };
}

interface Situation {
  alert?: Partial<AlertFact>;
  faults?: Partial<FaultLine>[];
  spoil?: (billing: MadeUpBilling) => void;
  /** When the time of billing was stopped. */
  stopAt?: number;
  /** When another alert was made, of which nothing is told. */
  laterAt?: number;
}

function judge(crossings: StoredFeedEvent[], { alert, faults = [], spoil, stopAt = STOP_AT, laterAt }: Situation = {}) {
  const billing = madeUpBilling();
  const { run, state } = billing;
  run.line({ type: 'billing time', at: 0, instant: BEGIN });
  run.line({ type: 'billing time', at: stopAt, instant: BEGIN + (stopAt / 1_000) * HOUR_MS });
  run.line({ type: 'looked', at: stopAt + 1_000 });
  for (const fault of faults) run.fault(fault);
  spoil?.(billing);
  const { facts } = run;
  facts.organizations[0]?.plans.push('small');
  facts.organizations[0]?.alerts.push({
    id: 'alert',
    meter: SUM,
    customer: null,
    thresholds: ['0.3', '2', '3'],
    ...alert,
  });
  if (laterAt !== undefined) {
    const body = { id: 'later', meter_id: 'sum-0', customer_id: null, thresholds: ['2'] };
    facts.billing.push({ operation: 'billing', organization: 0, subject: 'alert 1', at: laterAt, status: 201, body });
  }
  state.feed.push(...crossings);
  const sent = billing.sent();
  const reached = reachedBy(state, facts, sent);
  return {
    told: thresholdsAreToldOnce(state, facts, sent, reached),
    inTime: thresholdsAreToldInTime(state, facts, reached),
    waitsMs: waitsOf(state, facts, reached),
  };
}

/** All that was reached in time: by 0.35, 2 and 3. */
const all = () => [
  crossing(0, '0.3'),
  ...['0.3', '2'].map((threshold) => crossing(1, threshold)),
  ...['0.3', '2', '3'].map((threshold) => crossing(2, threshold)),
];

test('each threshold that is reached, told once, passes', () => {
  const { told, inTime, waitsMs } = judge(all());
  expect(told.examples).toEqual([]);
  expect([told.examined, inTime.examined, inTime.violations]).toEqual([12, 6, 0]);
  expect(waitsMs.map(Math.round)).toEqual([11_000, 11_000, 11_000, 11_000, 11_000, 11_000]);
  // What came after the closing may have been too late for it, or not.
  expect(judge([...all(), crossing(0, '2'), crossing(0, '3')]).told.violations).toBe(0);
});

test('one that is missing, and one that is told twice, is found', () => {
  expect(judge(all().slice(1)).told.violations).toBe(1);
  expect(judge(all().slice(0, -1)).told.violations).toBe(1);
  expect(judge([...all(), crossing(1, '2.0')]).told.violations).toBe(1);
  expect(
    judge([...all(), crossing(1, '2', { alert_id: 'other' }), crossing(1, '2', { alert_id: 'other' })]).told.violations,
  ).toBe(1);
});

test('one that was never reached is found, and what is void by now may have reached it', () => {
  expect(judge([...all(), crossing(1, '3')]).told.violations).toBe(1);
  expect(judge([...all(), crossing(0, '9', { value: '8.7' })]).told.violations).toBe(1);
  const spoil = ({ run }: MadeUpBilling) => run.state.corrections.set(idOf(3), { id: 'correction', amendedBy: null });
  expect(judge(all(), { spoil }).told.violations).toBe(0);
  expect(
    judge(
      all().filter((event) => event.data['period_start'] !== starts[1]),
      { spoil },
    ).told.violations,
  ).toBe(0);
});

test('what an alert does not watch, and a plan of which the judge knows no prices, is not asked for', () => {
  expect(judge([], { alert: { customer: 'other' } }).told.examined).toBe(0);
  const amount = { meter: null, thresholds: ['2'] };
  const costs = [1, 2].map((day) => crossing(day, '2', { currency: 'USD', value: '2.00' }));
  expect(judge(costs, { alert: amount }).told.violations).toBe(0);
  expect(judge(costs.slice(1), { alert: amount }).told.violations).toBe(1);
  const spoil = ({ state }: MadeUpBilling) => state.periods.forEach((period) => (period.plan = 'large'));
  expect(judge([crossing(1, '90', { currency: 'USD' })], { alert: amount, spoil }).told.violations).toBe(0);
});

test('of one that is made later no period is asked for that was over by then', () => {
  const missing = (laterAt: number) =>
    judge([], { alert: { customer: 'other' }, stopAt: 80_000, laterAt }).told.violations;
  // The second day ends after 71 s of the run, and the third one is open in the end, without an event by then.
  expect([missing(70_000), missing(72_000)]).toEqual([2, 1]);
});

test('without a subscription the month that is open is watched', () => {
  const spoil = ({ events }: MadeUpBilling) => {
    for (const [number, timestamp] of [
      [7, '2026-11-01T00:00:00.000000Z'],
      [8, '2026-10-31T22:59:59.999999Z'],
    ] as const)
      events.push({
        ...eventOf(`key-${number}`, { customer: 'nobody', quantity: '1.5' }),
        id: idOf(number),
        organization: 0,
        timestamp,
      });
  };
  const month = {
    customer_external_id: 'nobody',
    subscription_id: null,
    period_start: '2026-10-31T23:00:00.000Z',
    period_end: '2026-11-30T23:00:00.000Z',
  };
  expect(judge(all(), { spoil }).told.violations).toBe(1);
  expect(judge([...all(), crossing(2, '0.3', month)], { spoil }).told.violations).toBe(0);
  expect(judge([...all(), crossing(2, '0.3', month), crossing(2, '2', month)], { spoil }).told.violations).toBe(1);
});

test('one that is told later than a minute is found, unless a worker or a store had failed', () => {
  const late = (more: Situation = {}) =>
    judge([crossing(0, '0.3', {}, 49.9 * HOUR_MS), ...all().slice(1)], more).inTime;
  expect(late().violations).toBe(1);
  const fault = { at: 30_000, until: 31_000, recoveredAfter: 5_000 };
  expect(late({ faults: [{ ...fault, target: 'api-0' }] }).violations).toBe(1);
  for (const target of ['worker-1', 'worker-0>postgres', 'postgres', 'redis', 'api-0,worker-0'])
    expect(late({ faults: [{ ...fault, target }] }).violations).toBe(0);
  // Too early to have held it up.
  expect(late({ faults: [{ at: 1_000, until: 2_000, target: 'worker-0' }] }).violations).toBe(1);
});
