// An amount in the body of a request: a JSON number or a decimal string, taken from the digits that were sent.

import { parseAmount, type Amount } from '@weir/rating/money';
import { plainDecimal } from '@weir/shared/decimal';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { invalidFields } from '../http/problem.ts';

/** Digits before the point, as of prices. */
const WHOLE_DIGITS_MAX = 15;

/** Nobody writes more of an amount, and an exponent of three digits cannot be one. */
const LITERAL = /^-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?$/;

/** The form of an amount. Whether the currency has so many digits is for {@link amountOfBody} to say. */
export const amountInBody = z.union([z.number(), z.string()], { error: 'must be a number or a decimal string' });

/** The amount that the body has in its field `amount`, in the minor unit of a currency with `digits`. Throws a Refusal where it is 0. */
export function amountOfBody(request: FastifyRequest<{ Body: { amount: number | string } }>, digits: number): Amount {
  const { amount } = request.body;
  const literal = typeof amount === 'string' ? amount : literalOf(request, 'amount');
  const isPlain = typeof amount === 'string' ? /^-?\d+(?:\.\d+)?$/.test(literal) : true;
  const read = isPlain && LITERAL.test(literal) ? parseAmount(decimalOf(literal, amount), digits) : undefined;
  if (read === undefined)
    refuse(`must be a decimal with at most ${digits} digits after the point, such as the currency has`);
  if (String(read).replace('-', '').length > WHOLE_DIGITS_MAX + digits) {
    refuse(`must have at most ${WHOLE_DIGITS_MAX} digits before the point`);
  }
  if (read === 0n) refuse('must not be 0');
  return read;
}

/** A number may be written with an exponent or more zeros than it needs; a string is what it says. */
function decimalOf(literal: string, value: number | string): string {
  return typeof value === 'string' ? literal : plainDecimal(literal);
}

function literalOf({ json }: FastifyRequest, key: string): string {
  const span = json?.members.get(key);
  return span === undefined ? '' : (json?.text.slice(...span) ?? '');
}

function refuse(message: string): never {
  throw invalidFields([{ path: 'amount', message }]);
}
