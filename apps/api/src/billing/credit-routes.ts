// Money that a customer has in advance, which invoices draw when they are finalized (@weir/db/billing/credits/apply-credits).

import type { FeedType } from '@weir/billing/feed-events';
import {
  countLiveGrants,
  insertCreditGrant,
  lockCreditedCustomer,
  voidCreditGrant,
  type CreditGrant,
} from '@weir/db/billing/credits/credits';
import { appendFeed } from '@weir/db/billing/feed';
import type { Queries } from '@weir/db/database';
import { isCurrency, minorDigits } from '@weir/rating/currencies';
import { formatAmount, parseAmount } from '@weir/rating/money';
import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { decimal } from '../http/decimals.ts';
import { endTime, readEnd } from '../http/end-time.ts';
import { currency, idInPath } from '../http/fields.ts';
import { found, invalidFields, problemResponses } from '../http/problem.ts';
import { refuseErased } from '../catalog/refuse-erased.ts';
import { credentialOf } from '../http/load/caller.ts';
import type { App } from '../http/typed-app.ts';
import { done, made, writing } from '../http/writing/writing.ts';
import { creditAnswer } from './credit-shape.ts';
import type { RouteDeps } from '../route-deps.ts';

/** No currency has more digits after the point than 4. */
const AMOUNT_DIGITS = { whole: LIMITS.priceDigits, fraction: LIMITS.amountFraction };

const creditBody = z
  .strictObject({
    amount: decimal({
      ...AMOUNT_DIGITS,
      isAbove0: true,
      description: 'In units of the currency, with at most its minor digits.',
    }),
    currency,
    expires_at: endTime('ISO 8601 with an offset: it counts until then, exclusive.'),
    priority: z
      .int('must be a whole number')
      .min(0, 'must be 0 or more')
      .max(LIMITS.priority, `must be at most ${LIMITS.priority}`)
      .default(0)
      .meta({ description: 'The smaller one is drawn first; of two equal ones that which expires earlier.' }),
    note: text(1, LIMITS.note).nullable().default(null),
    external_id: text(1, LIMITS.key).nullable().default(null).meta({
      description: 'Your own id of it. A request that is sent again gets 409, with the id of the first one.',
    }),
  })
  .superRefine(({ amount, currency }, { addIssue }) => {
    if (!isCurrency(currency) || typeof amount !== 'string') return;
    const digits = minorDigits(currency);
    if (parseAmount(amount, digits) === undefined) {
      addIssue({ code: 'custom', path: ['amount'], message: `must have at most ${digits} digits after the point` });
    }
  });

export function creditRoutes(app: App, { database, guards }: RouteDeps): void {
  app.post(
    '/api/v1/customers/:id/credits',
    {
      onRequest: guards.biller,
      config: { decimals: new Set(['amount']) },
      schema: {
        operationId: 'createCredit',
        tags: ['Billing'],
        summary: 'Grant a customer money in advance',
        description:
          'Invoices draw it when they are finalized: smaller priority first, then what expires earlier, then what is older. ' +
          `A customer has at most ${LIMITS.liveGrants} grants in one currency that have something left and have not expired.`,
        params: idInPath,
        body: creditBody,
        response: { 201: creditAnswer, ...problemResponses('external_id_taken', 'customer_erased') },
      },
    },
    writing(database, (request, write) =>
      write.transaction(async (transaction) => made(await grantCredit(transaction, request))),
    ),
  );

  app.post(
    '/api/v1/credits/:id/void',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'voidCredit',
        tags: ['Billing'],
        summary: 'End what is left of a grant',
        description:
          'What invoices drew of it stays drawn. A grant that is void already, or has expired, is answered as it is.',
        params: idInPath,
        response: { 200: creditAnswer },
      },
    },
    writing(database, (request, write) =>
      write.transaction(async (transaction) => done(await endCredit(transaction, request))),
    ),
  );
}

const TOO_MANY =
  `would be more than ${LIMITS.liveGrants} grants of the customer in this currency that have something left and have not expired: ` +
  'void some, or grant more at once';

type CreditRequest = FastifyRequest & { params: { id: string } };

async function grantCredit(
  transaction: Queries,
  request: CreditRequest & { body: z.output<typeof creditBody> },
): Promise<CreditGrant> {
  const { caller, params, body } = request;
  const { organizationId } = caller;
  const { currency } = body;
  const expires_at = readEnd(body.expires_at);
  const customer = found(await lockCreditedCustomer(transaction, organizationId, params.id, expires_at));
  await refuseErased(transaction, organizationId, params.id);
  const digits = minorDigits(currency);
  const inserted = await insertCreditGrant(transaction, {
    ...body,
    organization_id: organizationId,
    id: newId(),
    customer_id: params.id,
    amount: formatAmount(parseAmount(body.amount, digits) ?? 0n, digits),
    expires_at,
  });
  if ('takenBy' in inserted) {
    const detail = 'Another credit of your organization has this external_id: its id is in this answer.';
    throw new Refusal('external_id_taken', detail, { id: inserted.takenBy });
  }
  // After external_id: a request that is sent again long after gets the id of the first one.
  if (customer.isPast) throw invalidFields([{ path: 'expires_at', message: 'must be in the future' }]);
  const live = { customerId: params.id, currency, max: LIMITS.liveGrants };
  if ((await countLiveGrants(transaction, organizationId, live)) > LIMITS.liveGrants)
    throw invalidFields([{ path: '', message: TOO_MANY }]);
  const { grant } = inserted;
  await tellFeed(transaction, request, 'credit.granted', {
    credit_id: grant.id,
    customer_id: params.id,
    currency,
    amount: grant.amount,
    invoice_id: null,
  });
  return grant;
}

async function endCredit(transaction: Queries, request: CreditRequest): Promise<CreditGrant> {
  const ended = found(await voidCreditGrant(transaction, request.caller.organizationId, request.params.id));
  const { grant, customer_id, voided } = ended;
  if (voided !== null) {
    const data = { credit_id: grant.id, customer_id, currency: grant.currency, amount: voided };
    await tellFeed(transaction, request, 'credit.voided', data);
  }
  return grant;
}

async function tellFeed(
  transaction: Queries,
  { caller }: FastifyRequest,
  type: FeedType,
  data: Record<string, unknown>,
): Promise<void> {
  await appendFeed(transaction, caller.organizationId, [{ type, actor: credentialOf(caller), data }]);
}
