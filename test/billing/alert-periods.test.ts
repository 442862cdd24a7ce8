// Which period a crossing is of: that of the subscription, or a month; and what amounts come to in it. And whose it is once the customer
// is erased.

import { performMoves } from '@weir/db/moves/perform-moves';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crossingsOf, makeAlert, settleAlerts, thresholdsCrossed, type Crossed } from '../support/alerting.ts';
import { usageCharge } from '../support/billing-fixture.ts';
import { findInTables, performAllMoves, throwIt } from '../support/erasing.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let own: Invoicing;
beforeAll(async () => {
  own = await startInvoicing(weir);
});
afterAll(() => own.close());

test('each period of a subscription has crossings of its own, and so has one that has just ended', async () => {
  const [meter, unpriced] = [await own.meter(), await own.meter()];
  const plan = await own.plan([usageCharge(meter.id, { unit_price: '0.5' })]);
  await own.moveTo('2025-01-20T00:00:00Z');
  const { id: customer_id, external_id: customer } = await own.customer();
  const { id: subscription } = await own.subscribe(plan.id, customer_id, { start_date: '2025-01-15T00:00:00Z' });
  const alerts = [
    await makeAlert(own, { meter_id: meter.id }, [10]),
    await makeAlert(own, { meter_id: unpriced.id, customer_id }, [10]),
    await makeAlert(own, { subscription_amount: true }, ['5.00', '7.5']),
  ];
  const use = (quantity: number, at: string) =>
    own.track([meter, unpriced].map((each) => ({ meter: each, customer, quantity, at })));
  const first = { period_start: '2025-01-15T00:00:00.000Z', period_end: '2025-02-15T00:00:00.000Z' };
  const second = { period_start: '2025-02-15T00:00:00.000Z', period_end: '2025-03-15T00:00:00.000Z' };
  await use(9, '2025-01-16T00:00:00Z');
  // Before the start: of another period.
  await use(100, '2025-01-14T00:00:00Z');
  for (const alert of alerts) expect(await crossingsOf(own, alert)).toEqual([]);
  await use(1, '2025-02-14T23:59:59.999Z');
  const usage = { subscription_id: subscription, customer_id, currency: null, threshold: '10', value: '10' };
  const amount = { ...usage, currency: 'USD', threshold: '5', value: '5.00' };
  for (const alert of alerts.slice(0, 2)) expect(await crossingsOf(own, alert)).toMatchObject([{ ...usage, ...first }]);
  expect(await crossingsOf(own, alerts[2] ?? '')).toMatchObject([{ ...amount, ...first }]);
  expect((await own.get(`/subscriptions/${subscription}/usage`)).data).toMatchObject([{ amount: '5.00' }]);
  // Usage of the next period may be there before it is opened, from a clock that is ahead.
  await use(10, '2025-02-15T00:00:00Z');
  await own.moveTo('2025-02-15T00:00:30Z', subscription);
  for (const alert of alerts.slice(0, 2))
    expect(await crossingsOf(own, alert)).toMatchObject([first, { ...usage, ...second }]);
  // An event that was in the queue at the boundary.
  await use(5, '2025-02-14T23:59:59Z');
  expect(await crossingsOf(own, alerts[2] ?? '')).toMatchObject([
    { ...amount, ...first },
    { ...amount, ...second },
    { ...amount, ...first, threshold: '7.5', value: '7.50' },
  ]);
});

test('periods are months of the organization where there is no subscription', async () => {
  const meter = await own.meter();
  const customer = 'nobody on record';
  await weir.pool.query(`UPDATE organizations SET time_zone = 'Pacific/Apia' WHERE id = $1`, [own.admin.id]);
  await own.moveTo('2025-03-20T00:00:00Z');
  const alert = await makeAlert(own, { meter_id: meter.id }, [10]);
  const use = (quantity: number, at: string) => own.track([{ meter, customer, quantity, at }]);
  // 31 March there ends at 11:00 UTC.
  await use(9, '2025-03-01T00:00:00Z');
  await use(9, '2025-03-31T11:00:00Z');
  expect(await crossingsOf(own, alert)).toEqual([]);
  await use(1, '2025-03-31T10:59:59.999999Z');
  const march = { period_start: '2025-02-28T11:00:00.000Z', period_end: '2025-03-31T11:00:00.000Z' };
  const april = { period_start: march.period_end, period_end: '2025-04-30T11:00:00.000Z' };
  expect(await crossingsOf(own, alert)).toMatchObject([{ ...march, value: '10' }]);
  await own.moveTo('2025-03-31T11:00:00Z');
  await use(1, '2025-04-01T00:00:00Z');
  expect(await crossingsOf(own, alert)).toMatchObject([march, { ...april, value: '10' }]);
});

test('periods are those of the subscription that bills the meter, where there are several', async () => {
  const meters = [await own.meter(), await own.meter(), await own.meter()];
  const { id: customer_id, external_id: customer } = await own.customer();
  const subscriptions: string[] = [];
  for (const [index, start_date] of ['2025-03-10T00:00:00Z', '2025-03-20T00:00:00Z'].entries()) {
    const plan = await own.plan([usageCharge(meters[index]?.id ?? '')]);
    subscriptions.push((await own.subscribe(plan.id, customer_id, { start_date })).id);
  }
  const alerts = await Promise.all(meters.map(({ id }) => makeAlert(own, { meter_id: id }, [10])));
  await own.track(meters.map((meter) => ({ meter, customer, quantity: 10, at: '2025-03-25T00:00:00Z' })));
  const [first, second] = subscriptions;
  // What none of them bills goes by the newest.
  for (const [index, subscription_id] of [first, second, second].entries())
    expect(await crossingsOf(own, alerts[index] ?? '')).toMatchObject([{ subscription_id }]);
});

test('what comes late crosses the period of a subscription that has ended, also where another bills since', async () => {
  const meter = await own.meter();
  const plan = await own.plan([usageCharge(meter.id)]);
  const { id: customer_id, external_id: customer } = await own.customer();
  const alert = await makeAlert(own, { meter_id: meter.id }, [10]);
  const ended = await own.subscribe(plan.id, customer_id, { start_date: '2025-03-30T00:00:00Z' });
  const use = (quantity: number, at: string) => own.track([{ meter, customer, quantity, at }]);
  await use(9, '2025-03-30T12:00:00Z');
  await own.post(`/subscriptions/${ended.id}/cancel`, { cancel_at_period_end: false });
  const follows = await own.subscribe(plan.id, customer_id);
  await use(9, '2025-03-31T11:00:00Z');
  expect(await crossingsOf(own, alert)).toEqual([]);
  await use(1, '2025-03-31T10:59:59Z');
  expect(await crossingsOf(own, alert)).toMatchObject([{ subscription_id: ended.id, value: '10' }]);
  await use(1, '2025-03-31T11:00:00Z');
  expect(await crossingsOf(own, alert)).toMatchObject([{ subscription_id: ended.id }, { subscription_id: follows.id }]);
});

test('periods of a trial have usage, and amounts of nothing', async () => {
  const meter = await own.meter();
  const plan = await own.plan([usageCharge(meter.id)]);
  const { id: customer_id, external_id: customer } = await own.customer();
  const trial = { trial_end_date: '2025-04-10T00:00:00Z' };
  const { id: subscription_id } = await own.subscribe(plan.id, customer_id, trial);
  const alerts = [
    await makeAlert(own, { meter_id: meter.id, customer_id }, [10]),
    await makeAlert(own, { subscription_amount: true, customer_id }, [1]),
  ];
  await own.track([{ meter, customer, quantity: 10, at: '2025-03-31T12:00:00Z' }]);
  const period_end = '2025-04-10T00:00:00.000Z';
  expect(await crossingsOf(own, alerts[0] ?? '')).toMatchObject([{ subscription_id, period_end }]);
  expect(await crossingsOf(own, alerts[1] ?? '')).toEqual([]);
});

const AT = '2025-05-10T11:00:00Z';

test('what a customer has crossed names it no more once it is erased, and alerts over it alone are gone', async () => {
  await own.moveTo('2025-05-10T12:00:00Z');
  const meter = await own.meter();
  const { id: customer_id, external_id: customer } = await own.customer({ external_id: 'ada lovelace' });
  const alert = await makeAlert(own, { meter_id: meter.id, name: 'Over ten' }, [10, 20]);
  const alone = await makeAlert(own, { meter_id: meter.id, customer_id, name: 'Limit of Countess Ada' }, [10]);
  const renamed = await own.request('PATCH', `/alerts/${alone}`, { name: 'Bound of Countess Ada' });
  expect(renamed.status).toBe(200);
  await own.track([{ meter, customer, quantity: 15, at: AT }]);
  expect(await crossingsOf(own, alert)).toMatchObject([{ customer_external_id: customer }]);
  expect(await thresholdsCrossed(own, alone)).toEqual(['10']);
  const { external_id } = await own.post('/erasures', { customer_id }, 202);
  await own.get(`/alerts/${alone}`, 404);
  await performAllMoves(own.database);
  expect(await findInTables(weir, customer, 'Countess Ada')).toEqual([]);
  expect(await crossingsOf(own, alert)).toMatchObject([{ customer_external_id: external_id, customer_id }]);
  const { rows } = await weir.pool.query(
    `SELECT data ->> 'name' AS name FROM billing_events
     WHERE type = 'usage.threshold_reached' AND data ->> 'customer_id' = $1`,
    [customer_id],
  );
  expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(['Over ten', '[erased]']));
});

test('an alert that is turned off while it looks keeps no external id where it had come to', async () => {
  const alert = await makeAlert(own, { meter_id: (await own.meter()).id }, [10]);
  await weir.pool.query(`UPDATE alerts SET looked_after = 'ada' WHERE id = $1`, [alert]);
  expect((await own.request('PATCH', `/alerts/${alert}`, { status: 'DISABLED' })).status).toBe(200);
  const { rows } = await weir.pool.query('SELECT looked_after FROM alerts WHERE id = $1', [alert]);
  expect(rows).toEqual([{ looked_after: '' }]);
});

test('an alert that looks while a customer is being erased tells of it once, and when it is over', async () => {
  const meter = await own.meter();
  const customer = 'someone erased';
  const alert = await makeAlert(own, { meter_id: meter.id }, [10]);
  await own.track([{ meter, customer, quantity: 15, at: AT }]);
  expect(await thresholdsCrossed(own, alert)).toEqual(['10']);
  const { external_id } = await own.post('/erasures', { customer_external_id: customer }, 202);
  await performMoves(own.database, 1_000, () => Promise.resolve(false), throwIt);
  await own.request('PATCH', `/alerts/${alert}`, { thresholds: [10, 12] });
  expect(await crossingsOf(own, alert)).toMatchObject([{ customer_external_id: customer, threshold: '10' }]);
  // As a worker leaves it that dies before the rest of the erasure; what is sent from here on is somebody else's.
  await weir.pool.query('UPDATE usage_moves SET moved_at = now() WHERE finished_at IS NULL');
  await own.track([{ meter, customer, quantity: 11, at: AT }]);
  expect(await thresholdsCrossed(own, alert)).toEqual(['10']);
  await performAllMoves(own.database);
  const crossed = (await crossingsOf(own, alert)).map((each) => `${each.customer_external_id} ${each.threshold}`);
  expect(crossed.toSorted()).toEqual([`${customer} 10`, `${external_id} 10`, `${external_id} 12`].toSorted());
});

test('an erasure ends, also where the new id has crossed what the former one had', async () => {
  const meter = await own.meter();
  const customer = 'another erased';
  const alert = await makeAlert(own, { meter_id: meter.id }, [10, 12]);
  await own.track([{ meter, customer, quantity: 15, at: AT }]);
  await settleAlerts(own);
  const { external_id } = await own.post('/erasures', { customer_external_id: customer }, 202);
  await weir.pool.query(
    `INSERT INTO alert_crossings (organization_id, id, alert_id, customer_external_id, period_start, period_end, threshold, value)
     SELECT organization_id, gen_random_uuid(), alert_id, $2, period_start, period_end, threshold, value
     FROM alert_crossings WHERE alert_id = $1 AND threshold = 10`,
    [alert, external_id],
  );
  await performAllMoves(own.database);
  const { data } = await own.get(`/alerts/${alert}/crossings`);
  const crossed = data.map((each: Crossed) => `${each.customer_external_id} ${each.threshold}`);
  expect(crossed.toSorted()).toEqual([`${external_id} 10`, `${external_id} 12`]);
});

test('a month is crossed once and keeps its zone where the organization is given another one meanwhile', async () => {
  await own.request('PATCH', '/billing/settings', { time_zone: 'Pacific/Apia' });
  const meter = await own.meter();
  const alert = await makeAlert(own, { meter_id: meter.id }, [10]);
  const use = (quantity: number, at: string) => own.track([{ meter, customer: 'who stays', quantity, at }]);
  await use(15, AT);
  expect(await thresholdsCrossed(own, alert)).toEqual(['10']);
  const changed = await own.request('PATCH', '/billing/settings', { time_zone: 'Asia/Tokyo' });
  expect(changed.status).toBe(200);
  await use(1, AT);
  expect(await thresholdsCrossed(own, alert)).toEqual(['10']);
  await own.moveTo('2025-06-10T12:00:00Z');
  await use(15, '2025-06-10T11:00:00Z');
  expect(await thresholdsCrossed(own, alert)).toEqual(['10', '10']);
  const { data } = await own.get(`/alerts/${alert}/crossings`);
  expect(data).toMatchObject([
    { time_zone: 'Asia/Tokyo', period_start: '2025-05-31T15:00:00.000Z', period_end: '2025-06-30T15:00:00.000Z' },
    { time_zone: 'Pacific/Apia', period_start: '2025-04-30T11:00:00.000Z', period_end: '2025-05-31T11:00:00.000Z' },
  ]);
});

test('usage of a month that is to come crosses it as soon as it is there, and not again when it begins', async () => {
  const meter = await own.meter();
  const alert = await makeAlert(own, { meter_id: meter.id }, [10]);
  const at = '2025-06-30T15:00:00.000Z';
  const use = (quantity: number) => own.track([{ meter, customer: 'whose clock is ahead', quantity, at }]);
  await use(10);
  const july = { subscription_id: null, period_start: at, period_end: '2025-07-31T15:00:00.000Z', value: '10' };
  expect(await crossingsOf(own, alert)).toMatchObject([july]);
  await own.moveTo(at);
  await use(1);
  expect(await crossingsOf(own, alert)).toMatchObject([july]);
});

test('what was used before a trial is made, or before one begins that was made ahead, crosses its period', async () => {
  const meter = await own.meter();
  const plan = await own.plan([usageCharge(meter.id)]);
  const alert = await makeAlert(own, { meter_id: meter.id }, [10]);
  const use = async ({ external_id: customer }: { external_id: string }, at: string) => {
    await own.track([{ meter, customer, quantity: 10, at }]);
    await settleAlerts(own);
  };
  const ofTrials = async () =>
    (await crossingsOf(own, alert)).filter(({ subscription_id }) => subscription_id !== null);
  const [past, ahead] = [await own.customer(), await own.customer()];
  await use(past, '2025-06-30T12:00:00Z');
  const trial_end_date = '2025-07-05T00:00:00Z';
  const made = await own.subscribe(plan.id, past.id, { start_date: '2025-06-30T00:00:00Z', trial_end_date });
  const first = { subscription_id: made.id, period_end: '2025-07-05T00:00:00.000Z', value: '10' };
  expect(await ofTrials()).toMatchObject([first]);
  const scheduled = await own.subscribe(plan.id, ahead.id, { start_date: '2025-07-02T00:00:00Z', trial_end_date });
  await use(ahead, '2025-07-02T01:00:00Z');
  expect(await ofTrials()).toMatchObject([first]);
  await own.moveTo('2025-07-02T02:00:00Z', scheduled.id);
  expect(await ofTrials()).toMatchObject([first, { subscription_id: scheduled.id }]);
});

test('an alert tells of no period that was over when it was made, turned on or given other thresholds', async () => {
  const meter = await own.meter();
  const plan = await own.plan([usageCharge(meter.id)]);
  const { id: customer_id, external_id: customer } = await own.customer({ time_zone: 'UTC' });
  const { id: subscription } = await own.subscribe(plan.id, customer_id, { start_date: '2025-07-02T00:00:00Z' });
  const before = await makeAlert(own, { meter_id: meter.id }, [16]);
  const use = (quantity: number, at: string) => own.track([{ meter, customer, quantity, at }]);
  await use(15, '2025-07-02T01:00:00Z');
  await own.moveTo('2025-08-02T01:00:00Z', subscription);
  const alert = await makeAlert(own, { meter_id: meter.id }, [10]);
  expect(await crossingsOf(own, alert)).toEqual([]);
  for (const changes of [{ thresholds: [11] }, { status: 'DISABLED' }, { status: 'ACTIVE' }]) {
    expect((await own.request('PATCH', `/alerts/${alert}`, changes)).status).toBe(200);
    expect(await crossingsOf(own, alert)).toEqual([]);
  }
  // An event that was in the queue at the boundary: only for one that was there by then.
  await use(1, '2025-08-01T23:59:59Z');
  await use(11, '2025-08-02T00:30:00Z');
  const [first, second] = [{ period_end: '2025-08-02T00:00:00.000Z' }, { period_start: '2025-08-02T00:00:00.000Z' }];
  expect(await crossingsOf(own, before)).toMatchObject([first]);
  expect(await crossingsOf(own, alert)).toMatchObject([{ ...second, threshold: '11' }]);
});

test('a customer that is renamed crosses nothing again when its usage is moved along', async () => {
  const meter = await own.meter();
  const { id: customer_id, external_id: former } = await own.customer({ name: 'Renamed' });
  const alert = await makeAlert(own, { meter_id: meter.id }, [10, 20]);
  await own.track([{ meter, customer: former, quantity: 15, at: '2025-08-02T00:00:00Z' }]);
  expect(await thresholdsCrossed(own, alert)).toEqual(['10']);
  const renamed = await own.request('PATCH', `/customers/${customer_id}`, { external_id: 'a new name' });
  expect(renamed.status).toBe(200);
  await own.post('/usage-moves', { from_external_id: former, to_external_id: 'a new name' }, 202);
  await performAllMoves(own.database);
  expect(await crossingsOf(own, alert)).toMatchObject([{ customer_external_id: former, customer_id, threshold: '10' }]);
  await own.track([{ meter, customer: 'a new name', quantity: 5, at: '2025-08-02T00:00:00Z' }]);
  expect(await thresholdsCrossed(own, alert)).toEqual(['10', '20']);
});

test('an alert that was there tells of the month just over, also when renamed or sent what it has', async () => {
  const meter = await own.meter();
  const { id: customer_id } = await own.customer();
  await weir.pool.query(`UPDATE organizations SET time_zone = 'UTC' WHERE id = $1`, [own.admin.id]);
  await own.moveTo('2025-08-10T00:00:00Z');
  const renamed = await makeAlert(own, { meter_id: meter.id, customer_id }, [10]);
  const resent = await makeAlert(own, { meter_id: meter.id }, [16]);
  const use = (quantity: number) =>
    own.track([{ meter, customer: 'known later', quantity, at: '2025-08-20T00:00:00Z' }]);
  await use(15);
  for (const alert of [renamed, resent]) expect(await crossingsOf(own, alert)).toEqual([]);
  await own.moveTo('2025-09-01T01:00:00Z');
  const changed = await own.request('PATCH', `/customers/${customer_id}`, { external_id: 'known later' });
  expect(changed.status).toBe(200);
  const august = { period_end: '2025-09-01T00:00:00.000Z' };
  expect(await crossingsOf(own, renamed)).toMatchObject([{ ...august, threshold: '10' }]);
  const same = { status: 'ACTIVE', thresholds: [16] };
  expect((await own.request('PATCH', `/alerts/${resent}`, same)).status).toBe(200);
  await use(1);
  expect(await crossingsOf(own, resent)).toMatchObject([{ ...august, threshold: '16' }]);
});
