// The console says amounts, days and prices by itself, since it is a client and imports nothing of Weir: as they stand on the PDF of an
// invoice.

import { fontOf } from '@weir/api/pdf/fonts';
import { sayAmount, sayDay, sayDecimal, sayPeriod, sayPrice } from '@weir/api/pdf/words';
import { describeCharge } from '@weir/console/charge-words';
import { formatAmount, formatDecimal } from '@weir/console/decimals';
import { formatDay, formatDays } from '@weir/console/instants';
import type { ChargeModel, ChargeTerms } from '@weir/rating/charge-terms';
import { CURRENCIES } from '@weir/rating/currencies';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,18})?$/);

test('decimals, and amounts of all currencies', () => {
  fc.assert(
    fc.property(digits, fc.constantFrom(...CURRENCIES), (text, currency) => {
      expect(sayDecimal(text)).toBe(formatDecimal(text));
      expect(sayAmount(text, currency)).toBe(formatAmount(text, currency));
    }),
  );
  for (const currency of CURRENCIES) expect(formatAmount('1234.5', currency)).toBe(sayAmount('1234.5', currency));
});

test('days of every month, and periods in zones on both sides of the date line', () => {
  for (let month = 1; month <= 12; month += 1) {
    const date = `2026-${String(month).padStart(2, '0')}-09`;
    expect(sayDay(date)).toBe(formatDay(date));
  }
  for (const zone of ['UTC', 'Europe/Berlin', 'Pacific/Apia', 'America/St_Johns'])
    for (const [start, end] of [
      ['2026-03-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z'],
      ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
      // The first invoice of a subscription, which bills in advance alone.
      ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ] as const)
      expect(sayPeriod(start, end, zone)).toBe(formatDays(start, end, zone));
});

const bounds = { minimum_amount: '1', maximum_amount: '2.5' };
const tiers = [
  { up_to: '1000', unit_price: '0.1', flat_fee: '0' },
  { up_to: null, unit_price: '0.08', flat_fee: '5' },
];
/** Of each model: one that is missing does not compile. */
const OF_USAGE: { [Model in ChargeModel]: Extract<ChargeTerms, { model: Model }> } = {
  per_unit: { type: 'USAGE', model: 'per_unit', unit_price: '0.002', included_units: '1000', ...bounds },
  package: { type: 'USAGE', model: 'package', unit_price: '5', package_size: '500', included_units: null, ...bounds },
  percentage: { type: 'USAGE', model: 'percentage', rate: '2.9', fixed_amount: '0.3', included_units: null, ...bounds },
  graduated: { type: 'USAGE', model: 'graduated', tiers, ...bounds },
  volume: { type: 'USAGE', model: 'volume', tiers, ...bounds },
};
const CHARGES: ChargeTerms[] = [
  { type: 'FIXED', timing: 'in_advance', unit_price: '49' },
  { type: 'FIXED', timing: 'in_arrears', unit_price: '0.5' },
  ...Object.values(OF_USAGE),
];

test.each(CHARGES)('the price %j', (terms) => {
  const shown = { display_name: 'x', meter_id: null, ...terms };
  expect(sayPrice(terms, 'USD')).toBe(describeCharge(shown, 'USD'));
});

test('names are promised in the scripts that the fonts of a PDF have, in both documents', () => {
  const SAMPLES: Record<string, string> = {
    Latin: 'Łódź',
    Greek: 'Ωμέγα',
    Cyrillic: 'Київ',
    Arabic: 'شركة',
    Hebrew: 'חברה',
    Chinese: '公司',
    Japanese: 'カブ',
  };
  const ways = [
    ['../../README.md', /names in ([^.]*?), and the same file/],
    ['../../docs/billing.md', /Names may be ([^.]*?), with emoji/],
  ] as const;
  for (const [path, promise] of ways) {
    const text = readFileSync(new URL(path, import.meta.url), 'utf8').replace(/\s+/g, ' ');
    const scripts = (promise.exec(text)?.[1] ?? '').split(/, | or /);
    expect([path, scripts]).toEqual([path, Object.keys(SAMPLES)]);
  }
  for (const sample of Object.values(SAMPLES))
    for (const character of sample)
      expect([character, fontOf(character.codePointAt(0) ?? 0, 400)]).not.toContain(undefined);
});
