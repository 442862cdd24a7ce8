// Charges: what a plan costs. A charge does not change, so that an invoice can be computed again: to change a price, another one
// takes its place (replace-charge.ts).

import { readBillingClock } from '@weir/db/billing/billing-time';
import { listCharges } from '@weir/db/billing/plans/charges';
import { findPlan, lockPlanAlone } from '@weir/db/plans';
import { mapPage } from '@weir/db/page';
import { microsOfText } from '@weir/shared/instant';
import { LIMITS } from '@weir/shared/limits';
import { answerPage, idInPath, idOf, listQuery, oneOf, pageSchema } from '../http/fields.ts';
import { found, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, made, writing } from '../http/writing/writing.ts';
import { changingWithin } from '../http/writing/versions.ts';
import { plans } from '../catalog/whole-plan.ts';
import { addCharges, changeCharges } from './add-charges.ts';
import { answerCharge, chargeAnswer } from './charge-answer.ts';
import { chargeBody, chargeChanges } from './charge-body.ts';
import { CHARGE_DECIMALS } from './charge-models.ts';
import type { RouteDeps } from '../route-deps.ts';

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
            'meter_archived',
            'charge_not_of_plan_type',
            'meter_already_priced',
            'meter_already_billed',
            'charge_inactive',
          ),
        },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId } = request.caller;
      return await write.transaction(async (transaction) => {
        const plan = found(await lockPlanAlone(transaction, organizationId, request.params.id));
        const now = microsOfText(await readBillingClock(transaction));
        const [inserted] = await addCharges(transaction, organizationId, plan, { charges: [request.body], now });
        if (inserted === undefined) throw new Error('a charge was added, and is not there');
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
        querystring: listQuery({ status: oneOf(['ACTIVE', 'INACTIVE']).optional() }),
        response: { 200: pageSchema(chargeAnswer) },
      },
    },
    async (request) => {
      const { organizationId } = request.caller;
      const { status, ...page } = request.query;
      const plan = found(await findPlan(database.kysely, organizationId, request.params.id));
      const charges = await listCharges(database.kysely, organizationId, { planId: plan.id, status }, page);
      return answerPage(mapPage(charges, answerCharge));
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
        response: { 200: chargeAnswer, ...problemResponses('charge_inactive') },
      },
    },
    changingWithin(database, plans, async (request, write) => {
      const { organizationId } = request.caller;
      const { id: planId, charge_id: id } = request.params;
      return await write.transaction(async (transaction) => {
        found(await lockPlanAlone(transaction, organizationId, planId));
        const charges = [{ id, ...request.body }];
        const now = microsOfText(await readBillingClock(transaction));
        const [charge] = await changeCharges(transaction, organizationId, planId, { charges, now });
        if (charge === undefined) throw new Error('a charge was changed, and is not there');
        return done(answerCharge(charge));
      });
    }),
  );
}
