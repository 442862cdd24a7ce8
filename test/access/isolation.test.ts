// Two organizations on one Weir know nothing of each other: what belongs to another one is answered exactly like what
// does not exist, and no list, count or uniqueness gives it away.

import { beforeAll, describe, expect, test } from 'vitest';
import { fixedCharge } from '../support/billing-fixture.ts';
import { signUp, type Answer, type Organization, type RequestOptions } from '../support/harness.ts';
import { nobodys, type Ids } from '../support/isolation-ids.ts';
import { isolationTable } from '../support/isolation-table.ts';
import { makeServiceAccount } from '../support/service-accounts.ts';
import { sharedWeir } from '../support/use-weir.ts';
import { WHO_MAY } from '../support/who-may.ts';

const weir = sharedWeir();
let owner: Organization;
let stranger: Organization;
let strangersKey: string;
let strangersWidget: string;
let strangersAccount: RequestOptions;

let owners: Ids;
let strangers: Ids;

async function furnish({ session, call, createMeter, createKey }: Organization): Promise<Ids> {
  const create = (path: string, body: object) => call('POST', path, body, 201);
  const request = (path: string, body: object) => call('POST', path, body, 202);
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
  const apiKey = await createKey();
  const track = async (metadata: object, fields: object = {}) => {
    const event = { meter_token: meter.token, customer_external_id: 'shared-name', quantity: 1, metadata };
    const body = { ...event, ...fields };
    return (await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).body.id;
  };
  const charge = await create(`/plans/${plan.id}/charges`, fixedCharge('10'));
  const subscribed = { customer_id: customer.id, plan_id: plan.id, external_id: 'shared-subscription' };
  const subscription = await create('/subscriptions', subscribed);
  const { body: drafts } = await weir.request('GET', `/api/v1/subscriptions/${subscription.id}/invoices`, { session });
  const finalize = `/api/v1/invoices/${drafts.data[0].id}/finalize`;
  const { body: invoice } = await weir.request('POST', finalize, { session });
  const account = await create('/service-accounts', { name: 'Shared', role: 'viewer' });
  const endpoint = await create('/webhook-endpoints', { url: 'https://example.com/secret' });
  const { payments } = await call('POST', `/invoices/${invoice.id}/pay`, { amount: '1.00' });
  return {
    serviceAccount: account.id,
    serviceToken: (await create(`/service-accounts/${account.id}/tokens`, { name: 'Shared' })).id,
    apiKey: (await create('/api-keys', { name: 'Key', scopes: ['usage.read'] })).id,
    feature: meter.featureId,
    lookupKey: (await weir.request('GET', `/api/v1/features/${meter.featureId}`, { session })).body.lookup_key,
    meter: meter.id,
    token: meter.token,
    plan: plan.id,
    charge: charge.id,
    customer: customer.id,
    subscription: subscription.id,
    invoice: invoice.id,
    line: invoice.lines[0].id,
    payment: payments[0].id,
    credit: (await create(`/customers/${customer.id}/credits`, { amount: '5.00', currency: 'USD' })).id,
    user: (await create('/invitations', { email: `invited-${plan.id}@example.com`, role: 'admin' }).then(accept)).id,
    session: (await weir.request('GET', '/api/v1/auth/sessions', { session })).body.data[0].id,
    invitation: (await create('/invitations', { email: `open-${plan.id}@example.com`, role: 'viewer' })).id,
    erasure: (await request('/erasures', { customer_external_id: 'gone' })).id,
    usageMove: (await request('/usage-moves', { from_external_id: 'wrong', to_external_id: 'right' })).id,
    alert: (await create('/alerts', { name: 'Secret', meter_id: meter.id, thresholds: [1000] })).id,
    endpoint: endpoint.id,
    delivery: (await create(`/webhook-endpoints/${endpoint.id}/test`, {})).id,
    event: await track({ user_id: 'ada' }, { idempotency_key: 'shared-key' }),
    rejected: await track({}),
  };
}

async function accept({ link }: { link: string }): Promise<{ id: string }> {
  const body = { token: new URL(link).hash.slice(1), password: 'correct horse battery' };
  return (await weir.request('POST', '/api/v1/auth/invitation/accept', { body })).body.user;
}

beforeAll(async () => {
  owner = await signUp(weir);
  stranger = await signUp(weir);
  owners = await furnish(owner);
  strangers = await furnish(stranger);
  strangersKey = await stranger.createKey();
  const widget = { apiKey: strangersKey, body: { customer_external_id: 'shared-name' } };
  strangersWidget = (await weir.request('POST', '/api/v1/widget/token', widget)).body.token;
  strangersAccount = (await makeServiceAccount(weir, stranger, 'admin')).credential;
  await weir.drained();
});

const { operations, lists, namesNothing } = isolationTable(() => strangers);

/** An answer without what differs between any two. */
function comparable({ status, body }: Answer) {
  const { as_of: _, ...rest } = typeof body === 'object' ? body : {};
  if (typeof body !== 'object') return { status, body };
  const data = Array.isArray(rest.data) ? rest.data.map((each: object) => ({ ...each, as_of: '' })) : rest.data;
  return { status, body: { ...rest, data, request_id: '' } };
}

const ofPeople: readonly string[] = [...WHO_MAY.person, ...WHO_MAY.adminPerson];

function credentialsFor(operation: string) {
  if (operation.includes('/sdk/')) return { apiKey: strangersKey };
  if (operation.startsWith('GET /api/v1/widget/')) return { headers: { authorization: `Bearer ${strangersWidget}` } };
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
  const harmless = [
    'start_date',
    'end_date',
    'timezone',
    'group_by',
    'groups_limit',
    'filter',
    'page',
    'page_size',
    // A place in a list, and no thing: test/catalog/list-pages.test.ts.
    'cursor',
    'sort',
    'limit',
    'status',
    'type',
    'count',
    'from',
    'to',
    'changes',
    'filter',
    'groups_limit',
    'action',
    'issued_from',
    'issued_to',
    'is_past_due',
    'is_told',
    'as',
    'as_of',
    'currency',
    'format',
    'month',
    // What another organization's invoice is called is what its own may be called, as names are.
    'invoice_number',
  ];
  const ownNames = ['is_active', 'lookup_id', 'external_id', 'tax_id'];
  // What it names is its own, and is erased then: test/operations/erase-customer.test.ts.
  const erased = 'POST /api/v1/erasures "customer_external_id":';
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
  expect(missing).toEqual([erased]);
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
    if (!('session' in credentials)) return;
    // Nor does a service account see further, where one may ask at all.
    const { status } = await weir.request(method, `/api/v1${path(owners)}`, {
      ...strangersAccount,
      ...(body !== undefined && { body: body(owners) }),
    });
    expect(status).toBe(ofPeople.includes(operation) ? 403 : 404);
  },
);

test.each(lists)('%s holds nothing of another organization, by $1', async (operation, path) => {
  const ask = async (ids: Ids) => weir.request('GET', `/api/v1${path(ids)}`, credentialsFor(operation));
  const answer = await ask(owners);
  expect(answer.status).toBe(200);
  const others = Object.entries(owners).filter(([, id]) => !path(owners).includes(id));
  for (const [name, id] of others) expect(JSON.stringify(answer.body), name).not.toContain(id);
  const held = ({ data, balance }: { data?: unknown; balance?: unknown }) => data ?? balance;
  const own = await ask(strangers);
  expect([own.status, held(own.body)]).toEqual([200, expect.anything()]);
  // A cursor is a time, and no thing; any one is taken, and shows the caller's own events before it.
  if (path(owners).includes('cursor=')) return;
  expect(held(comparable(answer).body)).toEqual(held(comparable(await ask(nobodys)).body));
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
      features: [{ feature_id: owners.feature, is_enabled: true, usage_limit: null }],
      charges: [{ id: owners.charge, display_name: 'Base fee', status: 'ACTIVE' }],
    });
    expect(await get(`/customers/${owners.customer}`)).toMatchObject({ name: 'Secret' });
    expect(await get(`/subscriptions/${owners.subscription}`)).toMatchObject({
      status: 'ACTIVE',
      ended_at: null,
      plan_id: owners.plan,
      external_id: 'shared-subscription',
    });
    expect(await get(`/events/${owners.rejected}`)).toMatchObject({ status: 'rejected' });
    expect(await get(`/invoices/${owners.invoice}`)).toMatchObject({ status: 'OPEN', note: null, total: '10.00' });
    expect(await get(`/alerts/${owners.alert}`)).toMatchObject({ name: 'Secret', status: 'ACTIVE' });
    expect(await get(`/webhook-endpoints/${owners.endpoint}`)).toMatchObject({ status: 'ACTIVE', replay: null });
    const people = (await get('/users')).data as { id: string; role: string }[];
    expect(people.find(({ id }) => id === owners.user)).toMatchObject({ role: 'admin' });
    expect((await get('/invitations')).data).toMatchObject([{ id: owners.invitation }]);
    const keys = await get('/api-keys');
    expect(keys.data.map(({ id }: { id: string }) => id)).toContain(owners.apiKey);
  });

  test('each finds its own in every list, and its own event in the sum under the external id that both use', async () => {
    for (const [ids, session] of [
      [owners, owner.session],
      [strangers, stranger.session],
    ] as const) {
      for (const path of [
        '/api-keys',
        '/users',
        '/invitations',
        '/audit-log',
        '/auth/sessions',
        '/features',
        '/meters',
        '/plans',
        '/customers',
        '/subscriptions',
        '/invoices',
        '/events',
      ])
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
