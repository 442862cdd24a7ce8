// Lists find what is looked for, and what a plan says of a feature can be changed.

import { beforeAll, describe, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;

beforeAll(async () => {
  admin = await signUp(weir);
  const features = [
    { name: 'API calls', lookup_key: 'api-calls', type: 'meter', aggregation_type: 'COUNT' },
    { name: 'Storage 100%', lookup_key: 'storage', type: 'meter', aggregation_type: 'MAX' },
    { name: 'Single sign-on', lookup_key: 'sso', type: 'switch' },
    { name: 'Support', lookup_key: 'support-level', type: 'custom' },
  ];
  for (const body of features) await admin.ask('POST', '/features', body);
  for (const external_id of ['globex', 'globex-2', 'Globex', ' globex'])
    await admin.ask('POST', '/customers', { external_id });
});

const listed = async (path: string, field: string): Promise<string[]> => {
  const { status, body } = await admin.ask('GET', path);
  expect(status).toBe(200);
  return body.data.map((each: Record<string, string>) => each[field]);
};

test.each([
  ['', ['api-calls', 'storage', 'sso', 'support-level']],
  ['search=A', ['api-calls', 'storage']],
  ['search=SIGN', ['sso']],
  ['search=100%25', ['storage']],
  ['search=_', []],
  ['type=meter', ['api-calls', 'storage']],
  ['aggregation_type=MAX', ['storage']],
  ['type=switch&aggregation_type=MAX', []],
  ['type=meter&search=calls', ['api-calls']],
  ['page_size=2', ['api-calls', 'storage']],
  ['page=2&page_size=3', ['support-level']],
  ['page=2', []],
])('features?%s holds %j', async (query, keys) => {
  expect(await listed(`/features?${query}`, 'lookup_key')).toEqual(keys);
});

test('features come with meta where a page is asked for, and all of them without', async () => {
  expect((await admin.ask('GET', '/features')).body).not.toHaveProperty('meta');
  expect((await admin.ask('GET', '/features?type=meter&page=1')).body.meta).toEqual({
    page: 1,
    page_size: 20,
    total: 2,
    total_pages: 1,
    next_cursor: null,
  });
});

test('meters are found by a part of their name or token, their status and their aggregation', async () => {
  expect(await listed('/meters', 'name')).toEqual(['Storage 100%', 'API calls']);
  expect(await listed('/meters?search=api', 'name')).toEqual(['API calls']);
  expect(await listed('/meters?aggregation_type=MAX&status=ACTIVE', 'name')).toEqual(['Storage 100%']);
  expect(await listed('/meters?status=ARCHIVED', 'name')).toEqual([]);
  const [storage] = (await admin.ask('GET', '/meters')).body.data;
  expect(await listed(`/meters?search=${storage.meter_token.slice(6, 20)}`, 'name')).toEqual(['Storage 100%']);
  expect((await admin.ask('PATCH', `/meters/${storage.id}`, { status: 'ARCHIVED' })).status).toBe(200);
  expect(await listed('/meters?status=ARCHIVED', 'name')).toEqual(['Storage 100%']);
  expect((await admin.ask('GET', '/meters?status=ACTIVE')).body.meta.total).toBe(1);
});

test('a customer is found by its external_id to the letter, and customers by a part of it', async () => {
  expect(await listed('/customers?external_id=globex', 'external_id')).toEqual(['globex']);
  expect(await listed('/customers?external_id=globe', 'external_id')).toEqual([]);
  expect(await listed('/customers?search=GLOBEX-', 'external_id')).toEqual(['globex-2']);
  expect(await listed('/customers?external_id=globex&search=2', 'external_id')).toEqual([]);
  expect((await listed('/customers?search=globex', 'external_id')).length).toBe(4);
});

describe('what a plan says of a feature', () => {
  const planned = async (says: object) => {
    const fields = { name: 'Pro', type: 'HYBRID', billing_interval: 'month', currency: 'USD' };
    const lookup_id = `plan-${Math.random().toString(36).slice(2)}`;
    const plan = (await admin.ask('POST', '/plans', { ...fields, lookup_id })).body.id;
    const feature = (await admin.ask('GET', '/features?search=api-calls')).body.data[0].id;
    const { body } = await admin.ask('POST', `/plans/${plan}/features`, { feature_id: feature, ...says });
    return { path: `/plans/${plan}/features/${feature}`, plan, says: body };
  };

  test('is changed field by field, and the rest stays', async () => {
    const { path, plan, says } = await planned({ usage_limit: 100, usage_reset_period: 'month', static_value: 'x' });
    const changed = await admin.ask('PATCH', path, { is_soft_limit: true });
    expect([changed.status, changed.body]).toEqual([200, { ...says, is_soft_limit: true }]);
    const other = { usage_limit: null, usage_reset_period: 'day', is_enabled: false, static_value: null };
    expect((await admin.ask('PATCH', path, other)).body).toEqual({ ...says, is_soft_limit: true, ...other });
    expect((await admin.ask('GET', `/plans/${plan}`)).body.features).toEqual([
      { ...says, is_soft_limit: true, ...other },
    ]);
  });

  test('keeps every digit of a limit that is sent', async () => {
    const { path } = await planned({});
    const sent = await weir.request('PATCH', `/api/v1${path}`, {
      session: admin.session,
      raw: '{"usage_limit": 0.30000000000000000000000000001}',
    });
    expect(sent.body.usage_limit).toBe('0.30000000000000000000000000001');
    expect((await admin.ask('PATCH', path, { usage_limit: 0 })).body.usage_limit).toBe('0');
  });

  test('is not which feature it is of, nor anything that it does not have', async () => {
    const { path, says } = await planned({});
    for (const body of [
      {},
      { feature_id: says.feature_id },
      { usage_limit: -1 },
      { usage_limit: 'x' },
      { usage_limit: '' },
      { name: 'x' },
    ])
      expect((await admin.ask('PATCH', path, body)).status, JSON.stringify(body)).toBe(422);
    expect((await admin.ask('DELETE', path)).status).toBe(204);
    expect((await admin.ask('PATCH', path, { is_enabled: false })).status).toBe(404);
  });
});
