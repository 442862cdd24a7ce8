// Plans: what is sold, how often it is billed and in which currency. What a plan includes is in
// plan-feature-routes.ts, and what it costs in billing/charge-routes.ts.

import { listPlanFeatures } from '@weir/db/plan-features';
import { readChargesOfPlan } from '@weir/db/billing/plans/charges';
import type { Queries } from '@weir/db/database';
import {
  deletePlan,
  findPlan,
  insertPlan,
  isPlanInUse,
  listPlans,
  lockPlanAlone,
  updatePlan,
  type Plan,
  type PlanChanges,
} from '@weir/db/plans';
import { isCurrency } from '@weir/rating/currencies';
import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { slug, text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { answerCharge, chargeAnswer } from '../billing/charge-answer.ts';
import type { App } from '../http/typed-app.ts';
import { done, gone, made, writing } from '../http/writing.ts';
import {
  adminCodes,
  answerOf,
  answerPage,
  bodyCodes,
  changesOf,
  displayName,
  idInPath,
  nothing,
  oneOf,
  pageQuery,
  pageSchema,
  time,
} from '../http/fields.ts';
import { NO_SUCH_THING, problemResponses } from '../http/problem.ts';
import { planFeatureAnswer } from './plan-feature-routes.ts';
import type { RouteDeps } from '../route-deps.ts';

export const currency = z
  .string()
  .refine(isCurrency, 'must be an ISO 4217 code in upper case, such as USD')
  .meta({ description: 'ISO 4217, in upper case.', examples: ['USD'] });

const planFields = {
  name: displayName,
  lookup_id: slug,
  type: oneOf(['FIXED', 'USAGE', 'HYBRID']),
  billing_interval: oneOf(['day', 'week', 'month', 'year']),
  currency,
  trial_days: z
    .int('must be a whole number')
    .min(0, 'must be 0 or more')
    .max(LIMITS.trialDays, `must be at most ${LIMITS.trialDays}`)
    .meta({ description: 'Number of free trial days; 0 means no trial.' }),
  description: text(1, LIMITS.note).nullable(),
  is_active: z.boolean().meta({ description: 'Whether the plan accepts new subscriptions.' }),
};

const FIXED_FIELDS = ['type', 'billing_interval', 'currency'] as const;

const planBody = z.strictObject({
  ...planFields,
  trial_days: planFields.trial_days.default(0),
  description: planFields.description.default(null),
  is_active: planFields.is_active.default(true),
});

const planChanges = changesOf(planFields);

const planShape = answerOf<Plan>()({
  id: z.uuid(),
  name: z.string(),
  lookup_id: z.string(),
  type: z.enum(['FIXED', 'USAGE', 'HYBRID']),
  billing_interval: z.enum(['day', 'week', 'month', 'year']),
  currency: z.string(),
  is_active: z.boolean(),
  trial_days: z.int(),
  description: z.string().nullable(),
  created_at: time,
});
const planAnswer = planShape.meta({ id: 'Plan' });
const planWithFeatures = planShape
  .extend({
    features: z.array(planFeatureAnswer),
    charges: z.array(chargeAnswer).meta({
      description: `Those that have not ended, and the ${LIMITS.endedCharges} that ended last. All: GET /plans/{id}/charges.`,
    }),
    ended_charges_total: z
      .int()
      .optional()
      .meta({ description: 'How many have ended, where these are not all of them.' }),
  })
  .meta({ id: 'PlanWithFeatures' });

const planQuery = z.strictObject({
  type: planFields.type.optional(),
  is_active: oneOf(['true', 'false'])
    .transform((word) => word === 'true')
    .optional(),
  ...pageQuery,
});

export function planRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.post(
    '/api/v1/plans',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'createPlan',
        tags: ['Catalog'],
        summary: 'Create a plan',
        body: planBody,
        response: {
          201: planAnswer,
          ...problemResponses(...adminCodes, ...bodyCodes, 'lookup_id_taken'),
        },
      },
    },
    writing(database, (request, write) => {
      const plan = { ...request.body, organization_id: request.caller.organizationId, id: newId() };
      return write.single(async (db) => made(await insertPlan(db, plan)));
    }),
  );

  app.get(
    '/api/v1/plans',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listPlans',
        tags: ['Catalog'],
        summary: 'List the plans, newest first',
        querystring: planQuery,
        response: {
          200: pageSchema(planAnswer),
          ...problemResponses('unauthenticated', 'rate_limited', 'unavailable', 'invalid_request'),
        },
      },
    },
    async (request) => {
      const { type, is_active, ...page } = request.query;
      return answerPage(await listPlans(db, request.caller.organizationId, { type, is_active }, page), page);
    },
  );

  app.get(
    '/api/v1/plans/:id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getPlan',
        tags: ['Catalog'],
        summary: 'Read a plan, what it includes and what it costs',
        params: idInPath,
        response: {
          200: planWithFeatures,
          ...problemResponses('unauthenticated', 'rate_limited', 'unavailable', 'not_found'),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.caller;
      const plan = await findPlan(db, organizationId, request.params.id);
      if (plan === undefined) throw new Refusal('not_found', NO_SUCH_THING);
      const { charges, ended } = await readChargesOfPlan(db, organizationId, plan.id);
      return {
        ...plan,
        features: await listPlanFeatures(db, organizationId, plan.id),
        charges: charges.map(answerCharge),
        ...(ended > LIMITS.endedCharges && { ended_charges_total: ended }),
      };
    },
  );

  app.patch(
    '/api/v1/plans/:id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'updatePlan',
        tags: ['Catalog'],
        summary: 'Change a plan',
        description:
          'Changes the fields that are sent. Once the plan has a charge or a subscription, type, billing_interval and currency ' +
          'are fixed: what was agreed rests on them.',
        params: idInPath,
        body: planChanges,
        response: {
          200: planAnswer,
          ...problemResponses(...adminCodes, ...bodyCodes, 'not_found', 'lookup_id_taken', 'plan_in_use'),
        },
      },
    },
    writing(database, ({ caller, params, body }, write) =>
      write.transaction(async (transaction) => {
        await checkFixed(transaction, caller.organizationId, params.id, body);
        const plan = await updatePlan(transaction, caller.organizationId, params.id, body);
        if (plan === undefined) throw new Refusal('not_found', NO_SUCH_THING);
        return done(plan);
      }),
    ),
  );

  app.delete(
    '/api/v1/plans/:id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'deletePlan',
        tags: ['Catalog'],
        summary: 'Delete a plan',
        description:
          'Its features stay, and count one plan less. A plan that has or had subscriptions is not deleted: to sell it no ' +
          'more, set is_active to false.',
        params: idInPath,
        response: { 204: nothing, ...problemResponses(...adminCodes, 'not_found', 'plan_in_use') },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.single(async (db) => {
        if (!(await deletePlan(db, caller.organizationId, params.id))) throw new Refusal('not_found', NO_SUCH_THING);
        return gone();
      }),
    ),
  );
}

/** What was agreed rests on the type, the interval and the currency of a plan: they change while nothing was. */
async function checkFixed(
  transaction: Queries,
  organizationId: string,
  id: string,
  changes: PlanChanges,
): Promise<void> {
  if (FIXED_FIELDS.every((field) => changes[field] === undefined)) return;
  const plan = await lockPlanAlone(transaction, organizationId, id);
  if (plan === undefined) return;
  const changed = FIXED_FIELDS.filter((field) => changes[field] !== undefined && changes[field] !== plan[field]);
  if (changed.length === 0 || !(await isPlanInUse(transaction, organizationId, id))) return;
  throw new Refusal(
    'plan_in_use',
    `The plan has a charge or a subscription, so its ${changed.join(' and ')} cannot change: make another plan.`,
  );
}
