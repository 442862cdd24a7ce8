// Weighs what a chunk of billing holds in memory. A number of rows does not bound it: one subscription may have a hundred dues a day, and
// each of them a hundred tiers.

/** Bytes of a period or a due beside its terms: its row, what is asked of it, and its line. */
export const ROW_BYTES = 1_000;

/** Bytes of a grant that an invoice may draw, as above: a customer's are held once for all invoices of a chunk. */
export const GRANT_BYTES = 200;

/**
 * Bytes that one transaction opens, of a request or of the run: a thousand periods with one charge each, in some tenths of a second.
 * Twice as much is no faster, and the next organization waits for twice as long.
 */
export const OPENED_BYTES_MAX = 2_500_000;

/**
 * What one transaction computes, of the run, of a preview or of reconcile, in bytes of terms as text and of rows: some tenths of a
 * second, for which the next organization waits. In memory it takes some five times as much, and lines that are computed again some
 * tens of megabytes. 500 invoices with a few plain charges each fit.
 */
export const COMPUTED_BYTES_MAX = 3_000_000;

/** Room that one transaction still has, in bytes. What begins while something is left is taken as a whole. */
export class Room {
  #bytes: number;

  constructor(bytes = Infinity) {
    this.#bytes = bytes;
  }

  get isLeft(): boolean {
    return this.#bytes > 0;
  }

  take(bytes: number): void {
    this.#bytes -= bytes;
  }
}
