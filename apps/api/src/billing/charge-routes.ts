// Charges: what a plan costs. A charge does not change, so that an invoice can be computed again: to change a price, another one
// takes its place (replace-charge.ts).

import type { ChargeType } from '@weir/billing/kinds';
import { billMeterOfPlan } from '@weir/db/billing/subscriptions/billed-meters';
import {
  insertCharge,
  listCharges,
  lockCharge,
  readPlanSize,
  updateCharge,
  type PlanSize,
} from '@weir/db/billing/plans/charges';
import { findMeter } from '@weir/db/meters';
import { findPlan, lockPlanAlone, type Plan } from '@weir/db/plans';
import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import {
  adminCodes,
  answerPage,
  bodyCodes,
  changesOf,
  displayName,
  idInPath,
  idOf,
  oneOf,
  pageQuery,
  pageSchema,
} from '../http/fields.ts';
import { invalidFields, NO_SUCH_THING, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, made, writing } from '../http/writing.ts';
import { answerCharge, chargeAnswer } from './charge-answer.ts';
import { chargeBody, termsOf } from './charge-body.ts';
import { CHARGE_DECIMALS } from './charge-models.ts';
import { mayEndNow, takePlace } from './replace-charge.ts';
import type { RouteDeps } from '../route-deps.ts';

export const NO_SUCH_METER = 'Your organization has no meter with this meter_id: see GET /api/v1/meters.';

const chargeChanges = changesOf({
  display_name: displayName,
  status: oneOf(['ACTIVE', 'INACTIVE']).meta({
    description:
      'INACTIVE ends the charge, for good: from its next period on no subscription is billed by it. One that has not begun is taken ' +
      'back, and the charge whose place it would have taken goes on.',
  }),
});

export function chargeRoutes(app: App, { database, guards }: RouteDeps): void {
  app.post(
    '/api/v1/plans/:id/charges',
    {
      onRequest: guards.admin,
      config: { decimals: new Set(CHARGE_DECIMALS) },
      schema: {
        operationId: 'createCharge',
        tags: ['Billing'],
        summary: 'Add a charge to a plan',
        description:
          'Each subscription of the plan is billed by it from its next period on. With replaces it takes the place of another ' +
          'charge in one step. Prices and quantities are taken exactly as sent, as a number or as a text. A plan has at most ' +
          `${LIMITS.planCharges} charges without an end, and ${LIMITS.planTiers} tiers in all of them; beside them as many that ` +
          'are to end when others take their place.',
        params: idInPath,
        body: chargeBody,
        response: {
          201: chargeAnswer,
          ...problemResponses(
            ...adminCodes,
            ...bodyCodes,
            'not_found',
            'charge_not_of_plan_type',
            'meter_already_priced',
            'meter_already_billed',
            'charge_inactive',
          ),
        },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId: organization_id } = request.caller;
      const { id: planId } = request.params;
      const { body } = request;
      const meter_id = body.type === 'USAGE' ? body.meter_id : null;
      const terms = termsOf(body);
      return await write.transaction(async (transaction) => {
        const plan = await lockPlanAlone(transaction, organization_id, planId);
        if (plan === undefined) throw new Refusal('not_found', NO_SUCH_THING);
        checkType(plan, terms.type);
        if (meter_id !== null && (await findMeter(transaction, organization_id, meter_id)) === undefined) {
          throw new Refusal('not_found', NO_SUCH_METER);
        }
        const { replaces, effective_from } = body;
        const place = await takePlace(transaction, organization_id, { planId, replaces, effective_from, meter_id });
        const inserted = await insertCharge(transaction, {
          organization_id,
          id: newId(),
          plan_id: planId,
          display_name: body.display_name,
          meter_id,
          terms,
          place,
        });
        checkSize(await readPlanSize(transaction, organization_id, planId));
        if (
          meter_id !== null &&
          !(await billMeterOfPlan(transaction, organization_id, { planId, meterId: meter_id }))
        ) {
          throw new Refusal(
            'meter_already_billed',
            'A customer of this plan has this meter billed by another subscription, and an event can be billed by one ' +
              'only: cancel that one, or price the meter in another plan.',
          );
        }
        return made(answerCharge(inserted));
      });
    }),
  );

  app.get(
    '/api/v1/plans/:id/charges',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listCharges',
        tags: ['Billing'],
        summary: 'The charges of a plan, newest first, those that have ended too',
        params: idInPath,
        querystring: z.strictObject({ status: oneOf(['ACTIVE', 'INACTIVE']).optional(), ...pageQuery }),
        response: {
          200: pageSchema(chargeAnswer),
          ...problemResponses('unauthenticated', 'rate_limited', 'unavailable', 'not_found', 'invalid_request'),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.caller;
      const { status, ...page } = request.query;
      const plan = await findPlan(database.kysely, organizationId, request.params.id);
      if (plan === undefined) throw new Refusal('not_found', NO_SUCH_THING);
      const { rows, total } = await listCharges(database.kysely, organizationId, { planId: plan.id, status }, page);
      return answerPage({ rows: rows.map(answerCharge), total }, page);
    },
  );

  app.patch(
    '/api/v1/plans/:id/charges/:charge_id',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'updateCharge',
        tags: ['Billing'],
        summary: 'Rename or end a charge',
        description:
          'Nothing else of a charge can be changed: to change a price, add a charge that replaces it. Periods that are ' +
          'open are billed by it to their end, under the name that it had when they began.',
        params: idInPath.extend({ charge_id: idOf() }),
        body: chargeChanges,
        response: {
          200: chargeAnswer,
          ...problemResponses(...adminCodes, ...bodyCodes, 'not_found', 'charge_inactive'),
        },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId } = request.caller;
      const { id: planId, charge_id: id } = request.params;
      const { display_name, status } = request.body;
      return await write.transaction(async (transaction) => {
        const charge = await lockCharge(transaction, organizationId, { planId, id });
        if (charge === undefined) throw new Refusal('not_found', NO_SUCH_THING);
        if (charge.status === 'INACTIVE' && status === 'ACTIVE') {
          throw new Refusal('charge_inactive', 'The charge has ended, for good: add another one to the plan.');
        }
        const ends = status === 'INACTIVE' && (await mayEndNow(transaction, organizationId, charge));
        const changes = { display_name, ends };
        return done(answerCharge(await updateCharge(transaction, organizationId, id, changes)));
      });
    }),
  );
}

/** Of a plan as it would be. Throws a Refusal where that is too much. */
function checkSize({ charges, tiers, ending, endingTiers }: PlanSize): void {
  if (charges > LIMITS.planCharges) {
    const message = `would give the plan ${charges} charges, and it takes ${LIMITS.planCharges}: end one, replace one, or use another plan`;
    throw invalidFields([{ path: '', message }]);
  }
  if (tiers > LIMITS.planTiers) {
    const message = `would give the plan ${tiers} tiers in all of its charges, and it takes ${LIMITS.planTiers}`;
    throw invalidFields([{ path: 'tiers', message }]);
  }
  if (ending > LIMITS.planCharges || endingTiers > LIMITS.planTiers) {
    const message =
      `would give the plan ${ending} charges that are still to end, with ${endingTiers} tiers, and it takes ` +
      `${LIMITS.planCharges} with ${LIMITS.planTiers}: wait until some have ended`;
    throw invalidFields([{ path: 'replaces', message }]);
  }
}

/** A FIXED plan has fixed prices only, a USAGE plan prices for usage only. */
function checkType(plan: Plan, type: ChargeType): void {
  if (plan.type === 'HYBRID' || plan.type === type) return;
  throw new Refusal(
    'charge_not_of_plan_type',
    `The plan is of type ${plan.type} and takes no ${type} charge: a HYBRID plan takes both.`,
    { errors: [{ path: 'type', message: `must be ${plan.type}, as the plan is` }] },
  );
}
