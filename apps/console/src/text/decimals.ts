// Quantities and amounts are decimal text, of any length, and are shown and compared as such: as a float 0.1 + 0.2 would not
// be 0.3, and an invoice of nine digits would lose its cents.

import { OTHER_DIGITS } from './minor-digits.ts';

interface Decimal {
  /** The value times 10^scale. */
  digits: bigint;
  scale: number;
}

function parse(text: string): Decimal {
  const [whole = '0', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

function align(left: Decimal, right: Decimal): [bigint, bigint, number] {
  const scale = Math.max(left.scale, right.scale);
  const raise = ({ digits, scale: own }: Decimal): bigint => digits * 10n ** BigInt(scale - own);
  return [raise(left), raise(right), scale];
}

function write(digits: bigint, scale: number): string {
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const whole = text.slice(0, text.length - scale);
  const fraction = text.slice(text.length - scale).replace(/0+$/, '');
  return (digits < 0n ? '-' : '') + (fraction === '' ? whole : `${whole}.${fraction}`);
}

/** Returns a decimal as people read it, every digit of it: `1234567.891` is `1,234,567.891`. Null, which is no value, is a dash. */
export function formatDecimal(text: string | number | null | undefined): string {
  if (text === null || text === undefined) return '–';
  const [whole = '', fraction] = String(text).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',').replace('-', '−');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Returns a count with its noun: `1,204 events`, and `1 event`. */
export function formatCount(count: number, noun: string): string {
  return `${formatDecimal(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns an amount of money with its currency: `1234.5` of `EUR` is `1,234.50 EUR`. No digit is rounded away. */
export function formatAmount(text: string | null | undefined, currency: string): string {
  if (text === null || text === undefined) return '–';
  // `Intl` knows how cash is counted: it gives no digits to currencies that have 2 or 3.
  const minor = OTHER_DIGITS[currency] ?? 2;
  const [whole = '0', fraction = ''] = text.split('.');
  const cents = fraction.replace(/0+$/, '').padEnd(minor, '0');
  return `${formatDecimal(cents === '' ? whole : `${whole}.${cents}`)} ${currency}`;
}

/** Returns a decimal in few characters, for where there is no room: `11.8 M`. The whole number stands elsewhere. */
export function formatCompact(value: number | string): string {
  const number = Number(value);
  return new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(number);
}

export function addDecimals(left: string, right: string): string {
  const [a, b, scale] = align(parse(left), parse(right));
  return write(a + b, scale);
}

export function subtractDecimals(left: string, right: string): string {
  const [a, b, scale] = align(parse(left), parse(right));
  return write(a - b, scale);
}

/** Returns how many parts of a size above zero a whole is of, the last of which may be smaller: 25 are of 3 parts of 9.9. */
export function countParts(whole: string, size: string): bigint {
  const [a, b] = align(parse(whole), parse(size));
  return (a + b - 1n) / b;
}

/** Returns by how much `now` differs from `before`, as `+12.5 %`; undefined of something where there was nothing. */
export function percentChange(now: string, before: string): string | undefined {
  const difference = subtractDecimals(now, before);
  const tenths = /[1-9]/.test(difference) ? tenthsOf(difference, before) : 0n;
  if (tenths === undefined) return undefined;
  const sign = tenths === 0n ? '±' : difference.startsWith('-') ? '−' : '+';
  return `${sign}${formatDecimal(write(tenths, 1))} %`;
}

/** Returns how much of a whole a part is, as `12.5 %`; undefined of nothing, and where one of them is below zero. */
export function shareOf(part: string, whole: string): string | undefined {
  if (part.startsWith('-') || whole.startsWith('-')) return undefined;
  const tenths = tenthsOf(part, whole);
  return tenths === undefined ? undefined : `${formatDecimal(write(tenths, 1))} %`;
}

/** The size of a part in tenths of a per cent of a whole, rounded half away from zero; undefined of nothing. */
function tenthsOf(part: string, whole: string): bigint | undefined {
  const [a, b] = align(parse(part), parse(whole));
  if (b === 0n) return undefined;
  const size = b < 0n ? -b : b;
  return ((a < 0n ? -a : a) * 2000n + size) / (2n * size);
}

/** Returns a number for a chart: there a pixel is coarser than the digits that are lost. */
export function forDrawing(text: string | null): number | null {
  return text === null ? null : Number(text);
}
