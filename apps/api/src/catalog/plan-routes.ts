// Plans: what is sold, how often it is billed and in which currency. What a plan includes is in
// plan-feature-routes.ts, and what it costs in billing/charge-routes.ts.

import { readBillingClock } from '@weir/db/billing/billing-time';
import type { Queries } from '@weir/db/database';
import {
  deletePlan,
  insertPlan,
  isPlanInUse,
  isPlanTaken,
  listPlans,
  lockPlanAlone,
  updatePlan,
  type Plan,
  type PlanChanges,
  PLAN_SORTS,
} from '@weir/db/plans';
import { PLAN_TYPES } from '@weir/db/schema';
import { INTERVALS } from '@weir/rating/periods';
import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { microsOfText } from '@weir/shared/instant';
import { slug, text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { addCharges, changeCharges } from '../billing/add-charges.ts';
import { chargeAnswer } from '../billing/charge-answer.ts';
import { addedCharges, changedCharges, firstCharges } from '../billing/charge-body.ts';
import { CHARGE_DECIMALS } from '../billing/charge-models.ts';
import type { App } from '../http/typed-app.ts';
import { done, gone, made, writing } from '../http/writing/writing.ts';
import {
  answerOf,
  answerPage,
  changesOf,
  currency,
  displayName,
  flag,
  idInPath,
  idOf,
  listQuery,
  nothing,
  oneOf,
  pageSchema,
  searchOf,
  sortOf,
  time,
} from '../http/fields.ts';
import { PLAN_IN_USE, found, problemResponses } from '../http/problem.ts';
import { changingWithin, reading } from '../http/writing/versions.ts';
import { PLAN_FEATURE_DECIMALS, planFeatureAnswer, planFeatureBody } from './plan-feature-body.ts';
import { putFeatures, takeOutFeatures } from './put-features.ts';
import { plans } from './whole-plan.ts';
import type { RouteDeps } from '../route-deps.ts';

const planFields = {
  name: displayName,
  lookup_id: slug,
  type: oneOf(PLAN_TYPES),
  billing_interval: oneOf(INTERVALS),
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

const planFeatures = z
  .array(planFeatureBody)
  .max(LIMITS.planFeatures, `must hold at most ${LIMITS.planFeatures} features`)
  .superRefine((features, { addIssue }) => {
    const ids = new Set<string>();
    for (const [index, { feature_id: id }] of features.entries()) {
      if (ids.has(id)) addIssue({ code: 'custom', path: [index, 'feature_id'], message: 'must stand here once' });
      ids.add(id);
    }
  });

const planBody = z.strictObject({
  ...planFields,
  trial_days: planFields.trial_days.default(0),
  description: planFields.description.default(null),
  is_active: planFields.is_active.default(true),
  charges: firstCharges
    .default([])
    .meta({ description: 'What it costs from the beginning, each as for createCharge.' }),
  features: planFeatures.default([]).meta({ description: 'What it includes from the beginning.' }),
});

const planChanges = changesOf({
  ...planFields,
  update_charges: changedCharges.meta({ description: 'Charges that are renamed or ended, each as for updateCharge.' }),
  add_charges: addedCharges.meta({ description: 'Charges that are added afterwards, each as for createCharge.' }),
  remove_features: z
    .array(idOf('must be the id of a feature'))
    .max(LIMITS.planFeatures)
    .meta({ description: 'Features that are taken out of the plan.' }),
  put_features: planFeatures.meta({
    description:
      'Features that are put into the plan afterwards. What it says of one that it has is as sent from then on.',
  }),
});

/** What is changed of a plan itself, and what of its charges and features. */
function partsOf({
  update_charges,
  add_charges,
  remove_features,
  put_features,
  ...fields
}: z.output<typeof planChanges>) {
  return { fields, update_charges, add_charges, remove_features, put_features };
}

const DECIMALS = { decimals: new Set([...CHARGE_DECIMALS, ...PLAN_FEATURE_DECIMALS]) };

/** Refusals of charges and of features in the body of a plan. */
const partCodes = ['not_found', 'meter_archived', 'charge_not_of_plan_type', 'meter_already_priced'] as const;

const planShape = answerOf<Plan>()({
  id: z.uuid(),
  name: z.string(),
  lookup_id: z.string(),
  type: z.enum(PLAN_TYPES),
  billing_interval: z.enum(INTERVALS),
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

const planQuery = listQuery({
  ...sortOf(PLAN_SORTS, '-created_at'),
  search: searchOf('A part of the name or the lookup_id.'),
  type: planFields.type.optional(),
  billing_interval: planFields.billing_interval.optional(),
  currency: planFields.currency.optional(),
  is_active: flag.optional(),
});

export function planRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.post(
    '/api/v1/plans',
    {
      onRequest: guards.admin,
      config: DECIMALS,
      schema: {
        operationId: 'createPlan',
        tags: ['Catalog'],
        summary: 'Create a plan, with what it costs and includes',
        description:
          'All of it, or nothing. Charges and features may come later as well: see createCharge and addPlanFeature, or updatePlan for ' +
          'many at once. The answer is the plan itself; getPlan has its charges and features.',
        body: planBody,
        response: { 201: planAnswer, ...problemResponses(...partCodes, 'lookup_id_taken') },
      },
    },
    writing(database, ({ caller: { organizationId }, body }, write) => {
      const { charges, features, ...fields } = body;
      return write.transaction(async (transaction) => {
        const plan = await insertPlan(transaction, { ...fields, organization_id: organizationId, id: newId() });
        await putFeatures(transaction, organizationId, plan.id, { features, path: 'features' });
        const now = microsOfText(await readBillingClock(transaction));
        await addCharges(transaction, organizationId, plan, { charges, list: 'charges', now });
        return made(plan);
      });
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
        response: { 200: pageSchema(planAnswer) },
      },
    },
    async (request) => {
      const { search, type, billing_interval, currency, is_active, sort, ...page } = request.query;
      const filter = { search, type, billing_interval, currency, is_active, sort };
      return answerPage(await listPlans(db, request.caller.organizationId, filter, page));
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
        response: { 200: planWithFeatures },
      },
    },
    reading(database, plans),
  );

  app.patch(
    '/api/v1/plans/:id',
    {
      onRequest: guards.admin,
      config: DECIMALS,
      schema: {
        operationId: 'updatePlan',
        tags: ['Catalog'],
        summary: 'Change a plan, its charges and its features in one step',
        description:
          'Changes the fields that are sent. Once the plan has a charge or a subscription, type, billing_interval and currency ' +
          'are fixed: what was agreed rests on them. Charges and features that are not named stay as they are. All of it is done, or ' +
          'nothing.',
        params: idInPath,
        body: planChanges,
        response: {
          200: planAnswer,
          ...problemResponses(
            ...partCodes,
            'lookup_id_taken',
            'plan_in_use',
            'meter_already_billed',
            'charge_inactive',
          ),
        },
      },
    },
    changingWithin(database, plans, ({ caller, params, body }, write) =>
      write.transaction(async (transaction) => {
        const { organizationId } = caller;
        const { id: planId } = params;
        const {
          fields,
          update_charges = [],
          add_charges = [],
          remove_features = [],
          put_features = [],
        } = partsOf(body);
        await checkFixed(transaction, organizationId, planId, fields);
        const plan = found(
          Object.keys(fields).length > 0
            ? await updatePlan(transaction, organizationId, planId, fields)
            : await lockPlanAlone(transaction, organizationId, planId),
        );
        const now = microsOfText(await readBillingClock(transaction));
        await changeCharges(transaction, organizationId, planId, {
          charges: update_charges,
          list: 'update_charges',
          now,
        });
        await takeOutFeatures(transaction, organizationId, planId, { ids: remove_features, path: 'remove_features' });
        await putFeatures(transaction, organizationId, planId, { features: put_features, path: 'put_features' });
        await addCharges(transaction, organizationId, plan, { charges: add_charges, list: 'add_charges', now });
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
        response: { 204: nothing, ...problemResponses('plan_in_use') },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.single(async (db) => {
        if (await isPlanTaken(db, caller.organizationId, params.id)) throw new Refusal('plan_in_use', PLAN_IN_USE);
        found(await deletePlan(db, caller.organizationId, params.id));
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
