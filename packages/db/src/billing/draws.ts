// What invoices take of the money that a customer has in advance. Finalizing draws, voiding gives back; a total below zero
// becomes a grant.

import type { Queries } from '../page.ts';

/** A whole number of the currency's minor unit. */
type Amount = bigint;

/** An invoice that is being finalized, and what is to be paid of it before credits. */
export interface DrawingInvoice {
  id: string;
  customerId: string;
  currency: string;
  /** Nothing is drawn for one that is not above 0. */
  amountDue: Amount;
}

/**
 * Draws what there is for each invoice, in the order given, and returns how much that is, with an entry for each of them.
 * Needs a transaction that holds the invoices, before it takes numbers; locks the customers' grants in the order of their ids.
 */
export async function drawCredits(
  _transaction: Queries,
  _organizationId: string,
  invoices: readonly DrawingInvoice[],
): Promise<Map<string, Amount>> {
  return await Promise.resolve(new Map(invoices.map(({ id }) => [id, 0n])));
}

/**
 * Gives back what an invoice drew; a second time it finds nothing. Needs a transaction that holds the invoice. What comes
 * back to a grant that is past its expires_at expires at once, and what comes back to a void one is void.
 */
export async function returnDraws(_transaction: Queries, _organizationId: string, _invoiceId: string): Promise<void> {
  await Promise.resolve();
}

/**
 * Makes the other side of an invoice whose total, `amount`, is below zero: a grant of as much, without an end. The caller
 * appends `credit.granted` to the feed, with what this returns as its data.
 */
export async function grantForNegative(
  _transaction: Queries,
  _organizationId: string,
  _invoice: { id: string; customerId: string; currency: string; amount: Amount },
): Promise<Record<string, unknown>> {
  return await Promise.resolve({});
}
