// The windows in which limits count usage, and that it is exact and fresh.

import { beforeAll, describe, expect, test } from 'vitest';
import { insertSubscriptionRow } from '../support/billing-fixture.ts';
import { setBillingTime, shiftBillingTime } from '../support/billing-time.ts';
import { entitling, type Entitling } from '../support/entitling.ts';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let admin: Organization;
let here: Entitling;

beforeAll(async () => {
  admin = await signUp(weir);
  here = entitling(weir, admin, await admin.createKey());
});

describe('the window of a limit', () => {
  const at = (timestamp: string) => ({ timestamp });

  test.each([
    [null, '2023-01-31T10:00:00.000Z', null],
    ['hour', '2023-03-30T09:00:00.000Z', '2023-03-30T10:00:00.000Z'],
    ['day', '2023-03-29T22:00:00.000Z', '2023-03-30T22:00:00.000Z'],
    // From Tuesday 31 January on: the last of these Tuesdays was the 28th.
    ['week', '2023-03-27T22:00:00.000Z', '2023-04-03T22:00:00.000Z'],
    // The 31st, which February lacks: its last day.
    ['month', '2023-02-27T23:00:00.000Z', '2023-03-30T22:00:00.000Z'],
    // It does not begin before the subscription does, in the middle of a day.
    ['year', '2023-01-31T10:00:00.000Z', '2024-01-30T23:00:00.000Z'],
  ])('with a reset by %s is counted from the anchor, in the zone: from %s to %s', async (reset, start, end) => {
    const fields = { time_zone: 'Europe/Berlin', start_at: '2023-01-31T10:00:00Z', anchor: '2023-01-31' };
    const { customer, feature } = await here.metered({ usage_limit: 10, usage_reset_period: reset }, 'SUM', fields);
    const before = new Date(Date.parse(start) - 1).toISOString();
    for (const timestamp of [before, start]) await customer.use(feature, 1, at(timestamp));
    if (end !== null) await customer.use(feature, 4, at(end));
    try {
      await setBillingTime(weir.pool, '2023-03-30T09:30:00Z');
      const { body } = await customer.ask(feature);
      expect([body.period_start, body.resets_at, body.usage]).toEqual([start, end, '1']);
    } finally {
      await shiftBillingTime(weir.pool);
    }
  });

  test('follows the calendar where the periods do', async () => {
    const fields = { billing_alignment: 'calendar', start_at: '2023-01-31T10:00:00Z', anchor: '2023-01-31' };
    const { customer, feature } = await here.metered({ usage_reset_period: 'month' }, 'SUM', fields);
    try {
      await setBillingTime(weir.pool, '2023-03-30T09:30:00Z');
      const { body } = await customer.ask(feature);
      expect([body.period_start, body.resets_at]).toEqual(['2023-03-01T00:00:00.000Z', '2023-04-01T00:00:00.000Z']);
    } finally {
      await shiftBillingTime(weir.pool);
    }
  });

  test.each([
    ['month', '2023-03-27T22:00:00.000Z'],
    ['year', '2023-03-31T22:00:00.000Z'],
  ])('of a plan of %sly periods that it has gone over to is counted from its anchor', async (interval, start) => {
    const { plan, customer, feature } = await here.metered({});
    const next = await here.newPlan({ billing_interval: interval });
    await here.include(next, feature, { usage_limit: 10, usage_reset_period: 'month' });
    await customer.subscribe(plan, {
      time_zone: 'Europe/Berlin',
      start_at: '2023-01-28T10:00:00Z',
      anchor: '2023-01-28',
      pending_plan_id: next,
      current_period_start: '2023-01-28T10:00:00Z',
      current_period_end: '2023-02-28T23:30:00Z',
    });
    try {
      await setBillingTime(weir.pool, '2023-04-10T00:00:00Z');
      expect((await customer.ask(feature)).body.period_start).toBe(start);
    } finally {
      await shiftBillingTime(weir.pool);
    }
  });

  test('begins at 0 again when it resets', async () => {
    const { customer, feature } = await here.metered({ usage_limit: 5, usage_reset_period: 'month' });
    await customer.use(feature, 5, at('2023-02-20T00:00:00Z'));
    try {
      await setBillingTime(weir.pool, '2023-03-14T23:59:59.999999Z');
      expect((await customer.ask(feature)).body).toMatchObject({ reason: 'limit_reached', usage: '5' });
      await setBillingTime(weir.pool, '2023-03-15T00:00:00Z');
      expect((await customer.ask(feature)).body).toMatchObject({ reason: 'ok', usage: '0' });
    } finally {
      await shiftBillingTime(weir.pool);
    }
  });
});

describe('what is not recorded yet', () => {
  const idle = ownWeir({ withWorker: false });
  let organization: Organization;
  let key: string;
  let feature: { token: string; lookupKey: string };

  beforeAll(async () => {
    organization = await signUp(idle);
    key = await organization.createKey();
    const post = (path: string, body: object) => organization.call('POST', path, body);
    const made = await post('/features', {
      name: 'Calls',
      lookup_key: 'calls',
      type: 'meter',
      aggregation_type: 'SUM',
    });
    const terms = { name: 'Plan', lookup_id: 'plan', type: 'USAGE', billing_interval: 'month', currency: 'USD' };
    const plan = await post('/plans', terms);
    await post(`/plans/${plan.id}/features`, { feature_id: made.id, usage_limit: 10 });
    const customer = await post('/customers', { external_id: 'acme' });
    await insertSubscriptionRow(idle.pool, organization.id, {
      planId: plan.id,
      customer,
      start_at: '2023-01-15T10:00:00Z',
    });
    feature = { token: made.meter_token, lookupKey: made.lookup_key };
  });

  const track = (apiKey: string, token: string): Promise<Answer> => {
    const body = { meter_token: token, customer_external_id: 'acme', quantity: 1 };
    return idle.request('POST', '/api/v1/sdk/track', { apiKey, body });
  };
  const askIdle = (query = '&feature=calls'): Promise<Answer> =>
    idle.request('GET', `/api/v1/entitlements?customer_external_id=acme${query}`, { apiKey: key });

  test('is told by queued_since: the receipt of the oldest event that waits, null once it is counted', async () => {
    expect((await askIdle()).body).toMatchObject({ usage: '0', queued_since: null });
    const { body: event } = await track(key, feature.token);
    const receipt = await idle.request('GET', `/api/v1/events/${event.id}`, { apiKey: key });
    await track(key, feature.token);
    const { body } = await askIdle();
    expect(body).toMatchObject({ usage: '0', queued_since: receipt.body.received_at });
    const inList = (await askIdle('')).body.data[0];
    expect(inList.queued_since).toBe(receipt.body.received_at);
    const worker = await idle.startWorker();
    await idle.drained();
    expect((await askIdle()).body).toMatchObject({ usage: '2', queued_since: null });
    await worker.close();
  });

  test('of another organization is not told', async () => {
    const stranger = await signUp(idle);
    const { token } = await stranger.createMeter('SUM');
    expect((await track(await stranger.createKey(), token)).status).toBe(201);
    expect(await idle.stagedEvents()).toBe(1);
    expect((await askIdle()).body.queued_since).toBeNull();
  });
});

test('an event that was recorded before the question is in the answer, however often both come at once', async () => {
  const { customer, feature } = await here.metered({ usage_limit: null, usage_reset_period: 'day' });
  for (let n = 1; n <= 10; n += 1) {
    await customer.use(feature, 1);
    const answers = await Promise.all(Array.from({ length: 4 }, () => customer.ask(feature)));
    expect(answers.map(({ body }) => body.usage)).toEqual(Array(4).fill(String(n)));
  }
});
