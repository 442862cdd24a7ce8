// Trying a charge out: every model against examples that were worked by hand, with the working.

import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { readKept } from '../support/kept.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;

beforeAll(async () => {
  admin = await signUp(weir);
});

const send = (options: { body?: unknown; raw?: string }): Promise<Answer> =>
  weir.request('POST', '/api/v1/charges/evaluate', { session: admin.session, ...options });
const evaluate = (charge: object, fields: object = {}) => send({ body: { currency: 'USD', charge, ...fields } });

const perUnit = (fields: object = {}) => ({ type: 'USAGE', unit_price: '0.5', ...fields });
const tiers = [
  { up_to: 10, unit_price: '5' },
  { up_to: 20, unit_price: '4', flat_fee: '1' },
  { up_to: null, unit_price: '2', flat_fee: '3' },
];
const graduated = { type: 'USAGE', model: 'graduated', tiers };
const volume = { type: 'USAGE', model: 'volume', tiers };
const packages = (fields: object = {}) => ({
  type: 'USAGE',
  model: 'package',
  unit_price: '3',
  package_size: 100,
  ...fields,
});
const percentage = (fields: object = {}) => ({ type: 'USAGE', model: 'percentage', rate: '2.9', ...fields });
const fixed = { type: 'FIXED', unit_price: '100' };
const days = (days_in_force: number, days_in_period: number) => ({ days_in_force, days_in_period });
const part = (up_to: string | null, quantity: string, exact_amount: string) => ({ up_to, quantity, exact_amount });

type Row = [working: string, charge: object, fields: object, exactAmount: string, amount: string, detail?: unknown];

describe('a price for each unit', () => {
  test.each<Row>([
    ['12.5 × 0.5', perUnit(), { quantity: '12.5' }, '6.25', '6.25'],
    ['nothing used', perUnit(), {}, '0', '0.00'],
    ['(12 − 10) × 0.5', perUnit({ included_units: 10 }), { quantity: 12 }, '1', '1.00'],
    ['less than what is included', perUnit({ included_units: 10 }), { quantity: 9.5 }, '0', '0.00'],
    ['as much as is included', perUnit({ included_units: 10 }), { quantity: 10 }, '0', '0.00'],
    ['0.005 is rounded up, half away from zero', perUnit({ unit_price: '0.001' }), { quantity: 5 }, '0.005', '0.01'],
    ['0.0049 is rounded down', perUnit({ unit_price: '0.0001' }), { quantity: 49 }, '0.0049', '0.00'],
    ['below the minimum', perUnit({ minimum_amount: 10 }), { quantity: 4 }, '10', '10.00'],
    ['nothing used, and a minimum', perUnit({ minimum_amount: 10 }), {}, '10', '10.00'],
    ['above the maximum', perUnit({ maximum_amount: '9.999' }), { quantity: 40 }, '9.999', '10.00'],
    ['between the two', perUnit({ minimum_amount: 1, maximum_amount: 3 }), { quantity: 4 }, '2', '2.00'],
    ['a minimum for 22 of 31 days: 10 × 22 ÷ 31', perUnit({ minimum_amount: 10 }), days(22, 31), '220/31', '7.10'],
    [
      'a maximum for half of the days: 3 × 15 ÷ 30',
      perUnit({ maximum_amount: 3 }),
      { quantity: 9, ...days(15, 30) },
      '1.5',
      '1.50',
    ],
    ['usage itself is not prorated', perUnit(), { quantity: 9, ...days(1, 30) }, '4.5', '4.50'],
    ['events do not count', perUnit(), { quantity: 1, event_count: 50 }, '0.5', '0.50'],
  ])('%s', expectAmount);
});

describe('graduated tiers: each part of the quantity at the price of its tier', () => {
  test.each<Row>([
    ['nothing used: no fee', graduated, {}, '0', '0.00', []],
    ['4 × 5', graduated, { quantity: 4 }, '20', '20.00', [part('10', '4', '20')]],
    ['up_to belongs to its tier: 10 × 5', graduated, { quantity: 10 }, '50', '50.00', [part('10', '10', '50')]],
    [
      'a part of a unit brings the fee of its tier: 10 × 5 + 0.5 × 4 + 1',
      graduated,
      { quantity: '10.5' },
      '53',
      '53.00',
      [part('10', '10', '50'), part('20', '0.5', '3')],
    ],
    [
      '10 × 5 + 10 × 4 + 1 + 5 × 2 + 3',
      graduated,
      { quantity: 25 },
      '104',
      '104.00',
      [part('10', '10', '50'), part('20', '10', '41'), part(null, '5', '13')],
    ],
    [
      'the detail is of before the maximum',
      { ...graduated, maximum_amount: 30 },
      { quantity: 10 },
      '30',
      '30.00',
      [part('10', '10', '50')],
    ],
  ])('%s', expectAmount);
});

describe('volume: all of the quantity at the price of the tier that it is in', () => {
  test.each<Row>([
    ['nothing used: no fee', volume, {}, '0', '0.00', []],
    ['10 × 5', volume, { quantity: 10 }, '50', '50.00', [part('10', '10', '50')]],
    ['10.5 × 4 + 1', volume, { quantity: '10.5' }, '43', '43.00', [part('20', '10.5', '43')]],
    ['20 × 4 + 1', volume, { quantity: 20 }, '81', '81.00', [part('20', '20', '81')]],
    ['25 × 2 + 3', volume, { quantity: 25 }, '53', '53.00', [part(null, '25', '53')]],
  ])('%s', expectAmount);
});

describe('packages: one that was begun is paid', () => {
  test.each<Row>([
    ['nothing used', packages(), {}, '0', '0.00', { packages: '0' }],
    ['100 units are one package', packages(), { quantity: 100 }, '3', '3.00', { packages: '1' }],
    ['a hair more are two', packages(), { quantity: '100.000000000000000001' }, '6', '6.00', { packages: '2' }],
    ['(250 − 50) ÷ 100', packages({ included_units: 50 }), { quantity: 250 }, '6', '6.00', { packages: '2' }],
    [
      '0.3 ÷ 0.1 is 3, and no float',
      packages({ package_size: 0.1 }),
      { quantity: 0.3 },
      '9',
      '9.00',
      { packages: '3' },
    ],
    [
      '10 ÷ ⅓ cannot be sent, 10 ÷ 0.3 is 34',
      packages({ package_size: 0.3 }),
      { quantity: 10 },
      '102',
      '102.00',
      { packages: '34' },
    ],
  ])('%s', expectAmount);
});

describe('a percentage of the quantity, and an amount for each event', () => {
  test.each<Row>([
    ['200 × 2.9 %', percentage(), { quantity: 200 }, '5.8', '5.80'],
    ['200 × 2.9 % + 3 × 0.30', percentage({ fixed_amount: 0.3 }), { quantity: 200, event_count: 3 }, '6.7', '6.70'],
    [
      '(200 − 100) × 2.9 % + 3 × 0.30',
      percentage({ fixed_amount: '0.30', included_units: 100 }),
      { quantity: 200, event_count: 3 },
      '3.8',
      '3.80',
    ],
    ['a rate above 100', percentage({ rate: 250 }), { quantity: 2 }, '5', '5.00'],
    ['events of nothing', percentage({ fixed_amount: '0.30' }), { event_count: 2 }, '0.6', '0.60'],
  ])('%s', expectAmount);
});

describe('a fixed price', () => {
  test.each<Row>([
    ['of a whole period', fixed, {}, '100', '100.00'],
    ['in arrears is the same', { ...fixed, timing: 'in_arrears' }, {}, '100', '100.00'],
    ['100 × 22 ÷ 31', fixed, days(22, 31), '2200/31', '70.97'],
    ['100 × 15 ÷ 30', fixed, days(15, 30), '50', '50.00'],
    ['of all the days', fixed, days(31, 31), '100', '100.00'],
    ['of none of the days', fixed, days(0, 31), '0', '0.00'],
    ['does not ask what was used', fixed, { quantity: 9, event_count: 9 }, '100', '100.00'],
  ])('%s', expectAmount);
});

async function expectAmount(
  _: string,
  charge: object,
  fields: object,
  exactAmount: string,
  amount: string,
  detail: unknown = null,
) {
  const { status, body } = await evaluate(charge, fields);
  expect([status, body]).toEqual([200, { exact_amount: exactAmount, amount, detail }]);
}

test.each([
  ['USD', '12.35'],
  ['JPY', '12'],
  ['KWD', '12.346'],
  ['HUF', '12.35'],
  ['CLF', '12.3457'],
])('in %s an amount has the digits of ISO 4217: %s', async (currency, amount) => {
  const { body } = await evaluate({ type: 'FIXED', unit_price: '12.34567' }, { currency });
  expect(body).toMatchObject({ exact_amount: '12.34567', amount });
});

test('numbers of 64 digits are computed exactly, whether they come as numbers or as texts', async () => {
  const quantity = '1234567890123456789012345678901234567890.123456789012345678901234';
  const price = '123456789012345.123456789012345678';
  // By whole numbers, with 24 and 18 digits after the point.
  const product = String(BigInt(quantity.replace('.', '')) * BigInt(price.replace('.', '')));
  const exact_amount = `${product.slice(0, -42)}.${product.slice(-42)}`.replace(/0+$/, '');
  for (const [q, p] of [
    [quantity, price],
    [`"${quantity}"`, `"${price}"`],
  ] as const) {
    const raw = `{"currency":"USD","charge":{"type":"USAGE","unit_price":${p}},"quantity":${q}}`;
    expect((await send({ raw })).body).toMatchObject({ exact_amount });
  }
});

test('it may name its meter, and one that there is not is 404', async () => {
  const { id } = await admin.createMeter('SUM');
  const named = (meter_id: string) => evaluate(perUnit({ meter_id, display_name: 'Calls' }), { quantity: 2 });
  expect((await named(id)).body).toMatchObject({ amount: '1.00' });
  expectProblem(await named('01890000-0000-7000-8000-000000000001'), 404, 'not_found');
});

test('nothing is kept of it', async () => {
  const before = await readKept(weir);
  expect((await evaluate(graduated, { quantity: 25 })).status).toBe(200);
  expect(await readKept(weir)).toEqual(before);
});

describe('it refuses', () => {
  test.each<[title: string, fields: object, path: string, message: string]>([
    ['no currency', { currency: undefined }, 'currency', 'is required'],
    ['an unknown currency', { currency: 'usd' }, 'currency', 'must be an ISO 4217 code'],
    ['no charge', { charge: undefined }, 'charge', 'is required'],
    ['a charge of no kind', { charge: {} }, 'charge.type', 'must be one of FIXED, USAGE'],
    [
      'a field of another model',
      { charge: { ...graduated, included_units: 1 } },
      'charge.included_units',
      'not a field of a graduated charge',
    ],
    [
      'a meter of a fixed charge',
      { charge: { ...fixed, meter_id: '01890000-0000-7000-8000-000000000001' } },
      'charge.meter_id',
      'not a field of a FIXED charge',
    ],
    [
      'tiers that do not rise',
      {
        charge: {
          ...volume,
          tiers: [{ up_to: 5, unit_price: 1 }, ...tiers.slice(0, 1), { up_to: 9, unit_price: 1 }, ...tiers.slice(2)],
        },
      },
      'charge.tiers[2].up_to',
      'must be greater than that of the tier before it',
    ],
    [
      'a minimum above the maximum',
      { charge: perUnit({ minimum_amount: 2, maximum_amount: 1 }) },
      'charge.minimum_amount',
      'must not be above maximum_amount',
    ],
    ['a negative quantity', { quantity: -1 }, 'quantity', 'must be 0 or more'],
    ['a quantity of 65 digits', { quantity: '1'.repeat(65) }, 'quantity', 'must have at most 64 digits'],
    [
      'a quantity of 65 digits with a point in it',
      { quantity: `${'1'.repeat(40)}.${'1'.repeat(25)}` },
      'quantity',
      'must have at most 64 digits',
    ],
    ['a quantity that is no number', { quantity: 'many' }, 'quantity', 'must be a number'],
    ['a part of an event', { event_count: 1.5 }, 'event_count', 'must be a whole number'],
    ['fewer events than none', { event_count: -1 }, 'event_count', 'must be 0 or more'],
    ['a count of events in a text', { event_count: '1' }, 'event_count', 'must be'],
    ['days in force alone', { days_in_force: 1 }, 'days_in_period', 'is required'],
    ['days of the period alone', { days_in_period: 30 }, 'days_in_force', 'is required'],
    ['more days than the period has', days(32, 31), 'days_in_force', 'must be at most days_in_period'],
    ['a period without a day', days(0, 0), 'days_in_period', 'must be 1 or more'],
    ['a period of 367 days', days(1, 367), 'days_in_period', 'must be at most 366'],
    ['a field that there is not', { amount: 1 }, 'amount', 'is not a field of this request'],
  ])('%s', async (_, fields, path, message) => {
    const answer = await evaluate(perUnit(), fields);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toEqual([{ path, message: expect.stringContaining(message) }]);
  });
});
