// Reads the ledger of credits: balances now and at an instant, and which grant paid which invoice.

import {
  listEntriesOfGrant,
  listEntriesOfInvoice,
  listGrants,
  readBalance,
  type GrantFilter,
} from '@weir/db/billing/credits/credit-ledger';
import { CREDIT_STATUSES } from '@weir/db/billing/credits/credits';
import { readBillingTime } from '@weir/db/billing/billing-time';
import { findInvoiceRow } from '@weir/db/billing/invoices/invoices';
import { inSnapshot } from '@weir/db/billing/snapshot';
import { findCustomer } from '@weir/db/customers';
import { findTimeZone } from '@weir/db/organizations';
import { instantInZone } from '@weir/shared/date-or-instant';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import {
  answerPage,
  currency,
  dateOrInstant,
  idInPath,
  idOf,
  listQuery,
  oneOf,
  pageSchema,
  time,
} from '../http/fields.ts';
import { found, invalidFields, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { balance, creditAnswer, creditEntry, listedCredit } from './credit-shape.ts';
import type { RouteDeps } from '../route-deps.ts';

const asOf = dateOrInstant.optional().meta({
  description:
    'As it was at this instant, by the ledger: what was granted, drawn, given back and ended before it, and what had not expired ' +
    'by it. The answer of an instant that is some minutes old stays the same. A bare date is its first instant in the time zone of the organization: 2027-01-01 is the end of 2026.',
});
const customerId = idOf('must be the id of a customer record').optional();

export function creditLedgerRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.get(
    '/api/v1/customers/:id/credits',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listCustomerCredits',
        tags: ['Billing'],
        summary: 'What a customer has in advance, and the grants that it comes from, newest first',
        description: `Of grants the newest ${LIMITS.grantsBesideBalance}: all of them are in GET /credits with customer_id.`,
        params: idInPath,
        querystring: z.strictObject({ as_of: asOf }),
        response: {
          200: z.object({
            balance,
            grants: z.array(creditAnswer),
            grants_total: z.int().optional().meta({ description: 'How many there are, where these are not all.' }),
          }),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.caller;
      const customer = found(await findCustomer(db, organizationId, request.params.id));
      const filter = { customerId: customer.id, asOf: await readAsOf(organizationId, request.query.as_of) };
      const page = { page: 1, page_size: LIMITS.grantsBesideBalance };
      const { grants, balance: sums } = await inSnapshot(database, async (snapshot) => ({
        grants: await listGrants(snapshot, organizationId, filter, page),
        balance: await readBalance(snapshot, organizationId, filter),
      }));
      const { rows, counted } = grants;
      return {
        balance: sums,
        grants: rows.map((row) => {
          const { customer_id: _, invoice_id: __, ...grant } = row;
          return grant;
        }),
        ...(counted !== undefined && counted.total > rows.length && { grants_total: counted.total }),
      };
    },
  );

  app.get(
    '/api/v1/credits',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listCredits',
        tags: ['Billing'],
        summary: 'The grants of all customers, newest first',
        querystring: listQuery({
          customer_id: customerId,
          currency: currency.optional(),
          status: oneOf(CREDIT_STATUSES).optional(),
          as_of: asOf,
        }),
        response: { 200: pageSchema(listedCredit) },
      },
    },
    async (request) => {
      const { customer_id, status, as_of } = request.query;
      const { organizationId } = request.caller;
      const filter: GrantFilter = {
        customerId: customer_id,
        currency: request.query.currency,
        status,
        asOf: await readAsOf(organizationId, as_of),
      };
      return answerPage(await listGrants(db, organizationId, filter, request.query));
    },
  );

  app.get(
    '/api/v1/credits/balance',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getCreditBalance',
        tags: ['Billing'],
        summary: 'What all customers together have in advance, or one of them, now or at an instant',
        querystring: z.strictObject({ customer_id: customerId, currency: currency.optional(), as_of: asOf }),
        response: {
          200: z
            .object({ as_of: time.meta({ description: 'The instant that was asked for, or now.' }), balance })
            .meta({ id: 'CreditBalance' }),
          ...problemResponses('not_found'),
        },
      },
    },
    async (request) => {
      const { organizationId } = request.caller;
      const { customer_id: ofCustomer } = request.query;
      if (ofCustomer !== undefined && (await findCustomer(db, organizationId, ofCustomer)) === undefined)
        throw new Refusal('not_found', 'Your organization has no customer with this customer_id: check the id.');
      const at = await readAsOf(organizationId, request.query.as_of);
      const filter = { customerId: ofCustomer, currency: request.query.currency, asOf: at };
      const now = await readBillingTime(db);
      return { as_of: at ?? now, balance: await readBalance(db, organizationId, filter) };
    },
  );

  app.get(
    '/api/v1/credits/:id/entries',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listCreditEntries',
        tags: ['Billing'],
        summary: 'What became of a grant: which invoice drew how much, and what came back, oldest first',
        description: 'What expires has no entry: the time says it.',
        params: idInPath,
        querystring: listQuery({}),
        response: { 200: pageSchema(creditEntry) },
      },
    },
    async (request) => {
      const { organizationId } = request.caller;
      const entries = found(await listEntriesOfGrant(db, organizationId, request.params.id, request.query));
      return answerPage(entries);
    },
  );

  app.get(
    '/api/v1/invoices/:id/credits',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listInvoiceCredits',
        tags: ['Billing'],
        summary: 'Which grants paid how much of an invoice, and of one below zero which invoices it paid, oldest first',
        description:
          'Draws less returns whose invoice_id is this one are its credits_applied; those of a void one came back. Where ' +
          'given_by_invoice_id is this one, its total below zero paid others.',
        params: idInPath,
        querystring: listQuery({}),
        response: { 200: pageSchema(creditEntry) },
      },
    },
    async (request) => {
      const { organizationId } = request.caller;
      const { id } = request.params;
      found(await findInvoiceRow(db, organizationId, id));
      return answerPage(await listEntriesOfInvoice(db, organizationId, id, request.query));
    },
  );

  /** The instant that a query means; what comes after now is not known yet. */
  async function readAsOf(organizationId: string, text: string | undefined): Promise<string | undefined> {
    if (text === undefined) return undefined;
    const instant = instantInZone(text, await findTimeZone(db, organizationId));
    if (Date.parse(instant) > Date.parse(await readBillingTime(db))) {
      throw invalidFields([{ path: 'as_of', message: 'must not be in the future' }]);
    }
    return instant;
  }
}
