import type { Queries } from './database.ts';

/** Tables whose rows are changed by those who have read them. */
type Held = 'alerts' | 'customers' | 'features' | 'meters' | 'service_accounts' | 'subscriptions' | 'webhook_endpoints';

/** Holds off others that change a row, until the transaction ends; what refers to it may be written meanwhile. */
export function holdRow(table: Held) {
  return async (transaction: Queries, organizationId: string, id: string): Promise<void> => {
    await transaction
      .selectFrom(table)
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .forNoKeyUpdate()
      .execute();
  };
}

/** The same of the organization itself, which has all settings, and of which many things there may be so many. */
export async function holdOrganization(transaction: Queries, organizationId: string): Promise<void> {
  await transaction
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .forNoKeyUpdate()
    .execute();
}
