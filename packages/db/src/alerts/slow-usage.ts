// Usage that takes longer to be read than a statement may, as one process has found out. Alerts are held against the rest of it: fewer
// changes at once, and without a customer whose usage alone takes too long. That one is tried again by itself.

import type { TakenUsage } from './touched-usage.ts';

/** After this so many changes are taken again as before: what took too long may be over, and costs one statement of all that it may take. */
const FEWER_MS = 5 * 60_000;

/** A customer is tried again after this. */
const AGAIN_MS = 60_000;

/** A quarter of what took too long is tried next. */
const SHARE = 0.25;

export class SlowUsage {
  readonly #most = new Map<string, { changes: number; until: number }>();
  /** By organization, and when each is tried again. */
  readonly #customers = new Map<string, Map<string, number>>();

  /** So many changes of an organization are taken at once at most. */
  changesMax(organizationId: string): number {
    const most = this.#most.get(organizationId);
    if (most === undefined || performance.now() < most.until) return most?.changes ?? Infinity;
    this.#most.delete(organizationId);
    return Infinity;
  }

  /** Those whose usage alone took too long: it is not taken with that of others. */
  customersOf(organizationId: string): string[] {
    return [...(this.#customers.get(organizationId)?.keys() ?? [])];
  }

  /** The one of them that has waited longest to be tried again, where its time has come: it comes again later, whatever becomes of it now. */
  nextDue(organizationId: string): string | undefined {
    const [first] = this.#customers.get(organizationId) ?? [];
    if (first === undefined || first[1] > performance.now()) return undefined;
    this.#putOff(organizationId, first[0]);
    return first[0];
  }

  /** Learns that what was taken took too long. Returns the customer, where it was one alone. */
  tookTooLong(organizationId: string, { rows, customers }: TakenUsage): string | undefined {
    const [first, ...others] = customers.keys();
    if (first === undefined || others.length > 0) {
      const changes = Math.max(1, Math.floor(rows * SHARE));
      this.#most.set(organizationId, { changes, until: performance.now() + FEWER_MS });
      return undefined;
    }
    // The others have waited for this one alone.
    this.#most.delete(organizationId);
    this.#putOff(organizationId, first);
    return first;
  }

  /** Learns that usage of a customer was read. */
  wasRead(organizationId: string, customer: string): void {
    const known = this.#customers.get(organizationId);
    known?.delete(customer);
    if (known?.size === 0) this.#customers.delete(organizationId);
  }

  #putOff(organizationId: string, customer: string): void {
    const known = this.#customers.get(organizationId) ?? new Map<string, number>();
    known.delete(customer);
    this.#customers.set(organizationId, known.set(customer, performance.now() + AGAIN_MS));
  }
}
