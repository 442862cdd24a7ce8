// Customers of the organization. A record is not needed for tracking: usage is recorded under the external_id, which a
// record only gives a name and an address to.

import { holdAlertsOf, lookAtCustomer } from '@weir/db/alerts/alerts';
import type { Customer } from '@weir/db/customer-fields';
import {
  awaitExternalId,
  holdExternalId,
  deleteCustomer,
  findBilledUnder,
  findCustomer,
  findCustomerId,
  insertCustomer,
  isBilled,
  isSubscribed,
  listCustomers,
  lockExternalId,
  updateCustomer,
  type CustomerFields,
  CUSTOMER_SORTS,
} from '@weir/db/customers';
import { violatedConstraint, type Queries } from '@weir/db/database';
import { holdRow } from '@weir/db/hold-row';
import { Refusal } from '@weir/shared/errors';
import { metadata, METADATA_LIMITS } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import { done, gone, made, writing } from '../http/writing/writing.ts';
import {
  answerOf,
  answerPage,
  changesOf,
  countryCode,
  displayName,
  idInPath,
  nothing,
  listQuery,
  pageSchema,
  searchOf,
  time,
  timeZone,
  sortOf,
} from '../http/fields.ts';
import type { JsonText } from '../http/body/json.ts';
import { CUSTOMER_IN_USE, found, invalidFields, problemResponses } from '../http/problem.ts';
import { problemOfMetadataText, roundedKeyOf } from '../http/body/metadata-text.ts';
import { RECORDING_STOP_COST } from '../http/load/read-budget.ts';
import { changing, reading, type Versioned } from '../http/writing/versions.ts';
import { refuseMoving } from '../usage/usage-query.ts';
import { refuseErased } from './refuse-erased.ts';
import type { RouteDeps } from '../route-deps.ts';

const email = text(3, LIMITS.email).regex(z.regexes.unicodeEmail, 'must be an email address');

const customerFields = {
  external_id: text(1, LIMITS.key).meta({
    description: 'Your own identifier of the customer. Usage stays with the external_id that it was tracked with.',
  }),
  name: displayName.nullable(),
  email: email.nullable(),
  phone: text(1, LIMITS.shortText).nullable(),
  legal_name: text(1, LIMITS.name).nullable().meta({
    description: 'Of the buyer on invoices. Null: the name.',
  }),
  tax_id: text(1, LIMITS.shortText)
    .nullable()
    .meta({ description: 'Of the buyer on invoices: a VAT id, or what a country has in its place.' }),
  billing_address_line1: text(1, LIMITS.name).nullable(),
  billing_address_line2: text(1, LIMITS.name).nullable(),
  billing_address_city: text(1, LIMITS.name).nullable(),
  billing_address_state: text(1, LIMITS.name).nullable(),
  billing_address_country: text(1, LIMITS.name).nullable().meta({ description: 'Free text.' }),
  billing_country_code: countryCode.nullable().meta({
    description:
      'Of the buyer on invoices: two letters of ISO 3166-1. Null: that of billing_address_country, where it is such a code.',
  }),
  billing_address_postal_code: text(1, LIMITS.postalCode).nullable(),
  metadata: metadata.meta({
    description: `Free key/value data: at most ${METADATA_LIMITS}. A change replaces all of it. A number that a double rounds is sent as text.`,
  }),
  time_zone: timeZone.nullable().meta({
    description:
      'A time zone of the IANA database, in which subscriptions that are made from then on are billed. Null: that of the ' +
      'organization.',
  }),
} satisfies Record<keyof CustomerFields, z.ZodType>;

const customerBody = z.strictObject(customerFields).partial();
const customerChanges = changesOf(customerFields);

const customerAnswer = answerOf<Customer>()({
  id: z.uuid(),
  external_id: z.string(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  legal_name: z.string().nullable(),
  tax_id: z.string().nullable(),
  billing_address_line1: z.string().nullable(),
  billing_address_line2: z.string().nullable(),
  billing_address_city: z.string().nullable(),
  billing_address_state: z.string().nullable(),
  billing_address_country: z.string().nullable(),
  billing_country_code: z.string().nullable(),
  billing_address_postal_code: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  time_zone: z.string().nullable(),
  created_at: time,
  erased_at: time.nullable().meta({ description: 'When it was erased (POST /erasures): it does not change any more.' }),
}).meta({ id: 'Customer' });

const customers: Versioned<Customer> = {
  read: async (...which) => found(await findCustomer(...which)),
  hold: holdRow('customers'),
};

export function customerRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.post(
    '/api/v1/customers',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'createCustomer',
        tags: ['Catalog'],
        summary: 'Create a customer',
        description:
          'Without an external_id, the id is the external_id too. Usage that was tracked before belongs to it at once. One that ' +
          'another customer was billed under is not given again.',
        body: customerBody,
        response: {
          201: customerAnswer,
          ...problemResponses('external_id_taken', 'external_id_billed', 'usage_moving'),
        },
      },
    },
    writing(database, async (request, write) => {
      checkMetadata(request.json);
      const id = newId();
      const { external_id = id, ...fields } = request.body;
      const organization_id = request.caller.organizationId;
      return await write
        .transaction(async (transaction) => {
          await awaitExternalId(transaction, organization_id, external_id);
          const customer = await insertCustomer(transaction, { ...fields, organization_id, id, external_id });
          await refuseMoving(transaction, organization_id, external_id);
          await refuseBilled(transaction, organization_id, customer);
          return made(customer);
        })
        .catch((error: unknown) => tellWhoHas(db, organization_id, external_id, error));
    }),
  );

  app.get(
    '/api/v1/customers',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'listCustomers',
        tags: ['Catalog'],
        summary: 'List the customers, newest first',
        querystring: listQuery({
          search: searchOf('A part of the external_id, the name or the email.'),
          external_id: text(1, LIMITS.key).optional().meta({ description: 'The external_id itself, to the letter.' }),
          ...sortOf(CUSTOMER_SORTS, '-created_at'),
        }),
        response: { 200: pageSchema(customerAnswer) },
      },
    },
    async (request) => {
      const { search, external_id: externalId, sort, ...page } = request.query;
      const filter = { search, externalId, sort };
      return answerPage(await listCustomers(db, request.caller.organizationId, filter, page));
    },
  );

  app.get(
    '/api/v1/customers/:id',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'getCustomer',
        tags: ['Catalog'],
        summary: 'Read a customer',
        params: idInPath,
        response: { 200: customerAnswer },
      },
    },
    reading(database, customers),
  );

  app.patch(
    '/api/v1/customers/:id',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'updateCustomer',
        tags: ['Catalog'],
        summary: 'Change a customer',
        description:
          'Changes the fields that are sent; null clears one. After a change of external_id the customer has the usage that ' +
          'is tracked with the new one, and no longer that of the old one, which nothing deletes; widget tokens of both end. ' +
          'While the customer has a subscription that is not canceled its external_id cannot change, and one that another ' +
          'customer was billed under is not given again.',
        params: idInPath,
        body: customerChanges,
        response: {
          200: customerAnswer,
          ...problemResponses(
            'external_id_taken',
            'external_id_billed',
            'customer_in_use',
            'customer_erased',
            'usage_moving',
          ),
        },
      },
    },
    changing(database, customers, async (request, write) => {
      checkMetadata(request.json);
      const { caller, params, body } = request;
      return await write
        .transaction(async (transaction) => {
          await customers.hold(transaction, caller.organizationId, params.id);
          await refuseErased(transaction, caller.organizationId, params.id);
          const isOther = await checkExternalId(transaction, caller.organizationId, params.id, body.external_id);
          const customer = found(await updateCustomer(transaction, caller.organizationId, params.id, body));
          if (!isOther) return done(customer);
          await refuseMoving(transaction, caller.organizationId, customer.external_id);
          await refuseBilled(transaction, caller.organizationId, customer);
          if (await holdAlertsOf(transaction, caller.organizationId, params.id)) {
            request.pay(RECORDING_STOP_COST);
            // The last thing: nothing is recorded of the organization from here to the end of the transaction.
            await lookAtCustomer(transaction, caller.organizationId, params.id);
          }
          return done(customer);
        })
        .catch((error: unknown) => tellWhoHas(db, caller.organizationId, body.external_id, error));
    }),
  );

  app.delete(
    '/api/v1/customers/:id',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'deleteCustomer',
        tags: ['Catalog'],
        summary: 'Delete a customer',
        description:
          'The record only. Usage stays, under the external_id. A customer with a subscription, an invoice or a credit is ' +
          'not deleted.',
        params: idInPath,
        response: { 204: nothing, ...problemResponses('customer_in_use') },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.transaction(async (transaction) => {
        if (await isBilled(transaction, caller.organizationId, params.id))
          throw new Refusal('customer_in_use', CUSTOMER_IN_USE);
        found(await deleteCustomer(transaction, caller.organizationId, params.id));
        return gone();
      }),
    ),
  );
}

/**
 * Events name a customer by its external_id, so it stays while a subscription bills them. Returns whether it is another one, which nobody
 * else moves usage from then. Expects the customer held.
 */
async function checkExternalId(
  transaction: Queries,
  organizationId: string,
  id: string,
  externalId: string | undefined,
): Promise<boolean> {
  if (externalId === undefined) return false;
  const customer = await findCustomer(transaction, organizationId, id);
  if (customer === undefined || customer.external_id === externalId) return false;
  // Its widget tokens end: none is made meanwhile.
  await holdExternalId(transaction, organizationId, externalId);
  await lockExternalId(transaction, organizationId, id);
  if (!(await isSubscribed(transaction, organizationId, id))) return true;
  throw new Refusal(
    'customer_in_use',
    'The customer has a subscription, which bills the events with its external_id: cancel it first, or keep the external_id.',
  );
}

/** Of two customers who were billed under one external_id, each would be billed for late events of the other. */
async function refuseBilled(
  transaction: Queries,
  organizationId: string,
  { id: butNot, external_id: externalId }: { id: string; external_id: string },
): Promise<void> {
  const id = await findBilledUnder(transaction, organizationId, { externalId, butNot });
  if (id === undefined) return;
  throw new Refusal(
    'external_id_billed',
    'Another customer of your organization, whose id is here, was billed for the usage with this external_id, and still is for ' +
      'what comes late: choose another external_id.',
    { id },
  );
}

/** Throws the error, and where it says that an external_id is taken, a refusal with the id of the customer that has it. */
async function tellWhoHas(
  db: Queries,
  organizationId: string,
  externalId: string | undefined,
  error: unknown,
): Promise<never> {
  const isTaken = violatedConstraint(error) === 'customers_organization_id_external_id_key';
  const id = isTaken && externalId !== undefined ? await findCustomerId(db, organizationId, externalId) : undefined;
  if (id === undefined) throw error;
  throw new Refusal(
    'external_id_taken',
    'Another customer of your organization, whose id is here, has this external_id: choose another one, or change that customer.',
    { id },
  );
}

const ROUNDED = 'must not hold a number that a double rounds: send it as text';

/** Metadata of a customer is answered as numbers of JavaScript, unlike that of events, whose text is kept. */
function checkMetadata(json: JsonText | null): void {
  const span = json?.members.get('metadata');
  if (json === null || span === undefined) return;
  const text = json.text.slice(...span);
  const problem = problemOfMetadataText(text);
  if (problem !== undefined) throw invalidFields([{ path: 'metadata', message: problem }]);
  const rounded = roundedKeyOf(text);
  if (rounded !== undefined) throw invalidFields([{ path: `metadata.${rounded}`, message: ROUNDED }]);
}
