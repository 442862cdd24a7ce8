import { LIMITS } from './limits.ts';

/**
 * Exact decimals, as text. Usage never passes through a float: a quantity goes from the digits that were sent to
 * Postgres `numeric` and comes back as digits.
 */

const LITERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * A JSON number literal written without exponent, leading or trailing zeros: `1.50e1` → `15`. The literal must be one
 * that JSON allows and its exponent must be small (see {@link parseQuantity}); throws on anything else.
 */
export function plainDecimal(literal: string): string {
  const match = LITERAL.exec(literal);
  if (match === null) throw new Error(`not a decimal literal: ${literal.slice(0, 40)}`);
  const [, sign = '', int = '', fraction = '', exponentText = '0'] = match;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > 2 * LIMITS.quantityCharacters) throw new Error(`exponent out of range: ${exponentText}`);
  const digits = int + fraction;
  const point = int.length + exponent;
  const whole = (point > 0 ? digits.slice(0, point).padEnd(point, '0') : '').replace(/^0+/, '') || '0';
  const rest = (point >= 0 ? digits.slice(point) : '0'.repeat(-point) + digits).replace(/0+$/, '');
  const magnitude = rest === '' ? whole : `${whole}.${rest}`;
  return magnitude === '0' ? '0' : sign + magnitude;
}

/**
 * Reads the quantity of an event from the literal that was sent and the number that JSON made of it. Returns the exact
 * decimal, or says in a sentence why it is none.
 */
export function parseQuantity(literal: string, value: number): { decimal: string } | { problem: string } {
  // Almost every quantity is a short whole number, and its literal is already the decimal.
  if (literal.length <= 15 && /^[1-9]\d*$/.test(literal)) return { decimal: literal };
  if (!(value > 0)) return { problem: 'must be greater than 0' };
  const tooLarge = { problem: `must be at most ${LIMITS.quantity}` };
  if (value > LIMITS.quantity) return tooLarge;
  if (literal.length > LIMITS.quantityCharacters)
    return { problem: `must have at most ${LIMITS.quantityCharacters} characters` };
  const decimal = plainDecimal(literal);
  // The nearest double of 9007199254740991.4 is the limit itself, so the comparison above does not see it.
  if (value === LIMITS.quantity && decimal !== String(LIMITS.quantity) && decimal.startsWith(`${LIMITS.quantity}.`))
    return tooLarge;
  return { decimal };
}

/** Digits after the point to which an average is rounded, where its sum has no more of them. */
export const AVERAGE_FRACTION_DIGITS = 12;

/**
 * `sum / count`, rounded half away from zero to 12 digits after the point (or to as many as the sum itself has, where
 * that is more), without trailing zeros. `sum` is a plain decimal, `count` is greater than 0.
 */
export function average(sum: string, count: bigint): string {
  const [whole = '0', fraction = ''] = sum.replace('-', '').split('.');
  const scale = Math.max(AVERAGE_FRACTION_DIGITS, fraction.length);
  const scaled = BigInt(whole + fraction.padEnd(scale, '0'));
  const rounded = (2n * scaled + count) / (2n * count);
  const digits = rounded.toString().padStart(scale + 1, '0');
  const sign = sum.startsWith('-') ? '-' : '';
  return plainDecimal(`${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`);
}
