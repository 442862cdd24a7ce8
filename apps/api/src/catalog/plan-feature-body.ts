// What a plan says about a feature, as it is sent and as it is answered.

import type { PlanFeature } from '@weir/db/plan-features';
import { parseQuantity } from '@weir/shared/decimal';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { JSON_NUMBER } from '../http/decimals.ts';
import { answerOf, changesOf, idOf, oneOf, time } from '../http/fields.ts';

const resetPeriods = ['hour', 'day', 'week', 'month', 'year'] as const;

/** A route that takes one names it among its decimals, and so has the digits that were sent. */
const usageLimit = z
  .custom<string>((value) => problemOf(readLimit(value)) === undefined, {
    error: ({ input }) => problemOf(readLimit(input)),
  })
  .meta({
    type: ['number', 'string'],
    minimum: 0,
    maximum: LIMITS.quantity,
    examples: [10_000],
    description:
      'Of a feature of type meter: a number, or the same as text; null: unlimited. Stored as the decimal that was sent.',
  })
  .transform((literal) => {
    const read = readLimit(literal);
    return 'decimal' in read ? read.decimal : literal;
  })
  .nullable();

function readLimit(value: unknown): { decimal: string } | { problem: string } {
  if (typeof value !== 'string') return { problem: 'must be a number, or null' };
  if (value.startsWith('-')) return { problem: 'must be 0 or more' };
  if (!JSON_NUMBER.test(value)) return { problem: 'must be a number, or null' };
  // Nothing but zeros before the exponent. Where there is something, 1e-999 say, it is too small and no zero.
  if (!/[1-9]/.test(value.replace(/e.*/i, ''))) return { decimal: '0' };
  const number = Number(value);
  return number === 0 ? { problem: 'is too small' } : parseQuantity(value, number);
}

const problemOf = (read: { decimal: string } | { problem: string }): string | undefined =>
  'problem' in read ? read.problem : undefined;

const fields = {
  is_enabled: z.boolean(),
  usage_limit: usageLimit,
  usage_reset_period: oneOf(resetPeriods)
    .nullable()
    .meta({ description: 'Of a feature of type meter: when the usage begins at 0 again; null: never.' }),
  is_soft_limit: z.boolean().meta({ description: 'Whether usage may go on past the limit.' }),
  static_value: text(1, LIMITS.lines).nullable().meta({ description: 'The value of a feature of type custom.' }),
};

export const PLAN_FEATURE_DECIMALS: readonly string[] = ['usage_limit'];

export const planFeatureBody = z.strictObject({
  feature_id: idOf('must be the id of a feature'),
  is_enabled: fields.is_enabled.default(true),
  usage_limit: fields.usage_limit.default(null),
  usage_reset_period: fields.usage_reset_period.default(null),
  is_soft_limit: fields.is_soft_limit.default(false),
  static_value: fields.static_value.default(null),
});

export const planFeatureChanges = changesOf(fields);

export const planFeatureAnswer = answerOf<PlanFeature>()({
  feature_id: z.uuid(),
  is_enabled: z.boolean(),
  usage_limit: z.string().nullable().meta({ description: 'A decimal; null: unlimited.' }),
  usage_reset_period: z.enum(resetPeriods).nullable(),
  is_soft_limit: z.boolean(),
  static_value: z.string().nullable(),
  created_at: time,
}).meta({ id: 'PlanFeature' });
