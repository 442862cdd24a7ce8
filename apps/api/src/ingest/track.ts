// The front door: the guard of the route has said who is asking (access/authenticate.ts). A request is read (read-event.ts) and
// handed in (ingest.ts), which takes it into the queue or says why not.

import type { Sender } from '@weir/queue/admit';
import { Refusal } from '@weir/shared/errors';
import { trackBody } from '@weir/shared/event';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ApiKeyCache } from '../access/api-key-cache.ts';
import { refuseDeleted, type Guards } from '../access/authenticate.ts';
import type { App } from '../http/typed-app.ts';
import {
  BROKEN,
  detailAlone,
  invalidFields,
  invalidRequest,
  problemResponses,
  refusalOfError,
  statusOf,
  validatorCompiler,
} from '../http/problem.ts';
import { headerKey, KEY_HEADER, keyHeaderSchema, textOfKeyHeader } from '../http/writing/key-header.ts';
import type { RefusedBecause } from '../http/metrics.ts';
import type { RateLimits } from '../http/load/rate-limits.ts';
import { answerRepeats, type FindHolders } from './archived-meter.ts';
import { readBatch } from './batch-body.ts';
import type { Ingest } from './ingest.ts';
import { asRefusal, countByReason, leavesKeyOpen, throwIfAboutTheRequest } from './refusals.ts';
import { readItems, type ReadItemsDeps } from './read-batch.ts';
import { readEvent, type EventSource, type ReadEvent } from './read-event.ts';

export interface TrackDeps extends ReadItemsDeps {
  guards: Guards;
  /** Where the guard found the API key. */
  apiKeys: ApiKeyCache;
  ingest: Ingest;
  findHolders: FindHolders;
  rateLimits: RateLimits;
  bodyBytesMax: number;
  batchBodyBytesMax: number;
  /** Called with how many events of a request were answered with 503 or 500, and why. */
  onRefused(reason: RefusedBecause, events: number): void;
}

const accepted = z.object({ id: z.uuid(), timestamp: z.iso.datetime() }).meta({ id: 'AcceptedEvent' });
const batchEnvelope = z.strictObject({
  events: z
    .array(z.unknown())
    .min(1, 'must hold at least one event')
    .max(LIMITS.batchEvents, `must hold at most ${LIMITS.batchEvents} events`),
});
// What the document shows; the envelope is what is checked for the request as a whole, since every item is read by itself.
const batchBody = z.strictObject({ events: z.array(trackBody).min(1).max(LIMITS.batchEvents) });
const batchItem = z
  .object({
    status: z.int(),
    id: z.uuid().optional(),
    code: z.string().optional(),
    detail: z.string().optional(),
    outcome: z.enum(['not_accepted', 'unknown']).optional().meta({ description: 'With status 503, as in a problem.' }),
  })
  .meta({ id: 'BatchItemResult' });
const batchAnswer = z.object({ data: z.array(batchItem) });
type BatchItem = z.output<typeof batchItem>;

// For the document: withHeaderKey reads the header.
const trackHeaders = keyHeaderSchema('The same as the field idempotency_key, to the letter.');

const refusals = problemResponses('malformed_request', 'shutting_down');
const config = { traffic: 'tracking' } as const;

export function trackRoutes(app: App, deps: TrackDeps): void {
  app.decorateRequest('batch', null);
  // What is taken is admitted, which asks for deleted keys. What is refused before has asked nobody: a deleted key gets its 401 here.
  const errorHandler = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = refusalOfError(thrown);
    if (refusal === undefined || !leavesKeyOpen(refusal)) throw thrown;
    const answer = (why: unknown) => reply.send(why);
    refuseDeleted(deps.apiKeys, request).then(() => answer(thrown), answer);
  };
  app.post(
    '/api/v1/sdk/track',
    {
      config,
      onRequest: deps.guards.write,
      errorHandler,
      validatorCompiler: ({ httpPart }) =>
        httpPart === 'headers' ? () => true : validatorCompiler({ schema: trackBody }),
      schema: {
        operationId: 'trackUsage',
        tags: ['Tracking'],
        summary: 'Track one usage event',
        description:
          'A 201 means: on disk, and counted exactly once. Time out after 5 seconds and retry with the same idempotency_key ' +
          '(in the body or as the header Idempotency-Key); a 409 duplicate_event then means that it is accepted already. ' +
          'While Redis cannot take events, Postgres does, with the same answers: 503 is for when neither can, or somebody else ' +
          'changes usage of your organization just then.',
        headers: trackHeaders,
        body: trackBody,
        response: {
          201: accepted,
          ...refusals,
          ...problemResponses('meter_not_found', 'duplicate_event', 'idempotency_key_reused', 'meter_archived'),
        },
      },
    },
    async (request, reply) => {
      const { json } = request;
      if (json === null) throw new Refusal('malformed_json', 'The body is empty: send a JSON object.');
      // Nothing is waited for that is there already: most requests come to the buffer in the turn that they came in.
      const counted = countEvents(deps, request, reply, 1);
      if (counted !== undefined) await counted;
      const body = withHeaderKey(request.body, request);
      const source = { body, text: json.text, members: json.members, sender: senderOf(request) };
      try {
        const event = readEvent(source, deps.meters, deps.read);
        const { candidate, id, timestamp } = event instanceof Promise ? await event : event;
        await deps.ingest.submit(candidate);
        return reply.code(201).send({ id, timestamp });
      } catch (thrown) {
        const [error] = await answerRepeats([thrown], deps.findHolders);
        countRefused(deps, [refusalOfError(error) ?? new Refusal('internal_error', BROKEN)]);
        throw error;
      }
    },
  );

  app.post(
    '/api/v1/sdk/track/batch',
    {
      config: { ...config, readBody: (request, text) => readBatch(request, text, deps.bodyBytesMax) },
      onRequest: deps.guards.write,
      errorHandler,
      bodyLimit: deps.batchBodyBytesMax,
      validatorCompiler: () => (data) => {
        const result = batchEnvelope.safeParse(data);
        return result.success ? { value: result.data } : { error: invalidRequest(result.error) };
      },
      schema: {
        operationId: 'trackUsageBatch',
        tags: ['Tracking'],
        summary: `Track up to ${LIMITS.batchEvents} usage events`,
        description:
          'Every event is judged by itself. 201 when all were accepted, else 207; data is in the order sent. One that is no JSON ' +
          'or too large has the whole batch refused with 400 or 413. Where it can be told which, errors names it, such as events[3]: send the others without it.',
        body: batchBody,
        response: { 201: batchAnswer, 207: batchAnswer, ...refusals },
      },
    },
    async (request, reply) => {
      if (request.headers['idempotency-key'] !== undefined) {
        throw invalidFields([
          { path: 'Idempotency-Key', message: 'is for single events: give each event of a batch its own key' },
        ]);
      }
      const { batch } = request;
      if (batch === null) throw new Refusal('malformed_json', 'The body is empty: send a JSON object.');
      await countEvents(deps, request, reply, batch.starts.length);
      const read = await readItems(deps, request, batch, senderOf(request));
      // As long as the answer is waited for, every collection of garbage would have to copy it.
      request.batch = null;
      const results = await trackAll(deps, request, await answerRepeats(read, deps.findHolders));
      const refused = results.filter((result) => result instanceof Refusal);
      countRefused(deps, refused);
      if (refused.length === results.length) {
        throwIfAboutTheRequest(refused);
        if (refused.every(leavesKeyOpen)) await refuseDeleted(deps.apiKeys, request);
      }
      if (refused.length > 0) {
        const codes = [...new Set(refused.map(({ code }) => code))];
        request.log.debug({ status: 207, refused: refused.length, codes }, 'events of a batch were refused');
      }
      const data = results.map((result) =>
        result instanceof Refusal ? refusedItem(result) : { status: 201, id: result.id },
      );
      return reply.code(refused.length === 0 ? 201 : 207).send({ data });
    },
  );
}

function countRefused({ onRefused }: TrackDeps, refused: readonly Refusal[]): void {
  for (const [reason, events] of countByReason(refused)) onRefused(reason, events);
}

function refusedItem(refusal: Refusal): BatchItem {
  const { id, outcome } = refusal.fields;
  return {
    status: statusOf(refusal.code),
    ...(id !== undefined && { id }),
    code: refusal.code,
    detail: detailAlone(refusal),
    ...(outcome !== undefined && { outcome }),
  };
}

/** Tracks what was read of a batch; the answers are in its order. */
async function trackAll(
  deps: TrackDeps,
  request: FastifyRequest,
  results: readonly (ReadEvent | Refusal)[],
): Promise<(ReadEvent | Refusal)[]> {
  const events = results.filter((result): result is ReadEvent => !(result instanceof Refusal));
  const errors = await deps.ingest.submitAll(events.map(({ candidate }) => candidate));
  const refusals = new Map<ReadEvent | Refusal, Refusal>();
  events.forEach((event, index) => {
    const error = errors[index];
    if (error !== undefined) refusals.set(event, asRefusal(request, error));
  });
  return results.map((result) => (result instanceof Refusal ? result : (refusals.get(result) ?? result)));
}

/** After the body was read, since a batch counts as many events as it holds; before any of them is taken. */
function countEvents(
  deps: TrackDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  events: number,
): Promise<void> | undefined {
  const { apiKeyId } = request.caller;
  return apiKeyId === undefined ? undefined : deps.rateLimits.countEvents(reply, apiKeyId, events);
}

function senderOf({ caller }: FastifyRequest): Sender {
  const { organizationId, apiKeyId, epoch } = caller;
  if (apiKeyId === undefined || epoch === undefined)
    throw new Error('the write guard lets API keys through and nothing else');
  return { organizationId, apiKeyId, epoch };
}

/** The header Idempotency-Key means the same as the field; both may be sent when they agree. */
function withHeaderKey(body: EventSource['body'], request: FastifyRequest): EventSource['body'] {
  const key = textOfKeyHeader(request);
  if (key === undefined) return body;
  if ((body.idempotency_key ?? key) !== key) {
    throw invalidFields([
      {
        path: 'idempotency_key',
        message: 'is not the same in the body and in the header Idempotency-Key: send one of them',
      },
    ]);
  }
  const result = headerKey.safeParse(key);
  if (!result.success) throw invalidRequest(result.error, KEY_HEADER);
  return { ...body, idempotency_key: key };
}
