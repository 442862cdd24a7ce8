import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { hashed, ofOrganization } from './of-organization.ts';
import { sortsByName } from './order.ts';
import { hasDone, holds, selectPage, type Page, type PageOf } from './page.ts';
import type { PlanType, Read } from './schema.ts';

export type Plan = Read<'plans'>;

/** A plan without what identifies it: what is given when it is made. */
export type PlanFields = Omit<Plan, 'id' | 'created_at'>;

/** The fields of a plan that can be changed: everything but its id, and of one that is in use its type, interval and currency. */
export type PlanChanges = { [Field in keyof PlanFields]?: PlanFields[Field] | undefined };

const columns = [
  'id',
  'name',
  'lookup_id',
  'type',
  'billing_interval',
  'currency',
  'is_active',
  'trial_days',
  'description',
  'created_at',
] as const;

/** Violates `plans_organization_id_lookup_id_key` when the lookup_id is taken. */
export async function insertPlan(
  db: Queries,
  plan: PlanFields & { organization_id: string; id: string },
): Promise<Plan> {
  return await db.insertInto('plans').values(plan).returning(columns).executeTakeFirstOrThrow();
}

export const PLAN_SORTS = sortsByName<Plan>();

/** Which plans to list: those whose name or lookup_id holds `search`, in whatever case. */
export interface PlanFilter {
  search: string;
  type?: PlanType | undefined;
  billing_interval?: Plan['billing_interval'] | undefined;
  currency?: string | undefined;
  is_active?: boolean | undefined;
  /** Newest first, where nothing is said. */
  sort?: keyof typeof PLAN_SORTS | undefined;
}

/** Those that match all that is given. */
export async function listPlans(
  db: Queries,
  organizationId: string,
  { search, sort = '-created_at', ...equal }: PlanFilter,
  page: Page,
): Promise<PageOf<Plan>> {
  const isByName = sort === 'name' || sort === '-name';
  let query = db
    .selectFrom('plans')
    .select(columns)
    .where(() => (isByName ? hashed(organizationId, 0) : ofOrganization(organizationId)))
    .where((eb) => holds(eb, search, 'name', 'lookup_id'));
  for (const column of ['type', 'billing_interval', 'currency', 'is_active'] as const) {
    const value = equal[column];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  return await selectPage(query, PLAN_SORTS[sort], page);
}

export async function findPlan(db: Queries, organizationId: string, id: string): Promise<Plan | undefined> {
  return await db
    .selectFrom('plans')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** The plan, if there is such a one; nobody else changes it, prices it or subscribes to it before this transaction ends. */
export async function lockPlanAlone(
  transaction: Queries,
  organizationId: string,
  id: string,
): Promise<Plan | undefined> {
  return await transaction
    .selectFrom('plans')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    // Not its key: a subscription that goes over to it while a charge is added would wait for this, and this for it.
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Whether a plan has, or had, a charge or a subscription: what these mean rests on its type, interval and currency. */
export async function isPlanInUse(db: Queries, organizationId: string, id: string): Promise<boolean> {
  // A charge that was taken back before it began was never agreed on.
  const { rows } = await sql<{ isInUse: boolean }>`
    SELECT EXISTS (SELECT FROM charges WHERE organization_id = ${organizationId} AND plan_id = ${id}
      AND (ended_at IS NULL OR ended_at > effective_from)) AS "isInUse"`.execute(db);
  return rows[0]?.isInUse === true || (await isPlanTaken(db, organizationId, id));
}

/**
 * Whether a subscription is of a plan, or goes over to it. To be asked before the plan is deleted: that holds its charges, and then waits for
 * the subscription, whose holder may be just billing them. Then one of both would be given up.
 */
export async function isPlanTaken(db: Queries, organizationId: string, id: string): Promise<boolean> {
  const found = await db
    .selectFrom('subscriptions')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where(({ or, eb }) => or([eb('plan_id', '=', id), eb('pending_plan_id', '=', id)]))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Changes what is given, of which there must be at least one thing, and returns the plan if there is such a one. */
export async function updatePlan(
  db: Queries,
  organizationId: string,
  id: string,
  changes: PlanChanges,
): Promise<Plan | undefined> {
  return await db
    .updateTable('plans')
    .set(changes)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst();
}

/**
 * Returns whether there was such a plan. What it said about features goes with it, and what it cost; the features stay. Violates
 * `subscriptions_organization_id_plan_id_fkey`, or another constraint of billing, where it has or had subscriptions.
 */
export async function deletePlan(db: Queries, organizationId: string, id: string): Promise<boolean> {
  return await hasDone(db.deleteFrom('plans').where('organization_id', '=', organizationId).where('id', '=', id));
}
