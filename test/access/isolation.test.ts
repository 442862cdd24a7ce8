// Two organizations on one Weir know nothing of each other: what belongs to another one is answered exactly like what
// does not exist, and no list, count or uniqueness gives it away.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixedCharge, insertSubscriptionRow, usageCharge } from '../support/billing-fixture.ts';
import { signUp, startWeir, type Answer, type Organization, type Weir } from '../support/harness.ts';

let weir: Weir;
let owner: Organization;
let stranger: Organization;
let strangersKey: string;
let strangersWidget: string;

/** What the owner has, by the name of the thing; the same names with ids that nobody has; and what the stranger has. */
type Ids = Record<
  | 'apiKey'
  | 'feature'
  | 'lookupKey'
  | 'meter'
  | 'token'
  | 'plan'
  | 'charge'
  | 'customer'
  | 'credit'
  | 'event'
  | 'rejected',
  string
>;
let owners: Ids;
let strangers: Ids;
const nobodys: Ids = {
  apiKey: '01890000-0000-7000-8000-000000000001',
  feature: '01890000-0000-7000-8000-000000000002',
  lookupKey: 'no-such-feature',
  meter: '01890000-0000-7000-8000-000000000003',
  token: 'mtr_000000000000000000000000',
  plan: '01890000-0000-7000-8000-000000000004',
  charge: '01890000-0000-7000-8000-000000000008',
  customer: '01890000-0000-7000-8000-000000000005',
  credit: '01890000-0000-7000-8000-000000000009',
  event: '01890000-0000-7000-8000-000000000006',
  rejected: '01890000-0000-7000-8000-000000000007',
};

async function furnish({ id, session, createMeter, createKey }: Organization): Promise<Ids> {
  const create = async (path: string, body: object) => {
    const answer = await weir.request('POST', `/api/v1${path}`, { session, body });
    expect(answer.status).toBe(201);
    return answer.body;
  };
  const meter = await createMeter('UNIQUE_COUNT');
  const plan = await create('/plans', {
    name: 'Pro',
    lookup_id: 'pro',
    type: 'HYBRID',
    billing_interval: 'month',
    currency: 'USD',
  });
  await create(`/plans/${plan.id}/features`, { feature_id: meter.featureId });
  const customer = await create('/customers', { external_id: 'shared-name', name: 'Secret' });
  await insertSubscriptionRow(weir.pool, id, { planId: plan.id, customer });
  const apiKey = await createKey();
  const track = async (metadata: object) => {
    const body = { meter_token: meter.token, customer_external_id: 'shared-name', quantity: 1, metadata };
    return (await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).body.id;
  };
  return {
    apiKey: (await create('/api-keys', { name: 'Key', scopes: ['usage.read'] })).id,
    feature: meter.featureId,
    lookupKey: (await weir.request('GET', `/api/v1/features/${meter.featureId}`, { session })).body.lookup_key,
    meter: meter.id,
    token: meter.token,
    plan: plan.id,
    charge: (await create(`/plans/${plan.id}/charges`, fixedCharge('10'))).id,
    customer: customer.id,
    credit: (await create(`/customers/${customer.id}/credits`, { amount: '5.00', currency: 'USD' })).id,
    event: await track({ user_id: 'ada' }),
    rejected: await track({}),
  };
}

beforeAll(async () => {
  weir = await startWeir();
  owner = await signUp(weir);
  stranger = await signUp(weir);
  owners = await furnish(owner);
  strangers = await furnish(stranger);
  strangersKey = await stranger.createKey();
  const widget = { apiKey: strangersKey, body: { customer_external_id: 'shared-name' } };
  strangersWidget = (await weir.request('POST', '/api/v1/widget/token', widget)).body.token;
  await weir.drained();
});
afterAll(() => weir.close());

type Row = [operation: string, path: (ids: Ids) => string, body?: (ids: Ids) => object];

// Everything that names a thing by its id, in the path, the query or the body.
const operations: Row[] = [
  ['DELETE /api/v1/api-keys/{id}', ({ apiKey }) => `/api-keys/${apiKey}`],
  ['GET /api/v1/features/{id}', ({ feature }) => `/features/${feature}`],
  ['PATCH /api/v1/features/{id}', ({ feature }) => `/features/${feature}`, () => ({ name: 'Mine' })],
  ['PATCH /api/v1/features/{id}', ({ feature }) => `/features/${feature}`, () => ({ unit: 'mine' })],
  ['DELETE /api/v1/features/{id}', ({ feature }) => `/features/${feature}`],
  ['GET /api/v1/meters/{id}', ({ meter }) => `/meters/${meter}`],
  ['PATCH /api/v1/meters/{id}', ({ meter }) => `/meters/${meter}`, () => ({ status: 'ARCHIVED' })],
  ['GET /api/v1/meters/{id}/usage', ({ meter }) => `/meters/${meter}/usage`],
  ['GET /api/v1/meters/{id}/customers', ({ meter }) => `/meters/${meter}/customers`],
  ['GET /api/v1/meters/{id}/usage', ({ customer }) => `/meters/${strangers.meter}/usage?customer_id=${customer}`],
  ['GET /api/v1/meters/{id}/usage', ({ meter }) => `/meters/${meter}/usage?customer_external_id=shared-name`],
  ['GET /api/v1/usage', ({ token }) => `/usage?meter_token=${token}&customer_external_id=shared-name`],
  ['GET /api/v1/usage', ({ customer }) => `/usage?meter_token=${strangers.token}&customer_id=${customer}`],
  ['GET /api/v1/widget/meters/{id}/usage', ({ meter }) => `/widget/meters/${meter}/usage`],
  ['GET /api/v1/plans/{id}', ({ plan }) => `/plans/${plan}`],
  ['PATCH /api/v1/plans/{id}', ({ plan }) => `/plans/${plan}`, () => ({ is_active: false })],
  ['DELETE /api/v1/plans/{id}', ({ plan }) => `/plans/${plan}`],
  [
    'POST /api/v1/plans/{id}/features',
    ({ plan }) => `/plans/${plan}/features`,
    () => ({ feature_id: strangers.feature }),
  ],
  [
    'POST /api/v1/plans/{id}/features',
    () => `/plans/${strangers.plan}/features`,
    ({ feature }) => ({ feature_id: feature }),
  ],
  ['DELETE /api/v1/plans/{id}/features/{feature_id}', ({ plan, feature }) => `/plans/${plan}/features/${feature}`],
  ['DELETE /api/v1/plans/{id}/features/{feature_id}', ({ feature }) => `/plans/${strangers.plan}/features/${feature}`],
  ['POST /api/v1/plans/{id}/charges', ({ plan }) => `/plans/${plan}/charges`, () => usageCharge(strangers.meter)],
  [
    'POST /api/v1/plans/{id}/charges',
    () => `/plans/${strangers.plan}/charges`,
    ({ meter }) => usageCharge(meter, { unit_price: 1 }),
  ],
  [
    'PATCH /api/v1/plans/{id}/charges/{charge_id}',
    ({ plan, charge }) => `/plans/${plan}/charges/${charge}`,
    () => ({ status: 'INACTIVE' }),
  ],
  [
    'PATCH /api/v1/plans/{id}/charges/{charge_id}',
    ({ charge }) => `/plans/${strangers.plan}/charges/${charge}`,
    () => ({ display_name: 'Mine' }),
  ],
  [
    'POST /api/v1/charges/evaluate',
    () => '/charges/evaluate',
    ({ meter }) => ({ currency: 'USD', charge: usageCharge(meter) }),
  ],
  ['GET /api/v1/customers/{id}', ({ customer }) => `/customers/${customer}`],
  ['PATCH /api/v1/customers/{id}', ({ customer }) => `/customers/${customer}`, () => ({ name: 'Mine' })],
  ['DELETE /api/v1/customers/{id}', ({ customer }) => `/customers/${customer}`],
  ['GET /api/v1/customers/{id}/usage', ({ customer }) => `/customers/${customer}/usage`],
  [
    'POST /api/v1/customers/{id}/credits',
    ({ customer }) => `/customers/${customer}/credits`,
    () => ({ amount: '1.00', currency: 'USD' }),
  ],
  ['GET /api/v1/customers/{id}/credits', ({ customer }) => `/customers/${customer}/credits`],
  ['POST /api/v1/credits/{id}/void', ({ credit }) => `/credits/${credit}/void`],
  ['GET /api/v1/customers/{id}/entitlements', ({ customer }) => `/customers/${customer}/entitlements`],
  [
    'GET /api/v1/customers/{id}/entitlements',
    ({ lookupKey }) => `/customers/${strangers.customer}/entitlements?feature=${lookupKey}&quantity=1`,
  ],
  [
    'GET /api/v1/entitlements',
    ({ lookupKey }) => `/entitlements?customer_external_id=shared-name&feature=${lookupKey}&quantity=1`,
  ],
  ['GET /api/v1/events/{id}', ({ event }) => `/events/${event}`],
  ['GET /api/v1/events/{id}', ({ rejected }) => `/events/${rejected}`],
  ['POST /api/v1/events/{id}/replay', ({ rejected }) => `/events/${rejected}/replay`, () => ({})],
  [
    'POST /api/v1/sdk/track',
    () => '/sdk/track',
    ({ token }) => ({ meter_token: token, customer_external_id: 'shared-name', quantity: 1 }),
  ],
  [
    'POST /api/v1/sdk/track/batch',
    () => '/sdk/track/batch',
    ({ token }) => ({ events: [{ meter_token: token, customer_external_id: 'shared-name', quantity: 1 }] }),
  ],
];

// Everything that lists or adds up, with each of its filters. None of it tells whether another organization has the thing.
const lists: Row[] = [
  ['GET /api/v1/api-keys', () => '/api-keys'],
  ['GET /api/v1/features', () => '/features'],
  ['GET /api/v1/meters', () => '/meters'],
  ['GET /api/v1/plans', () => '/plans'],
  ['GET /api/v1/customers', () => '/customers'],
  ['GET /api/v1/customers', () => '/customers?search=Secret'],
  ['GET /api/v1/billing-events', () => '/billing-events'],
  ['GET /api/v1/billing-events', () => '/billing-events?after=1'],
  ['GET /api/v1/entitlements', () => '/entitlements?customer_external_id=shared-name'],
  ['GET /api/v1/events', () => '/events'],
  ['GET /api/v1/events', ({ meter }) => `/events?meter_id=${meter}`],
  ['GET /api/v1/events', () => '/events?customer_external_id=shared-name'],
  ['GET /api/v1/events', ({ event }) => `/events?cursor=${event}`],
  ['GET /api/v1/widget/usage', () => '/widget/usage'],
];

// What names nothing that could be another organization's, and answers nothing but what was sent and who sent it.
const namesNothing = [
  'POST /api/v1/auth/signup',
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/logout',
  'GET /api/v1/auth/me',
  'POST /api/v1/api-keys',
  'POST /api/v1/features',
  'POST /api/v1/plans',
  'POST /api/v1/customers',
  'GET /api/v1/billing/settings',
  'PATCH /api/v1/billing/settings',
  // Its customer is the organization's own, whatever its name: test/usage/widget.test.ts.
  'POST /api/v1/widget/token',
];

/** An answer without what differs between any two. */
function comparable({ status, body }: Answer) {
  const { as_of: _, ...rest } = typeof body === 'object' ? body : {};
  if (typeof body !== 'object') return { status, body };
  const data = Array.isArray(rest.data) ? rest.data.map((each: object) => ({ ...each, as_of: '' })) : rest.data;
  return { status, body: { ...rest, data, request_id: '' } };
}

function credentialsFor(operation: string) {
  if (operation.includes('/sdk/')) return { apiKey: strangersKey };
  if (operation.includes('/widget/')) return { headers: { authorization: `Bearer ${strangersWidget}` } };
  return { session: stranger.session };
}

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: object;
}

test('every operation of the API is here, with every parameter and field that names a thing', async () => {
  const { body: document } = await weir.request('GET', '/openapi.json');
  const expand = (schema: object): string =>
    JSON.stringify(schema).replace(/"\$ref":"#\/components\/schemas\/(\w+)"/g, (_, name: string) =>
      expand(document.components.schemas[name]).slice(1, -1),
    );
  // A window, a page, or a kind of thing. And the names that each organization gives to its own, see the end of this file.
  const harmless = ['start_date', 'end_date', 'timezone', 'group_by', 'page', 'page_size', 'limit', 'status', 'type'];
  const ownNames = ['is_active', 'lookup_id', 'external_id'];
  const missing: string[] = [];
  for (const [path, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
      const operation = `${method.toUpperCase()} ${path}`;
      if (!path.startsWith('/api/v1/') || namesNothing.includes(operation)) continue;
      const rows = [...operations, ...lists].filter(([name]) => name === operation);
      if (rows.length === 0) missing.push(operation);
      const asked = rows.map(([, path, body]) => path(owners) + JSON.stringify(body?.(owners) ?? {})).join('\n');
      const inQuery = parameters.filter((each) => each.in === 'query').map(({ name }) => `${name}=`);
      const inBody = [...expand(requestBody ?? {}).matchAll(/"(\w+_(?:id|token))":\{/g)].map(
        ([, name]) => `"${name}":`,
      );
      const names = [...inQuery, ...inBody].filter(
        (name) => ![...harmless, ...ownNames].includes(name.replace(/\W/g, '')),
      );
      missing.push(...names.filter((name) => !asked.includes(name)).map((name) => `${operation} ${name}`));
    }
  }
  expect(missing).toEqual([]);
});

test.each(operations)(
  '%s answers what is another organization’s like what does not exist',
  async (operation, path, body) => {
    const [method = ''] = operation.split(' ');
    const credentials = credentialsFor(operation);
    const ask = (ids: Ids) =>
      weir.request(method, `/api/v1${path(ids)}`, { ...credentials, ...(body !== undefined && { body: body(ids) }) });
    const [foreign, absent] = [await ask(owners), await ask(nobodys)];
    const [first] = foreign.status === 207 ? (foreign.body.data as { status: number }[]) : [foreign];
    expect(first?.status).toBe(404);
    expect(comparable(foreign)).toEqual(comparable(absent));
  },
);

test.each(lists)('%s holds nothing of another organization, by $1', async (operation, path) => {
  const ask = async (ids: Ids) => weir.request('GET', `/api/v1${path(ids)}`, credentialsFor(operation));
  const answer = await ask(owners);
  expect(answer.status).toBe(200);
  const others = Object.entries(owners).filter(([, id]) => !path(owners).includes(id));
  for (const [name, id] of others) expect(JSON.stringify(answer.body), name).not.toContain(id);
  expect(await ask(strangers)).toMatchObject({ status: 200, body: { data: expect.anything() } });
  // A cursor is a time, and no thing; any one is taken, and shows the caller's own events before it.
  if (path(owners).includes('cursor=')) return;
  expect(comparable(answer).body.data).toEqual(comparable(await ask(nobodys)).body.data);
});

test.each(operations.filter(([operation]) => operation.startsWith('GET')))(
  '%s answers the same to an API key of another organization',
  async (_, path) => {
    const ask = (ids: Ids) => weir.request('GET', `/api/v1${path(ids)}`, { apiKey: strangersKey });
    const [foreign, absent] = [await ask(owners), await ask(nobodys)];
    expect([401, 404]).toContain(foreign.status);
    expect(comparable(foreign)).toEqual(comparable(absent));
  },
);

describe('after all these attempts', () => {
  const get = async (path: string, session = owner.session) =>
    (await weir.request('GET', `/api/v1${path}`, { session })).body;

  test('the owner finds everything as it was', async () => {
    expect(await get(`/features/${owners.feature}`)).toMatchObject({
      plan_count: 1,
      unit: null,
      name: expect.stringMatching(/^Meter/),
    });
    expect(await get(`/meters/${owners.meter}`)).toMatchObject({ status: 'ACTIVE', feature_id: owners.feature });
    expect(await get(`/plans/${owners.plan}`)).toMatchObject({
      is_active: true,
      features: [{ feature_id: owners.feature }],
      charges: [{ id: owners.charge, display_name: 'Base fee', status: 'ACTIVE' }],
    });
    expect(await get(`/customers/${owners.customer}`)).toMatchObject({ name: 'Secret' });
    expect(await get(`/events/${owners.rejected}`)).toMatchObject({ status: 'rejected' });
    const keys = await get('/api-keys');
    expect(keys.data.map(({ id }: { id: string }) => id)).toContain(owners.apiKey);
  });

  test('each finds its own in every list, and its own event in the sum under the external id that both use', async () => {
    for (const [ids, session] of [
      [owners, owner.session],
      [strangers, stranger.session],
    ] as const) {
      for (const path of ['/api-keys', '/features', '/meters', '/plans', '/customers', '/events'])
        expect((await get(path, session)).data.length, path).toBeGreaterThan(0);
      expect((await get(`/meters/${ids.meter}/usage?customer_external_id=shared-name`, session)).total_usage).toBe('1');
    }
  });

  test('each may use the lookup keys, lookup ids, external ids and idempotency keys that the other has', async () => {
    const event = async ({ createKey }: Organization, { token }: Ids) =>
      await weir.request('POST', '/api/v1/sdk/track', {
        apiKey: await createKey(),
        body: {
          meter_token: token,
          customer_external_id: 'shared-name',
          quantity: 1,
          idempotency_key: 'the-same-key',
          metadata: { user_id: 'ada' },
        },
      });
    expect((await event(owner, owners)).status).toBe(201);
    expect((await event(stranger, strangers)).status).toBe(201);
    const feature = { name: 'SSO', lookup_key: 'sso', type: 'switch' };
    for (const { session } of [owner, stranger]) {
      expect((await weir.request('POST', '/api/v1/features', { session, body: feature })).status).toBe(201);
    }
  });
});
