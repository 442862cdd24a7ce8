// Amounts as tables and answers have them: decimals with exactly the minor digits of their currency.

import { minorDigits } from '@weir/rating/currencies';
import { formatAmount, parseAmount, type Amount } from '@weir/rating/money';

/** Reads an amount that is kept; null is nothing. Throws where it is none of this currency, which is a defect. */
export function amountOf(text: string | null, currency: string): Amount {
  if (text === null) return 0n;
  const amount = parseAmount(text, minorDigits(currency));
  if (amount === undefined) throw new Error(`not an amount of ${currency}: ${text.slice(0, 40)}`);
  return amount;
}

/** Writes an amount with the digits of its currency. */
export function amountText(amount: Amount, currency: string): string {
  return formatAmount(amount, minorDigits(currency));
}
