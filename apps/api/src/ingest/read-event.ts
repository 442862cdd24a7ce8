// From the body of a request to an event that can be staged: exact digits, exact time, known meter. What is wrong here
// is wrong for good, so it is refused before anything is kept. Next: ingest.ts.

import type { TrackedMeter } from '@weir/db/events';
import type { Candidate, Sender } from '@weir/queue/admit';
import type { QueueKeys } from '@weir/queue/keys';
import { stagedText } from '@weir/queue/staged';
import { parseQuantity } from '@weir/shared/decimal';
import type { FieldError } from '@weir/shared/errors';
import type { StagedEvent, TrackBody } from '@weir/shared/event';
import { digest } from '@weir/shared/hash';
import { newId } from '@weir/shared/ids';
import { instantOf, parseInstant } from '@weir/shared/instant';
import { FIRST_YEAR } from '@weir/shared/limits';
import { invalidFields } from '../http/problem.ts';
import type { Spans } from '../http/body/json-spans.ts';
import { readMetadataText } from '../http/body/metadata-text.ts';
import { MeterArchived } from './archived-meter.ts';
import { nameOfMeter, getMeter, type MeterCache } from './meter-cache.ts';

const EARLIEST_EPOCH_MS = Date.UTC(FIRST_YEAR, 0, 1);

/** The fields of an event but its metadata, which is read from the text: parsed it may take fifty times as much memory. */
export type EventFields = Omit<TrackBody, 'metadata'>;

/** The part of a request that one event came in. */
export interface EventSource {
  body: EventFields;
  /** The text of the request, and where in it the members of the event stand. */
  text: string;
  members: Spans;
  sender: Sender;
}

export interface ReadOptions {
  keys: QueueKeys;
  timestampAheadSeconds: number;
}

/** An event ready to be admitted, and what its sender is told when it is. */
export interface ReadEvent {
  candidate: Candidate;
  id: string;
  timestamp: string;
}

/** Reads one event; a promise where its meter has to be looked up. Throws the Refusal that says what is wrong with it. */
export function readEvent(
  source: EventSource,
  meters: MeterCache,
  options: ReadOptions,
): ReadEvent | Promise<ReadEvent> {
  const found = meters.get(nameOfMeter(source.body, source.sender.organizationId));
  if (found instanceof Promise) return found.then((meter) => readEventOf(meter, source, options));
  return readEventOf(found, source, options);
}

/** Reads one event of the meter that was found for its name. Throws the Refusal that says what is wrong with it, last {@link MeterArchived}. */
export function readEventOf(found: TrackedMeter | undefined, source: EventSource, options: ReadOptions): ReadEvent {
  const meter = getMeter(found, source.body, source.sender.organizationId);
  const { body, text, members, sender } = source;
  const { organizationId } = sender;
  const now = Date.now();
  const errors: FieldError[] = [];
  const id = newId(now);
  const quantity = readQuantity(body, textOf(text, members, 'quantity') ?? '', errors);
  const timestamp =
    body.timestamp === undefined
      ? instantOf(now).text
      : readTimestamp(body.timestamp, now, options.timestampAheadSeconds, errors);
  const metadata = textOf(text, members, 'metadata');
  const canonical = readMetadata(metadata, body.idempotency_key !== undefined, errors);
  if (errors.length > 0) throw invalidFields(errors);
  const event: StagedEvent = {
    id,
    organization_id: organizationId,
    meter_id: meter.id,
    aggregation: meter.aggregation,
    customer_external_id: body.customer_external_id,
    quantity,
    timestamp,
    ...(body.idempotency_key !== undefined && { idempotency_key: body.idempotency_key }),
    ...(metadata !== undefined && { metadata }),
  };
  const claim =
    body.idempotency_key === undefined
      ? null
      : {
          key: options.keys.claim(sender.epoch, organizationId, body.idempotency_key),
          fingerprint: fingerprintOf(event, body, canonical),
        };
  const candidate = { id, event: stagedText(event), sender, claim };
  if (meter.status === 'ARCHIVED') throw new MeterArchived(candidate);
  return { candidate, id, timestamp };
}

function textOf(text: string, members: Spans, key: string): string | undefined {
  const span = members.get(key);
  return span === undefined ? undefined : text.slice(span[0], span[1]);
}

function readQuantity(body: EventFields, literal: string, errors: FieldError[]): string {
  const result = parseQuantity(literal, body.quantity);
  if ('decimal' in result) return result.decimal;
  errors.push({ path: 'quantity', message: result.problem });
  return '';
}

/** The time of an event to the microsecond; empty, with what is wrong among the errors, where it is not taken. */
export function readTimestamp(sent: string, now: number, aheadSeconds: number, errors: FieldError[]): string {
  const instant = parseInstant(sent);
  if ('problem' in instant) errors.push({ path: 'timestamp', message: instant.problem });
  else if (instant.epochMs < EARLIEST_EPOCH_MS)
    errors.push({ path: 'timestamp', message: `must be in the year ${FIRST_YEAR} or later` });
  else if (instant.epochMs > now + aheadSeconds * 1000) {
    errors.push({ path: 'timestamp', message: `must be at most ${hoursOrSeconds(aheadSeconds)} ahead of now` });
  } else return instant.text;
  return '';
}

const hoursOrSeconds = (seconds: number) => (seconds % 3_600 === 0 ? `${seconds / 3_600} hours` : `${seconds} seconds`);

/** The canonical form of metadata, where it is asked for; empty where there is none. */
function readMetadata(text: string | undefined, wantsCanonical: boolean, errors: FieldError[]): string {
  if (text === undefined) return '';
  const read = readMetadataText(text, wantsCanonical);
  if (read.problem === undefined) return read.canonical;
  errors.push({ path: 'metadata', message: read.problem });
  return '';
}

/**
 * What makes two requests with one idempotency key the same event. A timestamp that was left out is no part of it, since
 * the retry of such a request comes later; of metadata it is the canonical form, which is equal for equal JSON.
 */
function fingerprintOf(event: StagedEvent, body: EventFields, canonicalMetadata: string): string {
  const payload = [
    event.meter_id,
    event.customer_external_id,
    event.quantity,
    body.timestamp === undefined ? null : event.timestamp,
  ];
  return digest(JSON.stringify(payload) + canonicalMetadata);
}
