// Money as it stands on an invoice: whole numbers of a currency's minor unit.

import { abs, type Exact } from './exact.ts';

/** A whole number of the currency's minor unit: 1230n is 12.30 USD and 1230 JPY. */
export type Amount = bigint;

/**
 * The one rounding of Weir: of what a line comes to, to `digits` digits after the point, half away from zero. An amount is
 * made in no other way.
 */
export function round({ n, d }: Exact, digits: number): Amount {
  const magnitude = (2n * abs(n) * scale(digits) + d) / (2n * d);
  return n < 0n ? -magnitude : magnitude;
}

/** Writes an amount with exactly `digits` digits after the point: `12.30`, `1230`, `-0.05`. */
export function formatAmount(amount: Amount, digits: number): string {
  if (digits === 0) return String(amount);
  const text = String(abs(amount)).padStart(digits + 1, '0');
  return `${amount < 0n ? '-' : ''}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** Reads an amount with at most `digits` digits after the point: `12.3` is 1230n where `digits` is 2. Else undefined. */
export function parseAmount(text: string, digits: number): Amount | undefined {
  const [, whole, fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || fraction.length > digits) return undefined;
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

function scale(digits: number): bigint {
  return 10n ** BigInt(digits);
}
