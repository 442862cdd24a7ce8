// How the page /embed writes amounts and prices and asks for days: what it is sent to browsers as, run here.

import { readFileSync } from 'node:fs';
import type { ChargeModel } from '@weir/rating/charge-terms';
import { AGGREGATION_TYPES, AGGREGATIONS } from '@weir/shared/meter';
import { describe, expect, test } from 'vitest';
import { LANGUAGES } from './embed.ts';

// The page is JavaScript as it stands, without types.
// oxlint-disable-next-line typescript/no-explicit-any
const load = async (name: string): Promise<any> => await import(new URL(`./page/${name}.js`, import.meta.url).href);
const { exactAmount, shortAmount, axisAmount, ofNothing, roundEnd } = await load('amounts');
const { lastDays, periodSoFar } = await load('days');
const { priceOf } = await load('prices');
const { chooseLocale, wordsOf } = await load('words');

const textOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
const plain = (text: string) => text.replaceAll(/[\u00A0\u202F]/g, ' ');
const english = { locale: 'en', none: 'none' };

test.each([
  ['11790042.5', 'tokens', '11.8 M tokens', '11,790,042.5 tokens'],
  ['441.37', 'ms', '441 ms', '441.37 ms'],
  ['1250', null, '1,250', '1,250'],
  ['999999.4', 'calls', '999,999 calls', '999,999.4 calls'],
  ['0.012345', 'GB', '0.0123 GB', '0.012345 GB'],
  ['0', 'calls', '0 calls', '0 calls'],
  ['12345678901234567890.123456789', null, '12,300,000 T', '12,345,678,901,234,567,890.123456789'],
  [null, 'ms', 'none', 'none'],
])('%s %s is told as %s and is exactly %s', (amount, unit, short, exact) => {
  expect(plain(shortAmount(amount, unit, english))).toBe(short);
  expect(plain(exactAmount(amount, unit, english))).toBe(exact);
});

test('other languages write them in their own way, and Britain no milli for a million', () => {
  expect(plain(shortAmount('11790042.5', 'tokens', { locale: 'en-GB', none: '' }))).toBe('11.8 M tokens');
  expect(plain(shortAmount('11790042.5', 'Token', { locale: 'de', none: '' }))).toBe('11,8 Mio. Token');
  expect(plain(exactAmount('1234567.5', null, { locale: 'fr', none: '' }))).toBe('1 234 567,5');
});

test('an axis ends at a round number past the highest, and is written short', () => {
  expect([0, 0.3, 1, 7, 11, 441, 1_250, 99_999].map(roundEnd)).toEqual([1, 0.4, 1, 8, 20, 500, 2_000, 100_000]);
  expect([0, 2.5, 5_000, 12_500, 20_000_000].map((each) => plain(axisAmount(each, 'en')))).toEqual([
    '0',
    '2.5',
    '5,000',
    '12.5 K',
    '20 M',
  ]);
});

test('of no events the page reads of each aggregation what the API does', () => {
  const read = AGGREGATION_TYPES.map((type) => [type, AGGREGATIONS[type].ofNothing]);
  expect(AGGREGATION_TYPES.map((type) => [type, ofNothing(type)])).toEqual(read);
});

const tiers = [
  { up_to: '1000', unit_price: '0.1', flat_fee: '0' },
  { up_to: null, unit_price: '0.08', flat_fee: '5' },
];
const bounds = { minimum_amount: '1', maximum_amount: '2.5' };
/** A charge of each kind, and what customers read: one that is missing does not compile. */
const PRICES: Record<'FIXED' | ChargeModel, [charge: object, said: string]> = {
  FIXED: [{ type: 'FIXED', unit_price: '49' }, '$49.00 per month'],
  per_unit: [
    { unit_price: '0.002', included_units: '1000', ...bounds },
    '$0.002 each, 1,000 included, at least $1.00, at most $2.50',
  ],
  package: [{ unit_price: '5', package_size: '500', included_units: null }, '$5.00 per started 500'],
  percentage: [{ rate: '2.9', fixed_amount: '0.3', included_units: null }, '2.9 % + $0.30 for each event'],
  graduated: [{ tiers }, 'up to 1,000: $0.10 each; beyond: $0.08 each + $5.00'],
  volume: [
    { tiers, ...bounds },
    'one price for all units, by how many they are: up to 1,000: $0.10 each; beyond: $0.08 each + $5.00, at least $1.00, at most $2.50',
  ],
};

const told = { words: wordsOf('en'), locale: 'en', currency: 'USD', interval: 'month' };

test.each(Object.entries(PRICES))('the price of a charge that is %s', (model, [charge, said]) => {
  expect(plain(priceOf({ type: 'USAGE', model, ...charge }, told))).toBe(said);
});

test('a charge of no model that there is has no price', () => {
  expect(() => priceOf({ type: 'USAGE', model: 'new', unit_price: '1' }, told)).toThrow('new');
});

describe('a window', () => {
  const now = new Date('2026-03-30T23:30:00Z');

  test('of days ends today, where the reader is', () => {
    expect(lastDays(7, 'UTC', now)).toMatchObject({ start_date: '2026-03-24', end_date: '2026-03-30' });
    // Where the clocks have gone forward the day before.
    expect(lastDays(7, 'Europe/Berlin', now)).toMatchObject({ start_date: '2026-03-25', end_date: '2026-03-31' });
    expect(lastDays(90, 'Pacific/Apia', now)).toMatchObject({ start_date: '2026-01-01', end_date: '2026-03-31' });
  });

  test('of a billing period ends now, and is by the day, the week or the month as it is long', () => {
    const period = (start: string) =>
      periodSoFar({ period_start: start, period_end: '2027-01-01T00:00:00.000Z', time_zone: 'Europe/Berlin' }, now);
    expect(period('2026-03-01T00:00:00.000Z')).toEqual({
      timezone: 'Europe/Berlin',
      start_date: '2026-03-01T00:00:00.000Z',
      end_date: now.toISOString(),
      group_by: 'day',
    });
    expect(period('2025-10-01T00:00:00.000Z').group_by).toBe('week');
    expect(period('2024-01-01T00:00:00.000Z').group_by).toBe('month');
    // One that the clock of the reader has not come to yet.
    const ahead = period('2026-04-01T00:00:00.000Z');
    expect(Date.parse(ahead.end_date)).toBeGreaterThan(Date.parse(ahead.start_date));
    const over = periodSoFar(
      { period_start: '2026-02-01T00:00:00.000Z', period_end: '2026-03-01T00:00:00.000Z', time_zone: 'UTC' },
      now,
    );
    expect(over.end_date).toBe('2026-03-01T00:00:00.000Z');
  });
});

test('the language is the one that is asked for, in the region of the reader', () => {
  expect(chooseLocale('de', ['en-GB', 'de-AT'])).toBe('de-AT');
  expect(chooseLocale('de', ['en-GB'])).toBe('de');
  expect(chooseLocale(null, ['pt-BR', 'de-CH', 'en'])).toBe('de-CH');
  expect(chooseLocale(null, ['den'])).toBe('en');
});

test('every language that can be asked for has all words, and stands in the guide', () => {
  /** The paths of all words of a language, with the places that each has for values. */
  const places = (words: object): string[] =>
    Object.entries(words).flatMap(([name, word]) =>
      typeof word === 'string'
        ? [[name, ...[...word.matchAll(/\{\w+\}/g)].map(String).toSorted()].join(' ')]
        : places(word as object).map((place) => `${name}.${place}`),
    );
  const spoken = textOf('./page/words.js').matchAll(/^ {2}(\w\w): \{$/gm);
  expect([...spoken].map(([, language]) => language)).toEqual([...LANGUAGES]);
  for (const language of LANGUAGES) expect(places(wordsOf(language)), language).toEqual(places(wordsOf('en')));
  expect(Object.keys(wordsOf('en').shown).toSorted()).toEqual([...AGGREGATION_TYPES].toSorted());
  expect(textOf('../../../../docs/guides/embedding.md')).toContain(
    `| \`lang\` | ${LANGUAGES.map((language) => `\`${language}\``).join(', ')} (default`,
  );
});
