// Starts in the future: nothing is due before them, their meters are reserved, and they come at their instant.

import { lockPlanAlone } from '@weir/db/plans';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FIXED, IN_ARREARS, startBilling, type Billing, type TestCharge } from '../support/billing.ts';
import { expectProblem } from '../support/expect-problem.ts';

let billing: Billing;
const NOW = '2024-03-20T10:30:00.000Z';
const START = '2024-04-10T00:00:00.000Z';

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

async function ask(body: object = {}, { plan = {}, charges = [FIXED], zone }: Made = {}) {
  const { id: customer_id } = await billing.customer(zone);
  const plan_id = await billing.plan(plan, charges);
  return await billing.ask('POST', '/subscriptions', { customer_id, plan_id, start_date: '2024-04-10', ...body });
}

async function subscribe(body?: object, made?: Made) {
  const answer = await ask(body, made);
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
  return answer.body;
}

async function runAt(instant: string): Promise<void> {
  await billing.at(instant);
  await billing.run();
}

const get = (id: string) => billing.get(`/subscriptions/${id}`);
const periods = async (id: string, count = 0) =>
  (await billing.get(`/subscriptions/${id}/periods?count=${count}`)).data;
/** Types and statuses. */
const told = async (id: string) => {
  const rows = await billing.rows(
    `SELECT type || ' ' || (data ->> 'status') AS told FROM billing_events
     WHERE $1 IN (data ->> 'id', data ->> 'subscription_id') ORDER BY sequence`,
    id,
  );
  return rows.map((row) => row['told']);
};

describe('a start that is to come', () => {
  test('is SCHEDULED until its instant, with nothing due, and ACTIVE from it on', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const made = await subscribe({}, { charges: [FIXED, billing.usage(meter.id)] });
    const { id } = made;
    expect(made).toMatchObject({ status: 'SCHEDULED', start_date: START, cycle: null, periods_to_open: 0 });
    expect(made).toMatchObject({ current_period_start: START, current_period_end: START });
    await runAt('2024-04-09T23:59:59.999999Z');
    expect(await get(id)).toMatchObject({ status: 'SCHEDULED', cycle: null });
    expect([await billing.dues(id), await billing.invoices(id), await periods(id)]).toEqual([[], [], []]);
    expect(await told(id)).toEqual(['subscription.created SCHEDULED']);
    const usage = (await billing.get(`/subscriptions/${id}/usage`)).data;
    expect(usage).toMatchObject([{ meter_id: meter.id, quantity: '0', amount: '0.00' }]);

    await billing.at(START);
    expect(await get(id), 'before the run has been there').toMatchObject({ status: 'ACTIVE' });
    await billing.run();
    expect(await get(id)).toMatchObject({ status: 'ACTIVE', cycle: 0, current_period_end: '2024-05-10T00:00:00.000Z' });
    expect((await billing.dues(id)).map(({ display_name }) => display_name)).toEqual(['Base', 'Calls']);
    expect(await billing.invoices(id)).toMatchObject([{ cycle: 0, finalizes_at: '2024-04-10T01:00:00.000Z' }]);
    expect((await told(id)).slice(1)).toEqual(['subscription.activated ACTIVE', 'invoice.created DRAFT']);
  });

  test('shows its periods and its first invoice beforehand', async () => {
    const { id, plan_id } = await subscribe({ billing_alignment: 'calendar' });
    const first = { cycle: 0, plan_id, period_start: START, period_end: '2024-05-01T00:00:00.000Z', days: '21/30' };
    expect(await periods(id, 2)).toMatchObject([first, { cycle: 1, days: null }]);
    const preview = await billing.post(`/subscriptions/${id}/preview-invoice`);
    expect(preview).toMatchObject({ cycle: 0, period_start: START, total: '21.70', lines: [{ days: '21/30' }] });
    await runAt(START);
    const { data } = await billing.get(`/subscriptions/${id}/invoices`);
    expect(await billing.get(`/invoices/${data[0].id}`)).toMatchObject({ total: '21.70' });
    expect(await periods(id)).toEqual([first]);
  });

  test('says before it is made that nothing is issued yet', async () => {
    const { id: customer_id } = await billing.customer();
    const plan_id = await billing.plan();
    const preview = await billing.post('/subscriptions/preview', { customer_id, plan_id, start_date: '2024-04-10' });
    expect(preview).toMatchObject({ status: 'SCHEDULED', periods: 0, invoices: 0, current_period_start: START });
  });

  test('with a trial is SCHEDULED, then in TRIAL, and then ACTIVE, each told by the run', async () => {
    const { id, ...made } = await subscribe({}, { plan: { trial_days: 14 } });
    const trial = { current_period_start: START, current_period_end: '2024-04-24T00:00:00.000Z' };
    expect(made).toMatchObject({ status: 'SCHEDULED', trial_end_date: '2024-04-24T00:00:00.000Z', ...trial });
    await runAt('2024-04-09T23:59:59.999999Z');
    expect(await told(id)).toEqual(['subscription.created SCHEDULED']);
    await runAt(START);
    expect(await get(id)).toMatchObject({ status: 'TRIAL', cycle: null, ...trial });
    expect((await told(id)).slice(1)).toEqual(['subscription.activated TRIAL']);
    await billing.run();
    await runAt('2024-04-23T23:59:59.999999Z');
    expect(await told(id), 'told once').toHaveLength(2);
    await runAt('2024-04-24T00:00:00.000Z');
    expect(await get(id)).toMatchObject({ status: 'ACTIVE', cycle: 0 });
    expect((await told(id)).slice(2)).toEqual(['subscription.activated ACTIVE', 'invoice.created DRAFT']);
  });

  test('is caught up with in one pass by a run that comes after the trial', async () => {
    const { id } = await subscribe({ trial_end_date: '2024-04-20' });
    await runAt('2024-05-25T00:00:00.000Z');
    expect((await told(id)).slice(1)).toEqual([
      'subscription.activated TRIAL',
      'subscription.activated ACTIVE',
      'invoice.created DRAFT',
      'invoice.created DRAFT',
    ]);
    expect(await get(id)).toMatchObject({ cycle: 1, current_period_start: '2024-05-20T00:00:00.000Z' });
  });

  describe('with a trial, of a plan that somebody changes when it has come, and before the run has been there', () => {
    const TRIAL_END = '2024-04-20T00:00:00.000Z';

    /** Asks at the start, while the plan is held. */
    async function askAtStart<Answer>(plan_id: string, ask: () => Promise<Answer>): Promise<Answer> {
      await billing.at(START);
      return await billing.database.kysely.transaction().execute(async (transaction) => {
        await lockPlanAlone(transaction, billing.admin.id, plan_id);
        return await ask();
      });
    }

    test('ends with its trial where that is asked for, which can be taken back', async () => {
      const { id, plan_id } = await subscribe({ trial_end_date: '2024-04-20' });
      const canceled = await askAtStart(plan_id, () => billing.post(`/subscriptions/${id}/cancel`));
      expect(canceled).toMatchObject({ status: 'TRIAL', cancel_at_period_end: true, ended_at: TRIAL_END });
      const kept = await billing.ask('PATCH', `/subscriptions/${id}`, { cancel_at_period_end: false });
      expect(kept).toMatchObject({ status: 200, body: { status: 'TRIAL', ended_at: null } });
      const [, ...rest] = await told(id);
      expect(rest).toEqual([
        'subscription.activated TRIAL',
        'subscription.changed TRIAL',
        'subscription.changed TRIAL',
      ]);
    });

    test('changes its plan at the end of its trial', async () => {
      const { id, plan_id } = await subscribe({ trial_end_date: '2024-04-20' });
      const next = await billing.plan({ billing_interval: 'year' }, [FIXED]);
      const changed = await askAtStart(plan_id, () => billing.post(`/subscriptions/${id}/change`, { plan_id: next }));
      expect(changed).toMatchObject({ plan_id, pending_plan_id: next, billing_interval: 'month' });
    });

    test('is told of by the run', async () => {
      const { id, plan_id } = await subscribe({ trial_end_date: '2024-04-20' });
      await askAtStart(plan_id, () => billing.run());
      expect((await told(id)).slice(1)).toEqual(['subscription.activated TRIAL']);
    });
  });

  test('is the first instant of its date in the zone, also where the clocks skip midnight', async () => {
    const { id, plan_id, ...made } = await subscribe({ start_date: '2024-03-31' }, { zone: 'Asia/Beirut' });
    expect(made).toMatchObject({ status: 'SCHEDULED', start_date: '2024-03-30T22:00:00.000Z' });
    await runAt('2024-03-30T21:59:59.999999Z');
    expect(await get(id)).toMatchObject({ status: 'SCHEDULED' });
    await runAt('2024-03-30T22:00:00.000Z');
    const instants = { period_start: '2024-03-30T22:00:00.000Z', period_end: '2024-04-29T21:00:00.000Z' };
    expect(await periods(id)).toEqual([{ cycle: 0, plan_id, ...instants, days: null }]);
  });

  test('gives its features from its instant on', async () => {
    const { id: feature_id } = await billing.post('/features', { name: 'SSO', lookup_key: 'sso', type: 'switch' });
    const { id, plan_id, customer_id } = await subscribe({ trial_end_date: '2024-04-20' });
    await billing.post(`/plans/${plan_id}/features`, { feature_id, is_enabled: true });
    const entitled = async () => {
      const { data } = await billing.get(`/customers/${customer_id}/entitlements`);
      return [data.length, (await get(id)).entitlements.length];
    };
    await billing.at('2024-04-09T23:59:59.999999Z');
    expect(await entitled()).toEqual([0, 0]);
    const one = await billing.get(
      `/entitlements?customer_external_id=${(await get(id)).customer_external_id}&feature=sso`,
    );
    expect(one).toMatchObject({ has_access: false, reason: 'no_subscription' });
    await billing.at(START);
    expect(await entitled()).toEqual([1, 1]);
  });

  test('is billed by the price that is in force then', async () => {
    const dues = async (effective_from: string) => {
      const { id, plan_id } = await subscribe();
      const [{ id: replaces } = { id: '' }] = await billing.rows('SELECT id FROM charges WHERE plan_id = $1', plan_id);
      const charge = { type: 'FIXED', display_name: 'New', unit_price: '40' };
      await billing.post(`/plans/${plan_id}/charges`, { ...charge, replaces, effective_from });
      await runAt(START);
      await billing.at(NOW);
      return (await billing.dues(id)).map(({ display_name }) => display_name);
    };
    expect(await dues('2024-04-01')).toEqual(['New']);
    expect(await dues(START)).toEqual(['New']);
    expect(await dues('2024-04-10T00:00:00.000001Z')).toEqual(['Base']);
  });

  test('is at most two years ahead', async () => {
    expect((await subscribe({ start_date: '2026-03-20' })).status).toBe('SCHEDULED');
    const answer = await ask({ start_date: '2026-03-20T00:00:00.000001Z' });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toMatchObject([{ path: 'start_date' }]);
    expect((await ask({ start_date: '9999-12-31' })).status).toBe(422);
  });

  test('is found by its status', async () => {
    const { id, customer_id } = await subscribe();
    const list = async (status: string) =>
      (await billing.get(`/subscriptions?customer_id=${customer_id}&status=${status}`)).data.map(
        (each: { id: string }) => each.id,
      );
    expect([await list('SCHEDULED'), await list('ACTIVE')]).toEqual([[id], []]);
    await billing.at(START);
    expect([await list('SCHEDULED'), await list('ACTIVE')]).toEqual([[], [id]]);
  });
});

describe('before its start', () => {
  test('its meters are reserved, and free again once it is canceled, without any invoice', async () => {
    for (const [body, trial_end_date] of [
      [{}, null],
      [{ cancel_at_period_end: false }, null],
      [{}, '2024-04-20'],
    ] as const) {
      await billing.at(NOW);
      const meter = await billing.admin.createMeter('SUM');
      const made = await subscribe({ trial_end_date }, { charges: [FIXED, billing.usage(meter.id), IN_ARREARS] });
      const { id, customer_id, plan_id } = made;
      const again = { customer_id, plan_id, start_date: NOW };
      expectProblem(await billing.ask('POST', '/subscriptions', again), 409, 'meter_already_billed');
      await billing.at('2024-04-01T00:00:00.000Z');
      const canceled = await billing.post(`/subscriptions/${id}/cancel`, body);
      expect(canceled).toMatchObject({ status: 'CANCELED', ended_at: '2024-04-01T00:00:00.000Z', start_date: START });
      expect((await billing.post('/subscriptions', again)).status).toBe('ACTIVE');
      await runAt('2024-06-01T00:00:00.000Z');
      expect([await billing.dues(id), await billing.invoices(id), await periods(id)]).toEqual([[], [], []]);
      expect(await told(id)).toEqual(['subscription.created SCHEDULED', 'subscription.canceled CANCELED']);
    }
  });

  test('it changes its plan at once, with another interval too, and begins on that', async () => {
    const [old, both, next] = await Promise.all([1, 2, 3].map(() => billing.admin.createMeter('SUM')));
    const charges = [billing.usage(old!.id), billing.usage(both!.id)];
    const { id, customer_id } = await subscribe({}, { charges });
    const yearly = { name: 'Max', billing_interval: 'year' };
    const plan_id = await billing.plan(yearly, [billing.usage(both!.id), billing.usage(next!.id), FIXED]);
    const changed = await billing.post(`/subscriptions/${id}/change`, { plan_id });
    expect(changed).toMatchObject({ status: 'SCHEDULED', plan_id, plan_name: 'Max', billing_interval: 'year' });
    expect(changed).toMatchObject({ pending_plan_id: null, start_date: START });
    const other = async (meter: { id: string }) => {
      const plan = await billing.plan({}, [billing.usage(meter.id)]);
      return (await billing.ask('POST', '/subscriptions', { customer_id, plan_id: plan })).status;
    };
    expect([await other(both!), await other(next!), await other(old!)]).toEqual([409, 409, 201]);
    await runAt(START);
    expect(await periods(id)).toMatchObject([
      { cycle: 0, period_start: START, period_end: '2025-04-10T00:00:00.000Z' },
    ]);
    expect((await billing.dues(id)).map(({ display_name }) => display_name)).toEqual(['Base', 'Calls', 'Calls']);
    expect((await told(id)).slice(1, 3)).toEqual(['subscription.changed SCHEDULED', 'subscription.activated ACTIVE']);
  });

  test('it does not change to a plan with a meter that another subscription bills', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const metered = await billing.plan({}, [billing.usage(meter.id)]);
    const { id, customer_id, plan_id } = await subscribe();
    await billing.post('/subscriptions', { customer_id, plan_id: metered });
    const refused = await billing.ask('POST', `/subscriptions/${id}/change`, { plan_id: metered });
    expectProblem(refused, 409, 'meter_already_billed');
    expect(await get(id)).toMatchObject({ plan_id });
  });
});
