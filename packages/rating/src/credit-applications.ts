// Plans what invoices take of the money that a customer has in advance, and from which grants.

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
 * The grants of one customer in one currency, as they stand at an instant. They are sorted once, and walked once by all invoices that
 * take of them, however many there are of both. None that has expired is applied.
 */
export class Pocket {
  /** Those before {@link #first} have nothing left. */
  readonly #grants: ApplicableGrant[];
  #first = 0;

  /** `remaining` of the grants that are given goes down as it is taken. */
  constructor(grants: readonly ApplicableGrant[], at: Micros) {
    this.#grants = grants.filter((grant) => isLive(grant, at)).sort(applicationOrder);
  }

  /** Adds one that has not expired, in its place among those that are left. */
  add(grant: ApplicableGrant): void {
    let [from, to] = [this.#first, this.#grants.length];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      const other = this.#grants[middle];
      if (other !== undefined && applicationOrder(other, grant) < 0) from = middle + 1;
      else to = middle;
    }
    this.#grants.splice(from, 0, grant);
  }

  /** Takes as much as is due, or all that there is. Returns what of which grant, and of none zero. */
  take(amountDue: Amount): CreditApplication[] {
    const applications: CreditApplication[] = [];
    let open = amountDue;
    while (open > 0n) {
      const grant = this.#grants[this.#first];
      if (grant === undefined) break;
      const amount = grant.remaining < open ? grant.remaining : open;
      grant.remaining -= amount;
      open -= amount;
      if (amount > 0n) applications.push({ id: grant.id, amount });
      if (grant.remaining === 0n) this.#first += 1;
    }
    return applications;
  }
}

function isLive({ remaining, expiresAt }: ApplicableGrant, at: Micros): boolean {
  return remaining > 0n && (expiresAt === null || at < expiresAt);
}
