import { parseAmount, type Amount } from '@weir/rating/money';

/** An amount of a row; what is null there is nothing. */
export function amountOf(text: string | null, digits: number): Amount {
  const amount = parseAmount(text ?? '0', digits);
  if (amount === undefined) throw new Error(`an amount has more than ${digits} digits after the point: ${text}`);
  return amount;
}
