// Trials: nothing is due in them, and period 0 begins where they end.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FIXED, startBilling, type Billing, type TestCharge } from '../support/billing.ts';
import { expectProblem } from '../support/expect-problem.ts';

let billing: Billing;
const NOW = '2024-03-20T10:30:00.000Z';

beforeAll(async () => {
  billing = await startBilling(NOW);
});
beforeEach(() => billing.at(NOW));
afterAll(() => billing.close());

interface Made {
  plan?: object;
  charges?: TestCharge[];
  zone?: string;
}

async function ask(body: object, { plan = { trial_days: 14 }, charges = [FIXED], zone }: Made = {}) {
  const { id: customer_id } = await billing.customer(zone);
  return await billing.ask('POST', '/subscriptions', {
    customer_id,
    plan_id: await billing.plan(plan, charges),
    ...body,
  });
}

async function subscribe(body: object = {}, made: Made = {}) {
  const answer = await ask(body, made);
  expect(answer.status).toBe(201);
  return answer.body;
}

const get = (id: string) => billing.get(`/subscriptions/${id}`);

describe('a trial', () => {
  test('is in force until the date so many days later begins, though the clocks are set meanwhile', async () => {
    const made = await subscribe({}, { zone: 'Europe/Berlin' });
    expect(made).toMatchObject({
      status: 'TRIAL',
      cycle: null,
      start_date: NOW,
      trial_end_date: '2024-04-02T22:00:00.000Z',
      current_period_start: NOW,
      current_period_end: '2024-04-02T22:00:00.000Z',
    });
  });

  test('has no dues, no invoice and no period, and is told as made and not as active', async () => {
    const { id, plan_id } = await subscribe();
    expect([await billing.dues(id), await billing.invoices(id)]).toEqual([[], []]);
    expect(await billing.feed(id)).toEqual(['subscription.created']);
    const instants = { period_start: '2024-04-03T00:00:00.000Z', period_end: '2024-05-03T00:00:00.000Z' };
    expect((await billing.get(`/subscriptions/${id}/periods`)).data).toEqual([
      { cycle: 0, plan_id, ...instants, days: null },
    ]);
    expect((await billing.get(`/subscriptions/${id}/periods?count=0`)).data).toEqual([]);
  });

  test('ends with period 0, whose anchor is its last date, and the feed tells it', async () => {
    const { id } = await subscribe();
    await billing.at('2024-04-02T23:59:59.999999Z');
    await billing.run();
    expect(await get(id)).toMatchObject({ status: 'TRIAL' });
    const before = (await billing.feed(id)).length;
    await billing.at('2024-04-03T00:00:00.000Z');
    await billing.run();
    expect(await get(id)).toMatchObject({
      status: 'ACTIVE',
      cycle: 0,
      current_period_start: '2024-04-03T00:00:00.000Z',
      current_period_end: '2024-05-03T00:00:00.000Z',
    });
    expect((await billing.feed(id)).slice(before)).toEqual(['subscription.activated', 'invoice.created']);
    expect(await billing.invoices(id)).toMatchObject([
      { cycle: 0, period_start: '2024-04-03T00:00:00.000Z', period_end: '2024-04-03T00:00:00.000Z' },
    ]);
  });

  test('may end at any instant, and period 0 begins at it; later boundaries are midnights', async () => {
    const { id } = await subscribe({ trial_end_date: '2024-03-25T18:00:00+01:00' });
    await billing.at('2024-05-01T00:00:00.000Z');
    await billing.run();
    expect((await billing.get(`/subscriptions/${id}/periods?count=0`)).data).toMatchObject([
      { period_start: '2024-03-25T17:00:00.000Z', period_end: '2024-04-25T00:00:00.000Z' },
      { period_start: '2024-04-25T00:00:00.000Z' },
    ]);
  });

  test('may end on a date, in the zone of the subscription', async () => {
    const made = await subscribe({ trial_end_date: '2024-04-01' }, { zone: 'Asia/Tokyo', plan: {} });
    expect(made.trial_end_date).toBe('2024-03-31T15:00:00.000Z');
  });

  test('is overridden by trial_end_date, and left out where that is null', async () => {
    expect(await subscribe({ trial_end_date: null })).toMatchObject({
      status: 'ACTIVE',
      trial_end_date: null,
      cycle: 0,
    });
    expect(await subscribe({}, { plan: {} })).toMatchObject({ status: 'ACTIVE', trial_end_date: null });
  });

  test('that is over when the subscription is made is followed by its periods', async () => {
    const { id, ...made } = await subscribe({ start_date: '2024-01-01' });
    expect(made).toMatchObject({
      status: 'ACTIVE',
      cycle: 2,
      trial_end_date: '2024-01-15T00:00:00.000Z',
      current_period_start: '2024-03-15T00:00:00.000Z',
    });
    expect((await billing.invoices(id)).map(({ cycle }) => cycle)).toEqual([0, 1, 2]);
  });

  test('by the calendar is followed by a part of a period: 28/30', async () => {
    const { id } = await subscribe({ billing_alignment: 'calendar' });
    await billing.at('2024-04-03T00:00:00.000Z');
    await billing.run();
    expect((await billing.dues(id)).map(({ days }) => days)).toEqual(['28/30']);
  });

  test('holds the meters of its plan', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const { customer_id, plan_id } = await subscribe(
      {},
      { plan: { trial_days: 14 }, charges: [billing.usage(meter.id)] },
    );
    expectProblem(await billing.ask('POST', '/subscriptions', { customer_id, plan_id }), 409, 'meter_already_billed');
  });

  test('that is canceled at its end, or now, leaves nothing to bill, and its meters free', async () => {
    for (const body of [{}, { cancel_at_period_end: false }]) {
      await billing.at(NOW);
      const meter = await billing.admin.createMeter('SUM');
      const made = { plan: { trial_days: 14 }, charges: [FIXED, billing.usage(meter.id)] };
      const { id, customer_id, plan_id } = await subscribe({}, made);
      await billing.post(`/subscriptions/${id}/cancel`, body);
      await billing.at('2024-04-03T00:00:00.000Z');
      await billing.run();
      expect(await get(id)).toMatchObject({ status: 'CANCELED', cycle: null });
      expect([await billing.dues(id), await billing.invoices(id)]).toEqual([[], []]);
      expect((await billing.get(`/subscriptions/${id}/periods`)).data).toEqual([]);
      await billing.post('/subscriptions', { customer_id, plan_id, start_date: NOW });
    }
  });

  test('goes over to another plan at its end', async () => {
    const { id } = await subscribe();
    const plan_id = await billing.plan({ billing_interval: 'year' });
    await billing.post(`/subscriptions/${id}/change`, { plan_id });
    await billing.at('2024-04-03T00:00:00.000Z');
    await billing.run();
    expect(await get(id)).toMatchObject({ plan_id, cycle: 0, current_period_end: '2025-04-03T00:00:00.000Z' });
  });
});

describe('a trial is refused', () => {
  test.each([
    ['before the start', '2024-03-20T10:29:59.999999Z'],
    ['on a date that has begun', '2024-03-20'],
    ['more than 100 years later', '2124-03-21'],
    ['thousands of years later', '9999-12-31'],
    ['on no day of the calendar', '2024-02-30'],
    ['without an offset', '2024-04-01T00:00:00'],
  ])('that ends %s', async (_, trial_end_date) => {
    const answer = await ask({ trial_end_date });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toMatchObject([{ path: 'trial_end_date' }]);
  });
});
