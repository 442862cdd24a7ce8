// What an answer holds all of has a limit, which is told before it is passed.

import { beforeAll, expect, test } from 'vitest';
import { besideOther } from '../support/beside-other.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;
beforeAll(async () => {
  admin = await signUp(weir);
});

/** As many as there may be, less one. */
const fill = (count: number) =>
  weir.pool.query(
    `INSERT INTO features (organization_id, id, name, lookup_key, type)
     SELECT $1, gen_random_uuid(), 'Feature ' || n, 'filled-' || n, 'switch' FROM generate_series(1, $2::integer) n`,
    [admin.id, count],
  );

test('a plan takes 500 features, and an organization 5,000, also of two made at once, all in one answer', async () => {
  await fill(4_997);
  const feature = (name: string) => admin.ask('POST', '/features', { name, lookup_key: name, type: 'switch' });
  const [first, last] = [await feature('first'), await feature('last')];
  expect([first.status, last.status]).toEqual([201, 201]);
  const other = `INSERT INTO features (organization_id, id, name, lookup_key, type)
    VALUES ($1, gen_random_uuid(), 'Other', 'other', 'switch')`;
  expectProblem(await besideOther(weir, admin.id, other, () => feature('one-more')), 422, 'invalid_request');
  const { data } = (await admin.ask('GET', '/features')).body;
  expect(data.length).toBe(5_000);
  expect(data).toContainEqual(last.body);

  const fields = { name: 'Pro', lookup_id: 'pro', type: 'HYBRID', billing_interval: 'month', currency: 'USD' };
  const plan = (await admin.ask('POST', '/plans', fields)).body;
  await weir.pool.query(
    `INSERT INTO plan_features (organization_id, plan_id, feature_id, is_enabled, is_soft_limit)
     SELECT organization_id, $1, id, true, false FROM features WHERE lookup_key LIKE 'filled-%' LIMIT 499`,
    [plan.id],
  );
  const add = (feature_id: string) => admin.ask('POST', `/plans/${plan.id}/features`, { feature_id, is_enabled: true });
  const another = `INSERT INTO plan_features (organization_id, plan_id, feature_id, is_enabled, is_soft_limit)
    SELECT organization_id, '${plan.id}', id, true, false FROM features WHERE organization_id = $1 AND lookup_key = 'first'`;
  const held = { table: 'plans', id: plan.id } as const;
  const beside = await besideOther(weir, admin.id, another, () => add(last.body.id), held);
  expectProblem(beside, 422, 'invalid_request');
  expectProblem(await add(last.body.id), 422, 'invalid_request');
  expect((await admin.ask('GET', `/plans/${plan.id}`)).body.features.length).toBe(500);
});

test('an organization has 10,000 meters, with those of features that were deleted', async () => {
  const { id, session } = await signUp(weir);
  await weir.pool.query(
    `INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type, status)
     SELECT $1, gen_random_uuid(), 'Left', gen_random_uuid(), 'COUNT', 'ARCHIVED' FROM generate_series(1, 9999)`,
    [id],
  );
  const feature = (name: string, type: object) =>
    weir.request('POST', '/api/v1/features', { session, body: { name, lookup_key: name, ...type } });
  const meter = { type: 'meter', aggregation_type: 'COUNT' };
  expect((await feature('last', meter)).status).toBe(201);
  const refused = await feature('one-more', meter);
  expectProblem(refused, 422, 'invalid_request');
  expect(refused.body.errors).toMatchObject([{ path: 'type', message: expect.stringContaining('10000 meters') }]);
  expect((await feature('a-switch', { type: 'switch' })).status).toBe(201);
});
