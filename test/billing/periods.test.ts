// Periods and what opening them brings: boundaries by local dates, dues and drafts, whether the run comes in time, late, twice or
// twice at once.

import { listPeriods } from '@weir/db/billing/subscriptions/subscription-periods';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FIXED, IN_ARREARS, openDue, startBilling, type Billing, type TestCharge } from '../support/billing.ts';
import { expectProblem } from '../support/expect-problem.ts';

let billing: Billing;
const NOW = '2024-05-15T10:30:00.000Z';

beforeAll(async () => {
  billing = await startBilling(NOW);
});
beforeEach(() => billing.at(NOW));
afterAll(() => billing.close());

interface Made {
  zone?: string;
  plan?: object;
  charges?: TestCharge[];
}

async function subscribe(body: object, { zone, plan, charges }: Made = {}) {
  const { id: customer_id } = await billing.customer(zone);
  return await billing.post('/subscriptions', { customer_id, plan_id: await billing.plan(plan, charges), ...body });
}

/** The boundaries of a subscription, and the days of its periods. */
async function periodsOf(id: string, count = 1): Promise<[cycle: number, start: string, end: string, days?: string][]> {
  const { data } = await billing.get(`/subscriptions/${id}/periods?count=${count}`);
  return data.map(({ cycle, period_start: start, period_end: end, days }: Record<string, string>) =>
    days === null ? [cycle, start, end] : [cycle, start, end, days],
  );
}

const starts = async (id: string, count = 1) => (await periodsOf(id, count)).map(([, start]) => start);
const everything = () =>
  Promise.all(
    ['subscriptions', 'subscription_periods', 'dues', 'invoices', 'billed_meters', 'billing_events'].map((table) =>
      billing.rows(`SELECT * FROM ${table} ORDER BY ${table}::text`),
    ),
  );

describe('boundaries', () => {
  test('are counted from the anchor: 31 January, 29 February, 31 March', async () => {
    const { id } = await subscribe({ start_date: '2024-01-31' });
    expect(await starts(id, 3)).toEqual(
      ['2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30', '2024-05-31', '2024-06-30', '2024-07-31'].map(
        (date) => `${date}T00:00:00.000Z`,
      ),
    );
  });

  test('of a year that began on 29 February are on the 28th, but for leap years', async () => {
    await billing.at('2029-01-01T00:00:00.000Z');
    const { id } = await subscribe({ start_date: '2024-02-29' }, { plan: { billing_interval: 'year' } });
    expect(await starts(id, 0)).toEqual(
      ['2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29'].map((date) => `${date}T00:00:00.000Z`),
    );
  });

  test('are midnights of Berlin, before and after its clocks are set', async () => {
    const body = { start_date: '2024-03-30T12:00:00+01:00' };
    const { id } = await subscribe(body, { zone: 'Europe/Berlin', plan: { billing_interval: 'day' } });
    expect((await starts(id, 0)).slice(0, 4)).toEqual([
      '2024-03-30T11:00:00.000Z',
      '2024-03-30T23:00:00.000Z',
      '2024-03-31T22:00:00.000Z',
      '2024-04-01T22:00:00.000Z',
    ]);
  });

  test('leave out the day that Apia left out', async () => {
    await billing.at('2012-01-03T00:00:00.000Z');
    const { id } = await subscribe(
      { start_date: '2011-12-29' },
      { zone: 'Pacific/Apia', plan: { billing_interval: 'day' } },
    );
    const periods = await periodsOf(id, 0);
    expect(periods.map(([, start]) => start).slice(0, 3)).toEqual([
      '2011-12-29T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-31T10:00:00.000Z',
    ]);
    for (const [, start, end] of periods) expect(Date.parse(end)).toBeGreaterThan(Date.parse(start));
    expect(periods.slice(1).map(([, start]) => start)).toEqual(periods.slice(0, -1).map(([, , end]) => end));
  });

  test('are those of the calendar where that is asked for, and the first period is a part: 22/31', async () => {
    await billing.at('2024-03-01T00:00:00.000Z');
    const { id } = await subscribe(
      { start_date: '2024-01-10', billing_alignment: 'calendar' },
      { charges: [FIXED, IN_ARREARS] },
    );
    expect(await periodsOf(id)).toEqual([
      [0, '2024-01-10T00:00:00.000Z', '2024-02-01T00:00:00.000Z', '22/31'],
      [1, '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
      [2, '2024-03-01T00:00:00.000Z', '2024-04-01T00:00:00.000Z'],
      [3, '2024-04-01T00:00:00.000Z', '2024-05-01T00:00:00.000Z'],
    ]);
    expect((await billing.dues(id)).map(({ cycle, days }) => [cycle, days])).toEqual([
      [0, '22/31'],
      [0, '22/31'],
      [1, null],
      [1, null],
      [2, null],
      [2, null],
    ]);
  });

  test('of a calendar week are Mondays, and a plan by the day has no parts', async () => {
    const week = await subscribe({ billing_alignment: 'calendar' }, { plan: { billing_interval: 'week' } });
    expect((await periodsOf(week.id, 0))[0]).toEqual([0, NOW, '2024-05-20T00:00:00.000Z', '5/7']);
    const day = await subscribe({ billing_alignment: 'calendar' }, { plan: { billing_interval: 'day' } });
    expect((await periodsOf(day.id, 0))[0]).toEqual([0, NOW, '2024-05-16T00:00:00.000Z']);
  });

  test('are kept once they are opened, whatever becomes of the zone', async () => {
    const { id } = await subscribe({ start_date: '2024-04-01' }, { zone: 'Europe/Berlin' });
    await billing.rows(`UPDATE subscriptions SET time_zone = 'Asia/Tokyo' WHERE id = $1`, id);
    expect(await starts(id)).toEqual([
      '2024-03-31T22:00:00.000Z',
      '2024-04-30T22:00:00.000Z',
      '2024-05-31T22:00:00.000Z',
    ]);
  });
});

describe('at a boundary', () => {
  test('an instant belongs to the period that begins there', async () => {
    const { id } = await subscribe({});
    await billing.at('2024-06-14T23:59:59.999999Z');
    await billing.run();
    expect((await billing.get(`/subscriptions/${id}`)).cycle).toBe(0);
    await billing.at('2024-06-15T00:00:00.000Z');
    await billing.run();
    expect(await billing.get(`/subscriptions/${id}`)).toMatchObject({
      cycle: 1,
      current_period_start: '2024-06-15T00:00:00.000Z',
      current_period_end: '2024-07-15T00:00:00.000Z',
    });
  });

  test('a draft is made with the grace as it is set then, and the next period is opened', async () => {
    const { id } = await subscribe({});
    await billing.rows('UPDATE organizations SET invoice_grace_hours = 72');
    await billing.at('2024-06-15T00:00:10.000Z');
    await billing.run();
    await billing.rows('UPDATE organizations SET invoice_grace_hours = 1');
    expect(await billing.invoices(id)).toMatchObject([
      { cycle: 0, period_start: NOW, period_end: NOW, finalizes_at: '2024-05-15T11:30:00.000Z' },
      {
        cycle: 1,
        period_start: NOW,
        period_end: '2024-06-15T00:00:00.000Z',
        finalizes_at: '2024-06-18T00:00:10.000Z',
      },
    ]);
    expect(await billing.rows('SELECT run_at FROM invoices WHERE subscription_id = $1 AND cycle = 1', id)).toEqual([
      { run_at: '2024-06-18T00:00:10.000Z' },
    ]);
  });

  test('no invoice is made that would have no lines', async () => {
    const none = await subscribe({ start_date: '2024-03-01' }, { charges: [] });
    expect(await billing.invoices(none.id)).toEqual([]);
    const meter = await billing.admin.createMeter('SUM');
    const arrears = await subscribe({ start_date: '2024-03-01' }, { charges: [billing.usage(meter.id), IN_ARREARS] });
    expect((await billing.invoices(arrears.id)).map(({ cycle }) => cycle)).toEqual([1, 2]);
  });

  test('every charge has a due, with its own copy of it', async () => {
    const { id, plan_id } = await subscribe({ start_date: '2024-05-01' });
    await billing.rows(`UPDATE charges SET display_name = 'Renamed' WHERE plan_id = $1`, plan_id);
    const [due] = await billing.rows('SELECT * FROM dues WHERE subscription_id = $1', id);
    expect(due).toMatchObject({
      display_name: 'Base',
      terms: FIXED.terms,
      billed: '0',
      closing: null,
      period_start: '2024-05-01T00:00:00.000Z',
      period_end: '2024-06-01T00:00:00.000Z',
    });
  });

  test('a price that was added or ended counts from the next period on', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const charges = [FIXED, billing.usage(meter.id)];
    const { id, plan_id } = await subscribe({ start_date: '2024-05-01' }, { charges });
    const [old] = await billing.rows('SELECT id FROM charges WHERE plan_id = $1 AND meter_id IS NOT NULL', plan_id);
    await billing.endCharge(String(old?.['id']));
    await billing.charge(plan_id, { ...IN_ARREARS, name: 'New' });
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    expect((await billing.dues(id)).map(({ cycle, display_name }) => [cycle, display_name])).toEqual([
      [0, 'Base'],
      [0, 'Calls'],
      [1, 'Base'],
      [1, 'New'],
    ]);
  });

  test('a run that comes late opens what one in time would have: no price of later in an earlier period', async () => {
    const { id, plan_id } = await subscribe({ start_date: '2024-05-01' });
    await billing.at('2024-06-10T00:00:00.000Z');
    await billing.charge(plan_id, { ...IN_ARREARS, name: 'Later' });
    await billing.at('2024-07-02T00:00:00.000Z');
    await billing.run();
    expect((await billing.dues(id)).map(({ cycle, display_name }) => [cycle, display_name])).toEqual([
      [0, 'Base'],
      [1, 'Base'],
      [2, 'Base'],
      [2, 'Later'],
    ]);
  });

  test('a meter whose charge ended is free from there on', async () => {
    const meter = await billing.admin.createMeter('SUM');
    const { customer_id, plan_id } = await subscribe(
      { start_date: '2024-05-01' },
      { charges: [billing.usage(meter.id)] },
    );
    const [old] = await billing.rows('SELECT id FROM charges WHERE plan_id = $1', plan_id);
    await billing.endCharge(String(old?.['id']));
    const body = { customer_id, plan_id: await billing.plan({}, [billing.usage(meter.id)]) };
    expectProblem(await billing.ask('POST', '/subscriptions', body), 409, 'meter_already_billed');
    await billing.at('2024-06-02T00:00:00.000Z');
    await billing.run();
    const early = { ...body, start_date: '2024-05-31T23:59:59Z' };
    expectProblem(await billing.ask('POST', '/subscriptions', early), 409, 'meter_already_billed');
    await billing.post('/subscriptions', { ...body, start_date: '2024-06-01' });
  });
});

describe('the run', () => {
  test('brings one that is many boundaries behind up to date in one pass', async () => {
    const { id } = await subscribe({ start_date: '2024-05-01' });
    await billing.at('2025-05-01T00:00:00.000Z');
    const before = (await billing.feed()).length;
    await billing.run();
    expect((await billing.invoices(id)).map(({ cycle }) => cycle)).toEqual(Array.from({ length: 13 }, (_, n) => n));
    expect((await billing.get(`/subscriptions/${id}`)).cycle).toBe(12);
    const drafts = await billing.rows(
      `SELECT data FROM billing_events WHERE data ->> 'subscription_id' = $1 AND sequence > $2 ORDER BY sequence`,
      id,
      before,
    );
    expect(drafts.map(({ data }) => (data as { cycle: number }).cycle)).toEqual(
      Array.from({ length: 12 }, (_, n) => n + 1),
    );
  });

  test('changes nothing when it comes twice', async () => {
    await subscribe({ start_date: '2024-05-01' });
    await billing.at('2024-08-01T00:00:00.000Z');
    await billing.run();
    const once = await everything();
    await billing.run();
    expect(await everything()).toEqual(once);
  });

  test('opens each boundary once when many come at once', async () => {
    const ids = [];
    for (let index = 0; index < 5; index++) ids.push((await subscribe({ start_date: '2024-05-01' })).id);
    await billing.at('2024-09-01T00:00:00.000Z');
    await Promise.all(Array.from({ length: 4 }, () => openDue(billing.database)));
    await billing.run();
    for (const id of ids) {
      expect((await billing.invoices(id)).map(({ cycle }) => cycle)).toEqual([0, 1, 2, 3, 4]);
      expect(await billing.dues(id)).toHaveLength(5);
    }
    const [sums] = await billing.rows('SELECT count(*) AS told, max(sequence) AS last FROM billing_events');
    expect(sums?.['told']).toBe(sums?.['last']);
  });

  test('looks at each again at the end of its period, and does not see one that has ended', async () => {
    const { id } = await subscribe({ start_date: '2024-05-01' });
    const runAt = async () => (await billing.rows('SELECT run_at FROM subscriptions WHERE id = $1', id))[0]?.['run_at'];
    expect(await runAt()).toBe('2024-06-01T00:00:00.000Z');
    await billing.post(`/subscriptions/${id}/cancel`);
    await billing.at('2024-06-01T00:00:00.000Z');
    await billing.run();
    expect(await runAt()).toBeNull();
  });

  test('is not held up in a row that it has nothing to do with', async () => {
    const { id } = await subscribe({ start_date: '2024-05-01' });
    await billing.rows(`UPDATE subscriptions SET run_at = billing_now(), run_error = 'x' WHERE id = $1`, id);
    await billing.run();
    expect(await billing.rows('SELECT run_at, run_error FROM subscriptions WHERE id = $1', id)).toEqual([
      { run_at: '2024-06-01T00:00:00.000Z', run_error: null },
    ]);
  });
});

describe('the list of periods', () => {
  test('holds all past ones, the current one and as many next ones as are asked for', async () => {
    const { id } = await subscribe({ start_date: '2024-04-01' });
    expect(await starts(id, 0)).toEqual(['2024-04-01T00:00:00.000Z', '2024-05-01T00:00:00.000Z']);
    expect((await billing.get(`/subscriptions/${id}/periods`)).data).toHaveLength(3);
    expect((await periodsOf(id, 24)).map(([cycle]) => cycle)).toEqual(Array.from({ length: 26 }, (_, n) => n));
    expect((await periodsOf(id, 24)).at(-1)).toEqual([25, '2026-05-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z']);
  });

  test('says the same of a period before it is opened and after', async () => {
    const { id } = await subscribe(
      { start_date: '2024-01-31', billing_alignment: 'calendar' },
      { zone: 'Asia/Beirut' },
    );
    const before = await periodsOf(id, 24);
    await billing.at('2026-05-15T00:00:00.000Z');
    expect(await periodsOf(id, 0)).toEqual(before);
    await billing.run();
    expect(await periodsOf(id, 0)).toEqual(before);
  });

  test('has each period once, also where the next one is opened while it is read', async () => {
    const { id } = await subscribe({ start_date: '2024-04-01' });
    let reads = 0;
    const kysely = billing.database.kysely.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if ((reads += 1) > 1) return result;
        await billing.at('2024-06-01T00:10:00.000Z');
        await billing.run();
        return result;
      },
    });
    const periods = await listPeriods({ ...billing.database, kysely }, billing.admin.id, { id, count: 1 });
    expect(periods?.map(({ cycle }) => cycle)).toEqual([0, 1, 2]);
    expect(await starts(id, 0)).toHaveLength(3);
  });

  test.each(['25', '-1', '1.5', 'x', ''])('refuses a count of %j', async (count) => {
    const { id } = await subscribe({});
    expectProblem(await billing.ask('GET', `/subscriptions/${id}/periods?count=${count}`), 422, 'invalid_request');
  });
});
