import { sql } from 'kysely';
import type { Queries } from './database.ts';
import type { Read } from './schema.ts';
import { countRows } from './page.ts';

/** One feature of a plan. */
export type PlanFeature = Read<'plan_features', 'plan_id'>;

const columns = [
  'feature_id',
  'is_enabled',
  'usage_limit',
  'usage_reset_period',
  'is_soft_limit',
  'static_value',
  'created_at',
] as const;

/** Violates `plan_features_pkey` when the plan has the feature already. */
export async function insertPlanFeature(
  db: Queries,
  planFeature: Omit<PlanFeature, 'created_at'> & { organization_id: string; plan_id: string },
): Promise<PlanFeature> {
  return await db.insertInto('plan_features').values(planFeature).returning(columns).executeTakeFirstOrThrow();
}

/** Puts features into a plan, each once. What the plan says of one that it has already is as given from then on. */
export async function putPlanFeatures(
  db: Queries,
  organizationId: string,
  planId: string,
  features: readonly Omit<PlanFeature, 'created_at'>[],
): Promise<void> {
  if (features.length === 0) return;
  await db
    .insertInto('plan_features')
    .values(features.map((feature) => ({ ...feature, organization_id: organizationId, plan_id: planId })))
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'plan_id', 'feature_id']).doUpdateSet(({ ref }) => ({
        is_enabled: ref('excluded.is_enabled'),
        usage_limit: ref('excluded.usage_limit'),
        usage_reset_period: ref('excluded.usage_reset_period'),
        is_soft_limit: ref('excluded.is_soft_limit'),
        static_value: ref('excluded.static_value'),
      })),
    )
    .execute();
}

/** The fields of it that can be changed: all but which feature it is. */
export type PlanFeatureChanges = {
  [Field in Exclude<keyof PlanFeature, 'feature_id' | 'created_at'>]?: PlanFeature[Field] | undefined;
};

/** Changes what is given, of which there must be at least one thing, and returns it all, if the plan has the feature. */
export async function updatePlanFeature(
  db: Queries,
  organizationId: string,
  { planId, featureId }: { planId: string; featureId: string },
  changes: PlanFeatureChanges,
): Promise<PlanFeature | undefined> {
  return await db
    .updateTable('plan_features')
    .set(changes)
    .where('organization_id', '=', organizationId)
    .where('plan_id', '=', planId)
    .where('feature_id', '=', featureId)
    .returning(columns)
    .executeTakeFirst();
}

/** How many features a plan has. */
export async function countPlanFeatures(db: Queries, organizationId: string, planId: string): Promise<number> {
  return await countRows(
    db.selectFrom('plan_features').where('organization_id', '=', organizationId).where('plan_id', '=', planId),
  );
}

/** All features of a plan, in the order in which they were put there. */
export async function listPlanFeatures(db: Queries, organizationId: string, planId: string): Promise<PlanFeature[]> {
  return await db
    .selectFrom('plan_features')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('plan_id', '=', planId)
    .orderBy('created_at')
    .orderBy('feature_id')
    .execute();
}

/** Takes features out of a plan, and returns those of them that it had. */
export async function deletePlanFeatures(
  db: Queries,
  organizationId: string,
  planId: string,
  featureIds: readonly string[],
): Promise<Set<string>> {
  const deleted = await db
    .deleteFrom('plan_features')
    .where('organization_id', '=', organizationId)
    .where('plan_id', '=', planId)
    .where('feature_id', '=', sql<string>`ANY(${featureIds}::uuid[])`)
    .returning('feature_id')
    .execute();
  return new Set(deleted.map(({ feature_id: id }) => id));
}
