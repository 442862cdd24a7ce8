/** Rows that one statement deletes: it takes well under a second. */
export const DELETED_MAX = 5_000;

/** Other maintenance waits meanwhile; what is left is deleted the next time. */
const STATEMENTS_MAX = 20;

/** Deletes slice by slice, each of {@link DELETED_MAX} rows but the last. Returns how many rows there were. */
export async function inSlices(deleteSlice: () => Promise<number>): Promise<number> {
  let deleted = 0;
  for (let statements = 0; statements < STATEMENTS_MAX; statements += 1) {
    const slice = await deleteSlice();
    deleted += slice;
    if (slice < DELETED_MAX) break;
  }
  return deleted;
}
