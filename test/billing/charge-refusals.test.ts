// What is no charge, by each rule: nothing of it is kept, and the path says where it is wrong.

import { beforeAll, describe, expect, test } from 'vitest';
import { makePricedPlan, type PricedPlan } from '../support/billing-fixture.ts';
import { chargeOfKind, kindNames, type ChargeKind } from '../support/charge-kinds.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const NOBODYS = '01890000-0000-7000-8000-000000000001';

const weir = sharedWeir();
let admin: Organization;
let meterId: string;
let plan: PricedPlan;

beforeAll(async () => {
  admin = await signUp(weir);
  meterId = (await admin.createMeter('SUM')).id;
  plan = await makePricedPlan(weir, admin);
});

const add = (charge: unknown): Promise<Answer> =>
  weir.request('POST', `/api/v1/plans/${plan.id}/charges`, { session: admin.session, body: charge });
const sentOf = (kind: ChargeKind, difference: object = {}) => chargeOfKind(kind, meterId, difference);

/** Which of the kinds have a field. */
const fields: Record<string, { of: readonly ChargeKind[]; good: unknown }> = {
  timing: { of: ['FIXED'], good: 'in_advance' },
  meter_id: { of: kindNames.filter((kind) => kind !== 'FIXED'), good: NOBODYS },
  model: { of: kindNames.filter((kind) => kind !== 'FIXED'), good: 'volume' },
  unit_price: { of: ['FIXED', 'per_unit', 'package'], good: 1 },
  tiers: { of: ['graduated', 'volume'], good: [{ up_to: null, unit_price: 1 }] },
  package_size: { of: ['package'], good: 1 },
  rate: { of: ['percentage'], good: 1 },
  fixed_amount: { of: ['percentage'], good: 1 },
  included_units: { of: ['per_unit', 'package', 'percentage'], good: 1 },
  minimum_amount: { of: kindNames.filter((kind) => kind !== 'FIXED'), good: 1 },
  maximum_amount: { of: kindNames.filter((kind) => kind !== 'FIXED'), good: 1 },
};

describe('a field of another type or model is refused, and not left unread', () => {
  const foreign = Object.entries(fields).flatMap(([field, { of, good }]) =>
    kindNames.filter((kind) => !of.includes(kind)).map((kind) => [field, kind, good] as const),
  );
  test.each(foreign)('%s in one of %s', async (field, kind, good) => {
    const answer = await add(sentOf(kind, { [field]: good }));
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toEqual([
      { path: field, message: expect.stringContaining(`not a field of a ${kind} charge`) },
    ]);
  });
});

const REQUIRED: Record<ChargeKind, string[]> = {
  FIXED: ['display_name', 'type', 'unit_price'],
  per_unit: ['display_name', 'type', 'meter_id', 'unit_price'],
  graduated: ['display_name', 'type', 'meter_id', 'tiers'],
  volume: ['display_name', 'type', 'meter_id', 'tiers'],
  package: ['display_name', 'type', 'meter_id', 'unit_price', 'package_size'],
  percentage: ['display_name', 'type', 'meter_id', 'rate'],
};

test.each(kindNames.map((kind) => [kind, REQUIRED[kind]] as const))(
  'a charge of the kind %s asks for %j',
  async (kind, required) => {
    for (const field of required) {
      const { [field]: _left, ...charge } = sentOf(kind) as Record<string, unknown>;
      const answer = await add(charge);
      expectProblem(answer, 422, 'invalid_request');
      const message = field === 'type' ? 'must be one of FIXED, USAGE' : 'is required';
      expect(answer.body.errors).toEqual([{ path: field, message }]);
    }
  },
);

const DIGITS_OF_PRICE = 'must have at most 15 digits before the point and 18 after it';
const DIGITS_OF_QUANTITY = 'must have at most 32 digits before the point and 18 after it';
const tier = (up_to: unknown, difference: object = {}) => ({ up_to, unit_price: 1, ...difference });

describe('a value is refused that is', () => {
  test.each<[title: string, kind: ChargeKind, difference: object, path: string, message: string]>([
    ['a negative price', 'per_unit', { unit_price: -0.01 }, 'unit_price', 'must be 0 or more'],
    ['a negative price in a text', 'per_unit', { unit_price: '-1' }, 'unit_price', 'must be 0 or more'],
    ['a number that a float holds no more', 'FIXED', { unit_price: 9007199254740992 }, 'unit_price', DIGITS_OF_PRICE],
    ['a price of 16 digits', 'FIXED', { unit_price: '1'.repeat(16) }, 'unit_price', DIGITS_OF_PRICE],
    [
      'a price of 19 digits after the point',
      'FIXED',
      { unit_price: `0.${'1'.repeat(19)}` },
      'unit_price',
      DIGITS_OF_PRICE,
    ],
    ['a number of 16 digits', 'FIXED', { unit_price: 1e15 }, 'unit_price', DIGITS_OF_PRICE],
    ['a number of 19 digits after the point', 'FIXED', { unit_price: 1e-19 }, 'unit_price', DIGITS_OF_PRICE],
    ['a text with an exponent', 'FIXED', { unit_price: '1e3' }, 'unit_price', 'must be a number'],
    ['a text with a plus', 'FIXED', { unit_price: '+1' }, 'unit_price', 'must be a number'],
    ['a text without digits before the point', 'FIXED', { unit_price: '.5' }, 'unit_price', 'must be a number'],
    ['a text with a line break', 'FIXED', { unit_price: '1\n' }, 'unit_price', 'must be a number'],
    ['a text with a comma', 'FIXED', { unit_price: '1,5' }, 'unit_price', 'must be a number'],
    ['an empty text', 'FIXED', { unit_price: '' }, 'unit_price', 'must not be empty'],
    ['an empty id of a meter', 'per_unit', { meter_id: '' }, 'meter_id', 'must be the id of a meter'],
    ['a price of null', 'FIXED', { unit_price: null }, 'unit_price', 'must be a number'],
    ['another type', 'FIXED', { type: 'DYNAMIC' }, 'type', 'must be one of FIXED, USAGE'],
    ['another timing', 'FIXED', { timing: 'later' }, 'timing', 'must be one of in_advance, in_arrears'],
    ['another model', 'per_unit', { model: 'dynamic' }, 'model', 'must be one of per_unit, graduated, volume, package'],
    ['a blank name', 'FIXED', { display_name: ' ' }, 'display_name', 'must not be blank'],
    ['no id of a meter', 'per_unit', { meter_id: 'calls' }, 'meter_id', 'must be the id of a meter'],
    ['a meter of null', 'per_unit', { meter_id: null }, 'meter_id', 'must be the id of a meter'],
    ['no tier', 'volume', { tiers: [] }, 'tiers', 'must hold at least one tier'],
    [
      '101 tiers',
      'volume',
      { tiers: Array.from({ length: 101 }, (_, n) => tier(n < 100 ? n + 1 : null)) },
      'tiers',
      'must hold at most 100 tiers',
    ],
    [
      'a last tier with an end',
      'graduated',
      { tiers: [tier(10), tier(20)] },
      'tiers[1].up_to',
      'must be null: the last',
    ],
    [
      'another tier without an end',
      'graduated',
      { tiers: [tier(null), tier(null)] },
      'tiers[0].up_to',
      'only the last',
    ],
    [
      'a tier that ends where the one before it does',
      'volume',
      { tiers: [tier(5), tier('5.0'), tier(null)] },
      'tiers[1].up_to',
      'must be greater than that of the tier before it',
    ],
    [
      'a tier that ends before the one before it',
      'volume',
      { tiers: [tier(10), tier(9), tier(null)] },
      'tiers[1].up_to',
      'must be greater than that of the tier before it',
    ],
    ['a tier that ends at 0', 'volume', { tiers: [tier(0), tier(null)] }, 'tiers[0].up_to', 'must be greater than 0'],
    [
      'a tier that does not say where it ends',
      'volume',
      { tiers: [{ unit_price: 1 }] },
      'tiers[0].up_to',
      'is required',
    ],
    [
      'a tier of 33 digits',
      'volume',
      { tiers: [tier('1'.repeat(33)), tier(null)] },
      'tiers[0].up_to',
      DIGITS_OF_QUANTITY,
    ],
    ['a tier without a price', 'volume', { tiers: [{ up_to: null }] }, 'tiers[0].unit_price', 'is required'],
    [
      'a tier with a negative fee',
      'volume',
      { tiers: [tier(null, { flat_fee: -1 })] },
      'tiers[0].flat_fee',
      'must be 0 or more',
    ],
    ['a tier with an unknown field', 'volume', { tiers: [tier(null, { from: 1 })] }, 'tiers[0].from', 'is not a field'],
    ['a package of nothing', 'package', { package_size: 0 }, 'package_size', 'must be greater than 0'],
    ['a package of nothing in a text', 'package', { package_size: '0.00' }, 'package_size', 'must be greater than 0'],
    ['a negative package', 'package', { package_size: -1 }, 'package_size', 'must be greater than 0'],
    ['negative included units', 'per_unit', { included_units: -1 }, 'included_units', 'must be 0 or more'],
    [
      'included units of 19 digits after the point',
      'per_unit',
      { included_units: 1e-19 },
      'included_units',
      DIGITS_OF_QUANTITY,
    ],
    ['a negative rate', 'percentage', { rate: -1 }, 'rate', 'must be 0 or more'],
    [
      'a minimum above the maximum',
      'per_unit',
      { minimum_amount: '5.01', maximum_amount: 5 },
      'minimum_amount',
      'must not be above maximum_amount',
    ],
    ['a field that there is not', 'FIXED', { price: 1 }, 'price', 'is not a field of a FIXED charge'],
  ])('%s', async (_, kind, difference, path, message) => {
    const answer = await add(sentOf(kind, difference));
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toEqual([{ path, message: expect.stringContaining(message) }]);
  });
});

test('nothing of all this was kept', async () => {
  const { body } = await weir.request('GET', `/api/v1/plans/${plan.id}`, { session: admin.session });
  expect(body.charges).toEqual([]);
});
