import { DAY_MS } from '@weir/shared/time-zone';
import { isTimedOut } from './database.ts';

/**
 * What was looked at whole, and had next to nothing to delete: a worker leaves it alone for a day, since to look means to read all
 * that is kept.
 */
export class LeftAlone {
  readonly #since = new Map<string, number>();

  has(id: string): boolean {
    const since = this.#since.get(id);
    return since !== undefined && performance.now() - since < DAY_MS;
  }

  add(id: string): void {
    const now = performance.now();
    this.#since.delete(id);
    // The oldest come first.
    for (const [other, since] of this.#since) {
      if (now - since < DAY_MS) break;
      this.#since.delete(other);
    }
    this.#since.set(id, now);
  }
}

/**
 * Deletes of one after the other. One that takes too long does not keep the others from their turn; its error is thrown in the end.
 * Returns how many rows there were.
 */
export async function deleteOfEach<Item>(
  items: readonly Item[],
  deleteOf: (item: Item) => Promise<number>,
): Promise<number> {
  const errors: unknown[] = [];
  let deleted = 0;
  for (const item of items) {
    try {
      deleted += await deleteOf(item);
    } catch (error) {
      if (!isTimedOut(error)) throw error;
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return deleted;
}
