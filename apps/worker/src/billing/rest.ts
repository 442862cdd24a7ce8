import type { BillingTask } from '@weir/queue/billing-jobs';

/**
 * After a turn a worker rests for this share of the time that the turn took, so that a run of hours leaves recording its part of the
 * machine (docs/decisions/0049). A draft is looked at on the same morning; an invoice has had an hour of grace, and can wait longer.
 */
const REST_SHARES: Record<BillingTask, number> = {
  open: 0.75,
  finalize: 1.25,
  past_due: 1.25,
  settle: 1.25,
  unbilled: 1.25,
};

/**
 * So much rest may still be owed when a turn begins. The next turn of an organization that had one comes after all of it, so that the
 * first turn of another need not wait; a run of many small organizations rests as much in the end as that of a large one does.
 */
const OWED_MAX_MS = 2_000;

/** The rest that the turns of one worker owe, which has so many slots for them. */
export class Rest {
  #slots: number;
  #now: () => number;
  #restedAt = 0;

  constructor(slots: number, now = () => performance.now()) {
    this.#slots = slots;
    this.#now = now;
  }

  /** How long an organization waits for its next turn, in milliseconds. */
  get owedMs(): number {
    return Math.max(0, this.#restedAt - this.#now());
  }

  /** How long any turn waits before it begins. */
  get beforeTurnMs(): number {
    return Math.max(0, this.owedMs - OWED_MAX_MS);
  }

  /** Told of each turn that ends now. It was no rest itself. */
  owe(task: BillingTask, tookMs: number): void {
    const beganAt = this.#now() - tookMs / this.#slots;
    this.#restedAt = Math.max(this.#restedAt, beganAt) + (tookMs * (1 + REST_SHARES[task])) / this.#slots;
  }
}
