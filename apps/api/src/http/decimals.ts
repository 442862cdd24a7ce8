// Fields that hold a decimal: a JSON number or a text, taken exactly as sent. A route that has them names them in its config
// (`decimals`, see json.ts), which gives their schema the digits of a number too; without that every number is refused.

import { AVERAGE_FRACTION_DIGITS, plainDecimal } from '@weir/shared/decimal';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';

/** A number from 0 on, as JSON writes it. */
export const JSON_NUMBER = /^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export interface DecimalLimits {
  /** Digits before the point, at most. */
  whole: number;
  /** Digits after the point, at most. */
  fraction: number;
  /** Digits in all, at most. */
  digits?: number;
  /** Whether 0 is refused too. */
  isAbove0?: boolean;
  description?: string;
}

/** For the description of what a meter reads. */
export const EXACT_USAGE = `An exact decimal; only averages are rounded, to ${AVERAGE_FRACTION_DIGITS} digits after the point, or to more where their sum has more.`;

/** A decimal from 0 on. Its value is a plain decimal: no exponent, no needless zeros. */
export function decimal(limits: DecimalLimits) {
  const { whole, fraction, digits = whole + fraction, isAbove0 = false, description } = limits;
  const not0 = isAbove0 ? '(?!0+(?:\\.0+)?$)' : '';
  const short = digits < whole + fraction ? `(?!(?:\\d\\.?){${digits + 1}})` : '';
  return z
    .custom<string>((value) => problemOfDecimal(value, limits) === undefined, {
      error: ({ input }) => problemOfDecimal(input, limits),
    })
    .meta({
      type: ['number', 'string'],
      ...(isAbove0 ? { exclusiveMinimum: 0 } : { minimum: 0 }),
      // Not exclusive: the largest that is taken is the same float.
      maximum: 10 ** whole,
      pattern: `^${not0}${short}\\d{1,${whole}}(?:\\.\\d{1,${fraction}})?$`,
      examples: ['0.05'],
      ...(description !== undefined && { description }),
    })
    .transform(plainDecimal);
}

function problemOfDecimal(value: unknown, limits: DecimalLimits): string | undefined {
  const { whole, fraction, digits = whole + fraction, isAbove0 = false } = limits;
  if (value === undefined) return 'is required';
  if (value === '') return 'must not be empty';
  const [, sign, before = '', after = ''] = (typeof value === 'string' && /^(-?)(\d+)(?:\.(\d+))?$/.exec(value)) || [];
  const tooLong =
    digits < whole + fraction
      ? `must have at most ${digits} digits`
      : `must have at most ${whole} digits before the point and ${fraction} after it`;
  if (sign === undefined) return `must be a number, or a decimal in a text such as "0.05"; it ${tooLong}`;
  if (sign === '-') return isAbove0 ? 'must be greater than 0' : 'must be 0 or more';
  if (before.length > whole || after.length > fraction || before.length + after.length > digits) return tooLong;
  return isAbove0 && !/[1-9]/.test(before + after) ? 'must be greater than 0' : undefined;
}

/** A price, a rate or an amount that a charge names. */
export const price = (description?: string) =>
  decimal({ whole: LIMITS.priceDigits, fraction: LIMITS.fraction, ...(description !== undefined && { description }) });
