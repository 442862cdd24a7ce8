// The features of a plan: limits, switches and values.

import { lockFeature } from '@weir/db/features';
import {
  countPlanFeatures,
  deletePlanFeature,
  insertPlanFeature,
  updatePlanFeature,
  type PlanFeature,
} from '@weir/db/plan-features';
import { lockPlan } from '@weir/db/plans';
import { parseQuantity } from '@weir/shared/decimal';
import { Refusal } from '@weir/shared/errors';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import { done, gone, made, writing } from '../http/writing.ts';
import { adminCodes, answerOf, bodyCodes, changesOf, idInPath, idOf, nothing, oneOf, time } from '../http/fields.ts';
import type { JsonText } from '../http/json.ts';
import { invalidFields, NO_SUCH_THING, problemResponses } from '../http/problem.ts';
import type { RouteDeps } from '../route-deps.ts';

const resetPeriods = ['hour', 'day', 'week', 'month', 'year'] as const;

const fields = {
  is_enabled: z.boolean(),
  usage_limit: z
    .number()
    .min(0, 'must be 0 or more')
    .max(LIMITS.quantity, `must be at most ${LIMITS.quantity}`)
    .nullable()
    .meta({ description: 'Null: unlimited. Stored as the decimal that was sent.' }),
  usage_reset_period: oneOf(resetPeriods)
    .nullable()
    .meta({ description: 'When the usage begins at 0 again; null: never.' }),
  is_soft_limit: z.boolean().meta({ description: 'Whether usage may go on past the limit.' }),
  static_value: text(1, LIMITS.lines).nullable().meta({ description: 'The value of a feature of type custom.' }),
};

const planFeatureBody = z.strictObject({
  feature_id: idOf('must be the id of a feature'),
  is_enabled: fields.is_enabled.default(true),
  usage_limit: fields.usage_limit.default(null),
  usage_reset_period: fields.usage_reset_period.default(null),
  is_soft_limit: fields.is_soft_limit.default(false),
  static_value: fields.static_value.default(null),
});

const planFeatureChanges = changesOf(fields);

const planFeatureInPath = idInPath.extend({ feature_id: idOf() });

export const planFeatureAnswer = answerOf<PlanFeature>()({
  feature_id: z.uuid(),
  is_enabled: z.boolean(),
  usage_limit: z.string().nullable().meta({ description: 'A decimal; null: unlimited.' }),
  usage_reset_period: z.enum(resetPeriods).nullable(),
  is_soft_limit: z.boolean(),
  static_value: z.string().nullable(),
  created_at: time,
}).meta({ id: 'PlanFeature' });

export function planFeatureRoutes(app: App, { database, guards }: RouteDeps): void {
  app.post(
    '/api/v1/plans/:id/features',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'addPlanFeature',
        tags: ['Catalog'],
        summary: 'Put a feature into a plan',
        description: `One that is in the plan already is changed with PATCH. A plan has at most ${LIMITS.planFeatures} features.`,
        params: idInPath,
        body: planFeatureBody,
        response: {
          201: planFeatureAnswer,
          ...problemResponses(...adminCodes, ...bodyCodes, 'not_found', 'feature_already_in_plan'),
        },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId: organization_id } = request.caller;
      const { id: plan_id } = request.params;
      const { feature_id } = request.body;
      const usage_limit = exactLimit(request.body.usage_limit, request.json);
      return await write.transaction(async (transaction) => {
        if (!(await lockPlan(transaction, organization_id, plan_id))) throw new Refusal('not_found', NO_SUCH_THING);
        if (!(await lockFeature(transaction, organization_id, feature_id))) {
          throw new Refusal(
            'not_found',
            'Your organization has no feature with this feature_id: see GET /api/v1/features.',
          );
        }
        if ((await countPlanFeatures(transaction, organization_id, plan_id)) >= LIMITS.planFeatures) {
          throw invalidFields([{ path: '', message: `would be more than ${LIMITS.planFeatures} features of a plan` }]);
        }
        return made(await insertPlanFeature(transaction, { ...request.body, organization_id, plan_id, usage_limit }));
      });
    }),
  );

  app.patch(
    '/api/v1/plans/:id/features/:feature_id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'updatePlanFeature',
        tags: ['Catalog'],
        summary: 'Change what a plan says about a feature',
        description:
          'Changes the fields that are sent. It is so at once for everybody who has the plan: entitlements are read from it.',
        params: planFeatureInPath,
        body: planFeatureChanges,
        response: {
          200: planFeatureAnswer,
          ...problemResponses(...adminCodes, ...bodyCodes, 'not_found'),
        },
      },
    },
    writing(database, async (request, write) => {
      const { id: planId, feature_id: featureId } = request.params;
      const { usage_limit, ...others } = request.body;
      const changes = {
        ...others,
        ...(usage_limit !== undefined && { usage_limit: exactLimit(usage_limit, request.json) }),
      };
      return await write.single(async (db) => {
        const changed = await updatePlanFeature(db, request.caller.organizationId, { planId, featureId }, changes);
        if (changed === undefined) throw new Refusal('not_found', NO_SUCH_THING);
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
        response: { 204: nothing, ...problemResponses(...adminCodes, 'not_found') },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.single(async (db) => {
        if (!(await deletePlanFeature(db, caller.organizationId, params.id, params.feature_id))) {
          throw new Refusal('not_found', NO_SUCH_THING);
        }
        return gone();
      }),
    ),
  );
}

/** The limit with all the digits that were sent, of which a float keeps only some. */
function exactLimit(value: number | null, json: JsonText | null): string | null {
  const span = json?.members.get('usage_limit');
  if (value === null || json === null || span === undefined) return null;
  const literal = json.text.slice(...span);
  // Nothing but zeros before the exponent. Where there is something, 1e-999 say, it is too small and no zero.
  if (value === 0 && !/[1-9]/.test(literal.replace(/e.*/i, ''))) return '0';
  const limit = value === 0 ? { problem: 'is too small' } : parseQuantity(literal, value);
  if ('problem' in limit) throw invalidFields([{ path: 'usage_limit', message: limit.problem }]);
  return limit.decimal;
}
