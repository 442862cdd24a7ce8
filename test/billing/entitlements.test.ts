// What a customer may use: each reason, the windows of limits, and that it is exact and fresh.

import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertSubscriptionRow } from '../support/billing-fixture.ts';
import { setBillingTime, shiftBillingTime } from '../support/billing-time.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, startWeir, type Answer, type Organization, type Weir } from '../support/harness.ts';

let weir: Weir;
let admin: Organization;
let apiKey: string;

beforeAll(async () => {
  weir = await startWeir();
  admin = await signUp(weir);
  apiKey = await admin.createKey();
});
afterAll(() => weir.close());

const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, { session: admin.session, ...(body !== undefined && { body }) });

const create = async (path: string, body: object): Promise<{ id: string } & Record<string, string>> => {
  const answer = await send('POST', path, body);
  if (answer.status !== 201) throw new Error(`${path} answered ${JSON.stringify(answer.body)}`);
  return answer.body;
};

let made = 0;
const name = (what: string): string => `${what}-${(made += 1)}`;

const newPlan = async (): Promise<string> => {
  const fields = { name: 'Plan', type: 'HYBRID', billing_interval: 'month', currency: 'USD' };
  return (await create('/plans', { ...fields, lookup_id: name('plan') })).id;
};

interface Feature {
  id: string;
  key: string;
  token: string;
}

async function newFeature(aggregation_type?: string, type = aggregation_type === undefined ? 'switch' : 'meter') {
  const key = name('feature');
  const meter = aggregation_type !== undefined && { aggregation_type };
  const feature = await create('/features', { name: 'Feature', lookup_key: key, type, ...meter });
  return { id: feature.id, key, token: feature['meter_token'] ?? '' } satisfies Feature;
}

const include = (planId: string, feature: Feature, terms: object = {}) =>
  create(`/plans/${planId}/features`, { feature_id: feature.id, ...terms });

interface Customer {
  id: string;
  externalId: string;
  subscribe(planId: string, fields?: object): Promise<string>;
  use(feature: Feature, quantity: number, fields?: object): Promise<void>;
  ask(feature?: Feature | string, quantity?: string): Promise<Answer>;
}

async function newCustomer(): Promise<Customer> {
  const externalId = name('customer');
  const { id } = await create('/customers', { external_id: externalId });
  return {
    id,
    externalId,
    subscribe: (planId, fields) =>
      insertSubscriptionRow(weir.pool, admin.id, {
        planId,
        customer: { id, external_id: externalId },
        start_at: '2023-01-15T10:00:00Z',
        anchor: '2023-01-15',
        // Later ones are newer, as they are when the API makes them.
        id: newId(),
        ...fields,
      }),
    async use({ token }, quantity, fields) {
      const body = { meter_token: token, customer_external_id: externalId, quantity, ...fields };
      const { status } = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
      expect(status).toBe(201);
      await weir.drained();
    },
    ask: (feature, quantity) => ask(externalId, feature, quantity),
  };
}

const ask = (externalId: string, feature?: Feature | string, quantity?: string): Promise<Answer> => {
  const query = new URLSearchParams({ customer_external_id: externalId });
  if (feature !== undefined) query.set('feature', typeof feature === 'string' ? feature : feature.key);
  if (quantity !== undefined) query.set('quantity', quantity);
  return weir.request('GET', `/api/v1/entitlements?${String(query)}`, { apiKey });
};

/** A customer subscribed to a plan with one metered feature. */
async function metered(terms: object, aggregation = 'SUM', fields: object = {}) {
  const [plan, feature, customer] = [await newPlan(), await newFeature(aggregation), await newCustomer()];
  await include(plan, feature, terms);
  const subscription = await customer.subscribe(plan, fields);
  return { plan, feature, customer, subscription };
}

const NOTHING = { limit: null, usage: null, remaining: null, overage: null, period_start: null, resets_at: null };

describe('each reason', () => {
  test('ok: a subscription has the feature', async () => {
    const [plan, feature, customer] = [await newPlan(), await newFeature(), await newCustomer()];
    await include(plan, feature);
    await customer.subscribe(plan);
    const { status, body } = await customer.ask(feature);
    expect([status, body]).toEqual([
      200,
      {
        feature: feature.key,
        type: 'switch',
        has_access: true,
        reason: 'ok',
        ...NOTHING,
        is_soft_limit: false,
        static_value: null,
        as_of: expect.stringMatching(/Z$/),
        queued_since: null,
      },
    ]);
  });

  test('no_subscription: the customer has none, or has no record at all', async () => {
    const [feature, customer] = [await newFeature('SUM'), await newCustomer()];
    for (const externalId of [customer.externalId, 'nobody-knows-me']) {
      const { status, body } = await ask(externalId, feature, '5');
      expect(status).toBe(200);
      expect(body).toMatchObject({ has_access: false, reason: 'no_subscription', ...NOTHING, queued_since: null });
    }
  });

  test('not_in_plan: no plan of the subscriptions has the feature', async () => {
    const { customer } = await metered({});
    const { body } = await customer.ask(await newFeature('COUNT'));
    expect(body).toMatchObject({ has_access: false, reason: 'not_in_plan', ...NOTHING });
  });

  test('disabled: the plan has it, and has it switched off', async () => {
    const { customer, feature } = await metered({ is_enabled: false, usage_limit: 10 });
    expect((await customer.ask(feature)).body).toMatchObject({ has_access: false, reason: 'disabled', limit: '10' });
  });

  test('limit_reached: from the limit on, and not before', async () => {
    const { customer, feature } = await metered({ usage_limit: 10 });
    await customer.use(feature, 9.5);
    expect((await customer.ask(feature)).body).toMatchObject({
      has_access: true,
      reason: 'ok',
      limit: '10',
      usage: '9.5',
      remaining: '0.5',
      overage: '0',
    });
    await customer.use(feature, 0.5);
    expect((await customer.ask(feature)).body).toMatchObject({
      has_access: false,
      reason: 'limit_reached',
      usage: '10',
      remaining: '0',
      overage: '0',
    });
  });
});

describe('a limit', () => {
  test('of 0 lets nothing through', async () => {
    const { customer, feature } = await metered({ usage_limit: 0 });
    expect((await customer.ask(feature)).body).toMatchObject({
      has_access: false,
      reason: 'limit_reached',
      limit: '0',
    });
  });

  test('that there is not lets everything through, and says what was used', async () => {
    const { customer, feature } = await metered({ usage_limit: null });
    await customer.use(feature, 1_000_000);
    expect((await customer.ask(feature, '99999999999999999999999999999999')).body).toMatchObject({
      has_access: true,
      reason: 'ok',
      limit: null,
      usage: '1000000',
      remaining: null,
      overage: null,
    });
  });

  test('that is soft lets usage go on, and says by how much it is over', async () => {
    const { customer, feature } = await metered({ usage_limit: 10, is_soft_limit: true });
    await customer.use(feature, 12.25);
    expect((await customer.ask(feature, '5')).body).toMatchObject({
      has_access: true,
      reason: 'ok',
      is_soft_limit: true,
      remaining: '0',
      overage: '2.25',
    });
  });

  test('is held against a quantity that is about to be used: all of it must fit, exactly', async () => {
    const { customer, feature } = await metered({ usage_limit: 10 });
    await customer.use(feature, 9);
    expect((await customer.ask(feature, '1')).body.has_access).toBe(true);
    expect((await customer.ask(feature, '1.000000000000000000')).body.has_access).toBe(true);
    expect((await customer.ask(feature, '1.000000000000000001')).body).toMatchObject({
      has_access: false,
      reason: 'limit_reached',
      usage: '9',
      remaining: '1',
    });
  });

  test('that changes in the plan holds at once', async () => {
    const { customer, feature, plan } = await metered({ usage_limit: 1 });
    await customer.use(feature, 5);
    expect((await customer.ask(feature)).body.reason).toBe('limit_reached');
    await send('DELETE', `/plans/${plan}/features/${feature.id}`);
    expect((await customer.ask(feature)).body.reason).toBe('not_in_plan');
    await include(plan, feature, { usage_limit: 6 });
    expect((await customer.ask(feature)).body).toMatchObject({ reason: 'ok', usage: '5', remaining: '1' });
  });

  test.each([
    ['COUNT', '3'],
    ['SUM', '7.5'],
    ['MAX', '4'],
    ['MIN', '1.5'],
    ['AVG', '2.5'],
    ['LAST', '2'],
    ['UNIQUE_COUNT', '2'],
  ])('is held against what the meter reads: %s', async (aggregation, expected) => {
    const { customer, feature } = await metered({ usage_limit: 100 }, aggregation);
    expect((await customer.ask(feature)).body.usage).toBe('0');
    for (const [quantity, user_id] of [
      [4, 'ada'],
      [1.5, 'ben'],
      [2, 'ada'],
    ] as const)
      await customer.use(feature, quantity, { metadata: { user_id } });
    expect((await customer.ask(feature)).body.usage).toBe(expected);
  });

  test('counts the usage of its own customer only', async () => {
    const { plan, feature, customer } = await metered({ usage_limit: 10 });
    const other = await newCustomer();
    await other.subscribe(plan);
    await other.use(feature, 8);
    expect([(await customer.ask(feature)).body.usage, (await other.ask(feature)).body.usage]).toEqual(['0', '8']);
  });
});

describe('a feature without a meter', () => {
  test('of type custom has the value of its plan, and no usage', async () => {
    const [plan, feature, customer] = [await newPlan(), await newFeature(undefined, 'custom'), await newCustomer()];
    await include(plan, feature, { static_value: '30 days', usage_limit: 3 });
    await customer.subscribe(plan);
    expect((await customer.ask(feature, '5')).body).toMatchObject({
      type: 'custom',
      has_access: true,
      static_value: '30 days',
      ...NOTHING,
    });
  });
});

describe('a subscription', () => {
  test.each(['TRIAL', 'ACTIVE', 'PAST_DUE'] as const)('that is %s gives its features', async (status) => {
    const { customer, feature } = await metered({}, 'SUM', { status });
    expect((await customer.ask(feature)).body).toMatchObject({ has_access: true, reason: 'ok' });
  });

  test('that is CANCELED gives none', async () => {
    const fields = { status: 'CANCELED', ended_at: '2023-02-15T00:00:00Z' };
    const { customer, feature } = await metered({}, 'SUM', fields);
    expect((await customer.ask(feature)).body.reason).toBe('no_subscription');
  });

  test('gives its features up to its end, exclusive, also before the run has seen that', async () => {
    const { customer, feature } = await metered({}, 'SUM', { ended_at: '2100-01-01T00:00:00Z' });
    try {
      await setBillingTime(weir.pool, '2099-12-31T23:59:59.999999Z');
      expect((await customer.ask(feature)).body.reason).toBe('ok');
      await setBillingTime(weir.pool, '2100-01-01T00:00:00Z');
      expect((await customer.ask(feature)).body.reason).toBe('no_subscription');
    } finally {
      await shiftBillingTime(weir.pool);
    }
  });

  test('that is the newest of those with the feature decides', async () => {
    const [older, newer, without] = [await newPlan(), await newPlan(), await newPlan()];
    const [feature, customer] = [await newFeature('SUM'), await newCustomer()];
    await include(older, feature, { usage_limit: 1_000 });
    await include(newer, feature, { usage_limit: 5 });
    await customer.subscribe(older);
    await customer.subscribe(newer);
    await customer.subscribe(without);
    expect((await customer.ask(feature)).body).toMatchObject({ limit: '5' });
    await customer.subscribe(newer, { status: 'CANCELED', ended_at: '2023-02-15T00:00:00Z' });
    expect((await customer.ask(feature)).body).toMatchObject({ limit: '5' });
  });

  test('of a customer with the same external id in another organization gives nothing here', async () => {
    const { customer, feature } = await metered({});
    const stranger = await signUp(weir);
    const query = `customer_external_id=${customer.externalId}`;
    const all = await weir.request('GET', `/api/v1/entitlements?${query}`, { session: stranger.session });
    expect([all.status, all.body]).toEqual([200, { data: [] }]);
    const one = await weir.request('GET', `/api/v1/entitlements?${query}&feature=${feature.key}`, {
      session: stranger.session,
    });
    expectProblem(one, 404, 'not_found');
  });
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
    const { customer, feature } = await metered({ usage_limit: 10, usage_reset_period: reset }, 'SUM', fields);
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
    const { customer, feature } = await metered({ usage_reset_period: 'month' }, 'SUM', fields);
    try {
      await setBillingTime(weir.pool, '2023-03-30T09:30:00Z');
      const { body } = await customer.ask(feature);
      expect([body.period_start, body.resets_at]).toEqual(['2023-03-01T00:00:00.000Z', '2023-04-01T00:00:00.000Z']);
    } finally {
      await shiftBillingTime(weir.pool);
    }
  });

  test('begins at 0 again when it resets', async () => {
    const { customer, feature } = await metered({ usage_limit: 5, usage_reset_period: 'month' });
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

describe('all entitlements of a customer', () => {
  test('are those of the plans of its subscriptions, each as it is alone', async () => {
    const [plan, customer] = [await newPlan(), await newCustomer()];
    const features = [
      await newFeature('SUM'),
      await newFeature(),
      await newFeature('UNIQUE_COUNT'),
      await newFeature('MAX'),
    ];
    for (const feature of features) await include(plan, feature, { usage_limit: 10 });
    await newFeature();
    const id = await customer.subscribe(plan);
    for (const feature of features.filter(({ token }) => token !== ''))
      await customer.use(feature, 3, { metadata: { user_id: 'ada' } });
    const { status, body } = await customer.ask();
    expect(status).toBe(200);
    expect(body.data.map(({ feature, usage }: Record<string, string>) => [feature, usage])).toEqual([
      [features[0]?.key, '3'],
      [features[1]?.key, null],
      [features[2]?.key, '1'],
      [features[3]?.key, '3'],
    ]);
    for (const each of body.data) {
      const alone = (await customer.ask(String(each.feature))).body;
      expect({ ...alone, as_of: '' }).toEqual({ ...each, as_of: '' });
    }
    expect(id).not.toBe('');
  });

  test('are none without a subscription', async () => {
    expect((await (await newCustomer()).ask()).body).toEqual({ data: [] });
    expect((await ask('nobody-knows-me')).body).toEqual({ data: [] });
  });

  test('are the same by the id of the customer', async () => {
    const { customer, feature } = await metered({ usage_limit: 10 });
    await customer.use(feature, 4);
    const path = `/customers/${customer.id}/entitlements`;
    const without = ({ body }: Answer) => JSON.parse(JSON.stringify(body).replace(/"as_of":"[^"]*"/g, '"as_of":""'));
    expect(without(await send('GET', path))).toEqual(without(await customer.ask()));
    const one = `${path}?feature=${feature.key}&quantity=7`;
    expect((await send('GET', one)).body).toMatchObject({ has_access: false, reason: 'limit_reached', usage: '4' });
    expect(without(await send('GET', one))).toEqual(without(await customer.ask(feature, '7')));
  });
});

describe('refused is', () => {
  test('an unknown lookup_key, with 404', async () => {
    const { customer } = await metered({});
    expectProblem(await customer.ask('no-such-feature'), 404, 'not_found');
    expectProblem(await send('GET', `/customers/${customer.id}/entitlements?feature=none`), 404, 'not_found');
  });

  test('an unknown customer id, with 404', async () => {
    expectProblem(await send('GET', '/customers/01890000-0000-7000-8000-000000000005/entitlements'), 404, 'not_found');
  });

  test('a request without customer_external_id, with 422', async () => {
    const answer = await send('GET', '/entitlements');
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('customer_external_id');
  });

  test.each(['0', '0.0', '-1', '1e3', '', 'many', `1${'0'.repeat(32)}`, '0.0000000000000000001'])(
    'the quantity %j, with 422',
    async (quantity) => {
      const answer = await ask('nobody-knows-me', undefined, quantity);
      expectProblem(answer, 422, 'invalid_request');
      expect(answer.body.errors[0].path).toBe('quantity');
    },
  );

  test('an API key without usage.read, with 403', async () => {
    const writes = await admin.createKey('usage.write');
    for (const path of ['/entitlements?customer_external_id=x', '/customers/x/entitlements'])
      expectProblem(await weir.request('GET', `/api/v1${path}`, { apiKey: writes }), 403, 'missing_scope');
  });
});

describe('what is not recorded yet', () => {
  let idle: Weir;
  let organization: Organization;
  let key: string;
  let feature: { token: string; lookupKey: string };

  beforeAll(async () => {
    idle = await startWeir({ withWorker: false });
    organization = await signUp(idle);
    key = await organization.createKey();
    const { session } = organization;
    const post = async (path: string, body: object) =>
      (await idle.request('POST', `/api/v1${path}`, { session, body })).body;
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
  afterAll(() => idle.close());

  const track = (apiKey: string, token: string): Promise<Answer> => {
    const body = { meter_token: token, customer_external_id: 'acme', quantity: 1 };
    return idle.request('POST', '/api/v1/sdk/track', { apiKey, body });
  };
  const askIdle = (query = '&feature=calls'): Promise<Answer> =>
    idle.request('GET', `/api/v1/entitlements?customer_external_id=acme${query}`, { apiKey: key });

  test('is told by queued_since: the time of receipt of the oldest event that waits, and null once it is counted', async () => {
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
  const { customer, feature } = await metered({ usage_limit: null, usage_reset_period: 'day' });
  for (let n = 1; n <= 10; n += 1) {
    await customer.use(feature, 1);
    const answers = await Promise.all(Array.from({ length: 4 }, () => customer.ask(feature)));
    expect(answers.map(({ body }) => body.usage)).toEqual(Array(4).fill(String(n)));
  }
});
