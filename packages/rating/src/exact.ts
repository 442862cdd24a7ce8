// Exact numbers: fractions of big integers. Nothing is ever rounded here; the one rounding is in money.ts.

/** A rational number in lowest terms; the denominator is greater than 0. Made by {@link parseExact} and the functions here. */
export interface Exact {
  readonly n: bigint;
  readonly d: bigint;
}

export const ZERO: Exact = { n: 0n, d: 1n };

const DECIMAL = /^(-?\d+)(?:\.(\d+))?$/;
const FRACTION = /^(-?\d+)\/(\d+)$/;

/** Reads a decimal without exponent (`12.5`, `-0.3`) or a fraction (`1/3`). Throws on anything else. */
export function parseExact(text: string): Exact {
  const decimal = DECIMAL.exec(text);
  if (decimal !== null) {
    const [, whole = '', digits = ''] = decimal;
    return fraction(BigInt(whole + digits), 10n ** BigInt(digits.length));
  }
  const [, over = '', under = '0'] = FRACTION.exec(text) ?? [];
  if (BigInt(under) === 0n) throw new Error(`not a decimal or a fraction: ${text.slice(0, 80)}`);
  return fraction(BigInt(over), BigInt(under));
}

/**
 * Writes a number so that {@link parseExact} reads it back: as a decimal without exponent or trailing zeros, or as `n/d` in
 * lowest terms where a decimal would have no end.
 */
export function formatExact({ n, d }: Exact): string {
  if (d === 1n) return String(n);
  const digits = digitsOf(d);
  if (digits === undefined) return `${n}/${d}`;
  // In lowest terms this many digits are needed, so the last one is not 0.
  const scaled = String((abs(n) * 10n ** BigInt(digits)) / d).padStart(digits + 1, '0');
  return `${n < 0n ? '-' : ''}${scaled.slice(0, -digits)}.${scaled.slice(-digits)}`;
}

/** How many digits after the point `1/d` has; undefined where it has no end. */
function digitsOf(d: bigint): number | undefined {
  let [twos, fives, rest] = [0, 0, d];
  for (; rest % 2n === 0n; rest /= 2n) twos += 1;
  for (; rest % 5n === 0n; rest /= 5n) fives += 1;
  return rest === 1n ? Math.max(twos, fives) : undefined;
}

export function add(a: Exact, b: Exact): Exact {
  return fraction(a.n * b.d + b.n * a.d, a.d * b.d);
}

export function subtract(a: Exact, b: Exact): Exact {
  return fraction(a.n * b.d - b.n * a.d, a.d * b.d);
}

export function multiply(a: Exact, b: Exact): Exact {
  return fraction(a.n * b.n, a.d * b.d);
}

/** Throws where `b` is 0. */
export function divide(a: Exact, b: Exact): Exact {
  if (b.n === 0n) throw new Error('division by zero');
  return b.n < 0n ? fraction(-a.n * b.d, a.d * -b.n) : fraction(a.n * b.d, a.d * b.n);
}

/** -1 where `a` is less than `b`, 1 where it is greater. */
export function compare(a: Exact, b: Exact): -1 | 0 | 1 {
  const [left, right] = [a.n * b.d, b.n * a.d];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function min(a: Exact, b: Exact): Exact {
  return compare(a, b) <= 0 ? a : b;
}

export function max(a: Exact, b: Exact): Exact {
  return compare(a, b) >= 0 ? a : b;
}

/** The least whole number that is not less. */
export function ceiling({ n, d }: Exact): bigint {
  // Division of big integers cuts towards zero, which is up for what is below it.
  return n > 0n ? (n + d - 1n) / d : n / d;
}

/** A whole number. */
export function whole(n: bigint): Exact {
  return { n, d: 1n };
}

export function abs(n: bigint): bigint {
  return n < 0n ? -n : n;
}

/** `n/d` in lowest terms; `d` is greater than 0. */
function fraction(n: bigint, d: bigint): Exact {
  if (d === 1n) return { n, d };
  let [a, b] = [abs(n), d];
  while (b !== 0n) [a, b] = [b, a % b];
  return { n: n / a, d: d / a };
}
