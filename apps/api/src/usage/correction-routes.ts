// Corrections: events that were recorded and must not count, with or without another in their place. What was recorded stays, with what
// a correction says beside it.

import {
  correctEvents,
  whileInTheWay,
  type Amendment,
  type AskedCorrection,
  type RefusedCorrection,
} from '@weir/db/corrections/correct-events';
import { listCorrections, type Correction } from '@weir/db/corrections/corrections';
import { parseQuantity } from '@weir/shared/decimal';
import { Refusal, type FieldError } from '@weir/shared/errors';
import { metadata } from '@weir/shared/event';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { credentialOf } from '../http/caller.ts';
import {
  adminCodes,
  answerOf,
  answerPage,
  bodyCodes,
  idInPath,
  idOf,
  oneOf,
  pageQuery,
  pageSchema,
  readCodes,
} from '../http/fields.ts';
import { itemsOf, spansOfMembers, type Spans } from '../http/json-spans.ts';
import { problemOfMetadataText } from '../http/metadata-text.ts';
import { invalidFields, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { made, writing, type Write, type Written } from '../http/writing.ts';
import { readTimestamp } from '../ingest/read-event.ts';
import { getReceipt, type EventDeps } from './event-routes.ts';
import { correctionFields } from './receipt.ts';
import { USAGE_MOVING } from './usage-query.ts';

const DECIMALS = { decimals: new Set(['quantity']) };

const LITERAL = /^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** As for an event that is tracked. The route has the digits that were sent. */
const quantity = z
  .custom<string>((value) => problemOfQuantity(value) === undefined, {
    error: ({ input }) => problemOfQuantity(input),
  })
  .transform((literal) => {
    const read = parseQuantity(literal, Number(literal));
    return 'decimal' in read ? read.decimal : literal;
  })
  .meta({
    type: ['number', 'string'],
    exclusiveMinimum: 0,
    maximum: LIMITS.quantity,
    pattern: LITERAL.source,
    examples: [12],
    description: 'In place of the one that was recorded: a number greater than 0, or the same as text.',
  });

function problemOfQuantity(value: unknown): string | undefined {
  if (typeof value !== 'string' || !LITERAL.test(value)) return 'must be a number greater than 0';
  const read = parseQuantity(value, Number(value));
  return 'problem' in read ? read.problem : undefined;
}

const reason = text(1, LIMITS.note)
  .refine((words) => words.trim() !== '', 'must not be blank')
  .meta({ pattern: '\\S', description: 'Why; it stands in the receipt of the event.' });

const amended = {
  quantity: quantity.optional(),
  timestamp: z.string().optional().meta({
    format: 'date-time',
    description: 'ISO 8601 with an offset, in place of the one that was recorded.',
  }),
  metadata: metadata.nullable().optional().meta({
    description: 'In place of all of the metadata that was recorded; null: none.',
  }),
};
const AMENDED = ['quantity', 'timestamp', 'metadata'] as const;
const NOTHING_NEW = `must be sent together with at least one of ${AMENDED.join(', ')}`;

const voidBody = z.strictObject({ reason });
const amendBody = z
  .strictObject({ reason, ...amended })
  .refine((body) => isAmending(body), { path: ['reason'], error: NOTHING_NEW });

const correctionsBody = z.strictObject({
  corrections: z
    .array(
      z
        .strictObject({ type: oneOf(['void', 'amend']), event_id: idOf(), reason, ...amended })
        .superRefine((asked, { addIssue }) => {
          if (asked.type === 'amend' && !isAmending(asked))
            addIssue({ code: 'custom', path: ['type'], message: `amend ${NOTHING_NEW}` });
          if (asked.type === 'void' && isAmending(asked))
            addIssue({ code: 'custom', path: ['type'], message: `void takes none of ${AMENDED.join(', ')}` });
        }),
    )
    .min(1)
    .max(LIMITS.corrections)
    .superRefine((asked, { addIssue }) => {
      const ids = new Set<string>();
      for (const [index, { event_id: id }] of asked.entries()) {
        if (ids.has(id)) addIssue({ code: 'custom', path: [index, 'event_id'], message: 'must stand here once' });
        ids.add(id);
      }
    }),
});

function isAmending(body: Partial<Record<(typeof AMENDED)[number], unknown>>): boolean {
  return AMENDED.some((name) => body[name] !== undefined);
}

const correction = answerOf<Correction>()({ ...correctionFields, event_id: z.uuid() }).meta({ id: 'Correction' });

/** What is answered to who made it: the reason is theirs, and is kept nowhere but in the correction. */
const correctionMade = correction.omit({ reason: true, actor: true }).meta({ id: 'CorrectionMade' });
const madeOf = ({ reason: _reason, actor: _actor, ...rest }: Correction) => rest;

const codes = [
  ...adminCodes,
  ...bodyCodes,
  'not_found',
  'already_voided',
  'not_correctable',
  'usage_moving',
  'groups_not_ready',
] as const;

const WHAT_FOLLOWS =
  'Usage is exact with the answer: in every window, group and draft. An invoice that is finalized stays as it is; the next one of the ' +
  'subscription has a LATE_USAGE line for the difference. The event keeps its id and its idempotency_key, so that sending it again ' +
  'brings nothing back. One that is still queued is 409 not_correctable: ask again when its receipt says recorded.';

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
      const errors: FieldError[] = [];
      const amendment = amendmentOf(request.body, request.json ?? undefined, '', errors);
      if (errors.length > 0) throw invalidFields(errors);
      return await correctOne(request, write, {
        eventId: request.params.id,
        reason: request.body.reason,
        amendment,
      });
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
      const { corrections } = request.body;
      const { text: json = '', members } = request.json ?? {};
      const { starts = [] } = itemsOf(json, members?.get('corrections')?.[0] ?? 0, corrections.length) ?? {};
      const errors: FieldError[] = [];
      const asked = corrections.map(({ type, event_id: eventId, reason, ...body }, index): AskedCorrection => {
        if (type === 'void') return { eventId, reason };
        const item = { text: json, members: spansOfMembers(json, starts[index] ?? 0) };
        return { eventId, reason, amendment: amendmentOf(body, item, `corrections[${index}].`, errors) };
      });
      if (errors.length > 0) throw invalidFields(errors.slice(0, LIMITS.problems));
      return await correct(request, write, asked, (done) => ({ data: done.map(madeOf) }));
    }),
  );

  app.get(
    '/api/v1/corrections',
    {
      onRequest: guards.read,
      schema: {
        operationId: 'listCorrections',
        tags: ['Usage'],
        summary: 'List the corrections, newest first',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(correction), ...problemResponses(...readCodes, 'invalid_request') },
      },
    },
    async (request) =>
      answerPage(await listCorrections(database.kysely, request.caller.organizationId, request.query), request.query),
  );

  async function correctOne(
    request: FastifyRequest,
    write: Write,
    asked: AskedCorrection,
  ): Promise<Written<z.output<typeof correctionMade>>> {
    return await correct(request, write, [asked], ([done]) => {
      if (done === undefined) throw new Error('a correction was made, and is missing');
      return madeOf(done);
    });
  }

  /** Makes what is asked for, all of it or nothing. Throws the Refusal of the first that cannot be done. */
  async function correct<Body>(
    request: FastifyRequest,
    write: Write,
    asked: readonly AskedCorrection[],
    answer: (done: Correction[]) => Body,
  ): Promise<Written<Body>> {
    const { organizationId } = request.caller;
    return await whileInTheWay(database, () =>
      write.transaction(async (transaction) => {
        const done = await correctEvents(database, transaction, organizationId, credentialOf(request.caller), asked);
        switch (done.outcome) {
          case 'corrected':
            return made(answer(done.corrections));
          case 'refused':
            throw await refusalOf(organizationId, asked, done.refused);
          case 'moving':
            throw new Refusal('usage_moving', USAGE_MOVING, { id: done.id });
          case 'grouping':
            throw new Refusal(
              'groups_not_ready',
              'The usage of the meter is being grouped by its new metadata_keys: try again when that is done.',
            );
        }
      }),
    );
  }

  async function refusalOf(
    organizationId: string,
    asked: readonly AskedCorrection[],
    refused: readonly RefusedCorrection[],
  ): Promise<Refusal> {
    const [first] = refused;
    if (first === undefined) throw new Error('a correction was refused for no reason');
    const where = asked.length === 1 ? '' : `corrections[${first.index}]: `;
    const nothing = asked.length === 1 ? '' : ' Nothing was changed.';
    switch (first.why) {
      case 'not_recorded': {
        const { status } = await getReceipt(deps, organizationId, asked[first.index]?.eventId ?? '', where);
        return new Refusal(
          'not_correctable',
          `${where}The event is ${status}, and only recorded events can be corrected.${status === 'queued' ? ' Try again in a moment.' : ''}${nothing}`,
        );
      }
      case 'voided':
        return new Refusal(
          'already_voided',
          `${where}The event is void already, by the correction ${first.id}: correct the one that counts in its place, if there is one.${nothing}`,
          { id: first.id },
        );
      case 'not_taken':
        return invalidFields([
          { path: asked.length === 1 ? 'metadata' : `corrections[${first.index}].metadata`, message: first.reason },
        ]);
    }
  }

  function amendmentOf(
    body: { quantity?: string | undefined; timestamp?: string | undefined; metadata?: unknown },
    json: { text: string; members: Spans } | undefined,
    path: string,
    errors: FieldError[],
  ): Amendment {
    const own: FieldError[] = [];
    const timestamp =
      body.timestamp === undefined ? undefined : readTimestamp(body.timestamp, Date.now(), deps.aheadSeconds, own);
    const span = json?.members.get('metadata');
    const sent = span === undefined ? undefined : json?.text.slice(...span);
    const problem = sent === undefined || sent === 'null' ? undefined : problemOfMetadataText(sent);
    if (problem !== undefined) own.push({ path: 'metadata', message: problem });
    errors.push(...own.map((error) => ({ ...error, path: path + error.path })));
    return { quantity: body.quantity, timestamp, metadata: sent === 'null' ? null : sent };
  }
}
