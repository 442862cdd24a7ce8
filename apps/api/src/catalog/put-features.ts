// Puts features into a plan, many in one step. Expects the plan locked.

import { lockFeatures } from '@weir/db/features';
import { countPlanFeatures, putPlanFeatures, type PlanFeature } from '@weir/db/plan-features';
import type { Queries } from '@weir/db/database';
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
  await checkFeatures(
    transaction,
    organizationId,
    features.map(({ feature_id: id }) => id),
    path,
  );
  await putPlanFeatures(transaction, organizationId, planId, features);
  checkFeatureCount(await countPlanFeatures(transaction, organizationId, planId), path);
}

/** Holds these features, and throws a Refusal where there is no such one. */
export async function checkFeatures(
  transaction: Queries,
  organizationId: string,
  ids: readonly string[],
  path?: string,
): Promise<void> {
  const found = await lockFeatures(transaction, organizationId, ids);
  const missing = ids.findIndex((id) => !found.has(id));
  if (missing === -1) return;
  const detail = 'Your organization has no feature with this feature_id: see GET /api/v1/features.';
  const errors = [{ path: `${path}[${missing}].feature_id`, message: 'is the id of no feature' }];
  throw new Refusal('not_found', detail, path === undefined ? {} : { errors });
}

/** Of a plan as it would be. Throws a Refusal where that is too many. */
export function checkFeatureCount(count: number, path: string): void {
  if (count > LIMITS.planFeatures)
    throw invalidFields([{ path, message: `would be more than ${LIMITS.planFeatures} features of a plan` }]);
}
