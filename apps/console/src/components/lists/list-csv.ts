import { writeExact } from '../../api/exact-json.ts';

/**
 * Returns rows of the API under the names of their fields; what is no plain value is JSON. A row that moved to the next page while the
 * pages were read is in it once.
 */
export function csvOf(rows: readonly { id: string }[]): (string | number | null)[][] {
  const once = [...new Map(rows.map((row) => [row.id, row])).values()];
  const names = [...new Set(once.flatMap((row) => Object.keys(row)))];
  if (names.length === 0) return [];
  return [names, ...once.map((row) => names.map((name) => plain((row as Record<string, unknown>)[name])))];
}

function plain(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' || typeof value === 'number' ? value : writeExact(value);
}
