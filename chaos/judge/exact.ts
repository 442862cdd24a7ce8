// Exact arithmetic of the judge's own: it must not share a mistake with what it judges.

/** Digits after the point that the judge counts in. */
const SCALE = 30;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A decimal in units of 10^-30. Throws on what is none, and on one that is finer than that. */
export function unitsOf(text: string): bigint {
  const match = DECIMAL.exec(text);
  if (match === null) throw new Error(`not a decimal: ${text}`);
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const shift = SCALE + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (shift < 0 && digits % 10n ** BigInt(-shift) !== 0n) throw new Error(`finer than the judge counts: ${text}`);
  const units = shift < 0 ? digits / 10n ** BigInt(-shift) : digits * 10n ** BigInt(shift);
  return sign === '-' ? -units : units;
}

/** The same text for the same decimal; any other text as it is. */
export function canonical(text: string): string {
  return DECIMAL.test(text) ? decimalOf(unitsOf(text)) : text;
}

/** The decimal again, without trailing zeros. */
export function decimalOf(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(SCALE + 1, '0');
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -SCALE)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** `sum / count` to 12 digits after the point, half away from zero, as Weir promises for averages. */
export function meanOf(sum: bigint, count: bigint): bigint {
  const unit = 10n ** BigInt(SCALE - 12);
  const divisor = count * unit;
  return ((2n * sum + divisor) / (2n * divisor)) * unit;
}

/** A point in time, in UTC to the microsecond, finer digits cut: `2026-01-31T23:59:59.000000Z`. */
export function microsOf(text: string): string {
  const [, seconds = '', fraction = '', offset = ''] = /^([^.]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const utc = offset === 'Z' ? seconds : new Date(`${seconds}${offset}`).toISOString().slice(0, 19);
  return `${utc}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}
