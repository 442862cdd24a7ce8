// Making subscriptions and reading them: every field, every refusal, and who bills a meter.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FIXED, startBilling, type Billing } from '../support/billing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import type { Answer } from '../support/harness.ts';

let billing: Billing;
const NOW = '2024-05-15T10:30:00.000Z';

beforeAll(async () => {
  billing = await startBilling(NOW);
});
beforeEach(() => billing.at(NOW));
afterAll(() => billing.close());

const subscribe = (body: object): Promise<Answer> => billing.ask('POST', '/subscriptions', body);

/** A customer and a plan of its own, so that no test is in the way of another. */
async function parties(fields: object = {}, charges = [FIXED], timeZone?: string) {
  const { id: customer_id } = await billing.customer(timeZone);
  return { customer_id, plan_id: await billing.plan(fields, charges) };
}

function expectInvalid(answer: Answer, path: string): void {
  expectProblem(answer, 422, 'invalid_request');
  expect(answer.body.errors.map((error: { path: string }) => error.path)).toEqual([path]);
}

describe('a subscription', () => {
  test('is answered with all its fields, and read again as it was answered', async () => {
    const { id: customer_id, external_id: customer_external_id } = await billing.customer();
    const plan_id = await billing.plan();
    const made = await subscribe({ customer_id, plan_id });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      external_id: null,
      customer_id,
      customer_external_id,
      plan_id,
      plan_name: 'Pro',
      periods_to_open: 0,
      pending_plan_id: null,
      status: 'ACTIVE',
      start_date: NOW,
      trial_end_date: null,
      time_zone: 'UTC',
      currency: 'EUR',
      billing_interval: 'month',
      billing_alignment: 'anniversary',
      cycle: 0,
      current_period_start: NOW,
      current_period_end: '2024-06-15T00:00:00.000Z',
      cancel_at_period_end: false,
      cancel_reason: null,
      canceled_at: null,
      ended_at: null,
      created_at: NOW,
    });
    expect(await billing.get(`/subscriptions/${made.body.id}`)).toEqual({
      ...made.body,
      entitlements: [],
      is_rebilling: false,
    });
  });

  test('is read with what its customer may use by it', async () => {
    const { plan_id, customer_id } = await parties();
    const feature = await billing.post('/features', { name: 'Export', lookup_key: 'export', type: 'switch' });
    await billing.post(`/plans/${plan_id}/features`, { feature_id: feature.id, is_enabled: true });
    const { id } = (await subscribe({ customer_id, plan_id })).body;
    const { entitlements } = await billing.get(`/subscriptions/${id}`);
    expect(entitlements).toMatchObject([{ feature: 'export', type: 'switch', has_access: true, reason: 'ok' }]);
  });

  test('names its customer by external_id as well', async () => {
    const { id, external_id } = await billing.customer();
    const made = await subscribe({ customer_external_id: external_id, plan_id: await billing.plan() });
    expect(made.body).toMatchObject({ customer_id: id, customer_external_id: external_id });
  });

  test('has the zone of its customer, else that of the organization, as it was when it was made', async () => {
    await billing.rows(`UPDATE organizations SET time_zone = 'Asia/Tokyo'`);
    const own = await parties({}, [FIXED], 'Europe/Berlin');
    expect((await subscribe({ ...own, start_date: '2024-05-01' })).body).toMatchObject({
      time_zone: 'Europe/Berlin',
      start_date: '2024-04-30T22:00:00.000Z',
    });
    const made = (await subscribe({ ...(await parties()), start_date: '2024-05-01' })).body;
    expect(made).toMatchObject({ time_zone: 'Asia/Tokyo', start_date: '2024-04-30T15:00:00.000Z' });
    await billing.rows(`UPDATE organizations SET time_zone = 'UTC'`);
    expect(await billing.get(`/subscriptions/${made.id}`)).toEqual({ ...made, entitlements: [], is_rebilling: false });
  });

  test('may begin at an instant with an offset, to the microsecond', async () => {
    const made = await subscribe({ ...(await parties()), start_date: '2024-05-01T12:00:00.000001+02:00' });
    expect(made.body).toMatchObject({ start_date: '2024-05-01T10:00:00.000001Z', status: 'ACTIVE' });
    expect(made.body.current_period_start).toBe('2024-05-01T10:00:00.000001Z');
  });

  test('that begins in the past has an invoice for each boundary that is past, by the charges of now', async () => {
    const { id, ...made } = (await subscribe({ ...(await parties()), start_date: '2024-02-29' })).body;
    expect(made).toMatchObject({ cycle: 2, current_period_start: '2024-04-29T00:00:00.000Z' });
    expect(await billing.invoices(id)).toEqual(
      [
        [0, '2024-02-29', '2024-02-29'],
        [1, '2024-02-29', '2024-03-29'],
        [2, '2024-03-29', '2024-04-29'],
      ].map(([cycle, start, end]) => ({
        cycle,
        kind: 'SUBSCRIPTION',
        status: 'DRAFT',
        period_start: `${start}T00:00:00.000Z`,
        period_end: `${end}T00:00:00.000Z`,
        // Its grace begins when it is made.
        finalizes_at: '2024-05-15T11:30:00.000Z',
      })),
    );
    expect((await billing.dues(id)).map(({ cycle, display_name }) => [cycle, display_name])).toEqual([
      [0, 'Base'],
      [1, 'Base'],
      [2, 'Base'],
    ]);
  });

  test('may begin 1,000 periods ago, which are opened in one pass, and not earlier', async () => {
    const body = await parties({ billing_interval: 'day' });
    expectInvalid(await subscribe({ ...body, start_date: '2021-08-17' }), 'start_date');
    const made = (await subscribe({ ...body, start_date: '2021-08-20' })).body;
    expect(made.cycle).toBe(999);
    expect(await billing.invoices(made.id)).toHaveLength(1_000);
  });

  test('tells the feed that it was made, that it is active, and of each draft, and who made it', async () => {
    const before = (await billing.feed()).length;
    const made = (await subscribe({ ...(await parties()), start_date: '2024-04-01' })).body;
    const told = await billing.rows('SELECT * FROM billing_events ORDER BY sequence OFFSET $1', before);
    expect(told.map(({ type, actor }) => [type, String(actor).replace(/:.*/, '')])).toEqual([
      ['subscription.created', 'user'],
      ['subscription.activated', 'weir'],
      ['invoice.created', 'weir'],
      ['invoice.created', 'weir'],
    ]);
    expect(told[0]?.['data']).toMatchObject({ id: made.id, status: 'ACTIVE', cycle: 1 });
    expect(told.map(({ data }) => (data as { cycle: number }).cycle).slice(2)).toEqual([0, 1]);
  });
});

describe('a subscription is refused', () => {
  test('with the id of the first one where the external_id is taken, before any other conflict', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const body = { ...(await parties({}, [billing.usage(meter.id)])), external_id: 'mine' };
    const first = (await subscribe(body)).body;
    await billing.ask('PATCH', `/plans/${body.plan_id}`, { is_active: false });
    const second = await subscribe(body);
    expectProblem(second, 409, 'external_id_taken');
    expect(second.body.id).toBe(first.id);
    expect((await billing.get(`/subscriptions?customer_id=${body.customer_id}`)).meta.total).toBe(1);
    // Whoever has lost the id finds it so.
    expect((await billing.get('/subscriptions?external_id=mine')).data).toMatchObject([{ id: first.id }]);
    expect((await billing.get('/subscriptions?external_id=Mine')).data).toEqual([]);
  });

  test('for all but one of those that are sent at once with one external_id', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const body = { ...(await parties({}, [billing.usage(meter.id)])), external_id: 'at-once' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => subscribe(body)));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expectProblem(answer, 409, 'external_id_taken');
      expect(answer.body.id).toBe(made[0]?.body.id);
    }
  });

  test('where the plan takes none', async () => {
    const body = await parties({ is_active: false });
    expectProblem(await subscribe(body), 409, 'plan_inactive');
  });

  test('where there is no such customer, or no such plan', async () => {
    const { customer_id, plan_id } = await parties();
    const nobody = '01890000-0000-7000-8000-000000000005';
    expectProblem(await subscribe({ customer_id: nobody, plan_id }), 404, 'not_found');
    expectProblem(await subscribe({ customer_external_id: 'nobody', plan_id }), 404, 'not_found');
    expectProblem(await subscribe({ customer_id, plan_id: nobody }), 404, 'not_found');
  });

  test('that names its customer twice, or not at all', async () => {
    const { customer_id, plan_id } = await parties();
    expectInvalid(await subscribe({ customer_id, customer_external_id: 'x', plan_id }), 'customer_id');
    expectInvalid(await subscribe({ plan_id }), 'customer_id');
  });

  test.each([
    ['more than two years ahead', '2026-05-16'],
    ['before the year 2000', '1999-12-31'],
    ['before the year 2000, to the microsecond', '1999-12-31T23:59:59.999999Z'],
    ['in the year 1', '0001-01-01'],
    ['in the year 0', '0000-01-01'],
    ['on no day of the calendar', '2023-02-29'],
    ['without an offset', '2024-05-01T12:00:00'],
    ['in another form', 'yesterday'],
  ])('that begins %s', async (_, start_date) => {
    const body = await parties({ billing_interval: 'year' });
    expectInvalid(await subscribe({ ...body, start_date }), 'start_date');
  });

  test('with another interval than the plan’s', async () => {
    const body = await parties();
    expectInvalid(await subscribe({ ...body, billing_interval: 'year' }), 'billing_interval');
    expect((await subscribe({ ...body, billing_interval: 'month' })).status).toBe(201);
  });

  test('with nothing written, whatever the reason', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const body = await parties({}, [FIXED, billing.usage(meter.id)]);
    await billing.post('/subscriptions', { ...body });
    const count = async () =>
      await billing.rows(`SELECT (SELECT count(*) FROM subscriptions) AS s, (SELECT count(*) FROM dues) AS d,
        (SELECT count(*) FROM invoices) AS i, (SELECT count(*) FROM billed_meters) AS m,
        (SELECT last_sequence FROM billing_feeds) AS f`);
    const before = await count();
    expectProblem(await subscribe(body), 409, 'meter_already_billed');
    expect(await count()).toEqual(before);
  });
});

describe('a meter of a customer is billed by one subscription at a time', () => {
  test('another one with it is refused, and one without it or of another customer is made', async () => {
    const [meter, other] = [await billing.admin.createMeter('SUM'), await billing.admin.createMeter('SUM')];
    const body = await parties({}, [billing.usage(meter.id)]);
    expect((await subscribe(body)).status).toBe(201);
    const both = await billing.plan({}, [billing.usage(other.id), billing.usage(meter.id)]);
    expectProblem(await subscribe({ ...body, plan_id: both }), 409, 'meter_already_billed');
    const without = await billing.plan({}, [billing.usage(other.id)]);
    expect((await subscribe({ ...body, plan_id: without })).status).toBe(201);
    const { id: customer_id } = await billing.customer();
    expect((await subscribe({ customer_id, plan_id: body.plan_id })).status).toBe(201);
  });

  test('also when many are made at once: one is, and the others are told', async () => {
    const meters = await Promise.all(Array.from({ length: 4 }, () => billing.admin.createMeter('SUM')));
    const { id: customer_id } = await billing.customer();
    // The same meters in different orders, which must not let two requests wait for each other.
    const plans = await Promise.all(
      Array.from({ length: 8 }, (_, index) => {
        const charges = meters.map(({ id }) => billing.usage(id));
        return billing.plan({}, index % 2 === 0 ? charges : charges.reverse());
      }),
    );
    const answers = await Promise.all(plans.map((plan_id) => subscribe({ customer_id, plan_id })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectProblem(answer, 409, 'meter_already_billed');
  });

  test('after the end of the first, from that instant on and not before', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const body = await parties({}, [billing.usage(meter.id)]);
    const first = (await subscribe({ ...body, start_date: '2024-04-01' })).body;
    await billing.post(`/subscriptions/${first.id}/cancel`, { cancel_at_period_end: false });
    await billing.at('2024-05-20T00:00:00.000Z');
    const early = await subscribe({ ...body, start_date: '2024-05-15T10:29:59.999999Z' });
    expectProblem(early, 409, 'meter_already_billed');
    expect((await subscribe({ ...body, start_date: NOW })).status).toBe(201);
  });

  test('and one that ended with its period is in nobody’s way, though the run has not been there yet', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const body = await parties({}, [billing.usage(meter.id)]);
    const first = (await subscribe({ ...body, start_date: '2024-05-01' })).body;
    await billing.post(`/subscriptions/${first.id}/cancel`);
    expectProblem(await subscribe(body), 409, 'meter_already_billed');
    await billing.at('2024-06-01T00:00:00.000Z');
    expect((await billing.get(`/subscriptions/${first.id}`)).status).toBe('CANCELED');
    expect((await subscribe(body)).status).toBe(201);
    expect(await billing.invoices(first.id)).toMatchObject([{ cycle: 1, period_end: '2024-06-01T00:00:00.000Z' }]);
  });
});

describe('the list', () => {
  test('holds the newest first, by page, customer, plan and status', async () => {
    const { customer_id, plan_id } = await parties();
    const other = await billing.plan();
    const made = [];
    for (const plan of [plan_id, other, plan_id]) made.push((await subscribe({ customer_id, plan_id: plan })).body);
    const [first, second, third] = made;
    await billing.post(`/subscriptions/${second.id}/cancel`, { cancel_at_period_end: false });
    const list = async (query: string) =>
      (await billing.get(`/subscriptions?customer_id=${customer_id}&${query}`)).data.map(
        ({ id }: { id: string }) => id,
      );
    expect(await list('')).toEqual([third.id, second.id, first.id]);
    expect(await list('page=2&page_size=2')).toEqual([first.id]);
    expect(await list(`plan_id=${plan_id}`)).toEqual([third.id, first.id]);
    expect(await list('status=CANCELED')).toEqual([second.id]);
    expect(await list('status=ACTIVE')).toEqual([third.id, first.id]);
    expect(await list('status=TRIAL')).toEqual([]);
    const { data } = await billing.get(`/subscriptions?customer_id=${customer_id}&page_size=1`);
    const { entitlements: _e, is_rebilling: _r, ...alone } = await billing.get(`/subscriptions/${third.id}`);
    expect(data).toEqual([alone]);
  });

  test('refuses a status that there is not', async () => {
    expectInvalid(await billing.ask('GET', '/subscriptions?status=ENDED'), 'status');
  });
});

describe('before a subscription is made', () => {
  const preview = (body: object) => billing.ask('POST', '/subscriptions/preview', body);

  test('what will be issued is told, and nothing is kept', async () => {
    const body = { ...(await parties()), start_date: '2024-02-29' };
    const told = (await preview(body)).body;
    expect(told).toEqual({
      status: 'ACTIVE',
      time_zone: 'UTC',
      periods: 3,
      invoices: 3,
      first_period_start: '2024-02-29T00:00:00.000Z',
      first_period_end: '2024-02-29T00:00:00.000Z',
      last_period_end: '2024-04-29T00:00:00.000Z',
      finalizes_at: '2024-05-15T11:30:00.000Z',
      current_period_start: '2024-04-29T00:00:00.000Z',
      current_period_end: '2024-05-29T00:00:00.000Z',
    });
    expect((await billing.get(`/subscriptions?customer_id=${body.customer_id}`)).data).toEqual([]);
    const { id } = (await subscribe(body)).body;
    expect((await billing.invoices(id)).map(({ finalizes_at }) => finalizes_at)).toEqual(
      Array.from({ length: told.invoices }, () => told.finalizes_at),
    );
  });

  test('a wrong year shows itself, and so do a start now, a trial, and a plan that costs nothing yet', async () => {
    const daily = await parties({ billing_interval: 'day' });
    expect((await preview({ ...daily, start_date: '2021-08-20' })).body).toMatchObject({ invoices: 1_000 });
    const own = await parties();
    expect((await preview(own)).body).toMatchObject({ periods: 1, invoices: 1, first_period_end: NOW });
    const trial = { ...own, start_date: '2024-01-01', trial_end_date: '2024-06-01' };
    expect((await preview(trial)).body).toMatchObject({
      status: 'TRIAL',
      periods: 0,
      invoices: 0,
      first_period_end: null,
      finalizes_at: null,
      current_period_end: '2024-06-01T00:00:00.000Z',
    });
    const free = { ...(await parties({}, [])), start_date: '2024-01-01' };
    expect((await preview(free)).body).toMatchObject({ periods: 5, invoices: 0, finalizes_at: null });
  });

  test('where only people finalize, no time is told', async () => {
    await billing.rows(`UPDATE organizations SET finalize = 'manual'`);
    expect((await preview({ ...(await parties()), start_date: '2024-02-29' })).body).toMatchObject({
      invoices: 3,
      finalizes_at: null,
    });
    await billing.rows(`UPDATE organizations SET finalize = 'automatic'`);
  });

  test('what cannot be made is refused as it would be then', async () => {
    const body = await parties();
    expectInvalid(await preview({ ...body, start_date: '1999-12-31' }), 'start_date');
    expectProblem(await preview({ ...body, plan_id: body.customer_id }), 404, 'not_found');
    await billing.ask('PATCH', `/plans/${body.plan_id}`, { is_active: false });
    expectProblem(await preview(body), 409, 'plan_inactive');
  });
});
