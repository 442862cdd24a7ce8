// What a plan costs: which charges are taken, with which digits, and what becomes of them.
// What is refused for its form is in charge-refusals.test.ts.

import type { Database } from '@weir/db/database';
import { listChargesOfPlan } from '@weir/db/billing/plans/charges';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { fixedCharge, makePricedPlan, usageCharge, type PricedPlan } from '../support/billing-fixture.ts';
import { chargeOfKind, kindNames, kinds, type ChargeKind } from '../support/charge-kinds.ts';
import { setBillingTime, shiftBillingTime } from '../support/billing-time.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const NOBODYS = '01890000-0000-7000-8000-000000000001';

const weir = ownWeir({ withWorker: false });
let database: Database;
let admin: Organization;
let meterId: string;
let plan: PricedPlan;

beforeAll(async () => {
  database = openTestDatabase(weir, 1);
  admin = await signUp(weir);
  meterId = (await admin.createMeter('SUM')).id;
  plan = await makePricedPlan(weir, admin);
});
afterAll(() => database.close());

const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, { session: admin.session, ...(body !== undefined && { body }) });
const add = (charge: unknown, planId = plan.id) => send('POST', `/plans/${planId}/charges`, charge);
const chargesOf = async (planId: string) => (await send('GET', `/plans/${planId}`)).body.charges;
const newMeter = async () => (await admin.createMeter('SUM')).id;

const sentOf = (kind: ChargeKind, difference: object = {}) => chargeOfKind(kind, meterId, difference);

describe('adding a charge', () => {
  test.each(kindNames)('of the kind %s answers all of it, and the plan carries it', async (kind) => {
    const meter_id = kind === 'FIXED' ? null : await newMeter();
    const { status, body } = await add(sentOf(kind, meter_id === null ? {} : { meter_id }));
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      plan_id: plan.id,
      display_name: 'Charge',
      meter_id,
      ...(kind !== 'FIXED' && { type: 'USAGE', model: kind, minimum_amount: null, maximum_amount: null }),
      ...kinds[kind].shown,
      status: 'ACTIVE',
      created_at: expect.stringMatching(/Z$/),
      effective_from: body.created_at,
      ended_at: null,
      replaces: null,
    });
    expect(await chargesOf(plan.id)).toContainEqual(body);
  });

  test('of usage without a model is one of a price for each unit', async () => {
    const { body } = await add(usageCharge(await newMeter(), { unit_price: 1 }));
    expect(body).toMatchObject({ model: 'per_unit', unit_price: '1' });
  });

  test('takes null for what may be left out', async () => {
    const nothing = { included_units: null, fixed_amount: null, minimum_amount: null, maximum_amount: null };
    expect((await add(sentOf('percentage', { ...nothing, meter_id: await newMeter() }))).status).toBe(201);
  });

  test('charges stand in a plan in the order in which they were added, those that have ended too', async () => {
    const { id, charges } = await makePricedPlan(weir, admin, [fixedCharge(1), fixedCharge(2), fixedCharge(3)]);
    await send('PATCH', `/plans/${id}/charges/${charges[1]?.id}`, { status: 'INACTIVE' });
    const shown = (await chargesOf(id)).map(({ unit_price, status }: Record<string, string>) => [unit_price, status]);
    expect(shown).toEqual([
      ['1', 'ACTIVE'],
      ['2', 'INACTIVE'],
      ['3', 'ACTIVE'],
    ]);
  });
});

describe('a price is taken exactly as sent, as a number or as a text, and comes back as a text', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['10', '10'],
    ['0.10', '0.1'],
    ['0.1e-5', '0.000001'],
    ['1E+2', '100'],
    ['1e-18', '0.000000000000000001'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['9007199254740.993', '9007199254740.993'],
    ['123456789012345.123456789012345678', '123456789012345.123456789012345678'],
    ['"123456789012345.123456789012345678"', '123456789012345.123456789012345678'],
    ['"0.10"', '0.1'],
    ['"007"', '7'],
  ])('%s', async (literal, shown) => {
    const raw = `{"type":"FIXED","display_name":"Fee","unit_price":${literal}}`;
    const answer = await weir.request('POST', `/api/v1/plans/${plan.id}/charges`, { session: admin.session, raw });
    expect([answer.status, answer.body.unit_price]).toEqual([201, shown]);
  });

  test('in tiers, and quantities with 32 digits before the point and 18 after it', async () => {
    const upTo = `${'9'.repeat(32)}.${'9'.repeat(18)}`;
    const raw =
      `{"type":"USAGE","display_name":"Calls","model":"graduated","meter_id":"${await newMeter()}","tiers":[` +
      `{"up_to":0.1e-5,"unit_price":1e-18,"flat_fee":0.10},{"up_to":${upTo},"unit_price":"2"},{"up_to":null,"unit_price":0}]}`;
    const answer = await weir.request('POST', `/api/v1/plans/${plan.id}/charges`, { session: admin.session, raw });
    expect(answer.body.tiers).toEqual([
      { up_to: '0.000001', unit_price: '0.000000000000000001', flat_fee: '0.1' },
      { up_to: upTo, unit_price: '2', flat_fee: '0' },
      { up_to: null, unit_price: '0', flat_fee: '0' },
    ]);
  });

  test('and a key that stands twice is refused, also within a tier', async () => {
    for (const raw of [
      '{"type":"FIXED","display_name":"Fee","unit_price":1,"unit_price":1000}',
      '{"type":"USAGE","model":"volume","tiers":[{"up_to":null,"unit_price":1,"unit_price":1000}]}',
    ]) {
      const answer = await weir.request('POST', `/api/v1/plans/${plan.id}/charges`, { session: admin.session, raw });
      expectProblem(answer, 400, 'malformed_json');
    }
  });
});

test('a rate above 100, a minimum that is the maximum, and a price of 0 are taken', async () => {
  for (const [kind, difference] of [
    ['percentage', { rate: 250 }],
    ['per_unit', { minimum_amount: '5.0', maximum_amount: 5 }],
    ['per_unit', { unit_price: 0 }],
  ] as const)
    expect((await add(sentOf(kind, { ...difference, meter_id: await newMeter() }))).status).toBe(201);
});

describe('a plan of the type', () => {
  const planOf = (type: string) => makePricedPlan(weir, admin, [], { type });

  test.each<[string, ChargeKind]>([
    ['FIXED', 'FIXED'],
    ['USAGE', 'per_unit'],
    ['HYBRID', 'FIXED'],
    ['HYBRID', 'per_unit'],
  ])('%s takes a charge of the kind %s', async (type, kind) => {
    expect((await add(sentOf(kind), (await planOf(type)).id)).status).toBe(201);
  });

  test.each<[string, ChargeKind]>([
    ['FIXED', 'per_unit'],
    ['USAGE', 'FIXED'],
  ])('%s takes none of the kind %s', async (type, kind) => {
    const { id } = await planOf(type);
    expectProblem(await add(sentOf(kind), id), 422, 'charge_not_of_plan_type');
    expect(await chargesOf(id)).toEqual([]);
  });
});

describe('a meter', () => {
  test('that there is not is 404, and so is a plan', async () => {
    expectProblem(await add(sentOf('per_unit', { meter_id: NOBODYS })), 404, 'not_found');
    expectProblem(await add(sentOf('FIXED'), NOBODYS), 404, 'not_found');
  });

  test('has one ACTIVE charge in a plan, and another once that has ended', async () => {
    const { id, charges } = await makePricedPlan(weir, admin, [usageCharge(meterId)]);
    expectProblem(await add(sentOf('volume'), id), 409, 'meter_already_priced');
    await send('PATCH', `/plans/${id}/charges/${charges[0]?.id}`, { status: 'INACTIVE' });
    expect((await add(sentOf('volume'), id)).status).toBe(201);
    expect((await chargesOf(id)).map(({ status }: { status: string }) => status)).toEqual(['INACTIVE', 'ACTIVE']);
  });

  test('gets one charge of several that are added at the same moment', async () => {
    const { id } = await makePricedPlan(weir, admin);
    const answers = await Promise.all(Array.from({ length: 8 }, () => add(sentOf('per_unit'), id)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, ...Array<number>(7).fill(409)]);
    expect(await chargesOf(id)).toHaveLength(1);
  });
});

describe('changing a charge', () => {
  const priced = async () => {
    const { id, charges } = await makePricedPlan(weir, admin, [fixedCharge('9.99')]);
    return { path: `/plans/${id}/charges/${charges[0]?.id}`, charge: charges[0], id };
  };

  test('gives it another name, and changes nothing else', async () => {
    const { path, charge } = await priced();
    const { status, body } = await send('PATCH', path, { display_name: 'Platform' });
    expect([status, body]).toEqual([200, { ...charge, display_name: 'Platform' }]);
  });

  test('ends it, for good: it can be ended again, and renamed, but not be made ACTIVE', async () => {
    const { path, charge } = await priced();
    expect((await send('PATCH', path, { status: 'ACTIVE' })).body).toEqual(charge);
    for (const change of [{ status: 'INACTIVE' }, { status: 'INACTIVE', display_name: 'Old' }, { display_name: 'Old' }])
      expect((await send('PATCH', path, change)).body.status).toBe('INACTIVE');
    expectProblem(await send('PATCH', path, { status: 'ACTIVE' }), 409, 'charge_inactive');
  });

  test('keeps when it ended, also when it is ended again', async () => {
    const { path, charge, id } = await priced();
    await send('PATCH', path, { status: 'INACTIVE' });
    const endOf = async () => {
      const { rows } = await weir.pool.query<{ ended_at: Date }>('SELECT ended_at FROM charges WHERE id = $1', [
        charge?.id,
      ]);
      return rows[0]?.ended_at;
    };
    const before = await endOf();
    await send('PATCH', path, { status: 'INACTIVE' });
    expect(await endOf()).toEqual(before);
    expect(id).toBe(charge?.plan_id);
  });

  test.each([
    { unit_price: 1 },
    { timing: 'in_arrears' },
    { type: 'USAGE' },
    { meter_id: NOBODYS },
    { minimum_amount: 1 },
    { status: 'ENDED' },
    { display_name: '' },
    {},
  ])('refuses %j', async (change) => {
    const { path, charge, id } = await priced();
    expectProblem(await send('PATCH', path, change), 422, 'invalid_request');
    expect(await chargesOf(id)).toEqual([charge]);
  });

  test('finds it in its own plan only', async () => {
    const [one, other] = [await priced(), await priced()];
    const path = `/plans/${one.id}/charges/${other.charge?.id}`;
    expectProblem(await send('PATCH', path, { status: 'INACTIVE' }), 404, 'not_found');
    expectProblem(await send('PATCH', `/plans/${one.id}/charges/${NOBODYS}`, { status: 'INACTIVE' }), 404, 'not_found');
    expect(await chargesOf(other.id)).toEqual([other.charge]);
  });
});

test('the charges of a period were ACTIVE at an instant: from its own on, until the one of their end', async () => {
  const { id } = await makePricedPlan(weir, admin);
  await setBillingTime(weir.pool, '2026-03-01T00:00:00Z');
  const { body: first } = await add(fixedCharge(1), id);
  await setBillingTime(weir.pool, '2026-04-01T00:00:00.000001Z');
  const { body: second } = await add(fixedCharge(2), id);
  await send('PATCH', `/plans/${id}/charges/${first.id}`, { status: 'INACTIVE' });
  await shiftBillingTime(weir.pool);
  const activeAt = async (at?: string) =>
    (await listChargesOfPlan(database.kysely, admin.id, id, at)).map((charge) => charge.id);
  expect(await activeAt('2026-02-28T23:59:59.999999Z')).toEqual([]);
  expect(await activeAt('2026-03-01T00:00:00Z')).toEqual([first.id]);
  expect(await activeAt('2026-04-01T00:00:00Z')).toEqual([first.id]);
  expect(await activeAt('2026-04-01T00:00:00.000001Z')).toEqual([second.id]);
  expect(await activeAt()).toEqual([first.id, second.id]);
});
