// The items of a batch, each read by itself and in slices: a batch as large as it may be takes a tenth of a second and more,
// for which others do not wait. Meters that are not known are looked up all together. Next: ingest.ts.

import type { TrackedMeter } from '@weir/db/events';
import type { Sender } from '@weir/queue/admit';
import { Refusal } from '@weir/shared/errors';
import { trackBody } from '@weir/shared/event';
import type { FastifyRequest } from 'fastify';
import { parseJson } from '../http/body/json.ts';
import { spansOfMembers } from '../http/body/json-spans.ts';
import { invalidRequest } from '../http/problem.ts';
import type { Turns } from '../http/load/turns.ts';
import { refusedFor, type BatchText } from './batch-body.ts';
import { nameOfMeter, type MeterCache } from './meter-cache.ts';
import { asRefusal } from './refusals.ts';
import { readEventOf, type EventFields, type ReadEvent, type ReadOptions } from './read-event.ts';

export interface ReadItemsDeps {
  meters: MeterCache;
  turns: Turns;
  read: ReadOptions;
}

/** Characters of a batch that are read between two looks at the clock: less than a millisecond's work of the hardest. */
const UNTIMED_CHARACTERS = 16_384;

/** An item whose meter has to be looked up. A whole batch of them is kept meanwhile, so without what is not needed. */
interface Unread {
  body: EventFields;
  start: number;
}

type Item = ReadEvent | Refusal | Unread;

/** Reads every item of a batch, or says what is wrong with it, in their order. Throws the Refusal of an item that is no JSON. */
export async function readItems(
  { meters, turns, read }: ReadItemsDeps,
  request: FastifyRequest,
  { text, starts, ends }: BatchText,
  sender: Sender,
): Promise<(ReadEvent | Refusal)[]> {
  const readWith = (meter: TrackedMeter | undefined, { body, start }: Unread): ReadEvent | Refusal => {
    try {
      return readEventOf(meter, { body, text, members: spansOfMembers(text, start), sender }, read);
    } catch (error) {
      return asRefusal(request, error);
    }
  };
  const lookUps = new Map<string, Promise<() => TrackedMeter | undefined>>();
  const items = await inSlices(turns, starts, (start, index): Item => {
    const result = trackBody.safeParse(parseItem(text.slice(start, ends[index]), index));
    if (!result.success) return invalidRequest(result.error);
    const { metadata: _, ...body } = result.data;
    const item = { body, start };
    const name = nameOfMeter(body, sender.organizationId);
    const meter = lookUps.has(name) ? undefined : meters.get(name);
    if (meter instanceof Promise) lookUps.set(name, settled(meter));
    return lookUps.has(name) ? item : readWith(meter as TrackedMeter | undefined, item);
  });
  if (lookUps.size === 0) return items as (ReadEvent | Refusal)[];

  const found = new Map<string, () => TrackedMeter | undefined>();
  for (const [name, lookUp] of lookUps) found.set(name, await lookUp);
  return await inSlices(turns, starts, (_, index) => {
    const item = items[index] as Item;
    if (!('start' in item)) return item;
    try {
      return readWith(found.get(nameOfMeter(item.body, sender.organizationId))?.(), item);
    } catch (error) {
      return asRefusal(request, error);
    }
  });
}

function parseItem(text: string, index: number): unknown {
  try {
    return parseJson(text, `item events[${index}]`);
  } catch (error) {
    throw error instanceof Refusal ? refusedFor(index, 'is not JSON that can be taken', error) : error;
  }
}

/** What a promise came to, to be asked for later: nobody may be there yet to hear that it failed. */
function settled<Value>(promise: Promise<Value>): Promise<() => Value> {
  return promise.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
}

/** Works on what begins at each of some places of a text, in order, and gives way to others now and then. */
async function inSlices<Result>(
  turns: Turns,
  starts: readonly number[],
  work: (start: number, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let lookedAt = -UNTIMED_CHARACTERS;
  for (const [index, start] of starts.entries()) {
    if (start - lookedAt >= UNTIMED_CHARACTERS) {
      lookedAt = start;
      if (turns.isOver()) await turns.next();
    }
    results.push(work(start, index));
  }
  return results;
}
