import type { Schema } from '../api/client.ts';
import { formatAmount } from '../text/decimals.ts';

/**
 * An amount of an invoice of a list. Of a draft that cannot be computed nobody knows it. In an upgrade an API of the version before may
 * answer, which does not speak of that.
 */
export function amountOfListed({ currency, not_computed: why }: Schema<'Invoice'>, amount: string): string {
  return (why ?? null) === null ? formatAmount(amount, currency) : 'amount unknown';
}
