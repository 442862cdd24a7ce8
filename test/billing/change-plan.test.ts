// Going over to another plan at the end of the period.

import { billMeterOfPlan } from '@weir/db/billing/subscriptions/billed-meters';
import { cancelNow } from '@weir/db/billing/subscriptions/cancel';
import { changeAtPeriodEnd } from '@weir/db/billing/subscriptions/change-plan';
import { insertCharge } from '@weir/db/billing/plans/charges';
import { lockSubscription, type SubscriptionRow } from '@weir/db/billing/subscriptions/subscriptions';
import type { Queries } from '@weir/db/database';
import { lockPlanAlone } from '@weir/db/plans';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FIXED, IN_ARREARS, startBilling, type Billing, type TestCharge } from '../support/billing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { until, type Answer } from '../support/harness.ts';

let billing: Billing;
const NOW = '2024-05-15T10:30:00.000Z';
const NEVER = '01890000-0000-7000-8000-000000000005';

beforeAll(async () => {
  billing = await startBilling(NOW);
});
beforeEach(() => billing.at(NOW));
afterAll(() => billing.close());

async function subscribe(charges: TestCharge[] = [FIXED], body: object = {}, plan: object = {}) {
  const { id: customer_id } = await billing.customer();
  const plan_id = await billing.plan(plan, charges);
  return await billing.post('/subscriptions', { customer_id, plan_id, start_date: '2024-05-01', ...body });
}

const change = (id: string, plan_id: string) => billing.post(`/subscriptions/${id}/change`, { plan_id });
const refused = (id: string, body: object) => billing.ask('POST', `/subscriptions/${id}/change`, body);
const get = (id: string) => billing.get(`/subscriptions/${id}`);
const names = async (id: string) =>
  (await billing.dues(id)).map(({ cycle, display_name }) => `${String(cycle)} ${String(display_name)}`);

describe('a change of plan', () => {
  test('takes place at the end of the period, with the charges that the other plan has then', async () => {
    const { id, plan_id } = await subscribe();
    const other = await billing.plan({ name: 'Max' }, [IN_ARREARS]);
    expect(await change(id, other)).toMatchObject({ plan_id, pending_plan_id: other, plan_name: 'Pro', cycle: 0 });
    await billing.at('2024-05-20T00:00:00.000Z');
    await billing.charge(other, { ...FIXED, name: 'Added' });
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    expect(await get(id)).toMatchObject({
      plan_id: other,
      plan_name: 'Max',
      pending_plan_id: null,
      cycle: 1,
      current_period_end: '2024-07-01T00:00:00.000Z',
    });
    expect(await names(id)).toEqual(['0 Base', '1 Added', '1 Seat']);
    expect(
      await billing.rows('SELECT plan_id FROM subscription_periods WHERE subscription_id = $1 ORDER BY cycle', id),
    ).toEqual([{ plan_id }, { plan_id: other }]);
  });

  test('is told when it is asked for and when it takes place', async () => {
    const { id } = await subscribe();
    const other = await billing.plan();
    const before = (await billing.feed()).length;
    await change(id, other);
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    const told = await billing.rows('SELECT type, actor, data FROM billing_events ORDER BY sequence OFFSET $1', before);
    const ofThis = told.filter(({ data }) =>
      [(data as { id: string }).id, (data as { subscription_id: string }).subscription_id].includes(id),
    );
    expect(ofThis).toMatchObject([
      { type: 'subscription.changed', actor: expect.stringMatching(/^user:/), data: { pending_plan_id: other } },
      { type: 'subscription.changed', actor: 'weir', data: { plan_id: other, pending_plan_id: null, cycle: 1 } },
      { type: 'invoice.created', actor: 'weir' },
    ]);
  });

  test('to another plan of the same interval keeps the anchor: 31 January, 29 February, 31 March', async () => {
    await billing.at('2024-01-31T12:00:00.000Z');
    const { id } = await subscribe([FIXED], { start_date: '2024-01-31' });
    await change(id, await billing.plan());
    await billing.at('2024-04-01T00:00:00.000Z');
    await billing.run();
    expect(await get(id)).toMatchObject({ cycle: 2, current_period_start: '2024-03-31T00:00:00.000Z' });
  });

  test('to another interval begins with a new anchor, and boundaries are counted on', async () => {
    await billing.at('2024-01-31T12:00:00.000Z');
    const { id, plan_id } = await subscribe([FIXED], { start_date: '2024-01-31' });
    await billing.at('2024-02-10T00:00:00.000Z');
    const yearly = await billing.plan({ billing_interval: 'year' });
    await change(id, yearly);
    const expected = [
      [0, '2024-01-31', '2024-02-29'],
      [1, '2024-02-29', '2025-02-28'],
      [2, '2025-02-28', '2026-02-28'],
      [3, '2026-02-28', '2027-02-28'],
      [4, '2027-02-28', '2028-02-29'],
    ].map(([cycle, start, end]) => ({
      cycle,
      plan_id: cycle === 0 ? plan_id : yearly,
      period_start: `${start}T00:00:00.000Z`,
      period_end: `${end}T00:00:00.000Z`,
      days: null,
    }));
    expect((await billing.get(`/subscriptions/${id}/periods?count=4`)).data).toEqual(expected);
    await billing.at('2027-03-01T00:00:00.000Z');
    await billing.run();
    expect((await billing.get(`/subscriptions/${id}/periods?count=0`)).data).toEqual(expected);
    expect(await get(id)).toMatchObject({ billing_interval: 'year', cycle: 4 });
    expect((await billing.invoices(id)).map(({ cycle }) => cycle)).toEqual([0, 1, 2, 3, 4]);
  });

  test('to another interval, by the calendar, begins with a part: 214/366', async () => {
    const { id } = await subscribe([FIXED], { billing_alignment: 'calendar' });
    await change(id, await billing.plan({ billing_interval: 'year' }));
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    expect(await billing.dues(id)).toMatchObject([
      { cycle: 0, days: null },
      { cycle: 1, days: '214/366', period_end: '2025-01-01T00:00:00.000Z' },
    ]);
  });

  test('is replaced by a second one, and taken back by one to its own plan or by null', async () => {
    const { id, plan_id, ...before } = await subscribe();
    const [first, second] = [await billing.plan(), await billing.plan()];
    await change(id, first);
    expect(await change(id, second)).toMatchObject({ pending_plan_id: second });
    expect(await change(id, plan_id)).toEqual({ id, plan_id, ...before });
    await change(id, first);
    const kept = await billing.ask('PATCH', `/subscriptions/${id}`, { pending_plan_id: null });
    expect(kept).toMatchObject({ status: 200, body: { id, plan_id, ...before } });
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    expect(await get(id)).toMatchObject({ plan_id, pending_plan_id: null });
  });

  test('does not take place where the subscription ends before', async () => {
    const { id, plan_id } = await subscribe();
    await change(id, await billing.plan());
    await billing.post(`/subscriptions/${id}/cancel`);
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    expect(await get(id)).toMatchObject({ status: 'CANCELED', plan_id, pending_plan_id: null });
    expect(await names(id)).toEqual(['0 Base']);
  });
});

describe('the meters of the other plan', () => {
  test('are reserved at the request, and free again when it is taken back or replaced', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const metered = await billing.plan({}, [billing.usage(meter.id)]);
    const { id, customer_id } = await subscribe();
    const subscribeToo = () => billing.ask('POST', '/subscriptions', { customer_id, plan_id: metered });
    await change(id, metered);
    expectProblem(await subscribeToo(), 409, 'meter_already_billed');
    await change(id, await billing.plan());
    const made = await subscribeToo();
    expect(made.status).toBe(201);
    expectProblem(await refused(id, { plan_id: metered }), 409, 'meter_already_billed');
    expect(await get(id)).not.toMatchObject({ pending_plan_id: metered });
  });

  test('that the open period bills stay with it, though a change back finds no charge for them', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const { id, customer_id, plan_id } = await subscribe([billing.usage(meter.id)]);
    const [charge] = await billing.rows('SELECT id FROM charges WHERE plan_id = $1', plan_id);
    await billing.endCharge(String(charge?.['id']));
    await change(id, await billing.plan());
    await change(id, plan_id);
    const body = { customer_id, plan_id: await billing.plan({}, [billing.usage(meter.id)]) };
    expectProblem(await billing.ask('POST', '/subscriptions', body), 409, 'meter_already_billed');
    // Held until the period is cut, and no longer.
    await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
    await billing.post('/subscriptions', body);
  });

  test('that were only reserved go back with the end that they had before', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const metered = await billing.plan({}, [billing.usage(meter.id)]);
    const { id, customer_id } = await subscribe();
    const first = await billing.post('/subscriptions', { customer_id, plan_id: metered, start_date: '2024-04-01' });
    await billing.post(`/subscriptions/${first.id}/cancel`, { cancel_at_period_end: false });
    await change(id, metered);
    await billing.ask('PATCH', `/subscriptions/${id}`, { pending_plan_id: null });
    await billing.at('2024-05-20T00:00:00.000Z');
    const body = { customer_id, plan_id: metered };
    const early = { ...body, start_date: '2024-05-15T10:29:59Z' };
    expectProblem(await billing.ask('POST', '/subscriptions', early), 409, 'meter_already_billed');
    await billing.post('/subscriptions', { ...body, start_date: NOW });
  });

  test('that both plans have are billed on, and those of the old one only are let go at the boundary', async () => {
    const [both, old] = [await billing.admin.createMeter('SUM'), await billing.admin.createMeter('SUM')];
    const { id, customer_id } = await subscribe([billing.usage(both.id), billing.usage(old.id)]);
    await change(id, await billing.plan({}, [billing.usage(both.id)]));
    const [other, same] = [
      await billing.plan({}, [billing.usage(old.id)]),
      await billing.plan({}, [billing.usage(both.id)]),
    ];
    expectProblem(
      await billing.ask('POST', '/subscriptions', { customer_id, plan_id: other }),
      409,
      'meter_already_billed',
    );
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    await billing.post('/subscriptions', { customer_id, plan_id: other });
    expectProblem(
      await billing.ask('POST', '/subscriptions', { customer_id, plan_id: same }),
      409,
      'meter_already_billed',
    );
  });

  test('that are added to it are reserved for those who go over to it, or the charge is refused', async () => {
    const [free, taken] = [await billing.admin.createMeter('SUM'), await billing.admin.createMeter('SUM')];
    const { id, customer_id } = await subscribe();
    const other = await billing.plan();
    await change(id, other);
    const elsewhere = await billing.plan({}, [billing.usage(taken.id)]);
    await billing.post('/subscriptions', { customer_id, plan_id: elsewhere });
    const add = (meter_id: string) =>
      billing.ask('POST', `/plans/${other}/charges`, { type: 'USAGE', display_name: 'Calls', meter_id, unit_price: 1 });
    expectProblem(await add(taken.id), 409, 'meter_already_billed');
    expect((await add(free.id)).status).toBe(201);
    const body = { customer_id, plan_id: await billing.plan({}, [billing.usage(free.id)]) };
    expectProblem(await billing.ask('POST', '/subscriptions', body), 409, 'meter_already_billed');
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    expect(await names(id)).toEqual(['0 Base', '1 Base', '1 Calls']);
  });
});

describe('of a subscription to whose plan a charge is added at the same moment', () => {
  /** It is to go over to a plan with a meter, which it holds for that reason only, and its own plan is to price the meter too. */
  async function goingOver() {
    const { id: meter } = await billing.admin.createMeter('SUM');
    const metered = await billing.plan({}, [billing.usage(meter)]);
    const { id, customer_id, plan_id: plan } = await subscribe();
    await change(id, metered);
    const held = async () => {
      const rows = await billing.rows(
        'SELECT subscription_id FROM billed_meters WHERE meter_id = $1 AND ended_at IS NULL',
        meter,
      );
      return rows.map(({ subscription_id }) => subscription_id);
    };
    return {
      id,
      meter,
      plan,
      held,
      takeBack: () => billing.ask('PATCH', `/subscriptions/${id}`, { pending_plan_id: null }),
      addCharge: () => {
        const charge = { type: 'USAGE', display_name: 'Calls', meter_id: meter, unit_price: 1 };
        return billing.ask('POST', `/plans/${plan}/charges`, charge);
      },
      subscribeToo: () => billing.ask('POST', '/subscriptions', { customer_id, plan_id: metered }),
    };
  }

  /** Sends a request while a transaction is open, and commits once the request waits for a lock, or was answered without. */
  async function whileOpen(
    write: (transaction: Queries) => Promise<unknown>,
    request: () => Promise<Answer>,
  ): Promise<Answer> {
    let isAnswered = false;
    const answer = await billing.database.kysely.transaction().execute(async (transaction) => {
      await write(transaction);
      const asked = request().finally(() => (isAnswered = true));
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      const waits = async () => (await billing.rows(waiting)).length > 0;
      await until(async () => isAnswered || (await waits()), 'the request waits or is answered');
      return { asked };
    });
    return await answer.asked;
  }

  async function expectBilled({ id, held, subscribeToo }: Awaited<ReturnType<typeof goingOver>>): Promise<void> {
    expect(await held()).toEqual([id]);
    expectProblem(await subscribeToo(), 409, 'meter_already_billed');
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    expect(await names(id)).toEqual(['0 Base', '1 Base', '1 Calls']);
    expect(await held()).toEqual([id]);
  }

  /** Does something to the subscription, as a request does it that has not committed yet. */
  const locked = (id: string, write: (transaction: Queries, row: SubscriptionRow) => Promise<unknown>) => {
    return async (transaction: Queries) => {
      const row = await lockSubscription(transaction, billing.admin.id, id);
      if (row === undefined) throw new Error('there is no such subscription');
      await write(transaction, row);
    };
  };

  test('a change that is taken back leaves it the meter of the charge', async () => {
    const made = await goingOver();
    const { plan, meter, takeBack } = made;
    const organization_id = billing.admin.id;
    const add = async (transaction: Queries) => {
      await lockPlanAlone(transaction, organization_id, plan);
      const bounds = { included_units: null, minimum_amount: null, maximum_amount: null };
      const terms = { type: 'USAGE', model: 'per_unit', unit_price: '1', ...bounds } as const;
      const charge = { organization_id, id: newId(), plan_id: plan, display_name: 'Calls', meter_id: meter, terms };
      await insertCharge(transaction, charge);
      expect(await billMeterOfPlan(transaction, organization_id, { planId: plan, meterId: meter })).toBe(true);
    };
    expect((await whileOpen(add, takeBack)).status).toBe(200);
    await expectBilled(made);
  });

  test('a change that was taken back just before leaves it the meter of the charge', async () => {
    const made = await goingOver();
    const back = locked(made.id, (transaction, row) =>
      changeAtPeriodEnd(transaction, row, { actor: 'weir', plan: null }),
    );
    expect((await whileOpen(back, made.addCharge)).status).toBe(201);
    await expectBilled(made);
  });

  test('a cancellation just before leaves it nothing, and the meter of the charge to others', async () => {
    const { id, addCharge, held, takeBack, subscribeToo } = await goingOver();
    await takeBack();
    const cancel = locked(id, (transaction, row) => cancelNow(transaction, row, { actor: 'weir', reason: null }));
    expect((await whileOpen(cancel, addCharge)).status).toBe(201);
    expect(await held()).toEqual([]);
    expect((await subscribeToo()).status).toBe(201);
  });
});

describe('a change of plan is refused', () => {
  test('to a plan in another currency', async () => {
    const { id } = await subscribe();
    expectProblem(await refused(id, { plan_id: await billing.plan({ currency: 'USD' }) }), 409, 'currency_differs');
  });

  test('to a plan that takes no subscriptions', async () => {
    const { id } = await subscribe();
    expectProblem(await refused(id, { plan_id: await billing.plan({ is_active: false }) }), 409, 'plan_inactive');
  });

  test('of a subscription that has ended, also before the run has been there', async () => {
    const { id } = await subscribe();
    const plan_id = await billing.plan();
    await billing.post(`/subscriptions/${id}/cancel`);
    await billing.at('2024-06-01T00:00:00.000Z');
    expectProblem(await refused(id, { plan_id }), 409, 'subscription_ended');
  });

  test('where there is no such subscription or plan', async () => {
    const { id, plan_id } = await subscribe();
    expectProblem(await refused(id, { plan_id: NEVER }), 404, 'not_found');
    expectProblem(await refused(NEVER, { plan_id }), 404, 'not_found');
  });

  test.each([{}, { plan_id: 'x' }, { plan_id: NEVER, when: 'tomorrow' }, { plan_id: null }])(
    'with %j',
    async (body) => {
      const { id } = await subscribe();
      expectProblem(await refused(id, body), 422, 'invalid_request');
    },
  );
});
