// Two models of rating that share no code with it: one prices unit by unit, the other has whole numbers with fixed points.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Bounds, ChargeModel, ChargeTerms, TermsByModel, Tier, UsageTerms } from './charge-terms.ts';
import { compare, parseExact } from './exact.ts';
import { type Days, rate, type RatedDetail, type TierDetail } from './rate.ts';

const RUNS = 2000;

/** A decimal with at most so many digits before and after the point. */
function decimal(before: number, after: number): fc.Arbitrary<string> {
  const digits = fc.stringMatching(new RegExp(`^(0|[1-9][0-9]{0,${before - 1}})$`));
  const tail = fc.option(fc.stringMatching(new RegExp(`^[0-9]{0,${after - 1}}[1-9]$`)), { nil: undefined });
  return fc.tuple(digits, tail).map(([whole, rest]) => (rest === undefined ? whole : `${whole}.${rest}`));
}

const price = decimal(15, 18);
const quantity = fc.oneof(decimal(22, 18), decimal(40, 1), decimal(3, 3), fc.constantFrom('0', '10', '100'));
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value, { nil: null });
const bounds = fc
  .tuple(maybe(price), maybe(price))
  .map(([a, b]) =>
    a !== null && b !== null && compare(parseExact(a), parseExact(b)) > 0
      ? { minimum_amount: b, maximum_amount: a }
      : { minimum_amount: a, maximum_amount: b },
  );
const tiers = fc
  .tuple(
    fc.uniqueArray(quantity, { maxLength: 6, selector: (text) => scaled(text) }),
    fc.array(fc.tuple(price, price), { minLength: 7, maxLength: 7 }),
  )
  .map(([ends, prices]) =>
    [...ends.filter((end) => scaled(end) > 0n).sort((a, b) => (scaled(a) < scaled(b) ? -1 : 1)), null].map(
      (up_to, at): Tier => ({ up_to, unit_price: prices[at]?.[0] ?? '0', flat_fee: prices[at]?.[1] ?? '0' }),
    ),
  );
const type = fc.constant('USAGE' as const);
const model = <Name extends string>(name: Name): fc.Arbitrary<Name> => fc.constant(name);
const size = quantity.filter((text) => scaled(text) > 0n);
/** Terms of each model, without their bounds. */
type EachModel = {
  [Model in ChargeModel]: fc.Arbitrary<Omit<TermsByModel[Model], keyof Bounds>>;
};
const anyOf = (each: EachModel) => fc.oneof(...Object.values(each));
const usageTerms: fc.Arbitrary<UsageTerms> = anyOf({
  per_unit: fc.record({ type, model: model('per_unit'), unit_price: price, included_units: maybe(quantity) }),
  graduated: fc.record({ type, model: model('graduated'), tiers }),
  volume: fc.record({ type, model: model('volume'), tiers }),
  package: fc.record({
    type,
    model: model('package'),
    unit_price: price,
    package_size: size,
    included_units: maybe(quantity),
  }),
  percentage: fc.record({
    type,
    model: model('percentage'),
    rate: price,
    fixed_amount: maybe(price),
    included_units: maybe(quantity),
  }),
}).chain((terms) => bounds.map((both) => ({ ...terms, ...both })));
const terms: fc.Arbitrary<ChargeTerms> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('FIXED' as const),
      timing: fc.constant('in_advance' as const),
      unit_price: price,
    }),
  },
  { weight: 9, arbitrary: usageTerms },
);
const days: fc.Arbitrary<Days | null> = maybe(
  fc.tuple(fc.integer({ min: 0, max: 366 }), fc.integer({ min: 1, max: 366 })).map(([a, b]) => ({
    inForce: Math.min(a, b),
    inPeriod: Math.max(a, b),
  })),
);

/** The digits of a decimal with the point 18 places from the right. */
function scaled(text: string): bigint {
  const [whole = '', tail = ''] = text.split('.');
  return BigInt(whole) * 10n ** 18n + BigInt(tail.padEnd(18, '0'));
}

const P18 = 10n ** 18n;

/** What a charge comes to, in units of 10^-38 ÷ days of the period. */
function fixedPoint(of: ChargeTerms, quantityText: string, events: bigint, share: Days): bigint {
  const [inForce, inPeriod] = [BigInt(share.inForce), BigInt(share.inPeriod)];
  // Two places for the percent, 18 for a quantity.
  const bound = (text: string, dates = inForce): bigint => scaled(text) * 100n * P18 * dates;
  if (of.type === 'FIXED') return bound(of.unit_price);
  let amount = inPeriod * unbounded(of, scaled(quantityText), events);
  if (of.minimum_amount !== null && amount < bound(of.minimum_amount)) amount = bound(of.minimum_amount);
  // A period of one date is of a plan by the day, whose maximum is whole.
  const most = of.maximum_amount === null ? amount : bound(of.maximum_amount, inPeriod === 1n ? inPeriod : inForce);
  return amount > most ? most : amount;
}

function unbounded(of: UsageTerms, q: bigint, events: bigint): bigint {
  if (of.model === 'graduated') {
    const ends = of.tiers.map(({ up_to }) => (up_to === null ? q : scaled(up_to)));
    const upTo = (end: bigint): bigint => (q < end ? q : end);
    return of.tiers.reduce((sum, tier, at) => {
      const part = upTo(ends[at] ?? q) - upTo(at === 0 ? 0n : (ends[at - 1] ?? q));
      return part > 0n ? sum + 100n * (part * scaled(tier.unit_price) + scaled(tier.flat_fee) * P18) : sum;
    }, 0n);
  }
  if (of.model === 'volume') {
    if (q === 0n) return 0n;
    const tier = of.tiers[of.tiers.filter(({ up_to }) => up_to !== null && scaled(up_to) < q).length];
    return 100n * (q * scaled(tier?.unit_price ?? 'none') + scaled(tier?.flat_fee ?? 'none') * P18);
  }
  const included = scaled(of.included_units ?? '0');
  const over = q > included ? q - included : 0n;
  if (of.model === 'per_unit') return 100n * over * scaled(of.unit_price);
  if (of.model === 'percentage') return over * scaled(of.rate) + events * scaled(of.fixed_amount ?? '0') * 100n * P18;
  of.model satisfies 'package';
  const packageSize = scaled(of.package_size);
  return ((over + packageSize - 1n) / packageSize) * scaled(of.unit_price) * 100n * P18;
}

test('invariant 11: charges and quantities of up to 40 digits come to what fixed-point arithmetic says', () => {
  fc.assert(
    fc.property(terms, quantity, fc.bigInt({ min: 0n, max: 10n ** 12n }), days, (of, q, events, share) => {
      const { exact, detail } = rate(of, { quantity: q, eventCount: events }, share);
      const expected = fixedPoint(of, q, events, share ?? { inForce: 1, inPeriod: 1 });
      expect(exact.n * 100n * P18 * P18 * BigInt(share?.inPeriod ?? 1)).toBe(expected * exact.d);
      expect(addsUp(of, detail, scaled(q)), JSON.stringify(detail)).toBe(true);
    }),
    { numRuns: RUNS },
  );
});

/** Whether the parts add up to the quantity, and to the amount before bounds; an amount of a tier has at most 36 places. */
function addsUp(of: ChargeTerms, detail: RatedDetail | null, q: bigint): boolean {
  if (of.type === 'USAGE' && (of.model === 'graduated' || of.model === 'volume')) {
    const parts = detail as TierDetail[];
    const total = parts.reduce((sum, { exact_amount }) => {
      const [whole = '', tail = ''] = exact_amount.split('.');
      return sum + BigInt(whole + tail.padEnd(36, '0'));
    }, 0n);
    return (
      parts.reduce((sum, part) => sum + scaled(part.quantity), 0n) === q &&
      100n * total === unbounded(of, q, 0n) &&
      parts.every((part) => of.tiers.some(({ up_to }) => up_to === part.up_to))
    );
  }
  if (of.type === 'USAGE' && of.model === 'package') {
    const { packages } = detail as { packages: string };
    return BigInt(packages) * scaled(of.unit_price) * 100n * P18 === unbounded(of, q, 0n);
  }
  return detail === null;
}

/** Prices in whole cents and quantities in whole units, of which each is looked at by itself. */
function unitByUnit(of: UsageTerms, units: number, events: number): number {
  let cents = 0;
  let entered: Tier | undefined;
  const tierOf = (rows: Tier[], unit: number): Tier | undefined =>
    rows.find(({ up_to }) => up_to === null || unit <= Number(up_to));
  for (let unit = 1; unit <= units; unit++) {
    if (of.model === 'graduated' || of.model === 'volume') {
      const tier = tierOf(of.tiers, of.model === 'volume' ? units : unit);
      cents += Number(tier?.unit_price);
      if (tier !== entered) cents += Number(tier?.flat_fee);
      entered = tier;
    } else if (unit > Number(of.included_units ?? 0)) {
      if (of.model === 'per_unit') cents += Number(of.unit_price);
      if (of.model === 'percentage') cents += Number(of.rate) / 100;
      const before = unit - 1 - Number(of.included_units ?? 0);
      if (of.model === 'package' && before % Number(of.package_size) === 0) cents += Number(of.unit_price);
    }
  }
  if (of.model === 'percentage') cents += events * Number(of.fixed_amount ?? 0);
  return Math.min(Math.max(cents, Number(of.minimum_amount ?? 0)), Number(of.maximum_amount ?? Infinity));
}

test('invariant 11: small whole numbers come to what pricing unit by unit says', () => {
  const small = fc.integer({ min: 0, max: 60 }).map(String);
  const rows = fc
    .tuple(
      fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 4 }),
      fc.array(small, { minLength: 10, maxLength: 10 }),
    )
    .map(([ends, prices]) =>
      [...ends.sort((a, b) => a - b).map(String), null].map((up_to, at): Tier => ({
        up_to,
        unit_price: prices[at] ?? '0',
        flat_fee: prices[at + 5] ?? '0',
      })),
    );
  const hundreds = fc.integer({ min: 0, max: 4 }).map((percent) => String(percent * 100));
  const smallTerms: fc.Arbitrary<UsageTerms> = anyOf({
    per_unit: fc.record({ type, model: model('per_unit'), unit_price: small, included_units: maybe(small) }),
    graduated: fc.record({ type, model: model('graduated'), tiers: rows }),
    volume: fc.record({ type, model: model('volume'), tiers: rows }),
    package: fc.record({
      type,
      model: model('package'),
      unit_price: small,
      package_size: fc.integer({ min: 1, max: 9 }).map(String),
      included_units: maybe(small),
    }),
    percentage: fc.record({
      type,
      model: model('percentage'),
      rate: hundreds,
      fixed_amount: maybe(small),
      included_units: maybe(small),
    }),
  }).chain((of) =>
    fc.constantFrom(null, '150').map((minimum_amount) => ({ ...of, minimum_amount, maximum_amount: '900' })),
  );
  fc.assert(
    fc.property(smallTerms, fc.integer({ min: 0, max: 80 }), fc.integer({ min: 0, max: 9 }), (of, units, events) => {
      const { exact } = rate(of, { quantity: String(units), eventCount: BigInt(events) }, null);
      expect(exact).toEqual({ n: BigInt(unitByUnit(of, units, events)), d: 1n });
    }),
    { numRuns: RUNS },
  );
});
