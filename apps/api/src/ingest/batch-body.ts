// The body of a batch. It may be a thousand times as large as an event, so it is not parsed as a whole: here it is only found
// where each item stands, and that all around them is JSON. The items are parsed one by one, in slices (read-batch.ts).

import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { walkMembers } from '../http/body/json-decimals.ts';
import { itemsOf, skipSpace, spansOfMembers, type Items } from '../http/body/json-spans.ts';
import { parseJson } from '../http/body/json.ts';
import { invalidFields } from '../http/problem.ts';

/** The text of a batch, and where in it the items stand, of which nothing was checked. */
export interface BatchText extends Items {
  text: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null but for a batch. */
    batch: BatchText | null;
  }
}

/** How nearly every batch begins; one that does not is parsed as a whole, to find its events or what is wrong with it. */
const BEGINNING = /[ \t\r\n]*\{[ \t\r\n]*"events"[ \t\r\n]*:[ \t\r\n]*(?=\[)/y;

/**
 * Reads the text of a batch into `request.batch`. Returns what the body says, with a number in the place of each event. An item,
 * like a body that begins in another way, may have `charactersMax` characters.
 */
export function readBatch(request: FastifyRequest, text: string, charactersMax: number): unknown {
  BEGINNING.lastIndex = 0;
  const at = BEGINNING.test(text) ? BEGINNING.lastIndex : undefined;
  if (at === undefined) return readUnusual(request, text, charactersMax);
  const items = itemsOf(text, at, LIMITS.batchEvents);
  if (items === undefined) {
    const detail = 'The body is not JSON that can be taken: events is no array that comes to its end.';
    throw new Refusal('malformed_json', detail);
  }
  const { starts, ends, end } = items;
  if (starts.length > LIMITS.batchEvents) throw tooMany();
  for (const [index, start] of starts.entries()) {
    if ((ends[index] ?? 0) - start > charactersMax)
      throw refusedFor(index, 'is too large', tooLarge(`events[${index}] has`, charactersMax));
  }
  const around = `${text.slice(0, at)}[]${text.slice(end)}`;
  if (around.length > charactersMax) throw tooLarge('What stands beside the events has', charactersMax);
  const envelope = parseJson(around) as object;
  // Refuses a body in which the events, or anything beside them, stand twice.
  walkMembers(envelope, around, 0);
  request.batch = { text, ...items };
  return { ...envelope, events: starts };
}

/** A body that does not begin with its events, if it has any. */
function readUnusual(request: FastifyRequest, text: string, charactersMax: number): unknown {
  if (text.length > charactersMax) throw tooLarge('A body that does not begin with {"events":[ has', charactersMax);
  const value = parseJson(text);
  const start = skipSpace(text, 0);
  const at = text[start] === '{' ? spansOfMembers(text, start).get('events')?.[0] : undefined;
  const items = at === undefined || text[at] !== '[' ? undefined : itemsOf(text, at, LIMITS.batchEvents);
  if (items !== undefined) request.batch = { text, ...items };
  return value;
}

/**
 * The refusal of a whole batch because of one item, which it names. A client with a thousand events finds by it the one that it will
 * not get through, and takes every other refusal of a batch for one of the request, and not of an event.
 */
export function refusedFor(index: number, message: string, { code, message: detail }: Refusal): Refusal {
  return new Refusal(code, detail, { errors: [{ path: `events[${index}]`, message }] });
}

function tooMany(): Refusal {
  return invalidFields([{ path: 'events', message: `must hold at most ${LIMITS.batchEvents} events` }]);
}

function tooLarge(what: string, charactersMax: number): Refusal {
  return new Refusal('payload_too_large', `${what} more than ${charactersMax} characters: send less in one event.`);
}
