import type { Schema } from '../api/client.ts';
import { formatAmount } from '../text/decimals.ts';

/** An amount of an invoice of a list. Of a draft that cannot be computed nobody knows it. */
export function amountOfListed({ currency, not_computed: why }: Schema<'Invoice'>, amount: string): string {
  return why === null ? formatAmount(amount, currency) : 'amount unknown';
}
