// Amounts as people write them. They come as exact decimals in text, and Intl takes them as text: no digit is lost on the way.

/** From here on an amount is told in thousands, millions and so on. */
const COMPACT_FROM = 1_000_000;

/** On an axis there is less room. */
const COMPACT_ON_AXIS_FROM = 10_000;

/** Three digits tell enough, and no digit before the point is ever left out. */
const ROUNDED = { maximumSignificantDigits: 3, maximumFractionDigits: 0, roundingPriority: 'morePrecision' };
const COMPACT = { notation: 'compact', maximumSignificantDigits: 3 };

/** Of no events there is no largest, smallest, mean or last quantity. */
const NOTHING_IS_ZERO = new Set(['COUNT', 'SUM', 'UNIQUE_COUNT']);

export const ofNothing = (aggregation) => (NOTHING_IS_ZERO.has(aggregation) ? '0' : null);

const NARROW_SPACE = '\u202F';
const SPACE = '\u00A0';

const formats = new Map();

function formatOf(locale, name, options) {
  const key = `${locale} ${name}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat(locale, options);
  formats.set(key, format);
  return format;
}

function compact(amount, locale) {
  // In Britain a million would be an m, which beside a unit is read as milli.
  const english = locale.startsWith('en') ? 'en' : locale;
  const parts = formatOf(english, 'compact', COMPACT).formatToParts(amount);
  // English writes 11.8M: with a unit behind it, that is read more easily as 11.8 M.
  return parts
    .map(({ type, value }, index) =>
      type === 'compact' && parts[index - 1]?.type !== 'literal' ? NARROW_SPACE + value : value,
    )
    .join('');
}

function withUnit(number, unit) {
  return unit === null ? number : `${number}${SPACE}${unit}`;
}

/** With all of its digits, as in `11,790,042.5 tokens`. */
export function exactAmount(amount, unit, { locale, none }) {
  if (amount === null) return none;
  return withUnit(formatOf(locale, 'exact', { maximumFractionDigits: 20 }).format(amount), unit);
}

/** Money with all of its digits: at least those that it comes with, as in `$12.30`, and of a price as many as it has. */
export function money(amount, currency, locale) {
  const digits = /\.(\d+)$/.exec(amount)?.[1].length ?? 0;
  const options = { style: 'currency', currency, maximumFractionDigits: 20 };
  const usual = formatOf(locale, `usual ${currency}`, { style: 'currency', currency });
  const least = Math.max(digits, usual.resolvedOptions().minimumFractionDigits);
  return formatOf(locale, `money ${currency} ${least}`, { ...options, minimumFractionDigits: least }).format(amount);
}

/** As it is said, as in `11.8 M tokens` or `441 ms`. */
export function shortAmount(amount, unit, { locale, none }) {
  if (amount === null) return none;
  const isLarge = Math.abs(Number(amount)) >= COMPACT_FROM;
  return withUnit(isLarge ? compact(amount, locale) : formatOf(locale, 'rounded', ROUNDED).format(amount), unit);
}

/** On an axis, where the unit is known. */
export function axisAmount(amount, locale) {
  if (Math.abs(amount) >= COMPACT_ON_AXIS_FROM) return compact(amount, locale);
  return formatOf(locale, 'rounded', ROUNDED).format(amount);
}

/** The end of an axis that reaches past a value, as a round number whose half is round too. */
export function roundEnd(highest) {
  if (!(highest > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  return [1, 2, 4, 5, 6, 8, 10].map((step) => step * power).find((end) => end >= highest) ?? 10 * power;
}
