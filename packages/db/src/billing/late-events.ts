import type { Queries } from '../page.ts';
import type { DueRow } from './dues.ts';

export async function findLateDues(
  db: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
  before: number | null,
): Promise<DueRow[]> {
  throw new Error(`not built: ${String(db)} ${organizationId} ${subscriptionIds.length} ${before}`);
}
