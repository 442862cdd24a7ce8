// The end of a subscription: at the end of its period, or now, which cuts what is open and settles it with a final invoice.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FIXED, IN_ARREARS, startBilling, type Billing, type TestCharge } from '../support/billing.ts';
import { expectProblem } from '../support/expect-problem.ts';

let billing: Billing;
const NOW = '2024-05-15T10:30:00.000Z';
const NEVER = '01890000-0000-7000-8000-000000000005';

beforeAll(async () => {
  billing = await startBilling(NOW);
});
beforeEach(() => billing.at(NOW));
afterAll(() => billing.close());

async function subscribe(charges: TestCharge[] = [FIXED], body: object = {}, plan: object = {}, zone?: string) {
  const { id: customer_id } = await billing.customer(zone);
  const plan_id = await billing.plan(plan, charges);
  return await billing.post('/subscriptions', { customer_id, plan_id, start_date: '2024-05-01', ...body });
}

const cancel = (id: string, body?: object) => billing.post(`/subscriptions/${id}/cancel`, body);
const now = { cancel_at_period_end: false };
const get = async (id: string) => {
  const { entitlements: _, ...subscription } = await billing.get(`/subscriptions/${id}`);
  return subscription;
};
const cycles = async (id: string) => (await billing.invoices(id)).map(({ cycle }) => cycle);

/** What finalizing an invoice in advance leaves in its dues. */
async function settle(id: string, billed: string): Promise<void> {
  await billing.rows(
    `UPDATE dues SET closing = 1, billed = $2 WHERE subscription_id = $1 AND meter_id IS NULL`,
    id,
    billed,
  );
}

async function usage(): Promise<TestCharge> {
  return billing.usage((await billing.admin.createMeter('SUM')).id);
}

describe('at the end of the period', () => {
  test('it goes on until then, and says when it was asked and when it ends', async () => {
    const { id } = await subscribe();
    const asked = await cancel(id, { reason: 'Too expensive' });
    expect(asked).toMatchObject({
      status: 'ACTIVE',
      cancel_at_period_end: true,
      cancel_reason: 'Too expensive',
      canceled_at: NOW,
      ended_at: '2024-06-01T00:00:00.000Z',
      current_period_end: '2024-06-01T00:00:00.000Z',
    });
    expect(await get(id)).toEqual({ ...asked, is_rebilling: false });
    await billing.at('2024-05-31T23:59:59.999999Z');
    await billing.run();
    expect(await get(id)).toEqual({ ...asked, is_rebilling: false });
  });

  test('it is the default, with no body and with an empty one', async () => {
    for (const body of [undefined, {}]) {
      const { id } = await subscribe();
      expect(await cancel(id, body)).toMatchObject({ cancel_at_period_end: true, cancel_reason: null });
    }
  });

  test('it is CANCELED from that instant on, before the run has been there and after', async () => {
    const { id } = await subscribe();
    await cancel(id);
    await billing.at('2024-06-01T00:00:00.000Z');
    expect(await get(id)).toMatchObject({ status: 'CANCELED' });
    expect((await billing.get('/subscriptions?status=CANCELED')).data.map((each: { id: string }) => each.id)).toContain(
      id,
    );
    await billing.at('2024-07-10T00:00:00.000Z');
    await billing.run();
    expect(await get(id)).toMatchObject({
      status: 'CANCELED',
      cycle: 0,
      ended_at: '2024-06-01T00:00:00.000Z',
      canceled_at: NOW,
      current_period_start: '2024-05-01T00:00:00.000Z',
      current_period_end: '2024-06-01T00:00:00.000Z',
    });
    expect((await billing.feed(id)).at(-1)).toBe('subscription.canceled');
  });

  test('nothing is billed in advance there, and what is in arrears is', async () => {
    const advance = await subscribe([FIXED]);
    const both = await subscribe([FIXED, IN_ARREARS, await usage()]);
    for (const { id } of [advance, both]) await cancel(id);
    await billing.at('2024-07-10T00:00:00.000Z');
    await billing.run();
    expect(await cycles(advance.id)).toEqual([0]);
    expect(await billing.invoices(both.id)).toMatchObject([
      { cycle: 0 },
      { cycle: 1, period_end: '2024-06-01T00:00:00.000Z', finalizes_at: '2024-07-10T01:00:00.000Z' },
    ]);
    expect((await billing.dues(both.id)).map(({ cycle }) => cycle)).toEqual([0, 0, 0]);
    expect((await billing.get(`/subscriptions/${both.id}/periods?count=3`)).data).toHaveLength(1);
  });

  test('it is taken back until then, and not after', async () => {
    const { id } = await subscribe();
    const { is_rebilling: _, ...before } = await get(id);
    await cancel(id, { reason: 'A mistake' });
    const kept = await billing.ask('PATCH', `/subscriptions/${id}`, { cancel_at_period_end: false });
    expect(kept).toMatchObject({ status: 200, body: before });
    await cancel(id);
    await billing.at('2024-06-01T00:00:00.000Z');
    // The run has not been there, and it is too late all the same.
    const late = await billing.ask('PATCH', `/subscriptions/${id}`, { cancel_at_period_end: false });
    expectProblem(late, 409, 'subscription_ended');
    expect(await get(id)).toMatchObject({ status: 'CANCELED' });
  });

  test('asked for twice it keeps the time of the first request', async () => {
    const { id } = await subscribe();
    await cancel(id, { reason: 'First' });
    const before = (await billing.feed()).length;
    await billing.at('2024-05-20T00:00:00.000Z');
    expect(await cancel(id)).toMatchObject({ canceled_at: NOW, cancel_reason: 'First' });
    expect(await billing.feed()).toHaveLength(before);
  });

  test('its list of periods ends with the current one', async () => {
    const { id } = await subscribe();
    await cancel(id);
    expect((await billing.get(`/subscriptions/${id}/periods?count=3`)).data).toHaveLength(1);
  });
});

describe('now', () => {
  test('it ends at this instant', async () => {
    const { id } = await subscribe();
    expect(await cancel(id, { ...now, reason: 'Moved' })).toMatchObject({
      status: 'CANCELED',
      canceled_at: NOW,
      ended_at: NOW,
      cancel_reason: 'Moved',
      cancel_at_period_end: false,
      current_period_end: NOW,
    });
    await billing.at('2024-08-01T00:00:00.000Z');
    await billing.run();
    expect(await get(id)).toMatchObject({ cycle: 0, ended_at: NOW });
  });

  test('its period and its dues are cut at the instant, with the dates that they touch: the last one counts', async () => {
    const { id, plan_id } = await subscribe([FIXED, IN_ARREARS, await usage()], {}, {}, 'Europe/Berlin');
    await billing.at('2024-05-14T22:30:00.000001Z');
    await cancel(id, now);
    // Half an hour past midnight in Berlin: 15 dates of May.
    expect(await billing.dues(id)).toEqual(
      ['Base', 'Calls', 'Seat'].map((display_name) => ({
        cycle: 0,
        display_name,
        period_start: '2024-04-30T22:00:00.000Z',
        period_end: '2024-05-14T22:30:00.000001Z',
        days: '15/31',
      })),
    );
    expect((await billing.get(`/subscriptions/${id}/periods`)).data).toEqual([
      {
        cycle: 0,
        plan_id,
        period_start: '2024-04-30T22:00:00.000Z',
        period_end: '2024-05-14T22:30:00.000001Z',
        days: '15/31',
      },
    ]);
  });

  test('a part of a calendar period is cut further: 6/31', async () => {
    await billing.at('2024-05-10T00:00:00.000Z');
    const { id } = await subscribe([FIXED], { start_date: '2024-05-10', billing_alignment: 'calendar' });
    await billing.at(NOW);
    await cancel(id, now);
    expect((await billing.dues(id)).map(({ days }) => days)).toEqual(['6/31']);
  });

  test('in a plan by the day, a date that has begun is due', async () => {
    const { id } = await subscribe([FIXED], { start_date: '2024-05-15' }, { billing_interval: 'day' });
    await cancel(id, now);
    expect((await billing.dues(id)).map(({ days, period_end }) => [days, period_end])).toEqual([[null, NOW]]);
  });

  test('on the date of the start, that date is due', async () => {
    const { id } = await subscribe([FIXED], { start_date: NOW });
    await cancel(id, now);
    expect(await billing.dues(id)).toMatchObject([{ period_start: NOW, period_end: NOW, days: '1/31' }]);
  });

  test('a final invoice settles what is in arrears, after the grace as it is set', async () => {
    const { id } = await subscribe([await usage()]);
    const before = (await billing.feed(id)).length;
    await cancel(id, now);
    expect(await billing.invoices(id)).toEqual([
      {
        cycle: 1,
        kind: 'SUBSCRIPTION',
        status: 'DRAFT',
        period_start: '2024-05-01T00:00:00.000Z',
        period_end: NOW,
        finalizes_at: '2024-05-15T11:30:00.000Z',
      },
    ]);
    expect((await billing.feed(id)).slice(before)).toEqual(['subscription.canceled', 'invoice.created']);
  });

  test('what was billed in advance makes a final invoice where it comes to another amount, and else none', async () => {
    const [draft, whole, lastDay] = [await subscribe(), await subscribe(), await subscribe()];
    await settle(whole.id, '31.00');
    await settle(lastDay.id, '31.00');
    // While the invoice in advance is a draft, it shows the part itself.
    await cancel(draft.id, now);
    expect(await cycles(draft.id)).toEqual([0]);
    await cancel(whole.id, now);
    expect(await cycles(whole.id)).toEqual([0, 1]);
    await billing.at('2024-05-31T00:00:00.000001Z');
    await cancel(lastDay.id, now);
    expect(await cycles(lastDay.id)).toEqual([0]);
    expect(await billing.dues(lastDay.id)).toMatchObject([{ days: null, period_end: '2024-05-31T00:00:00.000001Z' }]);
  });

  test('boundaries that the run has not passed yet are passed first', async () => {
    const { id } = await subscribe();
    await billing.at('2024-07-10T12:00:00.000Z');
    expect(await cancel(id, now)).toMatchObject({ cycle: 2, current_period_start: '2024-07-01T00:00:00.000Z' });
    expect(await cycles(id)).toEqual([0, 1, 2]);
    expect((await billing.dues(id)).map(({ days }) => days)).toEqual([null, null, '10/31']);
  });

  test('it takes the place of an end with the period', async () => {
    const { id } = await subscribe();
    await cancel(id, { reason: 'First' });
    await billing.at('2024-05-20T00:00:00.000Z');
    expect(await cancel(id, now)).toMatchObject({
      cancel_at_period_end: false,
      cancel_reason: 'First',
      canceled_at: '2024-05-20T00:00:00.000Z',
      ended_at: '2024-05-20T00:00:00.000Z',
    });
  });
});

describe('a cancellation is refused', () => {
  test('of what has ended', async () => {
    const { id } = await subscribe();
    await cancel(id, now);
    for (const body of [{}, now]) {
      expectProblem(await billing.ask('POST', `/subscriptions/${id}/cancel`, body), 409, 'subscription_ended');
    }
    const kept = await billing.ask('PATCH', `/subscriptions/${id}`, { cancel_at_period_end: false });
    expectProblem(kept, 409, 'subscription_ended');
  });

  test('of what there is not', async () => {
    expectProblem(await billing.ask('POST', `/subscriptions/${NEVER}/cancel`, {}), 404, 'not_found');
    const kept = await billing.ask('PATCH', `/subscriptions/${NEVER}`, { cancel_at_period_end: false });
    expectProblem(kept, 404, 'not_found');
  });

  test.each([{ cancel_at_period_end: true }, { pending_plan_id: NEVER }, {}, { status: 'CANCELED' }])(
    'in any other form: PATCH %j',
    async (body) => {
      const { id } = await subscribe();
      expectProblem(await billing.ask('PATCH', `/subscriptions/${id}`, body), 422, 'invalid_request');
    },
  );

  test('for all but one of those that are sent at once', async () => {
    const { id } = await subscribe([await usage()]);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => billing.ask('POST', `/subscriptions/${id}/cancel`, now)),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409, 409, 409, 409]);
    expect(await cycles(id)).toEqual([1]);
  });

  test.each(['cancel', 'change'])('where a period began while it waited for the subscription: %s', async (path) => {
    const { id } = await subscribe([await usage()]);
    const body = path === 'cancel' ? now : { plan_id: await billing.plan(), when: 'now' };
    // Its transaction began before the instant at which another one has begun the period.
    const begin = `UPDATE subscriptions SET current_period_start = billing_clock() + interval '1 second' WHERE id = $1`;
    await billing.rows(begin, id);
    expectProblem(await billing.ask('POST', `/subscriptions/${id}/${path}`, body), 409, 'subscription_behind');
  });
});
