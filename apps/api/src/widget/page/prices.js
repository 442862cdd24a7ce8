// Prices of a plan as one would say them on a price list.

import { exactAmount, money } from './amounts.js';
import { fill } from './words.js';

/** The price of a charge in one line. */
export function priceOf(charge, told) {
  const { words, locale, currency } = told;
  const of = words.price;
  const amount = (text) => exactAmount(text, null, { locale });
  const cost = (text) => money(text, currency, locale);
  const conditions = [
    [charge.included_units, of.included, amount],
    [charge.minimum_amount, of.atLeast, cost],
    [charge.maximum_amount, of.atMost, cost],
  ].flatMap(([value, text, say]) =>
    value === null || value === undefined ? [] : [fill(text, { amount: say(value) })],
  );
  return [basePrice(charge, { ...told, amount, cost }), ...conditions].join(', ');
}

function basePrice(charge, { words, interval, amount, cost }) {
  const of = words.price;
  if (charge.type === 'FIXED')
    return fill(of.fixed, { price: cost(charge.unit_price), interval: of.intervals[interval] });
  switch (charge.model) {
    case 'graduated':
    case 'volume': {
      const tiers = charge.tiers.map((tier) => tierPrice(tier, { of, amount, cost })).join('; ');
      return charge.model === 'volume' ? fill(of.volume, { tiers }) : tiers;
    }
    case 'package':
      return fill(of.package, { price: cost(charge.unit_price), amount: amount(charge.package_size) });
    case 'percentage': {
      const rate = fill(of.percent, { rate: amount(charge.rate) });
      return charge.fixed_amount === null ? rate : `${rate} + ${fill(of.event, { price: cost(charge.fixed_amount) })}`;
    }
    case 'per_unit':
      return fill(of.each, { price: cost(charge.unit_price) });
    default:
      throw new Error(`the model ${charge.model} has no words here`);
  }
}

function tierPrice({ up_to: end, unit_price: unit, flat_fee: fee }, { of, amount, cost }) {
  const each = fill(of.each, { price: cost(unit) });
  const price = /[1-9]/.test(fee) ? `${each} + ${cost(fee)}` : each;
  return end === null ? fill(of.beyond, { price }) : fill(of.upTo, { price, amount: amount(end) });
}
