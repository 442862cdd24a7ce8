// Receipts of events, the lists of them, and the way back into the count for rejected ones.

import { listRejections, listStoredEvents, type EventFilter, type Rejection } from '@weir/db/event-list';
import { findMetersByToken, findStoredEvent } from '@weir/db/events';
import { NO_CURSOR } from '@weir/db/order';
import type { QueueConnection } from '@weir/queue/connection';
import { findStagedEvent } from '@weir/queue/find-staged';
import { stagedText } from '@weir/queue/staged';
import { Refusal } from '@weir/shared/errors';
import { metadata, type StagedEvent } from '@weir/shared/event';
import { endInZone, instantInZone } from '@weir/shared/date-or-instant';
import { microsOfText } from '@weir/shared/instant';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { answerOf, cursorMeta, dateOrInstant, idCursor, idInPath, idOf, sizeOf, time } from '../http/fields.ts';
import type { App } from '../http/typed-app.ts';
import { writing } from '../http/writing/writing.ts';
import { NO_SUCH_THING, invalidFields, problemResponses } from '../http/problem.ts';
import { sendJson } from '../http/body/send-json.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { problemOfMetadataText } from '../http/body/metadata-text.ts';
import { receipt, writeReceipt, writeReceipts, type Receipt } from './receipt.ts';
import { noSuchMeterToken, refuseMoving } from './usage-query.ts';
import type { RouteDeps } from '../route-deps.ts';

export interface EventDeps extends RouteDeps {
  queue: QueueConnection;
  ingest: Ingest;
  /** By how much the time of an event may lie ahead. */
  aheadSeconds: number;
}

const eventQuery = z.strictObject({
  status: z.enum(['recorded', 'voided', 'rejected', 'duplicate']).optional(),
  meter_id: idOf('must be the id of a meter').optional(),
  meter_token: text(1, LIMITS.key).optional(),
  customer_external_id: text(1, LIMITS.key).optional(),
  idempotency_key: text(1, LIMITS.key).optional(),
  reason: text(1, LIMITS.lines)
    .optional()
    .meta({ description: 'Why events were rejected, as GET /events/rejections has it: no others have a reason.' }),
  start_date: dateOrInstant.optional().meta({
    description: 'Events of this time or later: ISO 8601 with an offset, or a date (UTC).',
  }),
  end_date: dateOrInstant.optional().meta({
    description: 'Events of before this time; a date includes that day (UTC).',
  }),
  cursor: idCursor,
  limit: sizeOf('pageSize'),
});

const rejection = answerOf<Rejection>()({
  reason: z.string(),
  meter_id: z.uuid(),
  count: z.int(),
  first_at: time.meta({ description: 'When the first of those that are counted was rejected.' }),
  last_at: time,
}).meta({ id: 'EventRejection' });

const replayBody = z.strictObject({
  metadata: metadata.optional(),
  idempotency_key: text(1, LIMITS.key)
    .nullable()
    .optional()
    .meta({ description: 'In place of the one that it was sent with. Null: it has none any more.' }),
});

export function eventRoutes(app: App, deps: EventDeps): void {
  app.get(
    '/api/v1/events/:id',
    {
      onRequest: deps.guards.read,
      schema: {
        operationId: 'getEvent',
        tags: ['Usage'],
        summary: 'The receipt of an event: what became of it',
        params: idInPath,
        response: { 200: receipt },
      },
    },
    async (request, reply) =>
      sendJson(reply, writeReceipt(await getReceipt(deps, request.caller.organizationId, request.params.id))),
  );

  app.get(
    '/api/v1/events',
    {
      onRequest: deps.guards.read,
      schema: {
        operationId: 'listEvents',
        tags: ['Usage'],
        summary: 'Events that have left the queue, newest first',
        description:
          'Follow meta.next_cursor until it is null. An event that still waits in the queue is not listed yet.',
        querystring: eventQuery,
        response: {
          200: z.object({ data: z.array(receipt), meta: cursorMeta }),
          ...problemResponses('meter_not_found'),
        },
      },
    },
    async (request, reply) => {
      const { cursor, limit } = request.query;
      const { organizationId } = request.caller;
      if (cursor !== undefined && !isEventId(cursor)) {
        throw invalidFields([{ path: 'cursor', message: NO_CURSOR }]);
      }
      const filter = await filterOf(deps, organizationId, request.query);
      const events = filter === undefined ? [] : await listStoredEvents(deps.database, organizationId, filter);
      const page = events.slice(0, limit);
      const next = events.length > limit ? page.at(-1)?.event.id : undefined;
      return sendJson(reply, writeReceipts(page, next));
    },
  );

  app.get(
    '/api/v1/events/rejections',
    {
      onRequest: deps.guards.read,
      schema: {
        operationId: 'listEventRejections',
        tags: ['Usage'],
        summary: 'Why events are rejected that were not replayed yet, most frequent first',
        description:
          `At most ${LIMITS.rejections}, of the newest ${LIMITS.countedRejections.toLocaleString('en')} events. The events of each: GET /events ` +
          'with the same reason and meter_id. Where a reason names another event, its id is left out here.',
        response: {
          200: z.object({
            data: z.array(rejection),
            has_more: z.boolean().meta({
              description:
                'Whether there are more rejected events than are counted here: they are once some of these are replayed.',
            }),
          }),
        },
      },
    },
    async (request) => {
      const { rejections, has_more } = await listRejections(deps.database, request.caller.organizationId, {
        limit: LIMITS.rejections,
        countedMax: LIMITS.countedRejections,
      });
      return { data: rejections, has_more };
    },
  );

  app.post(
    '/api/v1/events/:id/replay',
    {
      onRequest: deps.guards.admin,
      schema: {
        operationId: 'replayEvent',
        tags: ['Usage'],
        summary: 'Send a rejected event again, with corrected metadata or another idempotency key if given',
        description:
          'The event keeps its id and its timestamp. However often it is replayed, it is counted at most once. Its receipt ' +
          'says rejected until a worker has taken it. An event that is rejected since another one holds its idempotency_key is ' +
          'rejected again unless it gets another key, or none (null).',
        params: idInPath,
        body: replayBody.nullish(),
        response: {
          202: z.object({ id: z.uuid(), status: z.literal('queued') }),
          ...problemResponses('not_replayable', 'usage_moving'),
        },
      },
    },
    writing(deps.database, async (request, write) => {
      const { organizationId } = request.caller;
      const { id } = request.params;
      const span = request.json?.members.get('metadata');
      const corrected = span === undefined ? undefined : request.json?.text.slice(...span);
      const problem = corrected === undefined ? undefined : problemOfMetadataText(corrected);
      if (problem !== undefined) throw invalidFields([{ path: 'metadata', message: problem }]);
      const stored = isEventId(id) ? await findStoredEvent(deps.database, organizationId, id) : undefined;
      if (stored?.status !== 'rejected') {
        const { status } = await getReceipt(deps, organizationId, id);
        throw new Refusal('not_replayable', `The event is ${status}: only rejected events can be replayed.`);
      }
      const { idempotency_key: formerKey, ...rest } = stored.event;
      const key = request.body?.idempotency_key === undefined ? formerKey : request.body.idempotency_key;
      const event: StagedEvent = {
        ...rest,
        ...(typeof key === 'string' && { idempotency_key: key }),
        ...(corrected !== undefined && { metadata: corrected }),
        replayed: true,
      };
      return await write.single(async (db) => {
        // Right before it is let in: a move waits only for a little while for what came before it.
        await refuseMoving(db, organizationId, stored.event.customer_external_id);
        write.goOutside();
        await deps.ingest.submit({ id, event: stagedText(event), sender: null, claim: null });
        return { status: 202, body: { id, status: 'queued' as const } };
      });
    }),
  );
}

/** Returns the filter of a query; undefined where nothing can match it. */
async function filterOf(
  { database }: EventDeps,
  organizationId: string,
  query: z.output<typeof eventQuery>,
): Promise<EventFilter | undefined> {
  const { status, reason, cursor, limit, meter_token: token, start_date, end_date } = query;
  const since = start_date === undefined ? undefined : instantInZone(start_date, 'UTC');
  const until = end_date === undefined ? undefined : endInZone(end_date, 'UTC');
  if (since !== undefined && until !== undefined && microsOfText(since) >= microsOfText(until))
    throw invalidFields([{ path: 'start_date', message: `must be before the end, which is ${until}` }]);
  const meter = token === undefined ? undefined : (await findMetersByToken(database, [token])).get(token);
  const ofToken = meter?.organizationId === organizationId ? meter.id : undefined;
  if (token !== undefined && ofToken === undefined) throw noSuchMeterToken();
  if (ofToken !== undefined && ofToken !== (query.meter_id ?? ofToken)) return undefined;
  return {
    status,
    meterId: query.meter_id ?? ofToken,
    customerExternalId: query.customer_external_id,
    idempotencyKey: query.idempotency_key,
    reason,
    since,
    until,
    before: cursor,
    // One more tells whether there is a next page.
    limit: limit + 1,
  };
}

/** Whether an id can be an event's: a UUIDv7. Of any time, since the clock by which one was received may have been ahead. */
function isEventId(id: string): boolean {
  return id.charAt(14) === '7';
}

/** Throws a Refusal where there is no such event; `where` says in which part of a request it was named. */
export async function getReceipt(
  { database, queue }: EventDeps,
  organizationId: string,
  id: string,
  where = '',
): Promise<Receipt> {
  if (!isEventId(id)) throw new Refusal('not_found', where + NO_SUCH_THING);
  const stored = await findStoredEvent(database, organizationId, id);
  if (stored !== undefined) return stored;
  const staged = await findStagedEvent(queue, id);
  if (staged?.organization_id === organizationId) return { status: 'queued', event: staged };
  // Between the two looks above the worker may have moved it from Redis to Postgres.
  const moved = staged === undefined ? await findStoredEvent(database, organizationId, id) : undefined;
  if (moved === undefined) throw new Refusal('not_found', where + NO_SUCH_THING);
  return moved;
}
