import type { Queries } from '../database.ts';
import type { Finalize } from './drafting.ts';
import type { Party } from './parties.ts';

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
  /** The same field by field; null: not given. */
  seller: Party | null;
  /** Manual: a draft stays one until a person finalizes it. It holds for drafts that are there as well. */
  finalize: Finalize;
}

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
