import { InOtherHands, isTimedOut, isUnavailable } from '@weir/db/database';

/**
 * Does something to rows that is all or nothing. Where it fails, halves them until one is alone that it fails for, and leaves only that
 * one out: it does not hold the others up. What took too long is halved as well, and what changes a row that others have in hand. Throws
 * while Postgres is away, which is no row's fault.
 */
export async function doOrSplit(
  ids: readonly string[],
  work: (ids: readonly string[]) => Promise<unknown>,
  leaveOut: (id: string, error: unknown) => Promise<void>,
): Promise<void> {
  const [first] = ids;
  if (first === undefined) return;
  try {
    await work(ids);
    return;
  } catch (error) {
    if (isUnavailable(error) && !isTimedOut(error) && !(error instanceof InOtherHands)) throw error;
    if (ids.length === 1) {
      await leaveOut(first, error);
      return;
    }
  }
  // One after the other: of one subscription the earlier comes first.
  const middle = Math.ceil(ids.length / 2);
  await doOrSplit(ids.slice(0, middle), work, leaveOut);
  await doOrSplit(ids.slice(middle), work, leaveOut);
}
