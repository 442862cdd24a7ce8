// A meter of a subscription that has ended, and that the run has not reached yet: it is free for whoever asks, and the run does the rest.

import { checkBilling } from '@weir/db/billing/checks/billing-checks';
import { lockSubscription } from '@weir/db/billing/subscriptions/subscriptions';
import type { Queries } from '@weir/db/database';
import { lockPlanAlone } from '@weir/db/plans';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { FIXED, startBilling, type Billing } from '../support/billing.ts';
import { setBillingTime } from '../support/billing-time.ts';
import { expectProblem } from '../support/expect-problem.ts';

let billing: Billing;
const NOW = '2024-05-15T10:30:00.000Z';
const END = '2024-06-01T00:00:00.000Z';

beforeAll(async () => {
  billing = await startBilling(NOW);
});
beforeEach(() => billing.at(NOW));
afterAll(() => billing.close());

/** Of one customer: a subscription that ends with May, and another one, with a plan that has the meter of the first one. */
async function ending() {
  const { id: meter } = await billing.admin.createMeter('SUM');
  const { id: customer_id } = await billing.customer();
  const subscribe = (plan_id: string, start_date: string) =>
    billing.post('/subscriptions', { customer_id, plan_id, start_date });
  const plan = await billing.plan({}, [billing.usage(meter)]);
  const { id: first } = await subscribe(plan, '2024-05-01');
  const own = await billing.plan({}, [FIXED]);
  const { id } = await subscribe(own, '2024-05-10');
  const metered = await billing.plan({}, [FIXED, billing.usage(meter)]);
  await billing.post(`/subscriptions/${first}/cancel`);
  return { first: String(first), plan, id: String(id), own, meter, metered };
}

const change = (id: string, body: object) => billing.ask('POST', `/subscriptions/${id}/change`, body);
const keep = (id: string) => billing.ask('PATCH', `/subscriptions/${id}`, { cancel_at_period_end: false });

/** Asks while somebody else holds something. */
const beside = (hold: (transaction: Queries) => Promise<unknown>, ask: () => Promise<void>) =>
  billing.database.kysely.transaction().execute(async (transaction) => {
    await hold(transaction);
    await ask();
  });

test.each(['period_end', 'now'])('it is free for a change of plan, when: %s, and its preview', async (when) => {
  const { first, id, metered } = await ending();
  expectProblem(await change(id, { plan_id: metered, when }), 409, 'meter_already_billed');
  await billing.at(END);
  const preview = await billing.ask('POST', `/subscriptions/${id}/preview-change`, { plan_id: metered });
  expect(preview).toMatchObject({ status: 200, body: { invoice: { cycle: 1 } } });
  expect((await change(id, { plan_id: metered, when })).status).toBe(200);
  expect(await billing.invoices(first)).toEqual([]);
  const faults = await checkBilling(billing.database, { organizationId: billing.admin.id }, () => {});
  expect(faults.filter(({ name }) => name === 'billed_meters')).toEqual([]);
  await billing.run();
  expect(await billing.invoices(first)).toMatchObject([{ cycle: 1, period_end: END }]);
  expect((await billing.feed(first)).slice(-2)).toEqual(['subscription.canceled', 'invoice.created']);
  expect(
    await billing.rows('SELECT subscription_id, ended_at FROM billed_meters WHERE subscription_id = $1', id),
  ).toEqual([{ subscription_id: id, ended_at: null }]);
});

test('it is free for a price that is added to the plan of another one', async () => {
  const { own, meter } = await ending();
  const charge = { type: 'USAGE', display_name: 'Calls', meter_id: meter, unit_price: 1 };
  const add = () => billing.ask('POST', `/plans/${own}/charges`, charge);
  expectProblem(await add(), 409, 'meter_already_billed');
  await billing.at(END);
  expect((await add()).status).toBe(201);
});

test('of a former customer it is free for whoever has its external_id now, from the start of a trial on', async () => {
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
  const subscribing = await billing.ask('POST', '/subscriptions', { customer_id, plan_id, start_date: '2024-05-20' });
  expect(subscribing.status).toBe(201);
});

test('it is free also while somebody changes the plan, which holds up no end', async () => {
  const { first, plan, id, metered } = await ending();
  await billing.at(END);
  const changing = (transaction: Queries) => lockPlanAlone(transaction, billing.admin.id, plan);
  await beside(changing, async () => {
    expectProblem(await keep(first), 409, 'subscription_ended');
    expect((await change(id, { plan_id: metered })).status).toBe(200);
  });
});

test('what others have in hand is not waited for: the meter is free after them', async () => {
  const { first, id, metered } = await ending();
  await billing.at(END);
  const passing = (transaction: Queries) => lockSubscription(transaction, billing.admin.id, first);
  await beside(passing, async () => {
    expectProblem(await change(id, { plan_id: metered }), 409, 'meter_already_billed');
  });
  expect((await change(id, { plan_id: metered })).status).toBe(200);
});

test('whoever took the end back before it, and has waited until after it, is to ask again', async () => {
  const { first } = await ending();
  await setBillingTime(billing.weir.pool, '2024-05-31T23:59:59Z', END);
  expectProblem(await keep(first), 409, 'subscription_behind');
  await billing.at('2024-05-31T23:59:59Z');
  expect((await keep(first)).status).toBe(200);
});
