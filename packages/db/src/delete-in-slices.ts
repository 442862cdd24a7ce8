/** Rows that one statement deletes: it takes well under a second. */
export const DELETED_MAX = 5_000;

/** What else is deleted by the same worker waits meanwhile. */
const TURN_MS = 1_000;

/**
 * Deletes slice by slice, each of {@link DELETED_MAX} rows but the last, for about a second. Returns how many rows there were: with fewer
 * than {@link DELETED_MAX} nothing is left, and with more there may be.
 */
export async function inSlices(deleteSlice: () => Promise<number>): Promise<number> {
  const end = performance.now() + TURN_MS;
  let deleted = 0;
  for (;;) {
    const slice = await deleteSlice();
    deleted += slice;
    if (slice < DELETED_MAX || performance.now() > end) return deleted;
  }
}
