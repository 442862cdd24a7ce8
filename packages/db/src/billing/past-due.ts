import type { Queries } from '../page.ts';

/**
 * Makes these subscriptions ACTIVE again that were PAST_DUE and have no open invoice past its due date any more: call it after an
 * invoice is paid, voided or given up. Expects their rows locked, before those of the invoices. Returns those that became ACTIVE:
 * each is to be a `subscription.activated` in the feed.
 */
export async function leavePastDue(
  transaction: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
): Promise<string[]> {
  throw new Error(`not built: ${String(transaction)} ${organizationId} ${subscriptionIds.length}`);
}
