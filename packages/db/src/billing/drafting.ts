// How an organization makes drafts, and whether the run finalizes them.

import { sql, type RawBuilder } from 'kysely';
import type { Drafting } from '@weir/billing/grace';
import { microsOfText } from '@weir/shared/instant';
import type { Queries } from '../database.ts';

export async function readDrafting(db: Queries, organizationId: string): Promise<Drafting> {
  const { now, invoice_grace_hours, finalize } = await db
    .selectFrom('organizations')
    .select(['invoice_grace_hours', 'finalize'])
    .select(sql<string>`billing_now()`.as('now'))
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return { now: microsOfText(now), graceHours: invoice_grace_hours, isManual: finalize === 'manual' };
}

/**
 * Whether the run finalizes drafts of an organization. Until this transaction ends, that stays: whoever has changed it to manual
 * knows by the answer that nothing is finalized any more.
 */
export async function holdAutomatic(transaction: Queries, organizationId: string): Promise<boolean> {
  const { finalize } = await transaction
    .selectFrom('organizations')
    .select('finalize')
    .where('id', '=', organizationId)
    .forShare()
    .executeTakeFirstOrThrow();
  return finalize === 'automatic';
}

/** The same as a condition in SQL. Drafts of the others are looked at by nobody, however many there are. */
export function isAutomatic(organizationId: string): RawBuilder<boolean> {
  return sql<boolean>`(SELECT finalize = 'automatic' FROM organizations WHERE id = ${organizationId}::uuid)`;
}

/** Whether a row of `invoices` is a draft that could not be finalized and that the run tries again, as a condition in SQL. */
export const isDraftPutOff = sql<boolean>`(invoices.run_error IS NOT NULL AND invoices.status = 'DRAFT'
  AND (SELECT o.finalize = 'automatic' FROM organizations o WHERE o.id = invoices.organization_id))`;
