// What an invoice takes of the money that a customer has in advance, and from which grants.

import type { Micros } from '@weir/shared/instant';
import type { Amount } from './money.ts';

export interface DrawableGrant {
  id: string;
  remaining: Amount;
  /** The smaller one is drawn first. */
  priority: number;
  /** The instant from which it no longer counts; null: never. */
  expiresAt: Micros | null;
  createdAt: Micros;
}

export interface Draw {
  /** Of the grant. */
  id: string;
  amount: Amount;
}

/** Compares two grants for sorting: smaller priority first, then the one that expires earlier, then the older. */
export function drawOrder(a: DrawableGrant, b: DrawableGrant): number {
  const expiry = (grant: DrawableGrant): Micros => grant.expiresAt ?? Infinity;
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (expiry(a) !== expiry(b)) return expiry(a) - expiry(b);
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  // Whoever plans it again takes from the same grants.
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

/**
 * Draws an amount from grants of its currency, as they stand at an instant: as much as is due, or all that there is. No
 * draw is zero or more than remains, and none is of a grant that has expired.
 */
export function planDraws(amountDue: Amount, grants: readonly DrawableGrant[], at: Micros): Draw[] {
  const draws: Draw[] = [];
  let open = amountDue;
  for (const { id, remaining } of grants.filter((grant) => isLive(grant, at)).sort(drawOrder)) {
    if (open <= 0n) break;
    const amount = remaining < open ? remaining : open;
    draws.push({ id, amount });
    open -= amount;
  }
  return draws;
}

function isLive({ remaining, expiresAt }: DrawableGrant, at: Micros): boolean {
  return remaining > 0n && (expiresAt === null || at < expiresAt);
}
