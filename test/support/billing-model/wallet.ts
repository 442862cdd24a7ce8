// What a customer has in advance, and which invoices took it.

/** What the wallet has to know of an invoice. */
export interface Payable {
  status: 'DRAFT' | 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
  total: bigint;
  credits: bigint;
  paid: bigint;
}

/** What is still to be paid. */
export function dueOf({ status, total, credits, paid }: Payable): bigint {
  return status === 'VOID' || total < 0n ? 0n : total - credits - paid;
}

export interface ModelGrant<Invoice extends Payable> {
  currency: string;
  left: bigint;
  priority: number;
  /** Milliseconds since 1970, exclusive. */
  expiresAt: number;
  /** The invoice below zero that it is the other side of; null: an admin gave it. */
  origin: Invoice | null;
}

interface Draw<Invoice extends Payable> {
  grant: ModelGrant<Invoice>;
  invoice: Invoice;
  amount: bigint;
}

export const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smallest = (a: bigint, b: bigint): bigint => (a < b ? a : b);

export class Wallet<Invoice extends Payable> {
  /** In the order in which they were given. */
  readonly #grants: ModelGrant<Invoice>[] = [];
  readonly #draws: Draw<Invoice>[] = [];

  add(grant: Omit<ModelGrant<Invoice>, 'origin'>): void {
    this.#grants.push({ ...grant, origin: null });
  }

  balance(currency: string, now: number): bigint {
    return this.#usable(currency, now).reduce((sum, { left }) => sum + left, 0n);
  }

  /** Takes what there is for an invoice that has just been issued. */
  draw(invoice: Invoice, currency: string, now: number): void {
    const inOrder = this.#usable(currency, now).sort(
      (a, b) => a.priority - b.priority || order(a.expiresAt) - order(b.expiresAt),
    );
    for (const grant of inOrder) this.#take(grant, invoice);
  }

  /** What an invoice below zero gives first lowers what is open, the oldest first. */
  grantOf(invoice: Invoice, currency: string, open: readonly Invoice[]): void {
    const grant = { currency, left: -invoice.total, priority: 0, expiresAt: Infinity, origin: invoice };
    this.#grants.push(grant);
    for (const each of open) this.#take(grant, each);
  }

  /**
   * Gives back what an invoice drew, and ends what invoices below zero have given of it, by those invoices. False, and nothing is
   * given back, where not so much of their grants is left.
   */
  giveBack(invoice: Invoice, ending: ReadonlyMap<Invoice, bigint>): boolean {
    const back = new Map<ModelGrant<Invoice>, bigint>();
    for (const draw of this.#draws)
      if (draw.invoice === invoice) back.set(draw.grant, (back.get(draw.grant) ?? 0n) + draw.amount);
    for (const [origin, amount] of ending) {
      const grant = this.#grants.find((each) => each.origin === origin);
      if (grant === undefined || grant.left + (back.get(grant) ?? 0n) < amount) return false;
      back.set(grant, (back.get(grant) ?? 0n) - amount);
    }
    for (const [grant, amount] of back) grant.left += amount;
    return true;
  }

  #usable(currency: string, now: number): ModelGrant<Invoice>[] {
    return this.#grants.filter((each) => each.currency === currency && each.left > 0n && each.expiresAt > now);
  }

  #take(grant: ModelGrant<Invoice>, invoice: Invoice): void {
    const amount = smallest(grant.left, dueOf(invoice));
    if (amount <= 0n) return;
    grant.left -= amount;
    invoice.credits += amount;
    this.#draws.push({ grant, invoice, amount });
    if (dueOf(invoice) === 0n) invoice.status = 'PAID';
  }
}

/** Subtraction of infinities has no order. */
function order(at: number): number {
  return at === Infinity ? Number.MAX_SAFE_INTEGER : at;
}
