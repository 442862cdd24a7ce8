// Fields that requests and answers of several nouns share.

import type { Page, PageOf } from '@weir/db/page';
import { isCountry } from '@weir/shared/countries';
import { text } from '@weir/shared/text';
import { isTimeZone } from '@weir/shared/time-zone';
import { DEFAULTS, LIMITS } from '@weir/shared/limits';
import { z } from 'zod';

/** A name for people: whatever they like, as long as there is something to see. */
export const displayName = text(1, LIMITS.name)
  .refine((name) => name.trim() !== '', 'must not be blank')
  .meta({ pattern: '\\S' });

/** One of a fixed set of words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, {
    error: ({ input }) => (input === undefined ? 'is required' : `must be one of ${words.join(', ')}`),
  });
}

/**
 * The id of a thing, in the form in which it is kept: Postgres takes it in capitals as well, but keys of Redis, the text of
 * a staged event and the ids in an answer are compared to the letter.
 */
export function idOf(message?: string) {
  return z.uuid({ error: ({ input }) => (input === undefined ? undefined : message) }).toLowerCase();
}

/** A zone of the IANA database. An offset is none: it knows no daylight saving. */
export const timeZone = z
  .string()
  .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Berlin or UTC')
  .meta({ description: 'A time zone of the IANA database.', examples: ['Europe/Berlin'] });

/** Two letters of ISO 3166-1. In capitals, as they are written there: a code in small letters is of something else. */
export const countryCode = z
  .string()
  .refine(isCountry, 'must be a country code of ISO 3166-1 in capitals, such as DE or US')
  .meta({ description: 'Two letters of ISO 3166-1.', pattern: '^[A-Z]{2}$', examples: ['DE'] });

/** The path of one thing. What is no UUID names nothing, and is answered like an id that does not exist. */
export const idInPath = z.strictObject({ id: idOf() });

/** Some fields of an object, and at least one: a request that would change nothing is a mistake worth hearing about. */
export function changesOf<Shape extends z.ZodRawShape>(fields: Shape) {
  return z
    .strictObject(fields)
    .partial()
    .refine((changes) => Object.keys(changes).length > 0, 'must hold at least one field to change')
    .meta({ minProperties: 1 });
}

/** A whole number in a query string, where there is nothing but text. */
export function countOf(max: number) {
  return z
    .unknown()
    .refine(
      (value) => typeof value === 'string' && /^\d{1,9}$/.test(value) && Number(value) >= 1 && Number(value) <= max,
      `must be a whole number from 1 to ${max}`,
    )
    .meta({ type: 'integer', minimum: 1, maximum: max })
    .transform(Number);
}

/** How much is asked for at once, in a query string: up to a limit, and without it its default. */
export function sizeOf(limit: keyof typeof DEFAULTS) {
  return countOf(LIMITS[limit]).default(DEFAULTS[limit]);
}

/** The part of the query that says which page of a list is wanted. */
export const pageQuery = {
  page: countOf(LIMITS.page).default(1).meta({ description: 'Pages count from 1.' }),
  page_size: sizeOf('pageSize'),
};

/** The part of the query that looks for a text, in whatever case; empty, it finds everything. */
export function searchOf(description: string) {
  return text(0, LIMITS.key)
    .default('')
    .meta({ description: `${description} In whatever case.` });
}

const pageMeta = z
  .object({ page: z.int(), page_size: z.int(), total: z.int(), total_pages: z.int() })
  .meta({ id: 'PageMeta' });

/** One page of a list, as it is answered. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    meta: pageMeta,
  });
}

/** All of a list, as it is answered, or one page of it. */
export function listSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), meta: pageMeta.optional() });
}

/**
 * An answer made of rows, field by field. One that the rows lack, one of theirs that is left out, and one of another type do not
 * compile: where a column is not for those who read, its row is without it (`Omit`).
 */
export function answerOf<Row extends object>() {
  return <Shape extends { [Field in keyof Row]: z.ZodType<Row[Field]> }>(
    shape: Shape & Record<Exclude<keyof Shape, keyof Row>, never>,
  ) => z.object<Shape>(shape);
}

/** Puts one page of a list into the form of its answer. */
export function answerPage<Row>({ rows, total }: PageOf<Row>, { page, page_size }: Page) {
  return { data: rows, meta: { page, page_size, total, total_pages: Math.ceil(total / page_size) } };
}

/** Refusals to whoever reads, by session or key. */
export const readCodes = ['unauthenticated', 'missing_scope', 'rate_limited', 'unavailable'] as const;

/** Refusals of a body as such, also where none is asked for: it is read before anything is done. */
const unreadableCodes = ['malformed_json', 'payload_too_large', 'unsupported_media_type'] as const;

/** Refusals to a person who does what all may do. */
export const sessionCodes = [
  'unauthenticated',
  'cross_origin',
  ...unreadableCodes,
  'rate_limited',
  'unavailable',
] as const;

/** Refusals to a person who changes what the organization has. */
export const adminCodes = [...sessionCodes, 'admin_only'] as const;

/** Refusals of any body. */
export const bodyCodes = [...unreadableCodes, 'invalid_request'] as const;

/** A time in an answer: ISO 8601 UTC. */
export const time = z.iso.datetime();

/** An answer without a body. */
export const nothing = z.null().meta({ description: 'Done; there is nothing more to say.' });

/** Said of a secret in an answer. */
export const NULL_IN_REPEATS =
  'Null where the answer is repeated for its Idempotency-Key, since it is kept nowhere: make another one then.';
