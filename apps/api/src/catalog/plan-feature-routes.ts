// The features of a plan: limits, switches and values.

import { findFeature } from '@weir/db/features';
import { countPlanFeatures, deletePlanFeatures, insertPlanFeature, updatePlanFeature } from '@weir/db/plan-features';
import { lockPlanAlone } from '@weir/db/plans';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import type { App } from '../http/typed-app.ts';
import { done, gone, made, writing } from '../http/writing/writing.ts';
import { idInPath, idOf, nothing } from '../http/fields.ts';
import { NO_SUCH_THING, found, problemResponses } from '../http/problem.ts';
import { changingWithin } from '../http/writing/versions.ts';
import type { RouteDeps } from '../route-deps.ts';
import { PLAN_FEATURE_DECIMALS, planFeatureAnswer, planFeatureBody, planFeatureChanges } from './plan-feature-body.ts';
import { checkFeatures, checkFeatureCount, checkLimit } from './put-features.ts';
import { plans } from './whole-plan.ts';

const planFeatureInPath = idInPath.extend({ feature_id: idOf() });

export function planFeatureRoutes(app: App, { database, guards }: RouteDeps): void {
  app.post(
    '/api/v1/plans/:id/features',
    {
      onRequest: guards.admin,
      config: { decimals: new Set(PLAN_FEATURE_DECIMALS) },
      schema: {
        operationId: 'addPlanFeature',
        tags: ['Catalog'],
        summary: 'Put a feature into a plan',
        description: `One that is in the plan already is changed with PATCH. A plan has at most ${LIMITS.planFeatures} features.`,
        params: idInPath,
        body: planFeatureBody,
        response: { 201: planFeatureAnswer, ...problemResponses('feature_already_in_plan') },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId: organization_id } = request.caller;
      const { id: plan_id } = request.params;
      return await write.transaction(async (transaction) => {
        // Alone, so that of two that put the last one there the second counts what the first has put.
        found(await lockPlanAlone(transaction, organization_id, plan_id));
        await checkFeatures(transaction, organization_id, [request.body]);
        const inserted = await insertPlanFeature(transaction, { ...request.body, organization_id, plan_id });
        checkFeatureCount(await countPlanFeatures(transaction, organization_id, plan_id), '');
        return made(inserted);
      });
    }),
  );

  app.patch(
    '/api/v1/plans/:id/features/:feature_id',
    {
      onRequest: guards.admin,
      config: { decimals: new Set(PLAN_FEATURE_DECIMALS) },
      schema: {
        operationId: 'updatePlanFeature',
        tags: ['Catalog'],
        summary: 'Change what a plan says about a feature',
        description:
          'Changes the fields that are sent. It is so at once for everybody who has the plan: entitlements are read from it.',
        params: planFeatureInPath,
        body: planFeatureChanges,
        response: { 200: planFeatureAnswer },
      },
    },
    changingWithin(database, plans, async (request, write) => {
      const { organizationId } = request.caller;
      const { id: planId, feature_id: featureId } = request.params;
      return await write.single(async (db) => {
        // Its type never changes, so nothing has to be held.
        const feature = await findFeature(db, organizationId, featureId);
        if (feature !== undefined) checkLimit(feature.type, request.body);
        const changed = found(await updatePlanFeature(db, organizationId, { planId, featureId }, request.body));
        return done(changed);
      });
    }),
  );

  app.delete(
    '/api/v1/plans/:id/features/:feature_id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'removePlanFeature',
        tags: ['Catalog'],
        summary: 'Take a feature out of a plan',
        params: planFeatureInPath,
        response: { 204: nothing },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.single(async (db) => {
        const deleted = await deletePlanFeatures(db, caller.organizationId, params.id, [params.feature_id]);
        if (deleted.size === 0) throw new Refusal('not_found', NO_SUCH_THING);
        return gone();
      }),
    ),
  );
}
