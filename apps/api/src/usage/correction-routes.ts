// Corrections: events that were recorded and must not count, with or without another in their place. What was recorded stays, with what
// a correction says beside it.

import { INVOICE_STATUSES } from '@weir/billing/kinds';
import { StopTooLong } from '@weir/db/corrections/bounded-queries';
import {
  correctEvents,
  whileInTheWay,
  type AskedCorrection,
  type Corrected,
  type RefusedCorrection,
  type Stopped,
  type StopWatch,
} from '@weir/db/corrections/correct-events';
import { listCorrections, type Correction } from '@weir/db/corrections/corrections';
import {
  previewCorrections,
  type ChangedUsage,
  type CorrectionsPreview,
} from '@weir/db/corrections/preview-corrections';
import { INVOICE_EFFECTS, type TouchedInvoice } from '@weir/db/corrections/touched-invoices';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { credentialOf } from '../http/load/caller.ts';
import { EXACT_USAGE } from '../http/decimals.ts';
import { answerOf, answerPage, idInPath, listQuery, oneOf, pageSchema } from '../http/fields.ts';
import { invalidFields, problemResponses } from '../http/problem.ts';
import { RECORDING_STOP_COST } from '../http/load/read-budget.ts';
import type { App } from '../http/typed-app.ts';
import { done, made, writing, type Write, type Written } from '../http/writing/writing.ts';
import { amendBody, amendmentIn, correctionsBody, correctionsOf, DECIMALS, voidBody } from './correction-body.ts';
import { getReceipt, type EventDeps } from './event-routes.ts';
import { correctionFields } from './receipt.ts';
import { USAGE_MOVING } from './usage-query.ts';

const correction = answerOf<Correction>()({ ...correctionFields, event_id: z.uuid() }).meta({ id: 'Correction' });

/** What is answered to who made it: the reason is theirs, and is kept nowhere but in the correction. */
const correctionMade = correction.omit({ reason: true, actor: true }).meta({ id: 'CorrectionMade' });
const madeOf = ({ reason: _reason, actor: _actor, ...rest }: Correction) => rest;

const changedUsage = answerOf<ChangedUsage>()({
  meter_id: z.uuid(),
  meter_name: z.string(),
  aggregation_type: oneOf(AGGREGATION_TYPES),
  unit: z.string().nullable(),
  customer_external_id: z.string(),
  month: z.string().meta({ description: 'Such as 2026-11, in `time_zone`.' }),
  events: z.int().meta({ description: 'How many of its events would be void.' }),
  new_events: z.int().meta({ description: 'How many would come into it in the place of those.' }),
  before: z
    .string()
    .nullable()
    .meta({ description: `What usage of the month is. ${EXACT_USAGE} Null: none.` }),
  after: z.string().nullable().meta({ description: 'What it would be.' }),
}).meta({ id: 'ChangedUsage' });

const touchedInvoice = answerOf<TouchedInvoice>()({
  effect: oneOf(INVOICE_EFFECTS).meta({
    description:
      'LATE_USAGE: it is finalized and stays as it is, and the next one of the subscription has a LATE_USAGE line for the difference. ' +
      'AT_ONCE: it is a draft, or a period that is not billed yet, and shows the change at once.',
  }),
  invoice_id: z.uuid().nullable().meta({ description: 'Null where there is no invoice of the period yet.' }),
  invoice_number: z.string().nullable(),
  status: oneOf(INVOICE_STATUSES).nullable(),
  subscription_id: z.uuid(),
  customer_external_id: z.string(),
  time_zone: z.string().meta({ description: 'That of the subscription, in which its periods begin.' }),
  period_start: z.string().meta({ format: 'date-time' }),
  period_end: z.string().meta({ format: 'date-time' }),
  events: z.int().meta({ description: 'How many of the events that would be void are of its periods.' }),
  new_events: z.int().meta({ description: 'How many of the new ones are.' }),
}).meta({ id: 'TouchedInvoice' });

const correctionsPreview = answerOf<CorrectionsPreview>()({
  time_zone: z.string().meta({ description: 'That of the organization, in which months begin.' }),
  usage: z.array(changedUsage).meta({
    description: `The ${LIMITS.previewRows} with most of the events, of \`usage_total\`.`,
  }),
  usage_total: z.int(),
  invoices: z.array(touchedInvoice).meta({
    description: `The first ${LIMITS.previewRows} of \`invoices_total\`: finalized ones, then by period. An event that no charge bills is in none.`,
  }),
  invoices_total: z.int(),
}).meta({ id: 'CorrectionsPreview' });

const codes = ['not_found', 'already_voided', 'not_correctable', 'usage_moving', 'groups_not_ready'] as const;

const WHAT_FOLLOWS =
  'Usage is exact with the answer: in every window, group and draft. An invoice that is finalized stays as it is; the next one of the ' +
  'subscription has a LATE_USAGE line for the difference. The event keeps its id and its idempotency_key, so that sending it again ' +
  'brings nothing back. One that is still queued is 409 not_correctable: ask again when its receipt says recorded. So is one of an hour ' +
  'of which other events are in a month that was taken out of the database, until that month is attached again. One of an hour into which ' +
  'usage of another external_id is being moved is 409 usage_moving until that is done.';

const MOVED_INTO =
  'Usage of another external_id is just being moved into the hour of this event: try again when the move, whose id is here, is DONE.';

export function correctionRoutes(app: App, deps: EventDeps): void {
  const { database, guards } = deps;

  app.post(
    '/api/v1/events/:id/void',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'voidEvent',
        tags: ['Usage'],
        summary: 'Take a recorded event out of the count, for good',
        description: WHAT_FOLLOWS,
        params: idInPath,
        body: voidBody,
        response: { 201: correctionMade, ...problemResponses(...codes) },
      },
    },
    writing(database, async (request, write) => {
      const asked = { eventId: request.params.id, reason: request.body.reason };
      return await correctOne(request, write, asked);
    }),
  );

  app.post(
    '/api/v1/events/:id/amend',
    {
      onRequest: guards.biller,
      config: DECIMALS,
      schema: {
        operationId: 'amendEvent',
        tags: ['Usage'],
        summary: 'Have another event count in place of a recorded one: with another quantity, timestamp or metadata',
        description:
          `The recorded one is void, and a new one, which has no idempotency_key, is recorded at once. ${WHAT_FOLLOWS} ` +
          'Their receipts name each other.',
        params: idInPath,
        body: amendBody,
        response: { 201: correctionMade, ...problemResponses(...codes) },
      },
    },
    writing(database, async (request, write) => {
      const { params, body } = request;
      const amendment = amendmentIn(request, deps.aheadSeconds);
      return await correctOne(request, write, { eventId: params.id, reason: body.reason, amendment });
    }),
  );

  app.post(
    '/api/v1/corrections',
    {
      onRequest: guards.biller,
      config: DECIMALS,
      schema: {
        operationId: 'createCorrections',
        tags: ['Usage'],
        summary: 'Void and amend many events: all of them, or none',
        description: `Each is of another event. ${WHAT_FOLLOWS}`,
        body: correctionsBody,
        response: { 201: z.object({ data: z.array(correctionMade) }), ...problemResponses(...codes) },
      },
    },
    writing(database, async (request, write) => {
      const asked = correctionsOf(request, deps.aheadSeconds);
      return await correct(request, write, { asked, isAlone: false }, (done) => ({ data: done.map(madeOf) }));
    }),
  );

  app.post(
    '/api/v1/corrections/preview',
    {
      onRequest: guards.biller,
      config: DECIMALS,
      schema: {
        operationId: 'previewCorrections',
        tags: ['Usage'],
        summary: 'What corrections would do: to usage, and to invoices',
        description:
          'Takes the body of POST /corrections and changes nothing. Usage is that of a customer on a meter in a calendar month, in the ' +
          'time zone of the organization, before and after, both as of one instant. What would be refused is refused here, too.',
        body: correctionsBody,
        response: { 200: correctionsPreview, ...problemResponses(...codes, 'month_taken_out') },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId } = request.caller;
      const asked = correctionsOf(request, deps.aheadSeconds);
      return await write.computed(async () => {
        const actor = credentialOf(request.caller);
        const found = await payingForStop(request, asked, (watch) =>
          whileInTheWay(() => previewCorrections(database, organizationId, actor, asked, watch)),
        );
        if (found.outcome !== 'previewed') throw await refusalOf(organizationId, asked, found, { isAlone: false });
        return done(found.preview);
      });
    }),
  );

  app.get(
    '/api/v1/corrections',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listCorrections',
        tags: ['Usage'],
        summary: 'List the corrections, newest first',
        querystring: listQuery({}),
        response: { 200: pageSchema(correction) },
      },
    },
    async (request) => answerPage(await listCorrections(database.kysely, request.caller.organizationId, request.query)),
  );

  async function correctOne(
    request: FastifyRequest,
    write: Write,
    asked: AskedCorrection,
  ): Promise<Written<z.output<typeof correctionMade>>> {
    return await correct(request, write, { asked: [asked], isAlone: true }, ([done]) => {
      if (done === undefined) throw new Error('a correction was made, and is missing');
      return madeOf(done);
    });
  }

  /** Makes what is asked for, all of it or nothing. Throws the Refusal of the first that cannot be done. */
  async function correct<Body>(
    request: FastifyRequest,
    write: Write,
    { asked, isAlone }: { asked: readonly AskedCorrection[]; isAlone: boolean },
    answer: (done: Correction[]) => Body,
  ): Promise<Written<Body>> {
    const { organizationId } = request.caller;
    const actor = credentialOf(request.caller);
    return await payingForStop(request, asked, ({ onStop, onEnd }) =>
      whileInTheWay(() =>
        write
          .transaction(async (transaction) => {
            const done = await correctEvents(database, transaction, organizationId, actor, asked, onStop);
            if (done.outcome !== 'corrected') throw await refusalOf(organizationId, asked, done, { isAlone });
            return made(answer(done.corrections));
          })
          .finally(onEnd),
      ),
    );
  }

  async function refusalOf(
    organizationId: string,
    asked: readonly AskedCorrection[],
    outcome: Exclude<Corrected, { outcome: 'corrected' }>,
    route: { isAlone: boolean },
  ): Promise<Refusal> {
    switch (outcome.outcome) {
      case 'moving':
        return new Refusal('usage_moving', USAGE_MOVING, { id: outcome.id });
      case 'moved_into':
        return new Refusal('usage_moving', MOVED_INTO, { id: outcome.id });
      case 'grouping':
        return new Refusal(
          'groups_not_ready',
          'The usage of the meter is being grouped by its new metadata_keys: try again when that is done.',
        );
      case 'refused':
        return await refusalOfFirst(organizationId, asked, outcome.refused, route);
    }
  }

  async function refusalOfFirst(
    organizationId: string,
    asked: readonly AskedCorrection[],
    refused: readonly RefusedCorrection[],
    { isAlone }: { isAlone: boolean },
  ): Promise<Refusal> {
    const [first] = refused;
    if (first === undefined) throw new Error('a correction was refused for no reason');
    const where = isAlone ? '' : `corrections[${first.index}]: `;
    const nothing = isAlone ? '' : ' Nothing was changed.';
    switch (first.why) {
      case 'not_recorded': {
        const { status } = await getReceipt(deps, organizationId, asked[first.index]?.eventId ?? '', where);
        return new Refusal(
          'not_correctable',
          `${where}The event is ${status}, and only recorded events can be corrected.${status === 'queued' ? ' Try again in a moment.' : ''}${nothing}`,
        );
      }
      case 'hour_taken_out':
        return new Refusal(
          'not_correctable',
          `${where}Other events of its hour are in a month that was taken out of the database, and what is left cannot be told without them: attach ${first.table} first.${nothing}`,
        );
      case 'voided':
        return new Refusal(
          'already_voided',
          `${where}The event is void already, by the correction ${first.id}: correct the one that counts in its place, if there is one.${nothing}`,
          { id: first.id },
        );
      case 'not_taken':
        return invalidFields([
          { path: isAlone ? 'metadata' : `corrections[${first.index}].metadata`, message: first.reason },
        ]);
    }
  }
}

/** A stop of recording is paid for as one more for each of these that it takes. */
const STOP_MS = 100;

/** Has whoever stops recording pay by the time for which it is stopped, and refuses what would stop it for long. */
async function payingForStop<Value>(
  request: FastifyRequest,
  { length }: readonly AskedCorrection[],
  attempt: (watch: StopWatch) => Promise<Value>,
): Promise<Value> {
  let isPaid = false;
  let since: number | undefined;
  let stoppedMs = 0;
  const onStop = (stopped: Stopped) => {
    if (!isPaid && stopped === 'organization') {
      request.pay(RECORDING_STOP_COST);
      isPaid = true;
    }
    since = performance.now();
  };
  const onEnd = () => {
    if (since !== undefined) stoppedMs += performance.now() - since;
    since = undefined;
  };
  try {
    return await attempt({ onStop, onEnd });
  } catch (error) {
    if (!(error instanceof StopTooLong)) throw error;
    throw new Refusal(
      'not_correctable',
      length === 1
        ? 'Taking this event out of the count would hold recording off for too long, as where its quarter of an hour has very many events. Nothing was changed: send it again when Postgres is less busy.'
        : 'Taking these events out of the count would hold recording off for too long. Nothing was changed: send fewer at once, or again later.',
    );
  } finally {
    request.pay(Math.floor(stoppedMs / STOP_MS) * RECORDING_STOP_COST);
  }
}
