// A change of plan in the middle of a period: the instant is a boundary of its own, and one invoice settles both sides.

import { checkBilling } from '@weir/db/billing/checks/billing-checks';
import { countBilledEvents } from '@weir/db/billing/checks/billed-events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setBillingTime } from '../support/billing-time.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
const START = '2025-01-01T00:00:00.000Z';
/** Within 12 January, on which the other plan begins: 11 of 31 dates are the old one's. */
const CHANGE = '2025-01-12T09:30:00.000001Z';

let billing: Invoicing;
beforeAll(async () => {
  billing = await startInvoicing(weir);
});
beforeEach(() => billing.moveTo('2024-12-31T00:00:00Z'));
afterAll(() => billing.close());

const fixed = (unit_price: string, more: object = {}) => ({
  type: 'FIXED',
  display_name: `Fee of ${unit_price}`,
  unit_price,
  ...more,
});
const usage = (meter: PricedMeter, unit_price: string, more: object = {}) => ({
  type: 'USAGE',
  display_name: `Calls at ${unit_price}`,
  meter_id: meter.id,
  unit_price,
  ...more,
});
const graduated = (meter: PricedMeter) => {
  const tiers = [
    { up_to: '10', unit_price: '1', flat_fee: '0' },
    { up_to: null, unit_price: '0.1', flat_fee: '0' },
  ];
  return { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, model: 'graduated', tiers };
};

interface Subscribed {
  id: string;
  planId: string;
  customer: { id: string; external_id: string };
}

async function subscribe(charges: object[], { zone = 'UTC', plan = {}, ...fields }: Record<string, unknown> = {}) {
  const customer = await billing.customer({ time_zone: zone });
  const { id: planId } = await billing.plan(charges, plan as object);
  await setBillingTime(weir.pool, START);
  const { id } = await billing.subscribe(planId, customer.id, { start_date: START, ...fields });
  return { id, planId, customer };
}

const changeNow = (id: string, plan_id: string) =>
  billing.post(`/subscriptions/${id}/change`, { plan_id, when: 'now' });
const tryToChange = (id: string, plan_id: string) =>
  billing.request('POST', `/subscriptions/${id}/change`, { plan_id, when: 'now' });
const previewChange = async (id: string, plan_id: string) =>
  (await billing.post(`/subscriptions/${id}/preview-change`, { plan_id })).invoice;
const get = (id: string) => billing.get(`/subscriptions/${id}`);
const periods = async (id: string, count = 0) =>
  (await billing.get(`/subscriptions/${id}/periods?count=${count}`)).data;
const at = (instant: string) => setBillingTime(weir.pool, instant);

interface Line {
  description: string;
  cycle: number;
  days: string | null;
  quantity: string | null;
  billed_before: string;
  amount: string;
}

/** `Fee of 31 (0) 11/31: -20.00`, and what was used. */
const linesOf = ({ lines }: { lines: Line[] }) =>
  lines.map(({ description, cycle, days, quantity, amount }) =>
    [description, `(${cycle})`, days, quantity, amount].filter((part) => part !== null).join(' '),
  );

/** Finalizes all drafts, computes each invoice again, and returns their lines. */
async function issue({ id }: Pick<Subscribed, 'id'>) {
  const issued = await billing.finalizeAll(id);
  for (const invoice of issued)
    for (const from of ['rollups', 'events'])
      expect(await billing.post(`/invoices/${invoice.id}/recompute`, { from })).toMatchObject({ identical: true });
  return issued.map(linesOf);
}

const use = ({ customer }: Subscribed, meter: PricedMeter, quantity: number, instant: string) =>
  billing.track([{ meter, customer: customer.external_id, quantity, at: instant }]);

describe('a change of plan now', () => {
  test('ends the old plan at the instant and begins the new one there, on one invoice, which is shown before', async () => {
    const [both, old, next] = [await billing.meter(), await billing.meter(), await billing.meter()];
    const { id: other } = await billing.plan([fixed('62'), graduated(both), usage(next, '3')], { name: 'Max' });
    const made = await subscribe([
      fixed('31'),
      fixed('10', { timing: 'in_arrears' }),
      graduated(both),
      usage(old, '2'),
    ]);
    const { id } = made;
    expect(await issue(made)).toEqual([['Fee of 31 (0) 31.00']]);
    await at('2025-01-20T00:00:00Z');
    for (const meter of [both, old, next]) {
      await use(made, meter, 4, '2025-01-12T09:30:00Z');
      await use(made, meter, 8, CHANGE);
    }
    await at(CHANGE);
    const preview = await previewChange(id, other);
    expect(await get(id), 'the preview changes nothing').toMatchObject({ plan_name: 'Plan', cycle: 0 });

    const changed = await changeNow(id, other);
    const period = { current_period_start: CHANGE, current_period_end: '2025-02-01T00:00:00.000Z' };
    expect(changed).toMatchObject({ plan_id: other, plan_name: 'Max', pending_plan_id: null, cycle: 1, ...period });
    const [february, march] = ['2025-02-01T00:00:00.000Z', '2025-03-01T00:00:00.000Z'];
    expect(await periods(id, 1)).toEqual([
      { cycle: 0, plan_id: made.planId, period_start: START, period_end: CHANGE, days: '11/31' },
      { cycle: 1, plan_id: other, period_start: CHANGE, period_end: february, days: '20/31' },
      { cycle: 2, plan_id: other, period_start: february, period_end: march, days: null },
    ]);
    const [draft] = await billing.drafts(id);
    const { id: _, invoice_number: __, payments: ___, lines, ...whole } = await billing.get(`/invoices/${draft?.id}`);
    expect(preview).toEqual({ ...whole, lines: lines.map(({ id: ____, ...line }: { id: string }) => line) });
    const settled = [
      'Calls (0) 11/31 4 4.00',
      'Calls at 2 (0) 11/31 4 8.00',
      'Fee of 10 (0) 11/31 3.55',
      'Fee of 31 (0) 11/31 -20.00',
      'Fee of 62 (1) 20/31 40.00',
    ];
    expect((await issue(made)).map((each) => each.toSorted())).toEqual([settled]);

    await billing.moveTo('2025-02-01T00:00:00Z', id);
    // Tiers begin anew, and the first meter of the old plan counts no more.
    expect((await issue(made)).map((each) => each.toSorted())).toEqual([
      ['Calls (1) 20/31 8 8.00', 'Calls at 3 (1) 20/31 8 24.00', 'Fee of 62 (2) 62.00'],
    ]);
    expect(await periods(id)).toMatchObject([{ cycle: 0 }, { cycle: 1 }, { cycle: 2, days: null }]);
  });

  test('brings what comes late to the plan that its time is in', async () => {
    const meter = await billing.meter();
    const { id: other } = await billing.plan([usage(meter, '5')]);
    const made = await subscribe([usage(meter, '2')]);
    await at(CHANGE);
    await changeNow(made.id, other);
    await issue(made);
    await use(made, meter, 3, '2025-01-12T09:30:00Z');
    await use(made, meter, 1, CHANGE);
    await billing.moveTo('2025-02-01T00:00:00Z', made.id);
    expect(await issue(made)).toEqual([['Calls at 5 (1) 20/31 1 5.00', 'Calls at 2 (0) 11/31 3 6.00']]);
  });

  test('may come twice on one day, and before a cancellation: each date is of the last plan', async () => {
    const made = await subscribe([fixed('31')]);
    const [{ id: second }, { id: third }] = [await billing.plan([fixed('62')]), await billing.plan([fixed('93')])];
    await issue(made);
    await at(CHANGE);
    await changeNow(made.id, second);
    await issue(made);
    await at('2025-01-12T15:00:00Z');
    await changeNow(made.id, third);
    expect(await periods(made.id)).toMatchObject([{ days: '11/31' }, { days: '0/31' }, { days: '20/31' }]);
    expect(await issue(made)).toEqual([['Fee of 62 (1) 0/31 -40.00', 'Fee of 93 (2) 20/31 60.00']]);
    await at('2025-01-12T18:00:00Z');
    await billing.post(`/subscriptions/${made.id}/cancel`, { cancel_at_period_end: false });
    expect(await issue(made)).toEqual([['Fee of 93 (2) 1/31 -57.00']]);
    const { data } = await billing.get(`/subscriptions/${made.id}/invoices`);
    const total = data.reduce((sum: number, each: { total: string }) => sum + Number(each.total), 0);
    expect(total.toFixed(2), '11 dates of the first plan, and one of the third').toBe('14.00');
  });

  test('takes its part off the invoice in advance while that is a draft, and the preview says so', async () => {
    const made = await subscribe([fixed('31'), fixed('3.10')]);
    await at(CHANGE);
    const { id: other } = await billing.plan([fixed('62')]);
    const [before] = await billing.drafts(made.id);
    const { invoice, draft } = await billing.post(`/subscriptions/${made.id}/preview-change`, { plan_id: other });
    expect([invoice.total, draft]).toEqual(['40.00', { id: before?.id, amount: '-22.00' }]);
    expect((await billing.get(`/invoices/${before?.id}`)).total, 'the preview changes nothing').toBe('34.10');
    await changeNow(made.id, other);
    expect((await billing.get(`/invoices/${before?.id}`)).total).toBe('12.10');
    const advance = ['Fee of 31 (0) 11/31 11.00', 'Fee of 3.10 (0) 11/31 1.10'];
    expect(await issue(made)).toEqual([advance, ['Fee of 62 (1) 20/31 40.00']]);
  });

  test('to a plan without a price takes off the draft in advance, and makes no invoice', async () => {
    const made = await subscribe([fixed('31')]);
    const { id: other } = await billing.plan([]);
    const preview = () => billing.post(`/subscriptions/${made.id}/preview-change`, { plan_id: other });
    await at(CHANGE);
    expect(await preview()).toMatchObject({ invoice: null, draft: { amount: '-20.00' } });
    await issue(made);
    expect(await preview()).toMatchObject({ invoice: { total: '-20.00' }, draft: null });
  });

  test('names no draft that the preview alone has made, where the run has yet to pass the boundary', async () => {
    const made = await subscribe([fixed('28')]);
    await issue(made);
    await at('2025-02-11T12:00:00Z');
    const { id: other } = await billing.plan([]);
    const preview = () => billing.post(`/subscriptions/${made.id}/preview-change`, { plan_id: other });
    expect(await preview()).toEqual({ invoice: null, draft: { id: null, amount: '-18.00' } });
    await billing.moveTo('2025-02-11T12:00:00Z', made.id);
    const [draft] = await billing.drafts(made.id);
    expect(await preview()).toEqual({ invoice: null, draft: { id: draft?.id, amount: '-18.00' } });
  });

  test('on the first date of a period gives it all back, and bills the new plan whole', async () => {
    const made = await subscribe([fixed('31')]);
    await issue(made);
    await at('2025-01-01T12:00:00Z');
    await changeNow(made.id, (await billing.plan([fixed('62')])).id);
    expect(await issue(made)).toEqual([['Fee of 31 (0) 0/31 -31.00', 'Fee of 62 (1) 62.00']]);
  });

  test('bills the new plan by its price of the instant, where another one is announced for the same period', async () => {
    const made = await subscribe([fixed('31')]);
    await issue(made);
    await at(CHANGE);
    const next = await billing.plan([fixed('62')]);
    const announced = fixed('93', { replaces: next.charges[0], effective_from: '2025-01-20' });
    await billing.post(`/plans/${next.id}/charges`, announced, 201);
    await changeNow(made.id, next.id);
    expect(await issue(made)).toEqual([['Fee of 31 (0) 11/31 -20.00', 'Fee of 62 (1) 20/31 40.00']]);
  });

  test('of a plan by the day bills the date once, to the new plan', async () => {
    const made = await subscribe([fixed('3')], { plan: { billing_interval: 'day' } });
    await issue(made);
    await at('2025-01-01T12:00:00Z');
    await changeNow(made.id, (await billing.plan([fixed('5')], { billing_interval: 'day' })).id);
    expect(await issue(made)).toEqual([['Fee of 3 (0) 0/1 -3.00', 'Fee of 5 (1) 5.00']]);
  });

  test('counts dates in the zone of the subscription, over a change of the clocks and by the calendar', async () => {
    const made = await subscribe([fixed('31')], { zone: 'Europe/Berlin', billing_alignment: 'calendar' });
    await billing.moveTo('2025-03-31T21:59:00Z', made.id);
    await issue(made);
    // The last minute of March in Berlin, where summer has begun.
    const { id: other } = await billing.plan([fixed('62')]);
    await changeNow(made.id, other);
    const [from, at, to] = ['2025-02-28T23:00:00.000Z', '2025-03-31T21:59:00.000Z', '2025-03-31T22:00:00.000Z'];
    expect((await periods(made.id)).slice(-2)).toEqual([
      { cycle: 2, plan_id: made.planId, period_start: from, period_end: at, days: '30/31' },
      { cycle: 3, plan_id: other, period_start: at, period_end: to, days: '1/31' },
    ]);
    expect(await issue(made)).toEqual([['Fee of 31 (2) 30/31 -1.00', 'Fee of 62 (3) 1/31 2.00']]);
  });

  test('makes no invoice where there is nothing to settle, and tells the feed all the same', async () => {
    const made = await subscribe([fixed('10', { timing: 'in_arrears' })], { trial_end_date: '2025-01-20' });
    await at(CHANGE);
    const { id: other } = await billing.plan([fixed('20')], { billing_interval: 'year' });
    expect(await previewChange(made.id, other)).toBeNull();
    const changed = await changeNow(made.id, other);
    expect(changed).toMatchObject({ status: 'TRIAL', plan_id: other, billing_interval: 'year', cycle: null });
    expect(changed.trial_end_date).toBe('2025-01-20T00:00:00.000Z');
    expect(await billing.drafts(made.id)).toEqual([]);
    const told = await billing.get('/billing-events?limit=1000');
    const last = told.data.filter(({ data }: { data: { id: string } }) => data.id === made.id).at(-1);
    expect(last).toMatchObject({ type: 'subscription.changed', data: { plan_id: other, status: 'TRIAL' } });
    await billing.moveTo('2025-01-20T00:00:00Z', made.id);
    expect(await issue(made)).toEqual([['Fee of 20 (0) 20.00']]);
  });

  test('takes the place of one at the end of the period; to its own plan it does no more', async () => {
    const made = await subscribe([fixed('31')]);
    const { plan_id: own } = await get(made.id);
    const { id: other } = await billing.plan([fixed('62')]);
    await billing.post(`/subscriptions/${made.id}/change`, { plan_id: other });
    expect(await previewChange(made.id, own)).toBeNull();
    expect(await changeNow(made.id, own)).toMatchObject({ plan_id: own, pending_plan_id: null, cycle: 0 });
    await billing.post(`/subscriptions/${made.id}/change`, { plan_id: other });
    const { id: third } = await billing.plan([fixed('93')]);
    expect(await changeNow(made.id, third)).toMatchObject({ plan_id: third, pending_plan_id: null, cycle: 1 });
  });

  test('keeps a cancellation that is to come', async () => {
    const made = await subscribe([fixed('31')]);
    await billing.post(`/subscriptions/${made.id}/cancel`);
    await at(CHANGE);
    const end = { cancel_at_period_end: true, ended_at: '2025-02-01T00:00:00.000Z' };
    expect(await changeNow(made.id, (await billing.plan([fixed('62')])).id)).toMatchObject(end);
    await billing.moveTo('2025-02-01T00:00:00Z', made.id);
    expect(await get(made.id)).toMatchObject({ status: 'CANCELED', cycle: 1 });
  });

  test('of a plan by the day bills what was used before it, up to the maximum', async () => {
    const meter = await billing.meter();
    const day = { billing_interval: 'day' };
    // Later than all that was closed before, and so the last of these: what comes from before that is late.
    const start_date = '2025-06-01T00:00:00Z';
    const made = await subscribe([usage(meter, '1', { maximum_amount: '100' })], { plan: day, start_date });
    await billing.moveTo('2025-06-01T12:00:00Z', made.id);
    await use(made, meter, 3, '2025-06-01T10:00:00Z');
    await changeNow(made.id, (await billing.plan([usage(meter, '2', { maximum_amount: '100' })], day)).id);
    expect(await issue(made)).toEqual([['Calls at 1 (0) 0/1 3 3.00']]);
  });
});

describe('the meters', () => {
  test('of the old plan alone are free for others from the instant, and those of the new one are taken', async () => {
    const [old, next] = [await billing.meter(), await billing.meter()];
    const [{ id: other }, { id: withOld }] = [
      await billing.plan([usage(next, '1')]),
      await billing.plan([usage(old, '1')]),
    ];
    const { id, customer } = await subscribe([usage(old, '1')]);
    await at(CHANGE);
    await changeNow(id, other);
    const subscribeTo = (plan_id: string, start_date: string) =>
      billing.request('POST', '/subscriptions', { plan_id, customer_id: customer.id, start_date });
    expectProblem(await subscribeTo(withOld, '2025-01-12T09:30:00Z'), 409, 'meter_already_billed');
    expectProblem(await subscribeTo(other, CHANGE), 409, 'meter_already_billed');
    expect((await subscribeTo(withOld, CHANGE)).status).toBe(201);
  });
});

describe('a change now is refused', () => {
  test('with another currency, another interval, a meter that is billed elsewhere, or after the end', async () => {
    const meter = await billing.meter();
    const { id, customer } = await subscribe([fixed('31')]);
    const { id: metered } = await billing.plan([usage(meter, '1')]);
    await billing.subscribe(metered, customer.id);
    const refusals = async (plan_id: string) => [
      await tryToChange(id, plan_id),
      await billing.request('POST', `/subscriptions/${id}/preview-change`, { plan_id }),
    ];
    const before = await get(id);
    for (const [plan_id, code] of [
      [(await billing.plan([], { currency: 'EUR' })).id, 'currency_differs'],
      [(await billing.plan([], { billing_interval: 'year' })).id, 'interval_differs'],
      [(await billing.plan([], { is_active: false })).id, 'plan_inactive'],
      [metered, 'meter_already_billed'],
    ] as const)
      for (const refused of await refusals(plan_id)) expectProblem(refused, 409, code);
    expect(await get(id)).toEqual(before);
    await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
    for (const refused of await refusals(metered)) expectProblem(refused, 409, 'subscription_ended');
  });

  test('a preview leaves no row, no number of the feed and no lock', async () => {
    const { id } = await subscribe([fixed('31')]);
    const { id: other } = await billing.plan([fixed('62')]);
    const count = async () =>
      (
        await weir.pool.query(
          `SELECT (SELECT count(*) FROM dues) AS dues, (SELECT count(*) FROM subscription_periods) AS periods,
            (SELECT count(*) FROM invoices) AS invoices, (SELECT sum(last_sequence) FROM billing_feeds) AS feed,
            (SELECT max(xmin::text::bigint) FROM subscriptions) AS written,
            (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction') AS open`,
        )
      ).rows[0];
    const before = await count();
    await previewChange(id, other);
    expect(await count()).toEqual({ ...before, open: '0' });
  });
});

test('all of it is right by the checks of reconcile, and every event is accounted for', async () => {
  const { database, admin } = billing;
  expect(await checkBilling(database, { organizationId: admin.id }, () => {})).toEqual([]);
  const counted = await countBilledEvents(database, { organizationId: admin.id });
  expect(counted).toMatchObject({ duesMiscounted: 0, miscounted: [] });
  expect(counted.months.map(({ unexplained }) => unexplained)).toEqual(counted.months.map(() => null));
  expect(counted.months.length).toBeGreaterThan(0);
});
