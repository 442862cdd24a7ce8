// Puts features into a plan and takes them out, many in one step. Expects the plan locked.

import { lockFeatures } from '@weir/db/features';
import {
  countPlanFeatures,
  deletePlanFeatures,
  putPlanFeatures,
  type PlanFeature,
  type PlanFeatureChanges,
} from '@weir/db/plan-features';
import type { Queries } from '@weir/db/database';
import type { FeatureType } from '@weir/db/schema';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { invalidFields } from '../http/problem.ts';

/** `path` is where they stand in the body. Throws a Refusal where there is no such feature, or the plan would have too many. */
export async function putFeatures(
  transaction: Queries,
  organizationId: string,
  planId: string,
  { features, path }: { features: readonly Omit<PlanFeature, 'created_at'>[]; path: string },
): Promise<void> {
  if (features.length === 0) return;
  await checkFeatures(transaction, organizationId, features, path);
  await putPlanFeatures(transaction, organizationId, planId, features);
  checkFeatureCount(await countPlanFeatures(transaction, organizationId, planId), path);
}

/** Takes features out. Throws a Refusal where the plan does not have one of them. */
export async function takeOutFeatures(
  transaction: Queries,
  organizationId: string,
  planId: string,
  { ids, path }: { ids: readonly string[]; path: string },
): Promise<void> {
  if (ids.length === 0) return;
  const deleted = await deletePlanFeatures(transaction, organizationId, planId, ids);
  const missing = ids.findIndex((id) => !deleted.has(id));
  if (missing === -1) return;
  const errors = [{ path: `${path}[${missing}]`, message: 'is the id of no feature of the plan' }];
  throw new Refusal('not_found', 'The plan has no feature with this id: see GET /api/v1/plans/{id}.', { errors });
}

/** Holds these features. Throws a Refusal where there is no such one, or where one without a meter is given a limit. */
export async function checkFeatures(
  transaction: Queries,
  organizationId: string,
  features: readonly Omit<PlanFeature, 'created_at'>[],
  path?: string,
): Promise<void> {
  const ids = features.map(({ feature_id: id }) => id);
  const found = await lockFeatures(transaction, organizationId, ids);
  for (const [index, says] of features.entries()) {
    const type = found.get(says.feature_id);
    if (type !== undefined) checkLimit(type, says, path === undefined ? '' : `${path}[${index}].`);
  }
  const missing = ids.findIndex((id) => !found.has(id));
  if (missing === -1) return;
  const detail = 'Your organization has no feature with this feature_id: see GET /api/v1/features.';
  const errors = [{ path: `${path}[${missing}].feature_id`, message: 'is the id of no feature' }];
  throw new Refusal('not_found', detail, path === undefined ? {} : { errors });
}

/** A limit is one of usage. Throws a Refusal where a feature without a meter is given one. */
export function checkLimit(type: FeatureType, says: PlanFeatureChanges, at = ''): void {
  if (type === 'meter') return;
  const given = (['usage_limit', 'usage_reset_period'] as const).filter((field) => (says[field] ?? null) !== null);
  const message = 'is only for features of type meter, and this is none';
  if (given.length > 0) throw invalidFields(given.map((field) => ({ path: at + field, message })));
}

/** Of a plan as it would be. Throws a Refusal where that is too many. */
export function checkFeatureCount(count: number, path: string): void {
  if (count > LIMITS.planFeatures)
    throw invalidFields([{ path, message: `would be more than ${LIMITS.planFeatures} features of a plan` }]);
}
