// A price is changed in one step: each period is billed by the old charge or by the new one, never by both and never by none.

import { readBillingClock } from '@weir/db/billing/billing-time';
import { openDueSubscriptions } from '@weir/db/billing/run/run-work';
import { lockPlanToBill, lockSubscription } from '@weir/db/billing/subscriptions/subscriptions';
import { microsOfText } from '@weir/shared/instant';
import { readChargesOfPlan } from '@weir/db/billing/plans/charges';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startBilling, type Billing } from '../support/billing.ts';
import { setBillingTime, shiftBillingTime } from '../support/billing-time.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { until } from '../support/harness.ts';

const NOW = '2024-05-15T10:30:00.000Z';
const NEVER = '01890000-0000-7000-8000-000000000009';
const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const LONG = { timeout: 60_000 };

let billing: Billing;
let meterId: string;

beforeAll(async () => {
  billing = await startBilling(NOW);
  meterId = (await billing.admin.createMeter('SUM')).id;
});
beforeEach(() => billing.at(NOW));
afterAll(() => billing.close());

const fixed = (unit_price: string, more: object = {}) => ({
  type: 'FIXED',
  display_name: `Fee of ${unit_price}`,
  unit_price,
  ...more,
});
const usage = (unit_price: string, more: object = {}) => ({
  type: 'USAGE',
  display_name: `Calls at ${unit_price}`,
  meter_id: meterId,
  unit_price,
  ...more,
});

/** What makes a charge one of another meter. */
const another = async () => ({ meter_id: (await billing.admin.createMeter('SUM')).id });

async function pricedPlan(charge: object) {
  const planId = await billing.plan({}, []);
  const { id } = await billing.post(`/plans/${planId}/charges`, charge);
  return { planId, id: String(id) };
}

const add = (planId: string, charge: object) => billing.post(`/plans/${planId}/charges`, charge);
const tryToAdd = (planId: string, charge: object) => billing.ask('POST', `/plans/${planId}/charges`, charge);
const end = (planId: string, id: string) =>
  billing.ask('PATCH', `/plans/${planId}/charges/${id}`, { status: 'INACTIVE' });

async function subscribe(planId: string) {
  const { id: customer_id } = await billing.customer();
  const { id } = await billing.post('/subscriptions', { customer_id, plan_id: planId, start_date: '2024-05-01' });
  return String(id);
}

/** Which prices each period is billed by, after the run came so late that several periods have begun. */
async function billedUntil(subscriptionId: string, instant: string) {
  await billing.at(instant);
  await billing.run();
  return (await billing.dues(subscriptionId)).map(
    ({ cycle, display_name }) => `${String(cycle)} ${String(display_name)}`,
  );
}

describe('a price is replaced', () => {
  test('at once: the old one ends in the instant in which the new one begins', async () => {
    const { planId, id } = await pricedPlan(usage('1'));
    const subscription = await subscribe(planId);
    const replacing = await add(planId, usage('2', { replaces: id }));
    expect(replacing).toMatchObject({ replaces: id, effective_from: NOW, ended_at: null, status: 'ACTIVE' });
    const { charges } = await billing.get(`/plans/${planId}`);
    expect(charges).toMatchObject([
      { id, status: 'INACTIVE', ended_at: NOW },
      { id: replacing.id, status: 'ACTIVE' },
    ]);
    expect(await billedUntil(subscription, '2024-06-01T00:00:00.000Z')).toEqual(['0 Calls at 1', '1 Calls at 2']);
  });

  test('from a date on, also where the run is months late', async () => {
    const { planId, id } = await pricedPlan(fixed('49'));
    const subscription = await subscribe(planId);
    const next = await add(planId, fixed('59', { replaces: id, effective_from: '2024-07-01' }));
    expect(next).toMatchObject({ effective_from: '2024-07-01T00:00:00.000Z', status: 'ACTIVE' });
    expect((await billing.get(`/plans/${planId}`)).charges).toMatchObject([
      { id, status: 'ACTIVE', ended_at: '2024-07-01T00:00:00.000Z' },
      { id: next.id, status: 'ACTIVE' },
    ]);
    expect(await billedUntil(subscription, '2024-08-02T00:00:00.000Z')).toEqual([
      '0 Fee of 49',
      '1 Fee of 49',
      '2 Fee of 59',
      '3 Fee of 59',
    ]);
  });

  test('a date is its first instant in the zone of the organization', async () => {
    const { planId, id } = await pricedPlan(fixed('1'));
    await billing.ask('PATCH', '/billing/settings', { time_zone: 'Asia/Tokyo' });
    const next = await add(planId, fixed('2', { replaces: id, effective_from: '2024-07-01' }));
    await billing.ask('PATCH', '/billing/settings', { time_zone: 'UTC' });
    expect(next.effective_from).toBe('2024-06-30T15:00:00.000Z');
  });

  test('twice before the first new price begins: each period is billed by the one of its time', async () => {
    const { planId, id } = await pricedPlan(usage('1'));
    const subscription = await subscribe(planId);
    const second = await add(planId, usage('2', { replaces: id, effective_from: '2024-06-15' }));
    await add(planId, usage('3', { replaces: second.id, effective_from: '2024-07-15' }));
    expect(await billedUntil(subscription, '2024-08-01T00:00:00.000Z')).toEqual([
      '0 Calls at 1',
      '1 Calls at 1',
      '2 Calls at 2',
      '3 Calls at 3',
    ]);
  });

  test('a price that has not begun gives its place to another one, and is never billed', async () => {
    const { planId, id } = await pricedPlan(usage('1'));
    const subscription = await subscribe(planId);
    const wrong = await add(planId, usage('200', { replaces: id, effective_from: '2024-06-01' }));
    await add(planId, usage('2', { replaces: wrong.id }));
    expect(await billedUntil(subscription, '2024-07-01T00:00:00.000Z')).toEqual([
      '0 Calls at 1',
      '1 Calls at 2',
      '2 Calls at 2',
    ]);
  });

  test('a price that has not begun is taken back, and the one before it goes on', async () => {
    const { planId, id } = await pricedPlan(usage('1'));
    const subscription = await subscribe(planId);
    const next = await add(planId, usage('2', { replaces: id, effective_from: '2024-06-01' }));
    expectProblem(await end(planId, id), 409, 'charge_inactive');
    expect((await end(planId, next.id)).body).toMatchObject({ status: 'INACTIVE' });
    expect((await billing.get(`/plans/${planId}`)).charges).toMatchObject([
      { id, status: 'ACTIVE', ended_at: null },
      { id: next.id, status: 'INACTIVE' },
    ]);
    expect(await billedUntil(subscription, '2024-06-01T00:00:00.000Z')).toEqual(['0 Calls at 1', '1 Calls at 1']);
    // And it is free for the next price.
    await add(planId, usage('3', { replaces: id }));
  });

  test('of two requests at once one replaces it, and the other is told', async () => {
    const { planId, id } = await pricedPlan(usage('1'));
    const answers = await Promise.all([2, 3].map((price) => tryToAdd(planId, usage(`${price}`, { replaces: id }))));
    expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([201, 409]);
    expect((await billing.get(`/plans/${planId}`)).charges).toHaveLength(2);
  });

  test.each(['replaced', 'ended'])(
    '%s when the plan is held, after whoever subscribed to it meanwhile',
    async (how) => {
      const { planId, id } = await pricedPlan(usage('1'));
      await shiftBillingTime(billing.weir.pool);
      const { asked, since } = await billing.database.kysely.transaction().execute(async (transaction) => {
        await lockPlanToBill(transaction, billing.admin.id, planId);
        const asked = how === 'ended' ? end(planId, id) : tryToAdd(planId, usage('2', { replaces: id }));
        await until(async () => (await billing.rows(WAITING)).length > 0, 'the request waits for the plan');
        // A subscription that is made here is billed by the old charge, from now on.
        return { asked, since: await readBillingClock(transaction) };
      });
      const { status, body } = await asked;
      expect(status).toBeLessThan(300);
      const charges: { id: string; ended_at: string; status: string }[] = (await billing.get(`/plans/${planId}`))
        .charges;
      const [old] = charges.filter((charge) => charge.id === id);
      expect(old?.status).toBe('INACTIVE');
      expect(microsOfText(old?.ended_at ?? '')).toBeGreaterThanOrEqual(microsOfText(since));
      expect(how === 'ended' ? body : { ended_at: body.effective_from }).toMatchObject({ ended_at: old?.ended_at });
      expect(body.status).toBe(how === 'ended' ? 'INACTIVE' : 'ACTIVE');
    },
  );

  test.each(['replaced', 'ended', 'added'])(
    '%s just before a boundary, and committed after the run was there: nobody is billed by another price',
    async (how) => {
      const { planId, id } = await pricedPlan(usage('1'));
      const [first, other] = [await subscribe(planId), await subscribe(planId)].sort();
      const ids = [String(first), String(other)];
      await billing.run();
      await billing.at('2024-05-31T23:59:59.000Z');
      const asked = await billing.database.kysely.transaction().execute(async (transaction) => {
        await lockSubscription(transaction, billing.admin.id, ids[0] ?? '');
        const next = { effective_from: '2024-06-01' };
        const asked =
          how === 'ended'
            ? end(planId, id)
            : tryToAdd(
                planId,
                how === 'replaced' ? usage('2', { replaces: id, ...next }) : usage('2', await another()),
              );
        await until(async () => (await billing.rows(WAITING)).length > 0, 'the request waits for the first one');
        await billing.at('2024-06-01T00:00:00.500Z');
        // As if there were none: the run does not begin anew with them at once.
        expect(await openDueSubscriptions(billing.database, billing.admin.id, ids)).toEqual({
          opened: 0,
          isBehind: false,
        });
        expectProblem(await billing.ask('POST', `/subscriptions/${ids[1]}/cancel`, {}), 409, 'subscription_behind');
        return { asked };
      });
      expect((await asked.asked).status).toBeLessThan(300);
      const billed = { replaced: ['Calls at 2'], ended: [], added: ['Calls at 1', 'Calls at 2'] }[how];
      await billing.run();
      for (const each of ids) {
        const dues = (await billing.dues(each)).filter(({ cycle }) => cycle === 1);
        expect(dues.map(({ display_name }) => String(display_name)).sort()).toEqual(billed);
      }
    },
  );

  test('a charge that replaces none may begin later, too', async () => {
    const { planId } = await pricedPlan(fixed('1'));
    const subscription = await subscribe(planId);
    const added = await add(planId, fixed('2', { effective_from: '2024-06-15' }));
    expect(added).toMatchObject({ replaces: null, effective_from: '2024-06-15T00:00:00.000Z' });
    const billed = await billedUntil(subscription, '2024-07-01T00:00:00.000Z');
    expect(billed).toEqual(['0 Fee of 1', '1 Fee of 1', '2 Fee of 1', '2 Fee of 2']);
  });

  test('a preview of the next invoice has the price that will be in force', async () => {
    const { planId, id } = await pricedPlan(fixed('49'));
    const subscription = await subscribe(planId);
    await billing.run();
    await add(planId, fixed('59', { replaces: id, effective_from: '2024-06-01' }));
    const { lines } = await billing.post(`/subscriptions/${subscription}/preview-invoice`);
    expect(lines).toMatchObject([{ description: 'Fee of 59', amount: '59.00' }]);
  });
});

describe('the meter of a price that is ended', () => {
  /** A customer on a plan for a year, which has a price for the meter from an instant on, and another plan that has one. */
  async function reserved(effective_from?: string) {
    const meter_id = (await billing.admin.createMeter('SUM')).id;
    const planId = await billing.plan({ billing_interval: 'year' }, []);
    await add(planId, fixed('1'));
    const { id: customer_id } = await billing.customer();
    const { id } = await billing.post('/subscriptions', { customer_id, plan_id: planId, start_date: '2024-05-01' });
    const charge = await add(planId, usage('1', { meter_id, ...(effective_from !== undefined && { effective_from }) }));
    const other = await billing.plan({}, [billing.usage(meter_id)]);
    const subscribeToo = () => billing.ask('POST', '/subscriptions', { customer_id, plan_id: other });
    expectProblem(await subscribeToo(), 409, 'meter_already_billed');
    return { subscription: String(id), endIt: () => end(planId, String(charge.id)), subscribeToo };
  }

  test('is free at once where no period is billed by it: it was taken back', async () => {
    const { endIt, subscribeToo } = await reserved('2024-06-01');
    expect((await endIt()).status).toBe(200);
    expect((await subscribeToo()).status).toBe(201);
  });

  test('is free at once where the price began within the period', async () => {
    const { endIt, subscribeToo } = await reserved();
    expect((await endIt()).status).toBe(200);
    expect((await subscribeToo()).status).toBe(201);
  });

  test('stays reserved while a period is open that is billed by it', async () => {
    const { subscription, endIt, subscribeToo } = await reserved();
    await billing.at('2025-05-02T00:00:00.000Z');
    await billing.run();
    expect(await billing.dues(subscription)).toHaveLength(3);
    expect((await endIt()).status).toBe(200);
    expectProblem(await subscribeToo(), 409, 'meter_already_billed');
  });

  test.each([
    ['before it was asked', '2025-05-02T00:00:00Z', '2025-05-02T00:00:00Z'],
    ['while the request waited', '2025-04-30T23:59:59Z', '2025-05-01T00:00:01Z'],
  ])('stays reserved while a boundary is not opened at which it was in force, %s', async (_, began, now) => {
    const { subscription, endIt, subscribeToo } = await reserved();
    await setBillingTime(billing.weir.pool, began, now);
    expect((await endIt()).status).toBe(200);
    await billing.at('2025-05-02T00:00:00.000Z');
    const held = 'SELECT ended_at FROM billed_meters WHERE subscription_id = $1';
    expect(await billing.rows(held, subscription)).toEqual([{ ended_at: null }]);
    expectProblem(await subscribeToo(), 409, 'meter_already_billed');
    await billing.run();
    expect(await billing.dues(subscription)).toHaveLength(3);
  });
});

test('whoever subscribed while a price ended is refused where another subscription bills its meter', async () => {
  const { planId, id } = await pricedPlan(usage('1'));
  const other = await pricedPlan(usage('2'));
  const { id: customer_id } = await billing.customer();
  await billing.post('/subscriptions', { customer_id, plan_id: other.planId });
  await billing.at('2024-05-15T10:30:01Z');
  expect((await end(planId, id)).status).toBe(200);
  // When the request began that has waited for the plan.
  await billing.at(NOW);
  const subscribing = await billing.ask('POST', '/subscriptions', { customer_id, plan_id: planId });
  expectProblem(subscribing, 409, 'meter_already_billed');
});

test('a meter that a boundary lets go is to be asked for again while the plan is in hand, and is free then', async () => {
  const { planId, id } = await pricedPlan(usage('1', await another()));
  const [{ meter_id }] = (await billing.get(`/plans/${planId}`)).charges;
  const other = await billing.plan({}, [billing.usage(meter_id)]);
  const { id: customer_id } = await billing.customer();
  await billing.post('/subscriptions', { customer_id, plan_id: planId, start_date: '2024-05-01' });
  expect((await end(planId, id)).status).toBe(200);
  const subscribeToo = () => billing.ask('POST', '/subscriptions', { customer_id, plan_id: other });
  expectProblem(await subscribeToo(), 409, 'meter_already_billed');
  await billing.at('2024-06-01T00:00:00.500Z');
  await billing.database.kysely.transaction().execute(async (transaction) => {
    await transaction.selectFrom('plans').select('id').where('id', '=', planId).forNoKeyUpdate().execute();
    expectProblem(await subscribeToo(), 409, 'subscription_behind');
  });
  expect((await subscribeToo()).status).toBe(201);
});

describe('a price is not replaced, and nothing is changed,', () => {
  test.each([
    ['by one of another meter', () => fixed('2'), {}, 422, 'invalid_request'],
    ['in the past', () => usage('2'), { effective_from: '2024-05-15T10:29:59Z' }, 422, 'invalid_request'],
    ['more than two years ahead', () => usage('2'), { effective_from: '2026-05-16' }, 422, 'invalid_request'],
    ['at no instant', () => usage('2'), { effective_from: 'soon' }, 422, 'invalid_request'],
    ['where there is none with this id', () => usage('2'), { replaces: NEVER }, 404, 'not_found'],
    ['by a price that cannot be', () => usage('-1'), {}, 422, 'invalid_request'],
  ])('%s', async (_, charge, more, status, code) => {
    const { planId, id } = await pricedPlan(usage('1'));
    expectProblem(await tryToAdd(planId, { ...charge(), replaces: id, ...more }), status, code);
    expect((await billing.get(`/plans/${planId}`)).charges).toMatchObject([{ id, status: 'ACTIVE', ended_at: null }]);
  });

  test('of another plan', async () => {
    const { id } = await pricedPlan(usage('1'));
    const other = await pricedPlan(fixed('1'));
    expectProblem(await tryToAdd(other.planId, usage('2', { replaces: id })), 404, 'not_found');
  });

  test('that has ended, or is to be replaced by another one already', async () => {
    const { planId, id } = await pricedPlan(usage('1'));
    await add(planId, usage('2', { replaces: id, effective_from: '2024-06-01' }));
    expectProblem(await tryToAdd(planId, usage('3', { replaces: id })), 409, 'charge_inactive');
    await billing.at('2024-06-02T00:00:00.000Z');
    expectProblem(await tryToAdd(planId, usage('3', { replaces: id })), 409, 'charge_inactive');
  });

  test('before the price that it follows has begun', async () => {
    const { planId, id } = await pricedPlan(usage('1'));
    const next = await add(planId, usage('2', { replaces: id, effective_from: '2024-07-01' }));
    const early = usage('3', { replaces: next.id, effective_from: '2024-06-01' });
    expectProblem(await tryToAdd(planId, early), 422, 'invalid_request');
  });
});

describe('a plan has', LONG, () => {
  test('at most 100 charges that have not ended, and each of them can be replaced', async () => {
    const planId = await billing.plan({}, []);
    const ids: string[] = [];
    for (let count = 0; count < 99; count += 1) ids.push((await add(planId, fixed('1'))).id);
    const answers = await Promise.all([1, 2, 3].map(() => tryToAdd(planId, fixed('1'))));
    expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([201, 422, 422]);
    await add(planId, fixed('2', { replaces: ids[0] }));
    expectProblem(await tryToAdd(planId, fixed('1')), 422, 'invalid_request');
    await end(planId, ids[1] ?? '');
    await add(planId, fixed('1'));
  });

  const TIERS = Array.from({ length: 100 }, (_, index) => ({
    up_to: index === 99 ? null : index + 1,
    unit_price: '1',
  }));
  const tiered = async (tiers = TIERS) => {
    const { id: meter_id } = await billing.admin.createMeter('SUM');
    return { type: 'USAGE', display_name: 'Calls', meter_id, model: 'graduated', tiers };
  };

  test('at most 2,000 tiers in all of them', async () => {
    const planId = await billing.plan({}, []);
    for (let count = 0; count < 20; count += 1) await add(planId, await tiered());
    expectProblem(await tryToAdd(planId, await tiered(TIERS.slice(99))), 422, 'invalid_request');
    await add(planId, usage('1', { meter_id: (await billing.admin.createMeter('SUM')).id }));
  });

  test('at most 2,000 tiers also where a price is taken back, and what adds none is not refused', async () => {
    const planId = await billing.plan({}, []);
    const first = await add(planId, await tiered());
    for (let count = 1; count < 20; count += 1) await add(planId, await tiered());
    const plain = usage('1', { meter_id: first.meter_id });
    const announced = await add(planId, { ...plain, replaces: first.id, effective_from: '2024-06-01' });
    const last = await add(planId, await tiered());
    const refused = await end(planId, announced.id);
    expectProblem(refused, 422, 'invalid_request');
    expect(refused.body.errors).toMatchObject([{ path: 'tiers' }]);
    // As some plans are that had it taken back before this was refused.
    await billing.rows('UPDATE charges SET ended_at = effective_from WHERE id = $1', announced.id);
    await billing.rows('UPDATE charges SET ended_at = NULL WHERE id = $1', first.id);
    await add(planId, { type: 'FIXED', display_name: 'Base', unit_price: '1' });
    expect((await end(planId, last.id)).status).toBe(200);
  });
});

test('a price that ends while its plan is read is listed once', async () => {
  const planId = await billing.plan({}, []);
  const first = await add(planId, usage('1'));
  await add(planId, { ...usage('2'), replaces: first.id, effective_from: '2024-06-01' });
  // A clock that is a month on at each look.
  await billing.rows('CREATE SEQUENCE looks');
  await billing.rows(`CREATE OR REPLACE FUNCTION billing_clock() RETURNS timestamptz LANGUAGE sql VOLATILE
    RETURN '2024-04-15'::timestamptz + nextval('looks') * interval '1 month'`);
  const { charges } = await readChargesOfPlan(billing.database.kysely, billing.admin.id, planId);
  expect(charges.map(({ id }) => id === first.id)).toEqual([true, false]);
});
