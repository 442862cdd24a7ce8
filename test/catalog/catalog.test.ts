// What else can be done with features, meters and plans.

import { beforeAll, describe, expect, test } from 'vitest';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let organization: Organization;
let session: string;

beforeAll(async () => {
  organization = await signUp(weir);
  ({ session } = organization);
});

const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, { session, ...(body !== undefined && { body }) });

let slugs = 0;
const slug = () => `slug-${(slugs += 1)}`;
const newPlan = async (difference: object = {}): Promise<Answer['body']> => {
  const fields = { name: 'Pro', lookup_id: slug(), type: 'HYBRID', billing_interval: 'month', currency: 'USD' };
  return (await send('POST', '/plans', { ...fields, ...difference })).body;
};
const newFeature = async (difference: object = {}): Promise<Answer['body']> =>
  (await send('POST', '/features', { name: 'SSO', lookup_key: slug(), type: 'switch', ...difference })).body;
const newMeterFeature = () => newFeature({ type: 'meter', aggregation_type: 'SUM', unit: 'GB' });

test.each(['features', 'meters', 'plans', 'customers'])(
  'a change of %s that changes nothing is refused',
  async (noun) => {
    const { status, body } = await send('PATCH', `/${noun}/01890000-0000-7000-8000-000000000000`, {});
    expect([status, body.code]).toEqual([422, 'invalid_request']);
    expect(body.detail).toContain('at least one field');
  },
);

describe('a feature', () => {
  test('can be given another name, lookup_key and unit, and keeps the rest', async () => {
    const feature = await newMeterFeature();
    const changes = { name: 'Storage', lookup_key: slug(), unit: 'TB' };
    const { status, body } = await send('PATCH', `/features/${feature.id}`, changes);
    expect([status, body]).toEqual([200, { ...feature, ...changes }]);
    expect((await send('PATCH', `/features/${feature.id}`, { unit: null })).body).toEqual({ ...body, unit: null });
  });

  test('does not change its type, its meter or how that aggregates', async () => {
    const { id } = await newMeterFeature();
    for (const change of [{ type: 'switch' }, { meter_id: null }, { aggregation_type: 'MAX' }, { meter_token: 'x' }]) {
      expect((await send('PATCH', `/features/${id}`, change)).status, JSON.stringify(change)).toBe(422);
    }
  });

  test('without a meter has no unit, and a refused change changes nothing', async () => {
    const feature = await newFeature();
    const { status, body } = await send('PATCH', `/features/${feature.id}`, { name: 'Other', unit: 'GB' });
    expect([status, body.errors[0].path]).toEqual([422, 'unit']);
    expect((await send('GET', `/features/${feature.id}`)).body).toEqual(feature);
  });

  test('cannot take the lookup_key of another one', async () => {
    const [one, other] = [await newFeature(), await newFeature()];
    const { status, body } = await send('PATCH', `/features/${one.id}`, { lookup_key: other.lookup_key });
    expect([status, body.code]).toEqual([409, 'lookup_key_taken']);
  });

  test('in use by a plan is not deleted, nor is its meter closed', async () => {
    const feature = await newMeterFeature();
    const { id } = await newPlan();
    await send('POST', `/plans/${id}/features`, { feature_id: feature.id });
    const refused = await send('DELETE', `/features/${feature.id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'feature_in_use']);
    expect((await send('GET', `/meters/${feature.meter_id}`)).body).toMatchObject({
      status: 'ACTIVE',
      feature_id: feature.id,
    });
    await send('DELETE', `/plans/${id}/features/${feature.id}`);
    expect((await send('DELETE', `/features/${feature.id}`)).status).toBe(204);
  });

  test('that is deleted is gone, its meter is archived, and what was counted stays readable', async () => {
    const feature = await newMeterFeature();
    const tracked = await weir.request('POST', '/api/v1/sdk/track', {
      apiKey: await organization.createKey(),
      body: { meter_token: feature.meter_token, customer_external_id: 'customer', quantity: 2.5 },
    });
    expect(tracked.status).toBe(201);
    await weir.drained();
    expect((await send('DELETE', `/features/${feature.id}`)).status).toBe(204);
    expect((await send('GET', `/features/${feature.id}`)).status).toBe(404);
    expect((await send('DELETE', `/features/${feature.id}`)).status).toBe(404);
    const { body } = await send('GET', `/meters/${feature.meter_id}`);
    expect(body).toMatchObject({ status: 'ARCHIVED', feature_id: null, meter_token: feature.meter_token });
    const usage = await send('GET', `/meters/${feature.meter_id}/usage`);
    expect(usage.body.total_usage).toBe('2.5');
    // Its lookup_key is free again.
    expect(
      (await send('POST', '/features', { name: 'New', lookup_key: feature.lookup_key, type: 'switch' })).status,
    ).toBe(201);
  });
});

describe('a meter', () => {
  test('has the fields that the contract names, and is listed by page, newest first', async () => {
    const feature = await newMeterFeature();
    const { body: meter } = await send('GET', `/meters/${feature.meter_id}`);
    expect(meter).toEqual({
      id: feature.meter_id,
      name: 'SSO',
      meter_token: feature.meter_token,
      aggregation_type: 'SUM',
      unit: 'GB',
      status: 'ACTIVE',
      metadata_keys: [],
      feature_id: feature.id,
      created_at: expect.stringMatching(/Z$/),
    });
    const { body } = await send('GET', '/meters?page_size=1');
    expect(body.data).toEqual([meter]);
    expect(body.meta).toMatchObject({ page: 1, page_size: 1, total: body.meta.total_pages });
  });

  test('can be renamed, archived and reopened, and nothing else of it changes', async () => {
    const { meter_id } = await newMeterFeature();
    const { body: before } = await send('GET', `/meters/${meter_id}`);
    const { body: after } = await send('PATCH', `/meters/${meter_id}`, {
      name: 'Storage',
      unit: null,
      status: 'ARCHIVED',
    });
    expect(after).toEqual({ ...before, name: 'Storage', unit: null, status: 'ARCHIVED' });
    expect((await send('PATCH', `/meters/${meter_id}`, { status: 'ACTIVE' })).body.status).toBe('ACTIVE');
    for (const change of [{ status: 'DELETED' }, { aggregation_type: 'MAX' }, { meter_token: 'x' }, { name: null }]) {
      expect((await send('PATCH', `/meters/${meter_id}`, change)).status, JSON.stringify(change)).toBe(422);
    }
  });
});

describe('a plan', () => {
  test('can be changed in everything but its id, and keeps what is not sent', async () => {
    const plan = await newPlan({ description: 'For teams' });
    const changes = {
      name: 'Team',
      lookup_id: slug(),
      type: 'FIXED',
      billing_interval: 'year',
      currency: 'EUR',
      trial_days: 30,
      description: null,
      is_active: false,
    };
    for (const [field, value] of Object.entries(changes)) {
      const { status, body } = await send('PATCH', `/plans/${plan.id}`, { [field]: value });
      expect([status, body[field]]).toEqual([200, value]);
    }
    const { features, charges, ...after } = (await send('GET', `/plans/${plan.id}`)).body;
    expect(after).toEqual({ ...plan, ...changes });
    expect([features, charges]).toEqual([[], []]);
    for (const change of [{ id: plan.id }, { created_at: plan.created_at }, { currency: 'XXX' }, { trial_days: -1 }]) {
      expect((await send('PATCH', `/plans/${plan.id}`, change)).status, JSON.stringify(change)).toBe(422);
    }
  });

  test('cannot take the lookup_id of another one', async () => {
    const [one, other] = [await newPlan(), await newPlan()];
    const { status, body } = await send('PATCH', `/plans/${one.id}`, { lookup_id: other.lookup_id });
    expect([status, body.code]).toEqual([409, 'lookup_id_taken']);
  });

  test('is listed by type and by is_active, newest first, in pages', async () => {
    const { session } = await signUp(weir);
    const list = async (query: string) => (await weir.request('GET', `/api/v1/plans?${query}`, { session })).body;
    for (const [n, type] of ['FIXED', 'USAGE', 'FIXED', 'FIXED'].entries()) {
      const body = {
        name: `${n}`,
        lookup_id: slug(),
        type,
        billing_interval: 'day',
        currency: 'USD',
        is_active: n !== 2,
      };
      await weir.request('POST', '/api/v1/plans', { session, body });
    }
    const names = async (query: string) => (await list(query)).data.map(({ name }: { name: string }) => name);
    expect(await names('')).toEqual(['3', '2', '1', '0']);
    expect(await names('type=FIXED')).toEqual(['3', '2', '0']);
    expect(await names('is_active=false')).toEqual(['2']);
    expect(await names('type=FIXED&is_active=true')).toEqual(['3', '0']);
    expect(await names('type=FIXED&page=2&page_size=2')).toEqual(['0']);
    expect((await list('type=FIXED&page=2&page_size=2')).meta).toEqual({
      page: 2,
      page_size: 2,
      total: 3,
      total_pages: 2,
      next_cursor: null,
    });
    for (const query of ['type=fixed', 'is_active=1', 'active=true']) {
      expect((await weir.request('GET', `/api/v1/plans?${query}`, { session })).status, query).toBe(422);
    }
  });

  test('is found by a part of its name or lookup_id, by its interval and by its currency', async () => {
    const { session } = await signUp(weir);
    for (const [name, lookup_id, billing_interval, currency] of [
      ['Scale 100%', 'scale', 'month', 'USD'],
      ['Scale', 'scale-eu', 'month', 'EUR'],
      ['Start', 'small_1', 'year', 'USD'],
    ]) {
      const body = { name, lookup_id, type: 'FIXED', billing_interval, currency };
      expect((await weir.request('POST', '/api/v1/plans', { session, body })).status).toBe(201);
    }
    const found = async (query: string) => {
      const { body } = await weir.request('GET', `/api/v1/plans?${query}`, { session });
      return body.data.map(({ lookup_id }: { lookup_id: string }) => lookup_id);
    };
    expect(await found('search=')).toEqual(['small_1', 'scale-eu', 'scale']);
    expect(await found('search=sCAL')).toEqual(['scale-eu', 'scale']);
    expect(await found('search=-EU&sort=name')).toEqual(['scale-eu']);
    expect(await found('search=l_1')).toEqual(['small_1']);
    // No wildcard of the database.
    expect(await found('search=s_a')).toEqual([]);
    expect(await found(`search=${encodeURIComponent('%')}`)).toEqual(['scale']);
    expect(await found('search=s&currency=USD&limit=1')).toEqual(['small_1']);
    expect(await found('currency=USD&billing_interval=month')).toEqual(['scale']);
    for (const query of ['currency=usd', 'billing_interval=decade'])
      expect((await weir.request('GET', `/api/v1/plans?${query}`, { session })).status, query).toBe(422);
  });

  test('that is deleted is gone, and its features stay', async () => {
    const [plan, feature] = [await newPlan(), await newFeature()];
    await send('POST', `/plans/${plan.id}/features`, { feature_id: feature.id });
    expect((await send('DELETE', `/plans/${plan.id}`)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await send(method, `/plans/${plan.id}`)).status).toBe(404);
    expect((await send('GET', `/features/${feature.id}`)).status).toBe(200);
  });
});

describe('a feature in a plan', () => {
  test('says what the plan includes, and shows when the plan is read', async () => {
    const [plan, feature, other] = [await newPlan(), await newMeterFeature(), await newFeature()];
    const given = {
      feature_id: feature.id,
      is_enabled: false,
      usage_reset_period: 'month',
      is_soft_limit: true,
      static_value: 'gold',
    };
    const full = await send('POST', `/plans/${plan.id}/features`, { ...given, usage_limit: 1000 });
    expect(full.status).toBe(201);
    expect(full.body).toEqual({ ...given, usage_limit: '1000', created_at: expect.stringMatching(/Z$/) });
    const bare = await send('POST', `/plans/${plan.id}/features`, { feature_id: other.id });
    expect(bare.body).toMatchObject({
      is_enabled: true,
      usage_limit: null,
      usage_reset_period: null,
      is_soft_limit: false,
      static_value: null,
    });
    expect((await send('GET', `/plans/${plan.id}`)).body.features).toEqual([full.body, bare.body]);
  });

  test.each([
    ['0', '0'],
    ['-0.0', '0'],
    ['0.1234567890123456789', '0.1234567890123456789'],
    ['1.50e3', '1500'],
    ['9007199254740991', '9007199254740991'],
    ['null', null],
    ['9007199254740992', undefined],
    ['-1', undefined],
    ['1e-999', undefined],
    ['1e999', undefined],
    ['"5"', '5'],
    ['"0x5"', undefined],
    ['true', undefined],
  ])('has the limit %s as %j', async (literal, limit) => {
    const [plan, feature] = [await newPlan(), await newMeterFeature()];
    const raw = `{"feature_id":"${feature.id}","usage_limit":${literal}}`;
    const { status, body } = await weir.request('POST', `/api/v1/plans/${plan.id}/features`, { session, raw });
    const outcome = [status, status === 201 ? body.usage_limit : body.errors[0].path];
    expect(outcome).toEqual(limit === undefined ? [422, 'usage_limit'] : [201, limit]);
  });

  test('is there once: putting it there again is refused', async () => {
    const [plan, feature] = [await newPlan(), await newFeature()];
    const put = () => send('POST', `/plans/${plan.id}/features`, { feature_id: feature.id });
    expect((await put()).status).toBe(201);
    const again = await put();
    expect([again.status, again.body.code]).toEqual([409, 'feature_already_in_plan']);
    const takeOut = () => send('DELETE', `/plans/${plan.id}/features/${feature.id}`);
    expect((await takeOut()).status).toBe(204);
    expect((await takeOut()).status).toBe(404);
    expect((await put()).status).toBe(201);
  });

  test.each(['switch', 'custom'])('of type %s has no limit of usage', async (type) => {
    const [plan, feature] = [await newPlan(), await newFeature({ type })];
    const of = `/plans/${plan.id}/features`;
    const { id: feature_id } = feature;
    const ways: [way: (limit: object) => Promise<Answer>, path: string][] = [
      [(limit) => send('POST', of, { feature_id, ...limit }), ''],
      [(limit) => send('PATCH', `/plans/${plan.id}`, { put_features: [{ feature_id, ...limit }] }), 'put_features[0].'],
      [(limit) => send('PATCH', `${of}/${feature_id}`, limit), ''],
    ];
    for (const [way, path] of ways) {
      const { status, body } = await way({ usage_limit: 5, usage_reset_period: 'month' });
      const message = 'is only for features of type meter, and this is none';
      const errors = ['usage_limit', 'usage_reset_period'].map((field) => ({ path: path + field, message }));
      expect([path, status, body.errors]).toEqual([path, 422, errors]);
      expect((await way({ usage_limit: null, usage_reset_period: null, is_enabled: false })).status).toBeLessThan(300);
    }
  });

  test('must be a feature of the organization, and valid', async () => {
    const [plan, feature] = [await newPlan(), await newFeature()];
    const put = (difference: object) =>
      send('POST', `/plans/${plan.id}/features`, { feature_id: feature.id, ...difference });
    expect((await put({ feature_id: '01890000-0000-7000-8000-000000000000' })).status).toBe(404);
    for (const difference of [
      { feature_id: 'x' },
      { usage_reset_period: 'decade' },
      { is_enabled: 'yes' },
      { is_soft_limit: null },
      { static_value: '' },
      { limit: 5 },
    ]) {
      const { status, body } = await put(difference);
      expect([difference, status, body.errors[0].path]).toEqual([difference, 422, Object.keys(difference)[0]]);
    }
  });
});
