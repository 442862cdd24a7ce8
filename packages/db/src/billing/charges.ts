import type { ChargeTerms } from '@weir/rating/charge-terms';
import { sql } from 'kysely';
import type { Queries } from '../page.ts';
import type { ChargeType } from './tables.ts';

/** What a plan costs, in one of its parts. Nothing of it changes but its name, and that it ends. */
export interface Charge {
  id: string;
  plan_id: string;
  display_name: string;
  type: ChargeType;
  /** Null where it is FIXED. */
  meter_id: string | null;
  terms: ChargeTerms;
  status: 'ACTIVE' | 'INACTIVE';
  created_at: string;
}

export interface NewCharge {
  organization_id: string;
  id: string;
  plan_id: string;
  display_name: string;
  meter_id: string | null;
  terms: ChargeTerms;
}

/** What can be changed of a charge. */
export interface ChargeChanges {
  display_name?: string | undefined;
  /** Ends it, for good; one that has ended stays as it is. */
  ends?: boolean;
}

const columns = ['id', 'plan_id', 'display_name', 'type', 'meter_id', 'created_at'] as const;
/** As they were written: the column is filled here and nowhere else. */
const terms = sql<ChargeTerms>`terms`.as('terms');
const status = sql<Charge['status']>`CASE WHEN ended_at IS NULL THEN 'ACTIVE' ELSE 'INACTIVE' END`.as('status');

/** Violates `charges_organization_id_plan_id_meter_id_key` where the plan has an ACTIVE charge for the meter. */
export async function insertCharge(db: Queries, charge: NewCharge): Promise<Charge> {
  return await db
    .insertInto('charges')
    .values({ ...charge, type: charge.terms.type, terms: JSON.stringify(charge.terms) })
    .returning(columns)
    .returning([terms, status])
    .executeTakeFirstOrThrow();
}

/** The charges of a plan, oldest first: all of them, or with `at` those that are ACTIVE at that instant (ISO 8601). */
export async function listChargesOfPlan(
  db: Queries,
  organizationId: string,
  planId: string,
  at?: string,
): Promise<Charge[]> {
  let query = db
    .selectFrom('charges')
    .select(columns)
    .select([terms, status])
    .where('organization_id', '=', organizationId)
    .where('plan_id', '=', planId);
  if (at !== undefined) {
    query = query
      .where('created_at', '<=', at)
      .where(({ eb, or }) => or([eb('ended_at', 'is', null), eb('ended_at', '>', at)]));
  }
  return await query.orderBy('id').execute();
}

/** The charge, if the plan has it; nobody else changes it before this transaction ends. */
export async function lockCharge(
  transaction: Queries,
  organizationId: string,
  { planId, id }: { planId: string; id: string },
): Promise<Charge | undefined> {
  return await transaction
    .selectFrom('charges')
    .select(columns)
    .select([terms, status])
    .where('organization_id', '=', organizationId)
    .where('plan_id', '=', planId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Changes a charge that is there, and returns it. */
export async function updateCharge(
  db: Queries,
  organizationId: string,
  id: string,
  { display_name, ends = false }: ChargeChanges,
): Promise<Charge> {
  return await db
    .updateTable('charges')
    .set({
      ended_at: ends ? sql<string>`coalesce(ended_at, billing_now())` : sql<string>`ended_at`,
      ...(display_name !== undefined && { display_name }),
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(columns)
    .returning([terms, status])
    .executeTakeFirstOrThrow();
}
