// What a customer may use: each reason, limits, and what is refused. Windows are in entitlement-windows.test.ts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setBillingTime, shiftBillingTime } from '../support/billing-time.ts';
import { entitling, type Entitling } from '../support/entitling.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let admin: Organization;
let here: Entitling;

beforeAll(async () => {
  admin = await signUp(weir);
  here = entitling(weir, admin, await admin.createKey());
});

const NOTHING = { limit: null, usage: null, remaining: null, overage: null, period_start: null, resets_at: null };

describe('each reason', () => {
  test('ok: a subscription has the feature', async () => {
    const [plan, feature, customer] = [await here.newPlan(), await here.newFeature(), await here.newCustomer()];
    await here.include(plan, feature);
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
    const [feature, customer] = [await here.newFeature('SUM'), await here.newCustomer()];
    for (const externalId of [customer.externalId, 'nobody-knows-me']) {
      const { status, body } = await here.ask(externalId, feature, '5');
      expect(status).toBe(200);
      expect(body).toMatchObject({ has_access: false, reason: 'no_subscription', ...NOTHING, queued_since: null });
    }
  });

  test('not_in_plan: no plan of the subscriptions has the feature', async () => {
    const { customer } = await here.metered({});
    const { body } = await customer.ask(await here.newFeature('COUNT'));
    expect(body).toMatchObject({ has_access: false, reason: 'not_in_plan', ...NOTHING });
  });

  test('disabled: the plan has it, and has it switched off', async () => {
    const { customer, feature } = await here.metered({ is_enabled: false, usage_limit: 10 });
    expect((await customer.ask(feature)).body).toMatchObject({ has_access: false, reason: 'disabled', limit: '10' });
  });

  test('limit_reached: from the limit on, and not before', async () => {
    const { customer, feature } = await here.metered({ usage_limit: 10 });
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
    const { customer, feature } = await here.metered({ usage_limit: 0 });
    expect((await customer.ask(feature)).body).toMatchObject({
      has_access: false,
      reason: 'limit_reached',
      limit: '0',
    });
  });

  test('that there is not lets everything through, and says what was used', async () => {
    const { customer, feature } = await here.metered({ usage_limit: null });
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
    const { customer, feature } = await here.metered({ usage_limit: 10, is_soft_limit: true });
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
    const { customer, feature } = await here.metered({ usage_limit: 10 });
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
    const { customer, feature, plan } = await here.metered({ usage_limit: 1 });
    await customer.use(feature, 5);
    expect((await customer.ask(feature)).body.reason).toBe('limit_reached');
    await here.send('DELETE', `/plans/${plan}/features/${feature.id}`);
    expect((await customer.ask(feature)).body.reason).toBe('not_in_plan');
    await here.include(plan, feature, { usage_limit: 6 });
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
    const { customer, feature } = await here.metered({ usage_limit: 100 }, aggregation);
    expect((await customer.ask(feature)).body.usage).toBe('0');
    for (const [quantity, user_id] of [
      [4, 'ada'],
      [1.5, 'ben'],
      [2, 'ada'],
    ] as const)
      await customer.use(feature, quantity, { metadata: { user_id } });
    expect((await customer.ask(feature)).body.usage).toBe(expected);
  });

  test.each([
    [[10, 10, 9.999999999999], '10', '10'],
    [[7, 7, 6], '6.666666666667', '6.666666666667'],
  ])(
    'is held against the average of %j as the fraction that it is, below %s',
    async (quantities, usage_limit, usage) => {
      const { customer, feature } = await here.metered({ usage_limit }, 'AVG');
      for (const quantity of quantities) await customer.use(feature, quantity);
      const said = { has_access: true, reason: 'ok', usage, remaining: '0', overage: '0' };
      expect((await customer.ask(feature)).body).toMatchObject(said);
      expect((await customer.ask(feature, '0.000000000000000001')).body).toMatchObject({ ...said, reason: 'ok' });
      expect((await customer.ask(feature, '0.000000000001')).body).toMatchObject({ has_access: false });
    },
  );

  test('counts the usage of its own customer only', async () => {
    const { plan, feature, customer } = await here.metered({ usage_limit: 10 });
    const other = await here.newCustomer();
    await other.subscribe(plan);
    await other.use(feature, 8);
    expect([(await customer.ask(feature)).body.usage, (await other.ask(feature)).body.usage]).toEqual(['0', '8']);
  });
});

describe('a feature without a meter', () => {
  test('of type custom has the value of its plan, and no usage', async () => {
    const [plan, feature, customer] = [
      await here.newPlan(),
      await here.newFeature(undefined, 'custom'),
      await here.newCustomer(),
    ];
    await here.include(plan, feature, { static_value: '30 days' });
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
    const { customer, feature } = await here.metered({}, 'SUM', { status });
    expect((await customer.ask(feature)).body).toMatchObject({ has_access: true, reason: 'ok' });
  });

  test('that is CANCELED gives none', async () => {
    const fields = { status: 'CANCELED', ended_at: '2023-02-15T00:00:00Z' };
    const { customer, feature } = await here.metered({}, 'SUM', fields);
    expect((await customer.ask(feature)).body.reason).toBe('no_subscription');
  });

  test('gives its features up to its end, exclusive, also before the run has seen that', async () => {
    const { customer, feature } = await here.metered({}, 'SUM', { ended_at: '2100-01-01T00:00:00Z' });
    try {
      await setBillingTime(weir.pool, '2099-12-31T23:59:59.999999Z');
      expect((await customer.ask(feature)).body.reason).toBe('ok');
      await setBillingTime(weir.pool, '2100-01-01T00:00:00Z');
      expect((await customer.ask(feature)).body.reason).toBe('no_subscription');
    } finally {
      await shiftBillingTime(weir.pool);
    }
  });

  test('gives the features of the plan that it goes over to from then on, before the run has seen it', async () => {
    const { plan, customer, feature } = await here.metered({ usage_limit: 5 });
    const [next, added] = [await here.newPlan(), await here.newFeature()];
    await here.include(next, feature, { usage_limit: 8 });
    await here.include(next, added);
    await customer.subscribe(plan, { pending_plan_id: next, current_period_end: '2100-01-01T00:00:00Z' });
    try {
      await setBillingTime(weir.pool, '2099-12-31T23:59:59.999999Z');
      expect((await customer.ask(feature)).body.limit).toBe('5');
      expect((await customer.ask(added)).body.reason).toBe('not_in_plan');
      await setBillingTime(weir.pool, '2100-01-01T00:00:00Z');
      expect((await customer.ask(feature)).body.limit).toBe('8');
      expect((await customer.ask(added)).body.reason).toBe('ok');
    } finally {
      await shiftBillingTime(weir.pool);
    }
  });

  test('that is the newest of those with the feature decides', async () => {
    const [older, newer, without] = [await here.newPlan(), await here.newPlan(), await here.newPlan()];
    const [feature, customer] = [await here.newFeature('SUM'), await here.newCustomer()];
    await here.include(older, feature, { usage_limit: 1_000 });
    await here.include(newer, feature, { usage_limit: 5 });
    await customer.subscribe(older);
    await customer.subscribe(newer);
    await customer.subscribe(without);
    expect((await customer.ask(feature)).body).toMatchObject({ limit: '5' });
    await customer.subscribe(newer, { status: 'CANCELED', ended_at: '2023-02-15T00:00:00Z' });
    expect((await customer.ask(feature)).body).toMatchObject({ limit: '5' });
  });

  test('of a customer with the same external id in another organization gives nothing here', async () => {
    const { customer, feature } = await here.metered({});
    const stranger = await signUp(weir);
    const query = `customer_external_id=${customer.externalId}`;
    const all = await stranger.ask('GET', `/entitlements?${query}`);
    expect([all.status, all.body]).toEqual([200, { data: [] }]);
    const one = await stranger.ask('GET', `/entitlements?${query}&feature=${feature.key}`);
    expectProblem(one, 404, 'not_found');
  });
});

describe('all entitlements of a customer', () => {
  test('are those of the plans of its subscriptions, each as it is alone', async () => {
    const [plan, customer] = [await here.newPlan(), await here.newCustomer()];
    const features = [
      await here.newFeature('SUM'),
      await here.newFeature(),
      await here.newFeature('UNIQUE_COUNT'),
      await here.newFeature('MAX'),
    ];
    for (const feature of features) await here.include(plan, feature, feature.token === '' ? {} : { usage_limit: 10 });
    await here.newFeature();
    await customer.subscribe(plan);
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
  });

  test('are none without a subscription', async () => {
    expect((await (await here.newCustomer()).ask()).body).toEqual({ data: [] });
    expect((await here.ask('nobody-knows-me')).body).toEqual({ data: [] });
  });

  test('are the same by the id of the customer', async () => {
    const { customer, feature } = await here.metered({ usage_limit: 10 });
    await customer.use(feature, 4);
    const path = `/customers/${customer.id}/entitlements`;
    const without = ({ body }: Answer) => JSON.parse(JSON.stringify(body).replace(/"as_of":"[^"]*"/g, '"as_of":""'));
    expect(without(await here.send('GET', path))).toEqual(without(await customer.ask()));
    const one = `${path}?feature=${feature.key}&quantity=7`;
    expect((await here.send('GET', one)).body).toMatchObject({
      has_access: false,
      reason: 'limit_reached',
      usage: '4',
    });
    expect(without(await here.send('GET', one))).toEqual(without(await customer.ask(feature, '7')));
  });
});

describe('of a customer of 20,000 subscriptions, by a statement that is given up after a second', () => {
  const [SUBSCRIPTIONS, FEATURES] = [20_000, 500];
  let api: { url: string; close(): Promise<void> };
  let customer: Awaited<ReturnType<Entitling['newCustomer']>>;
  beforeAll(async () => {
    api = await weir.startApi({ DATABASE_STATEMENT_TIMEOUT_MS: '1000' });
    customer = await here.newCustomer();
    const plans = [await here.newPlan(), await here.newPlan()];
    await weir.pool.query(
      `WITH made AS (
         INSERT INTO features (organization_id, id, name, lookup_key, type)
         SELECT $1, gen_random_uuid(), 'Many', 'many-' || n, 'custom' FROM generate_series(1, $3) AS n RETURNING id)
       INSERT INTO plan_features (organization_id, plan_id, feature_id, static_value)
       SELECT $1, plan.id, made.id, plan.place FROM made, unnest($2::uuid[]) WITH ORDINALITY AS plan (id, place)`,
      [admin.id, plans, FEATURES],
    );
    const first = await customer.subscribe(plans[0] ?? '');
    // The newest is one of the second plan.
    const same =
      'organization_id, customer_id, customer_external_id, status, time_zone, currency, billing_interval, billing_alignment, start_at, anchor, anchor_at, current_period_start, current_period_end';
    await weir.pool.query(
      `INSERT INTO subscriptions (${same}, id, plan_id, created_at)
       SELECT ${same}, gen_random_uuid(), ($2::uuid[])[1 + n % 2], created_at + make_interval(secs => n)
       FROM subscriptions, generate_series(1, $3 - 1) AS n WHERE id = $1`,
      [first, plans, SUBSCRIPTIONS],
    );
  });
  afterAll(() => api.close());

  // Postgres knows nothing of what came, and then it does.
  test.each(['before', 'after'])('all are answered, and one, %s Postgres has counted its rows', async (when) => {
    if (when === 'after') await weir.pool.query('ANALYZE subscriptions, plan_features, features, meters');
    for (const path of [
      `/entitlements?customer_external_id=${customer.externalId}`,
      `/customers/${customer.id}/entitlements`,
    ]) {
      const request = { session: admin.session, baseUrl: api.url };
      const { status, body } = await weir.request('GET', `/api/v1${path}`, request);
      expect([status, body.data?.length]).toEqual([200, FEATURES]);
      expect(new Set(body.data.map((each: { static_value: string }) => each.static_value))).toEqual(new Set(['2']));
      const one = await weir.request('GET', `/api/v1${path}${path.includes('?') ? '&' : '?'}feature=many-7`, request);
      expect([one.status, one.body.static_value]).toEqual([200, '2']);
    }
  });
});

describe('refused is', () => {
  test('an unknown lookup_key, with 404', async () => {
    const { customer } = await here.metered({});
    expectProblem(await customer.ask('no-such-feature'), 404, 'not_found');
    expectProblem(await here.send('GET', `/customers/${customer.id}/entitlements?feature=none`), 404, 'not_found');
  });

  test('an unknown customer id, with 404', async () => {
    expectProblem(
      await here.send('GET', '/customers/01890000-0000-7000-8000-000000000005/entitlements'),
      404,
      'not_found',
    );
  });

  test('a request without customer_external_id, with 422', async () => {
    const answer = await here.send('GET', '/entitlements');
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('customer_external_id');
  });

  test.each(['0', '0.0', '-1', '1e3', '', 'many', `1${'0'.repeat(32)}`, '0.0000000000000000001'])(
    'the quantity %j, with 422',
    async (quantity) => {
      const answer = await here.ask('nobody-knows-me', undefined, quantity);
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
