// Exact fractions of the model's own: it must not share a mistake with what it is held against.

export interface Fraction {
  n: bigint;
  /** Above zero. */
  d: bigint;
}

export const NONE: Fraction = { n: 0n, d: 1n };

/** Of a decimal such as `-0.25`, or of a whole number. */
export function fraction(text: string | number | bigint): Fraction {
  const [whole = '', digits = ''] = String(text).split('.');
  return { n: BigInt(whole + digits), d: 10n ** BigInt(digits.length) };
}

export const plus = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d });
export const minus = (a: Fraction, b: Fraction): Fraction => plus(a, { n: -b.n, d: b.d });
export const times = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.n, d: a.d * b.d });
export const isAbove = (a: Fraction, b: Fraction): boolean => a.n * b.d > b.n * a.d;
export const larger = (a: Fraction, b: Fraction): Fraction => (isAbove(b, a) ? b : a);
export const smaller = (a: Fraction, b: Fraction): Fraction => (isAbove(a, b) ? b : a);

/** `a ÷ b`, for a `b` above zero. */
export const over = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.d, d: a.d * b.n });

/** The smallest whole number that is not below it. */
export function ceilingOf({ n, d }: Fraction): bigint {
  return n > 0n ? (n + d - 1n) / d : n / d;
}

/** In minor units of a currency with so many digits, half away from zero: the one rounding that there is. */
export function minorOf({ n, d }: Fraction, digits: number): bigint {
  const size = (n < 0n ? -n : n) * 10n ** BigInt(digits);
  const minor = (2n * size + d) / (2n * d);
  return n < 0n ? -minor : minor;
}

/** Minor units as an API writes them: `-0.05`. */
export function amountText(minor: bigint, digits: number): string {
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0');
  const amount = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  return minor < 0n ? `-${amount}` : amount;
}
