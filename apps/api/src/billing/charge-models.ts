// The models of charges, each once: the fields of each as they are sent, and as they are shown. The body of a charge, its answer, its
// copy on a line and what is tried out are made of these. They are the terms that packages/rating prices: a model or a field of
// one that is missing here does not compile.

import type { Bounds, ChargeModel, CHARGE_MODELS, FixedTerms, TermsByModel, Tier } from '@weir/rating/charge-terms';
import { compare, parseExact } from '@weir/rating/exact';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { decimal, price, type DecimalLimits } from '../http/decimals.ts';
import { oneOf } from '../http/fields.ts';

/** Schemas of some fields. */
type Shape<Fields> = { [Name in keyof Fields]: z.ZodType<Fields[Name]> };

interface Forms<Fields> {
  /** As they are sent: what comes out has no field left open. */
  sent: Shape<Fields>;
  /** As they are shown, beside the model. */
  shown: Shape<Omit<Fields, 'model'>>;
}

const units = (limits: Partial<DecimalLimits> = {}) =>
  decimal({ whole: LIMITS.unitDigits, fraction: LIMITS.fraction, ...limits });

const unitPrice = price('The price of a period, of a unit or of a package.');
const includedUnits = units({ description: 'Taken off the quantity before it is priced.' }).nullable().default(null);

const tiersSent = z
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

const decimalText = z.string().meta({ description: 'A decimal.' });
const tiersShown = z.array(z.object({ up_to: decimalText.nullable(), unit_price: decimalText, flat_fee: decimalText }));

const FIXED = {
  sent: { timing: oneOf(['in_advance', 'in_arrears']).default('in_advance'), unit_price: unitPrice },
  shown: { timing: z.enum(['in_advance', 'in_arrears']), unit_price: decimalText },
} satisfies Forms<Omit<FixedTerms, 'type'>>;

const BOUNDS = {
  sent: {
    minimum_amount: price('What the charge comes to at least, before it is rounded.').nullable().default(null),
    maximum_amount: price('What the charge comes to at most, before it is rounded.').nullable().default(null),
  },
  shown: { minimum_amount: decimalText.nullable(), maximum_amount: decimalText.nullable() },
} satisfies Forms<Bounds>;

const MODELS = {
  per_unit: {
    sent: {
      model: z.literal('per_unit').default('per_unit'),
      unit_price: unitPrice,
      included_units: includedUnits,
    },
    shown: { unit_price: decimalText, included_units: decimalText.nullable() },
  },
  graduated: {
    sent: { model: z.literal('graduated'), tiers: tiersSent },
    shown: { tiers: tiersShown },
  },
  volume: {
    sent: { model: z.literal('volume'), tiers: tiersSent },
    shown: { tiers: tiersShown },
  },
  package: {
    sent: {
      model: z.literal('package'),
      unit_price: unitPrice,
      package_size: units({ isAbove0: true, description: 'A package that was begun is paid.' }),
      included_units: includedUnits,
    },
    shown: { unit_price: decimalText, package_size: decimalText, included_units: decimalText.nullable() },
  },
  percentage: {
    sent: {
      model: z.literal('percentage'),
      rate: price('Percent of the quantity.'),
      fixed_amount: price('For each event.').nullable().default(null),
      included_units: includedUnits,
    },
    shown: { rate: decimalText, fixed_amount: decimalText.nullable(), included_units: decimalText.nullable() },
  },
} satisfies { [Model in ChargeModel]: Forms<Omit<TermsByModel[Model], 'type' | keyof Bounds>> };

type FieldOfModel = { [Model in ChargeModel]: keyof TermsByModel[Model] }[ChargeModel];

const DECIMALS = {
  unit_price: true,
  flat_fee: true,
  up_to: true,
  package_size: true,
  rate: true,
  fixed_amount: true,
  included_units: true,
  minimum_amount: true,
  maximum_amount: true,
} satisfies Record<keyof Tier | Exclude<FieldOfModel, 'type' | 'model' | 'tiers'>, true>;

/** The fields of a charge that hold a decimal, at whatever level. */
export const CHARGE_DECIMALS: readonly string[] = Object.keys(DECIMALS);

/** A strict object that says of which kind of charge it is, where a field is not of it. */
function kind<Fields extends z.ZodRawShape>(name: string, shape: Fields) {
  const error = `is not a field of ${name}: check its spelling, and the type and model of the charge`;
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? error : undefined),
  });
}

/** Says of a word that chooses no kind which ones do. */
function choiceOf(words: readonly string[]) {
  const error = `must be one of ${words.join(', ')}`;
  return { error: ({ code }: { code: string }) => (code === 'invalid_union' ? error : undefined) };
}

/** A union of charges for usage has one of each model, in their order. */
type OneOfEach<Models = typeof CHARGE_MODELS> = {
  [At in keyof Models]: z.ZodType & { shape: { model: z.ZodType<Models[At]> } };
};

/** A charge as it is sent, with the fields that say what it is called and which meter it is of, where there are such. */
export function sentCharge<All extends z.ZodRawShape, Usage extends z.ZodRawShape>(ofAll: All, ofUsage: Usage) {
  const usage = { ...ofAll, ...ofUsage, type: z.literal('USAGE') };
  const { per_unit, graduated, volume, package: packages, percentage } = MODELS;
  const usageCharge = z.discriminatedUnion(
    'model',
    [
      kind('a per_unit charge', { ...usage, ...per_unit.sent, ...BOUNDS.sent }),
      kind('a graduated charge', { ...usage, ...graduated.sent, ...BOUNDS.sent }),
      kind('a volume charge', { ...usage, ...volume.sent, ...BOUNDS.sent }),
      kind('a package charge', { ...usage, ...packages.sent, ...BOUNDS.sent }),
      kind('a percentage charge', { ...usage, ...percentage.sent, ...BOUNDS.sent }),
    ] satisfies OneOfEach,
    choiceOf(Object.keys(MODELS)),
  );
  const fixedCharge = kind('a FIXED charge', { ...ofAll, type: z.literal('FIXED'), ...FIXED.sent });
  return z.discriminatedUnion('type', [fixedCharge, usageCharge], choiceOf(['FIXED', 'USAGE']));
}

/** A charge as it is shown. What writes one compiles only if each model is here. */
export function shownCharge<All extends z.ZodRawShape, Fixed extends z.ZodRawShape, Usage extends z.ZodRawShape>(
  ofAll: All,
  ofFixed: Fixed,
  ofUsage: Usage,
) {
  const usage = { ...ofAll, type: z.literal('USAGE'), ...ofUsage, ...BOUNDS.shown };
  const { per_unit, graduated, volume, package: packages, percentage } = MODELS;
  return z.discriminatedUnion('type', [
    z.object({ ...ofAll, type: z.literal('FIXED'), ...ofFixed, ...FIXED.shown }),
    z.discriminatedUnion('model', [
      z.object({ ...usage, model: z.literal('per_unit'), ...per_unit.shown }),
      z.object({ ...usage, model: z.literal(['graduated', 'volume']), ...graduated.shown, ...volume.shown }),
      z.object({ ...usage, model: z.literal('package'), ...packages.shown }),
      z.object({ ...usage, model: z.literal('percentage'), ...percentage.shown }),
    ]),
  ]);
}
