// What a charge costs, as it is sent: one form for each type and model, so that a field of another one is refused and not
// left unread. What comes out are the terms of packages/rating.

import type { ChargeTerms } from '@weir/rating/charge-terms';
import { compare, parseExact } from '@weir/rating/exact';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { displayName, idOf, oneOf } from '../http/fields.ts';
import { decimal, price, type DecimalLimits } from '../http/decimals.ts';

const MODELS = ['per_unit', 'graduated', 'volume', 'package', 'percentage'] as const;

/** The fields of a charge that hold a decimal, at whatever level. */
export const CHARGE_DECIMALS = [
  'unit_price',
  'flat_fee',
  'up_to',
  'package_size',
  'rate',
  'fixed_amount',
  'included_units',
  'minimum_amount',
  'maximum_amount',
] as const;

const units = (limits: Partial<DecimalLimits> = {}) =>
  decimal({ whole: LIMITS.unitDigits, fraction: LIMITS.fraction, ...limits });

const unitPrice = price('The price of a period, of a unit or of a package.');
const includedUnits = units({ description: 'Taken off the quantity before it is priced.' }).nullable().default(null);

const bounds = {
  minimum_amount: price('What the charge comes to at least, before it is rounded.').nullable().default(null),
  maximum_amount: price('What the charge comes to at most, before it is rounded.').nullable().default(null),
};

const tiers = z
  .array(
    z.strictObject({
      up_to: units({
        isAbove0: true,
        description: 'Belongs to its tier. Null, in the last and only there: no end.',
      }).nullable(),
      unit_price: price(),
      flat_fee: price('Due once a part of a unit falls into the tier.').default('0'),
    }),
  )
  .min(1, 'must hold at least one tier')
  .max(LIMITS.tiers, `must hold at most ${LIMITS.tiers} tiers`)
  .superRefine((given, context) => {
    for (const [index, { up_to }] of given.entries()) {
      const message = problemOfEnd(up_to, given[index - 1]?.up_to, index === given.length - 1);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [index, 'up_to'], message });
    }
  })
  .meta({ description: 'In rising order of up_to; the last has no end.' });

function problemOfEnd(end: string | null, before: string | null | undefined, isLast: boolean): string | undefined {
  if (isLast) return end === null ? undefined : 'must be null: the last tier has no end';
  if (end === null) return 'must be a number: only the last tier has no end';
  return typeof before === 'string' && compare(parseExact(end), parseExact(before)) <= 0
    ? 'must be greater than that of the tier before it'
    : undefined;
}

/** A strict object that says of which kind of charge it is, where a field is not of it. */
function kind<Shape extends z.ZodRawShape>(name: string, shape: Shape) {
  const error = `is not a field of ${name}: check its spelling, and the type and model of the charge`;
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? error : undefined),
  });
}

/** What is said of a word that chooses no kind. */
function choiceOf(words: readonly string[]) {
  const error = `must be one of ${words.join(', ')}`;
  return { error: ({ code }: { code: string }) => (code === 'invalid_union' ? error : undefined) };
}

/** A charge with the fields that say what it is called and which meter it is of, where there are such. */
function chargeOf<All extends z.ZodRawShape, Usage extends z.ZodRawShape>(ofAll: All, ofUsage: Usage) {
  const usage = { ...ofAll, ...ofUsage, type: z.literal('USAGE') };
  const usageCharge = z.discriminatedUnion(
    'model',
    [
      kind('a per_unit charge', {
        ...usage,
        model: z.literal('per_unit').default('per_unit'),
        unit_price: unitPrice,
        included_units: includedUnits,
        ...bounds,
      }),
      kind('a graduated charge', { ...usage, model: z.literal('graduated'), tiers, ...bounds }),
      kind('a volume charge', { ...usage, model: z.literal('volume'), tiers, ...bounds }),
      kind('a package charge', {
        ...usage,
        model: z.literal('package'),
        unit_price: unitPrice,
        package_size: units({ isAbove0: true, description: 'A package that was begun is paid.' }),
        included_units: includedUnits,
        ...bounds,
      }),
      kind('a percentage charge', {
        ...usage,
        model: z.literal('percentage'),
        rate: price('Percent of the quantity.'),
        fixed_amount: price('For each event.').nullable().default(null),
        included_units: includedUnits,
        ...bounds,
      }),
    ],
    choiceOf(MODELS),
  );
  const fixedCharge = kind('a FIXED charge', {
    ...ofAll,
    type: z.literal('FIXED'),
    timing: oneOf(['in_advance', 'in_arrears']).default('in_advance'),
    unit_price: unitPrice,
  });
  return z.discriminatedUnion('type', [fixedCharge, usageCharge], choiceOf(['FIXED', 'USAGE']));
}

const name = displayName.meta({ description: 'What the lines of invoices are called.' });
const meterId = idOf('must be the id of a meter');

function isBounded(charge: ChargeTerms): boolean {
  if (charge.type === 'FIXED') return true;
  const { minimum_amount, maximum_amount } = charge;
  if (minimum_amount === null || maximum_amount === null) return true;
  return compare(parseExact(minimum_amount), parseExact(maximum_amount)) <= 0;
}

const BOUNDED = { path: ['minimum_amount'], error: 'must not be above maximum_amount' };

const place = {
  replaces: idOf('must be the id of a charge of the plan')
    .optional()
    .meta({
      description:
        'The charge whose place this one takes, in one step: of the same meter, or FIXED as well. It ends in the instant in which ' +
        'this one begins, so each period is billed by one of them.',
    }),
  effective_from: z
    .string()
    .optional()
    .meta({
      description:
        'Not in the past, and at most two years ahead; default: now. Periods that begin from then on are billed by it. ISO 8601 ' +
        'with an offset; or a bare date, which is its first instant in the zone of the organization.',
      examples: ['2027-01-01', '2027-01-01T00:00:00+01:00'],
    }),
};

/** A charge for a plan. */
export const chargeBody = chargeOf({ display_name: name, ...place }, { meter_id: meterId }).refine(isBounded, BOUNDED);

/** A charge that is only tried out: it needs no name and no meter. */
export const triedCharge = chargeOf({ display_name: name.optional() }, { meter_id: meterId.optional() }).refine(
  isBounded,
  BOUNDED,
);

/** The terms of a charge that was sent: all of it but its name and its meter. */
export function termsOf(sent: z.output<typeof chargeBody> | z.output<typeof triedCharge>): ChargeTerms {
  const { display_name: _name, ...rest } = sent;
  const {
    replaces: _replaces,
    effective_from: _from,
    ...charge
  } = { replaces: undefined, effective_from: undefined, ...rest };
  if (charge.type === 'FIXED') return charge;
  const { meter_id: _meter, ...terms } = charge;
  return terms;
}
