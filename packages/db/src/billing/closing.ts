import type { Database } from '../database.ts';

/** Closes everything of an organization before `until`, and returns the number of the closing. */
export async function closeUntil(
  database: Database,
  organizationId: string,
  closing: { until: string; notBefore: string },
): Promise<number> {
  throw new Error(`not built: ${String(database)} ${organizationId} ${closing.until}`);
}
