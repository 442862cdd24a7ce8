// What the interface document says about features and plans, row by row. Meters and customers are in catalog.test.ts.

import { beforeAll, describe, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let session: string;
let send: Organization['ask'];

beforeAll(async () => {
  ({ session, ask: send } = await signUp(weir));
});

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/);

let slugs = 0;
const slug = () => `slug-${(slugs += 1)}`;
const plan = (difference: object = {}) => ({
  name: 'Pro',
  lookup_id: slug(),
  type: 'HYBRID',
  billing_interval: 'month',
  currency: 'USD',
  ...difference,
});

describe('listing features', () => {
  test('answers an object with a data array of all features, oldest first, in one piece', async () => {
    const { session } = await signUp(weir);
    for (let n = 0; n < 25; n += 1) {
      await weir.request('POST', '/api/v1/features', {
        session,
        body: { name: `Feature ${n}`, lookup_key: `feature-${n}`, type: 'switch' },
      });
    }
    const { status, body } = await weir.request('GET', '/api/v1/features', { session });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['data']);
    expect(body.data.map((feature: { name: string }) => feature.name)).toEqual(
      Array.from({ length: 25 }, (_, n) => `Feature ${n}`),
    );
  });

  test('answers an empty array where there is none', async () => {
    const { session } = await signUp(weir);
    expect((await weir.request('GET', '/api/v1/features', { session })).body).toEqual({ data: [] });
  });
});

describe('the fields of a feature', () => {
  test('id, name, lookup_key, type meter, meter_id of its own meter and plan_count', async () => {
    const { status, body } = await send('POST', '/features', {
      name: 'API calls',
      lookup_key: 'api-calls',
      type: 'meter',
      aggregation_type: 'SUM',
      unit: 'calls',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: uuid,
      name: 'API calls',
      lookup_key: 'api-calls',
      type: 'meter',
      meter_id: uuid,
      meter_token: expect.stringMatching(/^mtr_[0-9A-Za-z]{24}$/),
      aggregation_type: 'SUM',
      unit: 'calls',
      metadata_keys: [],
      plan_count: 0,
      created_at: time,
    });
    const { body: list } = await send('GET', '/features');
    expect(list.data).toContainEqual(body);
    expect((await send('GET', `/features/${body.id}`)).body).toEqual(body);
  });

  test.each(['switch', 'custom'])('a feature of type %s has no meter', async (type) => {
    const { status, body } = await send('POST', '/features', { name: 'SSO', lookup_key: slug(), type });
    expect(status).toBe(201);
    expect(body).toMatchObject({ type, meter_id: null, meter_token: null, aggregation_type: null, unit: null });
  });

  test('lookup_key is unique in the organization', async () => {
    const body = { name: 'SSO', lookup_key: 'taken-key', type: 'switch' };
    expect((await send('POST', '/features', body)).status).toBe(201);
    const again = await send('POST', '/features', body);
    expect([again.status, again.body.code]).toEqual([409, 'lookup_key_taken']);
    const { session } = await signUp(weir);
    expect((await weir.request('POST', '/api/v1/features', { session, body })).status).toBe(201);
  });

  test.each([
    ['lookup_key', { lookup_key: 'Not a slug' }],
    ['lookup_key', { lookup_key: '-a' }],
    ['lookup_key', { lookup_key: 'a'.repeat(65) }],
    ['lookup_key', { lookup_key: undefined }],
    ['name', { name: '' }],
    ['type', { type: 'METER' }],
    ['type', { type: undefined }],
    ['aggregation_type', { aggregation_type: undefined }],
    ['aggregation_type', { aggregation_type: 'MEDIAN' }],
    ['unit', { unit: 5 }],
    ['unit', { type: 'switch', aggregation_type: undefined, unit: 'calls' }],
    ['meter_token', { meter_token: 'mine' }],
  ])('%s in %j is refused', async (path, difference) => {
    const body = { name: 'API calls', lookup_key: slug(), type: 'meter', aggregation_type: 'SUM', ...difference };
    const answer = await send('POST', '/features', body);
    expect([answer.status, answer.body.code]).toEqual([422, 'invalid_request']);
    expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path);
  });

  test('plan_count is the number of plans that use it, and goes down with them', async () => {
    const { body: feature } = await send('POST', '/features', { name: 'SSO', lookup_key: slug(), type: 'switch' });
    const [one, other] = [(await send('POST', '/plans', plan())).body, (await send('POST', '/plans', plan())).body];
    const { body: another } = await send('POST', '/features', { name: 'Logs', lookup_key: slug(), type: 'switch' });
    await send('POST', `/plans/${one.id}/features`, { feature_id: another.id });
    const planCount = async () => (await send('GET', `/features/${feature.id}`)).body.plan_count;
    await send('POST', `/plans/${one.id}/features`, { feature_id: feature.id });
    await send('POST', `/plans/${other.id}/features`, { feature_id: feature.id });
    expect(await planCount()).toBe(2);
    await send('DELETE', `/plans/${one.id}/features/${feature.id}`);
    expect(await planCount()).toBe(1);
    await send('DELETE', `/plans/${other.id}`);
    expect(await planCount()).toBe(0);
  });
});

describe('creating a plan', () => {
  test('with every field answers every field, and reading it answers the same', async () => {
    const given = plan({ trial_days: 14, description: 'For teams', is_active: false });
    const { status, body } = await send('POST', '/plans', given);
    expect(status).toBe(201);
    expect(body).toEqual({ ...given, id: uuid, created_at: time });
    expect((await send('GET', `/plans/${body.id}`)).body).toEqual({ ...body, features: [], charges: [] });
  });

  test('without the optional fields has no trial and no description, and takes new subscriptions', async () => {
    const { status, body } = await send('POST', '/plans', plan());
    expect(status).toBe(201);
    expect(body).toMatchObject({ trial_days: 0, description: null, is_active: true });
  });

  test.each(['name', 'lookup_id', 'type', 'billing_interval', 'currency'])('without %s is refused', async (field) => {
    const { status, body } = await send('POST', '/plans', plan({ [field]: undefined }));
    expect([status, body.errors]).toEqual([422, [{ path: field, message: 'is required' }]]);
  });

  test.each([
    ...['FIXED', 'USAGE', 'HYBRID'].map((type) => ['type', type, 201] as const),
    ...['fixed', 'TIERED', '', null, 1].map((type) => ['type', type, 422] as const),
    ...['day', 'week', 'month', 'year'].map((interval) => ['billing_interval', interval, 201] as const),
    ...['hour', 'quarter', 'MONTH', null].map((interval) => ['billing_interval', interval, 422] as const),
    ...['EUR', 'JPY', 'KWD'].map((currency) => ['currency', currency, 201] as const),
    ...['usd', 'ZZZ', 'US', 'DOLLAR', '', null, 840].map((currency) => ['currency', currency, 422] as const),
    ...[0, 1, 36_500].map((days) => ['trial_days', days, 201] as const),
    ...[-1, 1.5, '7', null, 36_501, 2 ** 31].map((days) => ['trial_days', days, 422] as const),
    ...['a', '0', 'pro_2-monthly', 'a'.repeat(64)].map((id) => ['lookup_id', id, 201] as const),
    ...['Pro', 'pro plan', '_pro', '', 'a'.repeat(65), null].map((id) => ['lookup_id', id, 422] as const),
    ...[true, false].map((active) => ['is_active', active, 201] as const),
    ...['true', 1, null].map((active) => ['is_active', active, 422] as const),
    ...['For teams', null].map((description) => ['description', description, 201] as const),
    ...['', 5, 'd'.repeat(2001)].map((description) => ['description', description, 422] as const),
    ...['Pro', 'プロ', 'n'.repeat(255)].map((name) => ['name', name, 201] as const),
    ...['', ' ', 'n'.repeat(256), null].map((name) => ['name', name, 422] as const),
    ...['id', 'created_at', 'organization_id', 'is_archived'].map((field) => [field, 'x', 422] as const),
  ])('%s %j: %i', async (field, value, status) => {
    const answer = await send('POST', '/plans', plan({ [field]: value }));
    expect(answer.status).toBe(status);
    const refused = [{ path: field, message: expect.any(String) }];
    expect(answer.body.errors ?? answer.body[field]).toEqual(status === 201 ? value : refused);
  });

  test('lookup_id is unique in the organization, also for requests at the same time', async () => {
    const body = plan();
    const answers = await Promise.all([1, 2, 3, 4].map(() => send('POST', '/plans', body)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409, 409, 409]);
    expect(answers.filter(({ body }) => body.code === 'lookup_id_taken')).toHaveLength(3);
    const { session } = await signUp(weir);
    expect((await weir.request('POST', '/api/v1/plans', { session, body })).status).toBe(201);
  });

  test('takes JSON only, and an object', async () => {
    const form = await weir.request('POST', '/api/v1/plans', {
      session,
      raw: 'name=Pro',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([form.status, form.body.code]).toEqual([415, 'unsupported_media_type']);
    const broken = await weir.request('POST', '/api/v1/plans', { session, raw: '{"name":' });
    expect([broken.status, broken.body.code]).toEqual([400, 'malformed_json']);
    for (const raw of ['[]', '"Pro"', 'null', '1']) {
      expect((await weir.request('POST', '/api/v1/plans', { session, raw })).status, raw).toBe(422);
    }
  });
});
