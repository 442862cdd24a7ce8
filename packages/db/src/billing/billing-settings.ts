import type { Queries } from '../database.ts';
import type { Read } from '../schema.ts';

/** How an organization bills. A change is for what is made after it. */
export type BillingSettings = Read<'organizations', 'id' | 'name' | 'created_at' | 'widget_meter_ids'>;

export type BillingSettingsChanges = { [Field in keyof BillingSettings]?: BillingSettings[Field] | undefined };

const columns = [
  'time_zone',
  'invoice_grace_hours',
  'payment_terms_days',
  'invoice_prefix',
  'invoice_issuer',
  'seller',
  'finalize',
] as const;

export async function getBillingSettings(db: Queries, organizationId: string): Promise<BillingSettings> {
  return await db
    .selectFrom('organizations')
    .select(columns)
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
}

/**
 * Changes what is given, of which there must be at least one thing. Waits for finalizations of the run that are under way, so that none
 * comes after a change to manual.
 */
export async function updateBillingSettings(
  db: Queries,
  organizationId: string,
  { seller, ...changes }: BillingSettingsChanges,
): Promise<BillingSettings> {
  return await db
    .updateTable('organizations')
    .set({ ...changes, ...(seller !== undefined && { seller: seller === null ? null : JSON.stringify(seller) }) })
    .where('id', '=', organizationId)
    .returning(columns)
    .executeTakeFirstOrThrow();
}
