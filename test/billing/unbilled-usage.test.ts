// Usage of a priced meter that no charge bills is told: in a list, in the feed once a month, and as a metric.

import { countBilledEvents } from '@weir/db/billing/checks/billed-events';
import { countUnbilledMeters, writeLook } from '@weir/db/billing/usage/unbilled-usage';
import { beforeEach, describe, expect, test } from 'vitest';
import { openRun, type BillingRun } from '../support/billing-run.ts';
import { expectDocumentedFeed } from '../support/documented-feed.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp } from '../support/harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();

let billing: Invoicing;
let run: BillingRun;
let meter: PricedMeter;
let plan: { id: string; charges: string[] };
beforeEach(async () => {
  billing = await startInvoicing(weir);
  run = openRun(weir, billing.database);
  await billing.moveTo('2025-01-01T00:00:00Z');
  meter = await billing.meter('SUM');
  plan = await billing.plan([calls('1')]);
  return async () => {
    await weir.pool.query('UPDATE subscriptions SET run_at = NULL');
    await weir.pool.query('TRUNCATE unbilled_usage_looks');
    await billing.close();
  };
});

const calls = (unit_price: string, more: object = {}) => ({
  type: 'USAGE',
  display_name: 'Calls',
  meter_id: meter.id,
  unit_price,
  ...more,
});

const base = { type: 'FIXED', display_name: 'Base', unit_price: '1' };

async function subscribe(start_date = '2025-01-01', fields: object = {}) {
  const customer = await billing.customer();
  const { id } = await billing.subscribe(plan.id, customer.id, { start_date, ...fields });
  return { id, customer: customer.external_id };
}

const use = (customer: string, at: string, quantity = 1) => billing.track([{ meter, customer, quantity, at }]);

/** Moves time, opens what has begun, and does the look of the day to its end. */
async function look(at: string): Promise<void> {
  await billing.moveTo(at);
  for (let jobs = (await run.find()).filter(({ task }) => task === 'open'); jobs.length > 0;)
    jobs = (await Promise.all(jobs.map((job) => run.perform(job)))).flat().filter(({ task }) => task === 'open');
  await lookUnopened(at);
}

/** The same where the run has opened nothing. */
async function lookUnopened(at: string): Promise<void> {
  await billing.moveTo(at);
  for (let jobs = await run.findLooks(); jobs.length > 0;)
    jobs = (await Promise.all(jobs.map((job) => run.perform(job)))).flat();
}

/** What `npm run reconcile` says of the same events. */
async function reconciled(): Promise<Record<string, number>> {
  const { months } = await countBilledEvents(billing.database, { organizationId: billing.admin.id });
  return Object.fromEntries(months.flatMap(({ fates }) => Object.entries(fates)).filter(([, events]) => events > 0));
}

const listed = async (month?: string) =>
  (await billing.get(`/billing/unbilled-usage${month === undefined ? '' : `?month=${month}`}`)).data;
const told = async () => {
  const { data } = await billing.get('/billing-events?limit=1000');
  return data.filter(({ type }: { type: string }) => type === 'usage.unpriced');
};
const endPrice = () => billing.request('PATCH', `/plans/${plan.id}/charges/${plan.charges[0]}`, { status: 'INACTIVE' });

describe('usage that nothing bills is told', () => {
  test('once where a charge ends without another: from the next period on, until a new one bills it', async () => {
    const { customer } = await subscribe();
    await billing.moveTo('2025-01-20T00:00:00Z');
    await use(customer, '2025-01-10T12:00:00Z');
    await endPrice();
    await use(customer, '2025-01-25T12:00:00Z');
    await look('2025-01-26T01:00:00Z');
    expect([await told(), await listed(), await countUnbilledMeters(billing.database.kysely)]).toEqual([[], [], 0]);

    await look('2025-02-01T01:00:00Z');
    await billing.track([
      { meter, customer, quantity: 5, at: '2025-02-01T08:00:00Z' },
      { meter, customer, quantity: 7, at: '2025-02-01T09:00:00Z' },
    ]);
    await look('2025-02-02T01:00:00Z');
    const found = { meter_id: meter.id, reason: 'price_ended', events: 2, customers: 1 };
    expect(await listed()).toEqual([
      { ...found, meter_name: expect.any(String), since: '2025-02-01', until: '2025-02-01' },
    ]);
    expect(await told()).toMatchObject([{ actor: 'weir', data: { ...found, month: '2025-02', day: '2025-02-01' } }]);
    expect(await countUnbilledMeters(billing.database.kysely)).toBe(1);

    await use(customer, '2025-02-02T08:00:00Z');
    await billing.moveTo('2025-02-03T00:30:00Z');
    await billing.post(`/plans/${plan.id}/charges`, calls('2'), 201);
    await look('2025-02-03T01:00:00Z');
    await look('2025-02-03T02:00:00Z');
    expect(await listed()).toMatchObject([{ ...found, events: 3, until: '2025-02-02' }]);
    expect(await told()).toHaveLength(1);

    await look('2025-03-01T01:00:00Z');
    await use(customer, '2025-03-01T08:00:00Z');
    await look('2025-03-02T01:00:00Z');
    expect(await listed()).toEqual([]);
    expect(await listed('2025-02')).toMatchObject([{ ...found, events: 3 }]);
    expect(await told()).toHaveLength(1);
    expect(await countUnbilledMeters(billing.database.kysely)).toBe(0);
  });

  test('again in the next month, where still nothing bills it', async () => {
    const { customer } = await subscribe();
    await billing.moveTo('2025-01-20T00:00:00Z');
    await endPrice();
    await look('2025-02-02T00:00:00Z');
    await use(customer, '2025-02-02T08:00:00Z');
    await look('2025-02-03T01:00:00Z');
    await look('2025-03-02T00:00:00Z');
    await use(customer, '2025-03-02T08:00:00Z');
    await look('2025-03-03T01:00:00Z');
    const months = (await told()).map(({ data }: { data: { month: string } }) => data.month);
    expect(months).toEqual(['2025-02', '2025-03']);
  });

  test('of a customer without a subscription, and of one whose subscription has ended, each with its reason', async () => {
    await subscribe();
    const left = await subscribe();
    await billing.moveTo('2025-01-05T00:00:00Z');
    await billing.post(`/subscriptions/${left.id}/cancel`, { cancel_at_period_end: false });
    await billing.moveTo('2025-01-07T20:00:00Z');
    await use(left.customer, '2025-01-07T08:00:00Z');
    await use('stranger', '2025-01-07T08:00:00Z');
    await look('2025-01-08T01:00:00Z');
    const reasons = ['after_end', 'no_subscription'];
    const sorted = (rows: { reason: string }[]) => rows.map(({ reason }) => reason).sort();
    expect(sorted(await listed())).toEqual(reasons);
    expect(sorted((await told()).map(({ data }: { data: { reason: string } }) => data))).toEqual(reasons);
    expect(await countUnbilledMeters(billing.database.kysely)).toBe(1);
  });

  test('of one whose only subscription was canceled before its start', async () => {
    const { id, customer } = await subscribe('2025-06-01');
    await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
    await use(customer, '2025-01-07T08:00:00Z');
    await look('2025-01-08T01:00:00Z');
    expect(await listed()).toMatchObject([{ reason: 'after_end', events: 1 }]);
    expect(await told()).toMatchObject([{ data: { reason: 'after_end', day: '2025-01-07' } }]);
    expect(await reconciled()).toEqual({ after_end: 1 });
  });

  test('but not of one whose start was put off: canceled, and made again for a later day', async () => {
    const { id, customer } = await subscribe('2025-02-01');
    await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
    await billing.subscribe(plan.id, (await billing.get(`/subscriptions/${id}`)).customer_id, {
      start_date: '2025-02-15',
    });
    await use(customer, '2025-01-07T08:00:00Z');
    await look('2025-01-08T01:00:00Z');
    expect([await listed(), await told()]).toEqual([[], []]);
  });

  test('where a price ended, also of who is in a trial of a plan that never had one', async () => {
    const { id } = await billing.customer({ external_id: 'both' });
    await billing.subscribe(plan.id, id, { start_date: '2025-01-01' });
    const other = await billing.plan([base]);
    await billing.subscribe(other.id, id, { start_date: '2025-01-01', trial_end_date: '2025-03-15' });
    await billing.moveTo('2025-01-20T00:00:00Z');
    await endPrice();
    await look('2025-02-02T00:00:00Z');
    await use('both', '2025-02-02T08:00:00Z');
    await look('2025-02-03T01:00:00Z');
    expect(await listed()).toMatchObject([{ reason: 'price_ended', events: 1 }]);
    expect(await told()).toMatchObject([{ data: { reason: 'price_ended', day: '2025-02-02' } }]);
    expect(await reconciled()).toEqual({ not_priced: 1 });
  });

  test('where a price ended before a period that the run has not opened', async () => {
    const { customer } = await subscribe();
    await billing.moveTo('2025-01-20T00:00:00Z');
    await endPrice();
    await billing.moveTo('2025-02-02T20:00:00Z');
    await use(customer, '2025-02-02T08:00:00Z');
    await lookUnopened('2025-02-03T01:00:00Z');
    expect(await listed()).toMatchObject([{ reason: 'price_ended', events: 1 }]);
    expect(await told()).toMatchObject([{ data: { reason: 'price_ended', day: '2025-02-02' } }]);
    expect(await reconciled()).toEqual({ not_priced: 1 });
  });

  test('no longer where a subscription with a start in the past bills it by now', async () => {
    await subscribe();
    const customer = await billing.customer();
    await billing.moveTo('2025-01-10T00:00:00Z');
    await use(customer.external_id, '2025-01-02T08:00:00Z');
    await look('2025-01-10T01:00:00Z');
    expect(await listed()).toMatchObject([{ reason: 'no_subscription' }]);
    await billing.subscribe(plan.id, customer.id, { start_date: '2025-01-01' });
    await look('2025-01-11T01:00:00Z');
    expect(await listed()).toEqual([]);
  });

  test('by the metric also where the last looks have failed, at the same days as well', async () => {
    // A month of its own: the metric counts all organizations, and looks of other tests are at all of January.
    await billing.moveTo('2025-06-10T00:00:00Z');
    await subscribe('2025-06-01');
    await use('stranger', '2025-06-09T08:00:00Z');
    await look('2025-06-10T01:00:00Z');
    await billing.moveTo('2025-06-11T01:00:00Z');
    for (const day of ['2025-06-09', '2025-06-10'])
      await writeLook(billing.database.kysely, billing.admin.id, { meterId: meter.id, day }, { hasFailed: true });
    expect(await countUnbilledMeters(billing.database.kysely)).toBe(1);
  });

  test('where it comes a day late', async () => {
    await subscribe();
    await look('2025-01-08T01:00:00Z');
    await use('stranger', '2025-01-06T08:00:00Z');
    await look('2025-01-09T01:00:00Z');
    expect(await listed()).toMatchObject([{ reason: 'no_subscription', events: 1 }]);
  });
});

describe('nothing is told', () => {
  const all = async () => [await told(), await listed(), await countUnbilledMeters(billing.database.kysely)];
  const nothing = [[], [], 0];

  test('of a trial, of usage before the start, of a day that is not over, and of what is billed', async () => {
    const billed = await subscribe();
    plan = await billing.plan([calls('1')], { trial_days: 30 });
    const trial = await subscribe();
    await billing.moveTo('2025-01-12T20:00:00Z');
    plan = await billing.plan([calls('1')]);
    const later = await subscribe('2025-01-10');
    for (const { customer } of [billed, trial, later]) await use(customer, '2025-01-09T08:00:00Z');
    await use('stranger', '2025-01-12T08:00:00Z');
    await look('2025-01-12T23:00:00Z');
    expect(await all()).toEqual(nothing);
  });

  test('of a trial whose plan gets the meter with the change to come, or had it when the trial ended', async () => {
    const withMeter = plan.id;
    const without = await billing.plan([base]);
    const change = (id: string, plan_id: string, when: string) =>
      billing.post(`/subscriptions/${id}/change`, { plan_id, when });
    const had = await subscribe('2025-01-01', { trial_end_date: '2025-01-12' });
    plan = without;
    const gets = await subscribe('2025-01-01', { trial_end_date: '2025-01-31' });
    await change(gets.id, withMeter, 'period_end');
    await billing.moveTo('2025-01-11T20:00:00Z');
    for (const { customer } of [had, gets]) await use(customer, '2025-01-11T08:00:00Z');
    await look('2025-01-12T08:00:00Z');
    await change(had.id, without.id, 'now');
    await look('2025-01-13T01:00:00Z');
    expect([await told(), await listed()]).toEqual([[], []]);
    expect(await reconciled()).toEqual({ trial: 2 });
  });

  test('of a period that the run will open with a price, also one that ended since', async () => {
    const { customer } = await subscribe();
    await billing.moveTo('2025-02-02T20:00:00Z');
    await use(customer, '2025-02-02T08:00:00Z');
    await endPrice();
    await lookUnopened('2025-02-03T01:00:00Z');
    expect([await told(), await listed()]).toEqual([[], []]);
    expect(await reconciled()).toEqual({ not_opened: 1 });
  });

  test('of a meter whose only price is of a plan that nobody is on', async () => {
    await billing.moveTo('2025-01-12T00:00:00Z');
    await use('stranger', '2025-01-11T08:00:00Z');
    await look('2025-01-12T01:00:00Z');
    expect(await all()).toEqual(nothing);
  });

  test('of a plan that was made without the meter: it is only shown', async () => {
    await subscribe();
    plan = await billing.plan([base]);
    const { customer } = await subscribe();
    await billing.moveTo('2025-01-10T00:00:00Z');
    await use(customer, '2025-01-09T08:00:00Z');
    await look('2025-01-10T01:00:00Z');
    expect(await told()).toEqual([]);
    expect(await countUnbilledMeters(billing.database.kysely)).toBe(0);
    expect(await listed()).toMatchObject([{ reason: 'not_in_plan', events: 1 }]);
    await use('stranger', '2025-01-09T08:00:00Z');
    await look('2025-01-11T01:00:00Z');
    const reasons = async (isTold: boolean) =>
      (await billing.get(`/billing/unbilled-usage?is_told=${isTold}`)).data.map(
        ({ reason }: { reason: string }) => reason,
      );
    expect([await reasons(true), await reasons(false)]).toEqual([['no_subscription'], ['not_in_plan']]);
  });

  test('of a price that a plan got within the period and that was changed at once: it is only shown', async () => {
    // A month of its own: the metric counts what strangers of other tests used in January.
    await billing.moveTo('2025-04-01T00:00:00Z');
    plan = await billing.plan([]);
    const { customer } = await subscribe('2025-04-01');
    await billing.moveTo('2025-04-05T10:00:00Z');
    const { id: replaces } = await billing.post(`/plans/${plan.id}/charges`, calls('1'), 201);
    await billing.moveTo('2025-04-05T10:05:00Z');
    await billing.post(`/plans/${plan.id}/charges`, calls('2', { replaces }), 201);
    await look('2025-04-06T20:00:00Z');
    await use(customer, '2025-04-06T08:00:00Z');
    await look('2025-04-07T01:00:00Z');
    expect(await listed()).toMatchObject([{ reason: 'not_in_plan', events: 1 }]);
    expect([await told(), await countUnbilledMeters(billing.database.kysely)]).toEqual([[], 0]);
  });

  test('to another organization', async () => {
    await subscribe();
    await billing.moveTo('2025-01-10T00:00:00Z');
    await use('stranger', '2025-01-09T08:00:00Z');
    await look('2025-01-10T01:00:00Z');
    expect(await told()).toHaveLength(1);
    const { session } = await signUp(weir);
    const ask = (path: string) => weir.request('GET', `/api/v1${path}`, { session });
    expect((await ask('/billing/unbilled-usage?month=2025-01')).body).toMatchObject({ data: [], meta: { total: 0 } });
    expect((await ask('/billing-events')).body.data).toEqual([]);
  });
});

test.each(['2025', '2025-13', '2025-1', 'last', '2025-01-01', '%00'])('%s is no month', async (month) => {
  expectProblem(await billing.request('GET', `/billing/unbilled-usage?month=${month}`), 422, 'invalid_request');
});

test('what the feed told of it is what the document says', () => expectDocumentedFeed(weir, 'unbilled usage'));
