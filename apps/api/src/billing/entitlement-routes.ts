// Whether a customer may use a feature, and how much of it is left. It is asked before each use, so it is as quick as it can be
// while it is exact (entitlement-answer.ts); and it answers and holds nothing.

import type { Entitled } from '@weir/db/billing/plans/entitlements';
import { findCustomer } from '@weir/db/customers';
import { Refusal } from '@weir/shared/errors';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import type { Guards } from '../access/authenticate.ts';
import { idInPath } from '../http/fields.ts';
import { found, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { entitlementAnswer, readEntitlements, type Entitlement, type EntitlementDeps } from './entitlement-answer.ts';

const featureQuery = {
  feature: text(1, LIMITS.key)
    .optional()
    .meta({ description: 'The lookup_key of one feature. Without it, all that the subscriptions give.' }),
  quantity: z
    .string()
    .regex(
      new RegExp(`^(?!0+(?:\\.0+)?$)\\d{1,${LIMITS.unitDigits}}(?:\\.\\d{1,${LIMITS.fraction}})?$`),
      `must be a decimal greater than 0, with at most ${LIMITS.unitDigits} digits before the point and ${LIMITS.fraction} after it`,
    )
    .optional()
    .meta({ description: 'How much is about to be used: whether all of it fits below the limit.' }),
};

const answers = z.union([entitlementAnswer, z.object({ data: z.array(entitlementAnswer) })]);
const FRESH =
  'Read from what is recorded, without a cache. It holds nothing: two who ask at once may both be told that the last unit is left.';

export function entitlementRoutes(app: App, deps: EntitlementDeps & { guards: Guards }): void {
  const { database, guards } = deps;
  const config = { isQuickRead: true } as const;
  const response = { 200: answers, ...problemResponses('not_found') };

  app.get(
    '/api/v1/entitlements',
    {
      onRequest: guards.read,
      config,
      schema: {
        operationId: 'listEntitlements',
        tags: ['Billing'],
        summary: 'What a customer may use, by your own identifier of the customer',
        description: `A customer without a record has no subscription. ${FRESH}`,
        querystring: z.strictObject({
          customer_external_id: text(1, LIMITS.key).meta({ description: 'Your own identifier; no record is needed.' }),
          ...featureQuery,
        }),
        response,
      },
    },
    async (request) => {
      const { customer_external_id: customerExternalId, ...asked } = request.query;
      return await answer(deps, request.caller.organizationId, { customerExternalId }, asked);
    },
  );

  app.get(
    '/api/v1/customers/:id/entitlements',
    {
      onRequest: guards.read,
      config,
      schema: {
        operationId: 'listCustomerEntitlements',
        tags: ['Billing'],
        summary: 'What a customer may use',
        description: FRESH,
        params: idInPath,
        querystring: z.strictObject(featureQuery),
        response,
      },
    },
    async (request) => {
      const { organizationId } = request.caller;
      const customer = found(await findCustomer(database.kysely, organizationId, request.params.id));
      return await answer(deps, organizationId, { customerId: customer.id }, request.query);
    },
  );
}

async function answer(
  deps: EntitlementDeps,
  organizationId: string,
  entitled: Entitled,
  asked: { feature?: string | undefined; quantity?: string | undefined },
): Promise<Entitlement | { data: Entitlement[] }> {
  const data = await readEntitlements(deps, { organizationId, entitled, ...asked });
  if (asked.feature === undefined) return { data };
  const [entitlement] = data;
  if (entitlement === undefined) {
    throw new Refusal('not_found', 'Your organization has no feature with this lookup_key: see GET /api/v1/features.');
  }
  return entitlement;
}
