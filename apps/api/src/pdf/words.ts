// What stands on an invoice beside what is in it: labels, dates, amounts and prices. The console says prices, dates and amounts by the
// same rules (apps/console/src/catalog/charge-words.ts and text), and a test holds the two against each other: it is a client, and imports nothing of
// Weir.

import type { ChargeTerms } from '@weir/rating/charge-terms';
import { minorDigits } from '@weir/rating/currencies';
import { microsOfText } from '@weir/shared/instant';
import { localTime } from '@weir/shared/time-zone';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'];

/** `23 Nov 2026`, of a date `2026-11-23`. */
export function sayDay(date: string): string {
  const [year = '', month = '', day = ''] = date.split('-');
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year}`;
}

/** The date of an instant in a zone. */
export function sayInstant(instant: string, zone: string): string {
  return sayDay(dateAt(microsOfText(instant), zone));
}

/** The days from one instant to before another, both counted: `1 Nov 2026 – 30 Nov 2026`. One day is told once, also where no time is between. */
export function sayPeriod(start: string | null, end: string | null, zone: string): string {
  if (start === null || end === null) return '';
  const first = sayInstant(start, zone);
  const last = start === end ? first : sayDay(dateAt(microsOfText(end) - 1_000, zone));
  return first === last ? first : `${first} – ${last}`;
}

function dateAt(micros: number, zone: string): string {
  return new Date(Math.floor(localTime(zone, micros) / 1_000)).toISOString().slice(0, 10);
}

/** Every digit of it: `1,234,567.891`. */
export function sayDecimal(text: string): string {
  const [whole = '', fraction] = text.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',').replace('-', '−');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `1,234.50 EUR`: with the digits of the currency at least. */
export function sayAmount(text: string, currency: string): string {
  const [whole = '0', fraction = ''] = text.split('.');
  const cents = fraction.replace(/0+$/, '').padEnd(minorDigits(currency), '0');
  return `${sayDecimal(cents === '' ? whole : `${whole}.${cents}`)} ${currency}`;
}

export function isZero(amount: string): boolean {
  return /^-?0*(\.0*)?$/.test(amount);
}

/** The price of a charge in one line: `0.002 USD each, 1,000 included, at least 10.00 USD`. */
export function sayPrice(charge: ChargeTerms, currency: string): string {
  return [priceOf(charge, currency), ...conditionsOf(charge, currency)].join(', ');
}

function priceOf(charge: ChargeTerms, currency: string): string {
  const money = (value: string) => sayAmount(value, currency);
  if (charge.type === 'FIXED') {
    return `${money(charge.unit_price)} each period, ${charge.timing === 'in_arrears' ? 'at its end' : 'in advance'}`;
  }
  switch (charge.model) {
    case 'graduated':
    case 'volume': {
      const tiers = charge.tiers.map(({ up_to, unit_price, flat_fee }) => {
        const fee = isZero(flat_fee) ? '' : ` and ${money(flat_fee)}`;
        return `${up_to === null ? 'beyond' : `to ${sayDecimal(up_to)}`} ${money(unit_price)} each${fee}`;
      });
      return `${charge.model === 'volume' ? 'All units by volume' : 'By tier'}: ${tiers.join('; ')}`;
    }
    case 'package':
      return `${money(charge.unit_price)} per started ${sayDecimal(charge.package_size)}`;
    case 'percentage': {
      const fee = charge.fixed_amount === null ? '' : ` and ${money(charge.fixed_amount)} for each event`;
      return `${sayDecimal(charge.rate)} %${fee}`;
    }
    case 'per_unit':
      return `${money(charge.unit_price)} each`;
  }
}

function conditionsOf(charge: ChargeTerms, currency: string): string[] {
  if (charge.type === 'FIXED') return [];
  const included = 'included_units' in charge ? charge.included_units : null;
  const { minimum_amount: least, maximum_amount: most } = charge;
  return [
    ...(included === null ? [] : [`${sayDecimal(included)} included`]),
    ...(least === null ? [] : [`at least ${sayAmount(least, currency)}`]),
    ...(most === null ? [] : [`at most ${sayAmount(most, currency)}`]),
  ];
}
