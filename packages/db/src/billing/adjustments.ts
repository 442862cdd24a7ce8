import type { Database } from '../database.ts';

/** What settling a subscription that has ended came to. */
export type Settlement =
  | { outcome: 'settled'; invoiceId: string }
  /** No late change comes to an amount: what there is waits. */
  | { outcome: 'nothing' }
  | { outcome: 'not_found' }
  | { outcome: 'subscription_not_ended' }
  | { outcome: 'earlier_draft' };

/** Puts the late changes of a subscription that has ended on an invoice of kind ADJUSTMENT, and finalizes it. */
export async function settleSubscription(
  database: Database,
  organizationId: string,
  subscriptionId: string,
  options: { actor: string },
): Promise<Settlement> {
  throw new Error(`not built: ${String(database)} ${organizationId} ${subscriptionId} ${options.actor}`);
}
