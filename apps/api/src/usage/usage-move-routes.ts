// Erasing a customer, and moving usage to another external id. The record is erased at once; usage is moved by a worker, and these
// tell how far it is.

import { requestErasure, requestMove, type Refused, type Requested } from '@weir/db/moves/request-move';
import { findUsageMove, listUsageMoves, type MoveKind, type UsageMove } from '@weir/db/moves/usage-moves';
import { mapPage } from '@weir/db/page';
import { Refusal } from '@weir/shared/errors';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { answerOf, answerPage, idInPath, idOf, listQuery, pageSchema, time } from '../http/fields.ts';
import { noSuchCustomer } from '../catalog/no-such-customer.ts';
import { invalidFields, NO_SUCH_THING, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { writing } from '../http/writing/writing.ts';
import { USAGE_MOVING } from './usage-query.ts';
import type { RouteDeps } from '../route-deps.ts';

const progress = {
  id: z.uuid(),
  status: z.enum(['RUNNING', 'DONE']),
  events: z.int().meta({ description: 'How many events have the new external id by now.' }),
  created_at: time,
  finished_at: time.nullable(),
};

/** Who was erased is not told. */
type Erasure = Omit<UsageMove, 'kind' | 'from_external_id' | 'to_external_id'> & { external_id: string };

const erasure = answerOf<Erasure>()({
  ...progress,
  customer_id: z.uuid().nullable().meta({ description: 'The record, which stays without what named the customer.' }),
  external_id: z
    .string()
    .meta({ description: 'What usage, subscriptions and invoices name the customer by from now on.' }),
  grouped_meter_id: z
    .uuid()
    .nullable()
    .meta({
      description:
        'A meter whose usage is grouped by what names the customer, since the erasure was asked for or on a day with more groups than ' +
        'are kept: take the key out of its metadata_keys, and the erasure goes on. Null: there is none.',
    }),
}).meta({ id: 'Erasure' });

const usageMove = answerOf<Omit<UsageMove, 'kind' | 'customer_id' | 'grouped_meter_id'>>()({
  ...progress,
  from_external_id: z.string(),
  to_external_id: z.string(),
}).meta({ id: 'UsageMove' });

const whom = z
  .strictObject({
    customer_id: idOf().optional(),
    customer_external_id: text(1, LIMITS.key)
      .optional()
      .meta({ description: 'In place of customer_id; no record is needed.' }),
    invoice_copies_issued_before: isoDateField(),
  })
  .superRefine(({ customer_id: id, customer_external_id: externalId }, { addIssue }) => {
    if ((id === undefined) !== (externalId === undefined)) return;
    const message =
      id === undefined
        ? 'is required, or customer_external_id in its place'
        : 'must not be sent together with customer_external_id: send one of them';
    addIssue({ code: 'custom', path: ['customer_id'], message });
  });

const fromTo = z.strictObject({
  from_external_id: text(1, LIMITS.key),
  to_external_id: text(1, LIMITS.key).meta({ description: 'It may have usage of its own, to which this is added.' }),
});

export function usageMoveRoutes(app: App, { database, guards }: RouteDeps): void {
  const db = database.kysely;

  app.post(
    '/api/v1/erasures',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'eraseCustomer',
        tags: ['Catalog'],
        summary: 'Erase a customer: nothing that is kept names it any more, and all that was counted and billed stays',
        description:
          'What its record says but the time zone, its widget tokens and alerts over it alone are gone with the answer, and the ' +
          'external_id is replaced by a random one that leads back to nobody. A worker gives it to the usage, takes metadata and idempotency keys off the ' +
          'events, and what was sent off the audit log; until status is DONE the usage of the customer and what bills it cannot be ' +
          'read by itself. Sums, distinct counts and amounts stay what they are. Invoices keep the name and address that they were ' +
          'issued with, but for those that invoice_copies_issued_before names. Refused while a subscription of the customer has not ' +
          'ended, or an invoice is a draft, and while events of it are in a month that was taken out of the database, until that month is attached again. ' +
          'Asked for again, to erase copies of a customer that is erased already, it needs no month, unless usage was moved to the ' +
          'erased external_id since. Events that are sent later with the former external_id are those of a customer without a ' +
          'record: stop sending them first.',
        body: whom,
        response: {
          202: erasure,
          ...problemResponses(
            'not_found',
            'customer_in_use',
            'earlier_draft',
            'external_id_billed',
            'grouped_by_customer',
            'usage_moving',
            'month_taken_out',
          ),
        },
      },
    },
    writing(database, async (request, write) => {
      const {
        customer_id,
        customer_external_id: externalId = '',
        invoice_copies_issued_before: before = null,
      } = request.body;
      const { organizationId } = request.caller;
      const asked = customer_id === undefined ? { externalId } : { customerId: customer_id };
      return await write.transaction(async (transaction) => {
        const requested = await requestErasure(transaction, organizationId, asked, before);
        return taken(erasureOf(moveOf(requested)));
      });
    }),
  );

  app.get(
    '/api/v1/erasures',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listErasures',
        tags: ['Catalog'],
        summary: 'List the erasures, newest first',
        querystring: listQuery({}),
        response: { 200: pageSchema(erasure) },
      },
    },
    async (request) => {
      const found = await listUsageMoves(db, request.caller.organizationId, 'ERASE', request.query);
      return answerPage(mapPage(found, erasureOf));
    },
  );

  app.get(
    '/api/v1/erasures/:id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getErasure',
        tags: ['Catalog'],
        summary: 'How far an erasure is',
        params: idInPath,
        response: { 200: erasure },
      },
    },
    async (request) => erasureOf(await getMove(request.caller.organizationId, request.params.id, 'ERASE')),
  );

  app.post(
    '/api/v1/usage-moves',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'moveUsage',
        tags: ['Usage'],
        summary: 'Move all usage of one external id to another',
        description:
          'For a customer who is known by two, or was tracked under a wrong one. A worker moves the events that were accepted before ' +
          'the request, with what they add up to; until status is DONE usage of the former id cannot be read by itself, and the other ' +
          'one has a part of it. Of periods of the other one that are billed it is late usage, which the next invoice has. Refused ' +
          'where a subscription bills, or billed, the former id, and where usage of it is in a month that was taken out of the database, ' +
          'until that month is attached again. Hours of which events are lost for good while it runs stay with the former id, and it is DONE. ' +
          'Records of customers stay as they are.',
        body: fromTo,
        response: { 202: usageMove, ...problemResponses('external_id_billed', 'usage_moving', 'month_taken_out') },
      },
    },
    writing(database, async (request, write) => {
      const { from_external_id: from, to_external_id: to } = request.body;
      if (from === to)
        throw invalidFields([{ path: 'to_external_id', message: 'must be another than from_external_id' }]);
      return await write.transaction(async (transaction) => {
        const requested = await requestMove(transaction, request.caller.organizationId, { from, to });
        return taken(usageMoveOf(moveOf(requested)));
      });
    }),
  );

  app.get(
    '/api/v1/usage-moves',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listUsageMoves',
        tags: ['Usage'],
        summary: 'List the moves of usage, newest first',
        querystring: listQuery({}),
        response: { 200: pageSchema(usageMove) },
      },
    },
    async (request) => {
      const found = await listUsageMoves(db, request.caller.organizationId, 'MOVE', request.query);
      return answerPage(mapPage(found, usageMoveOf));
    },
  );

  app.get(
    '/api/v1/usage-moves/:id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getUsageMove',
        tags: ['Usage'],
        summary: 'How far a move of usage is',
        params: idInPath,
        response: { 200: usageMove },
      },
    },
    async (request) => usageMoveOf(await getMove(request.caller.organizationId, request.params.id, 'MOVE')),
  );

  async function getMove(organizationId: string, id: string, kind: MoveKind): Promise<UsageMove> {
    const move = await findUsageMove(db, organizationId, id);
    if (move?.kind !== kind) throw new Refusal('not_found', NO_SUCH_THING);
    return move;
  }
}

function isoDateField() {
  return z.iso
    .date()
    .refine((date) => date >= '0001', 'must be a date from the year 1 on')
    .optional()
    .meta({
      description:
        'For retention that is over: invoices that were issued before this date lose the copy of the customer, their note and their reference as well.',
      examples: ['2016-01-01'],
    });
}

/** A worker goes on with it. */
const taken = <Body>(body: Body): { status: 202; body: Body } => ({ status: 202, body });

function erasureOf({ to_external_id: external_id, ...move }: UsageMove) {
  const { id, status, events, created_at, finished_at, customer_id, grouped_meter_id } = move;
  return { id, status, events, created_at, finished_at, customer_id, external_id, grouped_meter_id };
}

function usageMoveOf({ id, status, events, created_at, finished_at, from_external_id, to_external_id }: UsageMove) {
  return { id, status, events, created_at, finished_at, from_external_id: from_external_id ?? '', to_external_id };
}

function moveOf(requested: Requested): UsageMove {
  if (requested.outcome === 'requested') return requested.move;
  throw refusalOf(requested);
}

function refusalOf(refused: Refused): Refusal {
  switch (refused.outcome) {
    case 'not_found':
      return noSuchCustomer();
    case 'subscribed':
      return new Refusal(
        'customer_in_use',
        'A subscription of the customer has not ended: cancel it, and try again when it is CANCELED.',
      );
    case 'draft':
      return new Refusal(
        'earlier_draft',
        'An invoice of the customer is a draft: finalize it first, or wait until its grace is over.',
      );
    case 'former_id':
      return new Refusal(
        'external_id_billed',
        'A subscription of the customer bills a former external_id of it: erase that one first, with customer_external_id.',
      );
    case 'grouped':
      return new Refusal(
        'grouped_by_customer',
        `The usage of the meter ${JSON.stringify(refused.meter)} is grouped by what names the customer: take the key out of its metadata_keys, ` +
          'and try again when its usage is grouped anew.',
      );
    case 'billed':
      return new Refusal(
        'external_id_billed',
        'A subscription bills, or billed, the usage of from_external_id: its invoices name it, so it stays where it is.',
      );
    case 'lost':
      return new Refusal(
        'month_taken_out',
        'Usage is not moved: events of it are lost, and without them it would never be billed: it can be erased, and not moved.',
      );
    case 'moving':
      return new Refusal('usage_moving', USAGE_MOVING, { id: refused.id });
    case 'too_many':
      return new Refusal(
        'usage_moving',
        `${LIMITS.runningMoves} erasures and moves of the organization are not done: try again when some are. The id of the oldest is here.`,
        { id: refused.id },
      );
  }
}
