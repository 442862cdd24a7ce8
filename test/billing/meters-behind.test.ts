// A meter whose subscription is past a boundary that the run has not reached: others get it where that has ended, and are told to ask again
// where nobody can know.

import { lockPlanAlone } from '@weir/db/plans';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FIXED, startBilling, type Billing, type TestCharge } from '../support/billing.ts';
import { expectProblem } from '../support/expect-problem.ts';

let billing: Billing;
const NOW = '2024-05-15T10:30:00.000Z';

beforeAll(async () => {
  billing = await startBilling(NOW);
});
beforeEach(() => billing.at(NOW));
afterAll(() => billing.close());

async function subscribe(charges: TestCharge[]) {
  const { id: customer_id } = await billing.customer();
  const plan_id = await billing.plan({}, charges);
  return await billing.post('/subscriptions', { customer_id, plan_id, start_date: '2024-05-01' });
}

const change = (id: string, body: object) => billing.ask('POST', `/subscriptions/${id}/change`, body);

/** Asks while somebody changes a plan. */
const holding = (planId: string, ask: () => Promise<void>) =>
  billing.database.kysely.transaction().execute(async (transaction) => {
    await lockPlanAlone(transaction, billing.admin.id, planId);
    await ask();
  });

describe('a meter of a subscription that has ended, and that the run has not reached yet,', () => {
  /** Of one customer: a subscription that ends with May, and another one, with a plan that has the meter of the first one. */
  async function ended() {
    const { id: meter } = await billing.admin.createMeter('SUM');
    const charges = [billing.usage(meter)];
    const first = await subscribe(charges);
    const { customer_id } = first;
    const own = await billing.plan({}, [FIXED]);
    const second = await billing.post('/subscriptions', { customer_id, plan_id: own, start_date: '2024-05-10' });
    const metered = await billing.plan({}, [FIXED, ...charges]);
    await billing.post(`/subscriptions/${first.id}/cancel`);
    return { first, id: String(second.id), own, meter, metered };
  }
  const END = '2024-06-01T00:00:00.000Z';

  test.each(['period_end', 'now'])('is free for a change of plan, when: %s, and its preview', async (when) => {
    const { first, id, metered } = await ended();
    expectProblem(await change(id, { plan_id: metered, when }), 409, 'meter_already_billed');
    await billing.at(END);
    const before = (await billing.feed()).length;
    const preview = await billing.ask('POST', `/subscriptions/${id}/preview-change`, { plan_id: metered });
    expect(preview).toMatchObject({ status: 200, body: { invoice: { cycle: 1 } } });
    expect(await billing.feed()).toHaveLength(before);
    expect((await change(id, { plan_id: metered, when })).status).toBe(200);
    expect(await billing.invoices(first.id)).toMatchObject([{ cycle: 1, period_end: END }]);
    expect((await billing.feed(first.id)).slice(-2)).toEqual(['subscription.canceled', 'invoice.created']);
    await billing.run();
    expect(await billing.rows('SELECT run_error FROM subscriptions WHERE run_error IS NOT NULL')).toEqual([]);
  });

  test('and of a former customer is free for whoever has its external_id now', async () => {
    const { id: meter } = await billing.admin.createMeter('SUM');
    const plan_id = await billing.plan({}, [billing.usage(meter)]);
    const { id: former, external_id } = await billing.customer();
    const trial = { customer_id: former, plan_id, trial_end_date: '2024-06-01' };
    const { id } = await billing.post('/subscriptions', trial);
    await billing.post(`/subscriptions/${id}/cancel`);
    await billing.at(END);
    const renamed = await billing.ask('PATCH', `/customers/${former}`, { external_id: `${external_id}-former` });
    expect(renamed.status).toBe(200);
    const { id: customer_id } = await billing.post('/customers', { external_id, name: 'Another' });
    expect((await billing.ask('POST', '/subscriptions', { customer_id, plan_id })).status).toBe(201);
  });

  test('is asked for again by a charge that is added to the plan of the other one', async () => {
    const { own, meter } = await ended();
    const charge = { type: 'USAGE', display_name: 'Calls', meter_id: meter, unit_price: 1 };
    const add = () => billing.ask('POST', `/plans/${own}/charges`, charge);
    expectProblem(await add(), 409, 'meter_already_billed');
    await billing.at(END);
    expectProblem(await add(), 409, 'subscription_behind');
    await billing.run();
    expect((await add()).status).toBe(201);
  });

  test('is free, and it has ended, also while its plan is in hand', async () => {
    const { first, id, metered } = await ended();
    await billing.at(END);
    await holding(first.plan_id, async () => {
      const kept = await billing.ask('PATCH', `/subscriptions/${first.id}`, { cancel_at_period_end: false });
      expectProblem(kept, 409, 'subscription_ended');
      const canceled = await billing.ask('POST', `/subscriptions/${first.id}/cancel`, { cancel_at_period_end: false });
      expectProblem(canceled, 409, 'subscription_ended');
      expect((await change(id, { plan_id: metered })).status).toBe(200);
    });
  });
});

describe('a meter of a subscription that goes on past a boundary while its plan is in hand', () => {
  test.each([
    ['taken where its price has ended', true, 200, { pending_plan_id: expect.any(String) }],
    ['refused where it has not', false, 409, { code: 'meter_already_billed' }],
  ])('is asked for again, and %s', async (_, hasEnded, status, body) => {
    const { id: meter } = await billing.admin.createMeter('SUM');
    const first = await subscribe([FIXED, billing.usage(meter)]);
    const { customer_id } = first;
    const { id } = await billing.post('/subscriptions', { customer_id, plan_id: await billing.plan() });
    const metered = await billing.plan({}, [billing.usage(meter)]);
    const [charge] = await billing.rows(
      'SELECT id FROM charges WHERE plan_id = $1 AND meter_id = $2',
      first.plan_id,
      meter,
    );
    if (hasEnded) await billing.endCharge(String(charge?.['id']));
    await billing.at('2024-06-01T00:00:00.000Z');
    const changing = () => change(id, { plan_id: metered });
    const subscribeSince = (start_date: string) =>
      billing.ask('POST', '/subscriptions', { customer_id, plan_id: metered, start_date });
    await holding(first.plan_id, async () => {
      expectProblem(await changing(), 409, 'subscription_behind');
      expectProblem(await subscribeSince('2024-06-01'), 409, 'subscription_behind');
      // Of May it is known.
      expectProblem(await subscribeSince('2024-05-31'), 409, 'meter_already_billed');
    });
    expect(await changing()).toMatchObject({ status, body });
  });

  test('hides no conflict with another one that is known', async () => {
    const [one, other] = [await billing.admin.createMeter('SUM'), await billing.admin.createMeter('SUM')];
    const first = await subscribe([billing.usage(one.id)]);
    const { customer_id } = first;
    const second = await billing.plan({}, [billing.usage(other.id)]);
    await billing.post('/subscriptions', { customer_id, plan_id: second, start_date: '2024-05-10' });
    await billing.at('2024-06-01T00:00:00.000Z');
    const [known, both] = [
      await billing.plan({}, [billing.usage(other.id)]),
      await billing.plan({}, [billing.usage(one.id), billing.usage(other.id)]),
    ];
    await holding(first.plan_id, async () => {
      for (const plan_id of [known, both]) {
        const again = await billing.ask('POST', '/subscriptions', { customer_id, plan_id });
        expectProblem(again, 409, 'meter_already_billed');
      }
    });
  });
});
