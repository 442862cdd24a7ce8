// An amount that may be below zero, in the body of a route whose config names it among its `decimals`: see http/decimals.ts.

import { parseAmount, type Amount } from '@weir/rating/money';
import { plainDecimal } from '@weir/shared/decimal';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { invalidFields } from '../http/problem.ts';

const FORM = new RegExp(`^-?(?!0+(?:\\.0+)?$)\\d{1,${LIMITS.priceDigits}}(?:\\.\\d{1,${LIMITS.amountFraction}})?$`);

/** A decimal that is not 0. Whether the currency has so many digits is for {@link amountOfText} to say. */
export const signedAmount = z
  .custom<string>((value) => typeof value === 'string' && FORM.test(value), {
    error: ({ input }) =>
      input === undefined
        ? 'is required'
        : `must be a number, or a decimal in a text such as "-0.05", and not 0; it must have at most ${LIMITS.priceDigits} digits before the point, and after it those of the currency`,
  })
  .meta({
    type: ['number', 'string'],
    exclusiveMinimum: -(10 ** LIMITS.priceDigits),
    exclusiveMaximum: 10 ** LIMITS.priceDigits,
    not: { const: 0 },
    pattern: FORM.source,
    examples: ['-2.50'],
    description: 'In units of the currency, with at most its minor digits. May be below zero, and is not 0.',
  })
  .transform(plainDecimal);

/** Such a decimal in the minor unit of a currency with `digits`. Throws a Refusal where the currency has fewer than it has. */
export function amountOfText(text: string, digits: number): Amount {
  const amount = parseAmount(text, digits);
  if (amount !== undefined) return amount;
  throw invalidFields([
    { path: 'amount', message: `must have at most ${digits} digits after the point, as the currency has` },
  ]);
}
