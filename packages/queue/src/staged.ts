// The text of an event between the door and Postgres, as the list of its batch holds it.

import type { StagedEvent } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import type { AggregationType } from '@weir/shared/meter';

type Values = [
  id: string,
  organizationId: string,
  meterId: string,
  aggregation: AggregationType,
  customer: string,
  quantity: string,
  timestamp: string,
  idempotencyKey: string | null,
  metadata: string | null,
  replayed?: true,
  /** Only makes its text differ from those of other replays of the same event. */
  replay?: string,
  /** Of what form these values are, where that is not the first one. */
  form?: number,
];

/**
 * The form of what stands above. It gets the next number when it changes, and is written then. Workers read this one and that of the
 * last release, since both versions run while one takes over from the other.
 */
const FORM = 1;

/** An event that a newer version has staged. It stays where it is, and a worker of that version records it. */
class NewerForm extends Error {
  constructor(form: number) {
    super(`staged by a newer version, in form ${form}; this one knows ${FORM}: its workers are to be started first`);
  }
}

/**
 * What stands between the events of a flush. There is no line break inside of an event, so that a script finds where each of
 * them ends without reading JSON.
 */
export const STAGED_SEPARATOR = ',\n';

/**
 * An event as it is staged: a JSON array, since the names of its fields would be a third of the text. No two texts are the
 * same: an event that is replayed keeps its id, so each of its replays has one of its own as well.
 */
export function stagedText(event: StagedEvent): string {
  const values: Values = [
    event.id,
    event.organization_id,
    event.meter_id,
    event.aggregation,
    event.customer_external_id,
    event.quantity,
    event.timestamp,
    event.idempotency_key ?? null,
    event.metadata ?? null,
  ];
  if (event.replayed === true) values.push(true, newId());
  return JSON.stringify(values);
}

/** How the text of the event with this id begins, and nothing else that is staged: quotes inside of texts are escaped. */
export function stagedBeginning(id: string): string {
  return `["${id}"`;
}

/** The text of the first event of a flush, which is how the flush begins. No other flush begins like it: see stagedText. */
export function firstStagedText(flush: string): string {
  const end = flush.indexOf('\n');
  return end === -1 ? flush : flush.slice(0, end);
}

/** What events count for among those that wait: the bytes of their text, and of what parts it from the next. */
export function stagedBytes(text: string): number {
  return Buffer.byteLength(text) + STAGED_SEPARATOR.length;
}

/**
 * What the events of some flushes count for, by organization. `events` are those of the flushes, in their order. Replayed ones
 * count for nothing, at the door as well.
 */
export function stagedBytesByOrganization(
  flushes: readonly string[],
  events: readonly StagedEvent[],
): Map<string, number> {
  const bytes = new Map<string, number>();
  let at = 0;
  for (const flush of flushes) {
    for (let from = 0; from < flush.length;) {
      const first = events[at];
      // Events that follow each other and are of one organization are measured as one text.
      let to = from;
      do {
        const end = flush.indexOf(STAGED_SEPARATOR, to);
        to = end === -1 ? flush.length + STAGED_SEPARATOR.length : end + STAGED_SEPARATOR.length;
        at += 1;
      } while (to < flush.length && isCountedWith(first, events[at]));
      const text = flush.slice(from, to - STAGED_SEPARATOR.length);
      from = to;
      if (first === undefined || first.replayed === true) continue;
      bytes.set(first.organization_id, (bytes.get(first.organization_id) ?? 0) + stagedBytes(text));
    }
  }
  return bytes;
}

function isCountedWith(first: StagedEvent | undefined, event: StagedEvent | undefined): boolean {
  return first?.organization_id === event?.organization_id && first?.replayed === event?.replayed;
}

/** The events of some flushes of a batch, which are texts of its list. Throws a NewerForm. */
export function stagedEvents(flushes: readonly string[]): StagedEvent[] {
  // One text is read faster than many of them.
  const all = JSON.parse(`[${flushes.join(',')}]`) as Values[];
  return all.map(eventOf);
}

function eventOf(values: Values): StagedEvent {
  const form = values[11];
  if (form !== undefined && form > FORM) throw new NewerForm(form);
  const [idempotencyKey, metadata] = [values[7], values[8]];
  return {
    id: values[0],
    organization_id: values[1],
    meter_id: values[2],
    aggregation: values[3],
    customer_external_id: values[4],
    quantity: values[5],
    timestamp: values[6],
    ...(idempotencyKey !== null && { idempotency_key: idempotencyKey }),
    ...(metadata !== null && { metadata }),
    ...(values[9] === true && { replayed: true }),
  };
}
