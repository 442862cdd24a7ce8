import type { Queries } from '../page.ts';

/**
 * Opens every period of these subscriptions that has begun, and in order all that happens at the boundaries before it: a trial
 * ends, a change of plan takes place, a cancellation does. Writes periods, dues, the drafts of invoices (without lines: those
 * are computed), billed meters and the feed. What is open already is left as it is, so doing it again changes nothing. Expects
 * the rows of the subscriptions locked FOR UPDATE by the caller; locks the feed, so nothing else may be locked after it.
 */
export async function openPeriods(
  transaction: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
): Promise<void> {
  await Promise.reject(new Error(`not yet: ${organizationId} ${subscriptionIds.length} ${typeof transaction}`));
}
