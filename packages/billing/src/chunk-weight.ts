// What a chunk of billing holds in memory. A number of rows does not bound it: one subscription may have a hundred dues a day, and
// each of them a hundred tiers.

/** What a period or a due weighs beside its terms, in bytes: its row, what is asked of it, and its line. */
export const ROW_BYTES = 1_000;

/** What the run opens in one transaction: Postgres copies the terms, so that less of it is in memory. */
export const OPENED_BYTES_MAX = 5_000_000;

/** What a request opens: a thousand periods with one charge each, in some tenths of a second. */
export const OPENED_BY_REQUEST_BYTES_MAX = 2_500_000;

/** What one transaction may still take on, in bytes. What begins while something is left is taken as a whole. */
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
