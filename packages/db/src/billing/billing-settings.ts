import type { Queries } from '../page.ts';

/** How an organization bills. A change is for what is made after it. */
export interface BillingSettings {
  /** Of the organization: for customers without one of their own, and for the dates and years of invoices. */
  time_zone: string;
  /** How long an invoice stays a draft after its boundary. */
  invoice_grace_hours: number;
  /** From the issue of an invoice until it is due. */
  payment_terms_days: number;
  /** What the numbers of invoices begin with. */
  invoice_prefix: string;
  /** Lines that say who issues invoices; null: the name of the organization. */
  invoice_issuer: string | null;
}

export type BillingSettingsChanges = { [Field in keyof BillingSettings]?: BillingSettings[Field] | undefined };

const columns = ['time_zone', 'invoice_grace_hours', 'payment_terms_days', 'invoice_prefix', 'invoice_issuer'] as const;

export async function getBillingSettings(db: Queries, organizationId: string): Promise<BillingSettings> {
  return await db
    .selectFrom('organizations')
    .select(columns)
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
}

/** Changes what is given, of which there must be at least one thing. */
export async function updateBillingSettings(
  db: Queries,
  organizationId: string,
  changes: BillingSettingsChanges,
): Promise<BillingSettings> {
  return await db
    .updateTable('organizations')
    .set(changes)
    .where('id', '=', organizationId)
    .returning(columns)
    .executeTakeFirstOrThrow();
}
