// Plans what an invoice takes of the money that a customer has in advance, and from which grants.

import type { Micros } from '@weir/shared/instant';
import type { Amount } from './money.ts';

export interface ApplicableGrant {
  id: string;
  remaining: Amount;
  /** The smaller one is applied first. */
  priority: number;
  /** The instant from which it no longer counts; null: never. */
  expiresAt: Micros | null;
  createdAt: Micros;
}

export interface CreditApplication {
  /** Of the grant. */
  id: string;
  amount: Amount;
}

/** Compares two grants for sorting: smaller priority first, then the one that expires earlier, then the older. */
export function applicationOrder(a: ApplicableGrant, b: ApplicableGrant): number {
  const expiry = (grant: ApplicableGrant): Micros => grant.expiresAt ?? Infinity;
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (expiry(a) !== expiry(b)) return expiry(a) - expiry(b);
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  // Whoever plans it again takes from the same grants.
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

/**
 * Returns what pays an amount from grants of its currency, as they stand at an instant: as much as is due, or all that there is. None of
 * them is zero or more than remains, and none is of a grant that has expired.
 */
export function planCreditApplications(
  amountDue: Amount,
  grants: readonly ApplicableGrant[],
  at: Micros,
): CreditApplication[] {
  const applications: CreditApplication[] = [];
  let open = amountDue;
  for (const { id, remaining } of grants.filter((grant) => isLive(grant, at)).sort(applicationOrder)) {
    if (open <= 0n) break;
    const amount = remaining < open ? remaining : open;
    applications.push({ id, amount });
    open -= amount;
  }
  return applications;
}

function isLive({ remaining, expiresAt }: ApplicableGrant, at: Micros): boolean {
  return remaining > 0n && (expiresAt === null || at < expiresAt);
}
