// What is asked of corrections: which events are void, and what counts in their place.

import type { Amendment, AskedCorrection } from '@weir/db/corrections/correct-events';
import { parseQuantity } from '@weir/shared/decimal';
import type { FieldError } from '@weir/shared/errors';
import { metadata } from '@weir/shared/event';
import { LIMITS } from '@weir/shared/limits';
import { text } from '@weir/shared/text';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { JSON_NUMBER } from '../http/decimals.ts';
import { idOf, oneOf } from '../http/fields.ts';
import { itemsOf, spansOfMembers, type Spans } from '../http/body/json-spans.ts';
import { problemOfMetadataText } from '../http/body/metadata-text.ts';
import { invalidFields } from '../http/problem.ts';
import { readTimestamp } from '../ingest/read-event.ts';

/** The route has the digits of a quantity as they were sent. */
export const DECIMALS = { decimals: new Set(['quantity']) };

/** As for an event that is tracked. */
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
    pattern: JSON_NUMBER.source,
    examples: [12],
    description: 'In place of the one that was recorded: a number greater than 0, or the same as text.',
  });

function problemOfQuantity(value: unknown): string | undefined {
  if (typeof value !== 'string' || !JSON_NUMBER.test(value)) return 'must be a number greater than 0';
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

export const voidBody = z.strictObject({ reason });
export const amendBody = z
  .strictObject({ reason, ...amended })
  .refine((body) => isAmending(body), { path: ['reason'], error: NOTHING_NEW });

export const correctionsBody = z.strictObject({
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

/** A request with a body that fastify has checked. */
type Requested<Body> = Pick<FastifyRequest, 'json'> & { body: Body };

/** What is asked for of many events. Throws a Refusal for what cannot be meant. `aheadSeconds` is as for an event that is tracked. */
export function correctionsOf(
  { body: { corrections }, json }: Requested<z.output<typeof correctionsBody>>,
  aheadSeconds: number,
): AskedCorrection[] {
  const { text: sent = '', members } = json ?? {};
  const { starts = [] } = itemsOf(sent, members?.get('corrections')?.[0] ?? 0, corrections.length) ?? {};
  const errors: FieldError[] = [];
  const asked = corrections.map(({ type, event_id: eventId, reason: why, ...body }, index): AskedCorrection => {
    if (type === 'void') return { eventId, reason: why };
    const item = { text: sent, members: spansOfMembers(sent, starts[index] ?? 0) };
    const amendment = amendmentOf(body, item, `corrections[${index}].`, errors, aheadSeconds);
    return { eventId, reason: why, amendment };
  });
  if (errors.length > 0) throw invalidFields(errors.slice(0, LIMITS.problems));
  return asked;
}

/** What is to count in the place of one event. Throws as {@link correctionsOf}. */
export function amendmentIn({ body, json }: Requested<z.output<typeof amendBody>>, aheadSeconds: number): Amendment {
  const errors: FieldError[] = [];
  const amendment = amendmentOf(body, json ?? undefined, '', errors, aheadSeconds);
  if (errors.length > 0) throw invalidFields(errors);
  return amendment;
}

function amendmentOf(
  body: { quantity?: string | undefined; timestamp?: string | undefined; metadata?: unknown },
  json: { text: string; members: Spans } | undefined,
  path: string,
  errors: FieldError[],
  aheadSeconds: number,
): Amendment {
  const own: FieldError[] = [];
  const timestamp =
    body.timestamp === undefined ? undefined : readTimestamp(body.timestamp, Date.now(), aheadSeconds, own);
  const span = json?.members.get('metadata');
  const sent = span === undefined ? undefined : json?.text.slice(...span);
  const problem = sent === undefined || sent === 'null' ? undefined : problemOfMetadataText(sent);
  if (problem !== undefined) own.push({ path: 'metadata', message: problem });
  errors.push(...own.map((error) => ({ ...error, path: path + error.path })));
  return { quantity: body.quantity, timestamp, metadata: sent === 'null' ? null : sent };
}
