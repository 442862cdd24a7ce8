// Fields that requests and answers of several nouns share.

import { NO_CURSOR } from '@weir/db/order';
import type { PageOf } from '@weir/db/page';
import { isCurrency } from '@weir/rating/currencies';
import { isCountry } from '@weir/shared/countries';
import { problemOfDateOrInstant } from '@weir/shared/date-or-instant';
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

/** Yes or no, in a query string. */
export const flag = oneOf(['true', 'false']).transform((word) => word === 'true');

/**
 * The id of a thing, in the form in which it is kept: Postgres takes it in capitals as well, but keys of Redis, the text of
 * a staged event and the ids in an answer are compared to the letter.
 */
export function idOf(message?: string) {
  return z.uuid({ error: ({ input }) => (input === undefined ? undefined : message) }).toLowerCase();
}

/** A point in time: a date, or a time with its offset. Whose zone a date is of, the field says. */
export const dateOrInstant = z.string().superRefine((given, { addIssue }) => {
  const message = problemOfDateOrInstant(given);
  if (message !== undefined) addIssue({ code: 'custom', message });
});

/** A zone of the IANA database. An offset is none: it knows no daylight saving. */
export const timeZone = z
  .string()
  .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Berlin or UTC')
  .meta({ description: 'A time zone of the IANA database.', examples: ['Europe/Berlin'] });

/** Three letters of ISO 4217. */
export const currency = z
  .string()
  .refine(isCurrency, 'must be an ISO 4217 code in upper case, such as USD')
  .meta({ description: 'ISO 4217, in upper case.', examples: ['USD'] });

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
function countOf(max: number) {
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

/** What a list goes on from. */
export const cursorOfPage = z
  .string()
  .regex(new RegExp(`^[\\w-]{1,${LIMITS.cursor}}$`), NO_CURSOR)
  .meta({ description: 'The meta.next_cursor of the page before.' });

/** The same, where it is the id of the last thing. */
export const idCursor = idOf(NO_CURSOR).optional();

const pageQuery = {
  cursor: cursorOfPage.optional(),
  limit: countOf(LIMITS.pageSize)
    .optional()
    .meta({ description: `How many at once: ${DEFAULTS.pageSize} by default.` }),
  page: countOf(LIMITS.page)
    .optional()
    .meta({ description: 'In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too.' }),
  page_size: countOf(LIMITS.pageSize).optional().meta({ description: 'In the place of limit, where page is sent.' }),
};

/** In which order: by the names of the orders that a list has, of which one is its own. */
export function sortOf<const Name extends string>(
  orders: Readonly<Record<Name, unknown>>,
  usual: NoInfer<Name>,
  about = '',
) {
  const names = Object.keys(orders) as [Name, ...Name[]];
  return {
    sort: oneOf(names)
      .optional()
      .meta({ description: `In which order; with a minus the other way round. ${usual} by default. ${about}`.trim() }),
  };
}

/** A query of a list, with what says which part of it is wanted. */
export function listQuery<Shape extends z.ZodRawShape>(filter: Shape) {
  return z.strictObject({ ...filter, ...pageQuery }).superRefine((query: object, context) => {
    const given = ['cursor', 'limit'].find((name) => name in query);
    if (given === undefined || !('page' in query || 'page_size' in query)) return;
    const message = 'must not be sent together with page or page_size: send cursor and limit alone';
    context.addIssue({ code: 'custom', path: [given], message });
  });
}

/** The part of the query that looks for a text, in whatever case; empty, it finds everything. */
export function searchOf(description: string) {
  return text(0, LIMITS.key)
    .default('')
    .meta({ description: `${description} In whatever case.` });
}

const nextCursor = z
  .string()
  .nullable()
  .meta({
    description: 'The cursor of the next page; null: this was the last.',
    examples: ['WyItaWQiLCIwMTlhOWYxYy0yZDNlLTdmNDAtOGExYi0wYzJkM2U0ZjVhNmIiXQ'],
  });

const pageMeta = z
  .object({
    page: z.int(),
    page_size: z.int(),
    total: z.int(),
    total_pages: z.int(),
    next_cursor: nextCursor,
  })
  .meta({ id: 'PageMeta' });

/** What is said of a page that was not asked for by its number. */
export const cursorMeta = z
  .object({ next_cursor: nextCursor })
  .meta({ id: 'CursorMeta', 'x-only-with': ['cursor', 'limit'] });

const listMeta = z.union([pageMeta, cursorMeta]);

/** One page of a list, as it is answered. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    meta: listMeta,
  });
}

/** All of a list, as it is answered, or one page of it. */
export function listSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), meta: listMeta.optional() });
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

/** What an answer shows of a thing that has more. One that lacks a field of the answer, or has it with another type, does not compile. */
export function shownOf<Shape extends z.ZodRawShape, Thing extends { [Field in keyof Shape]: z.output<Shape[Field]> }>(
  { shape }: z.ZodObject<Shape>,
  thing: Thing,
): Pick<Thing, keyof Shape & keyof Thing> {
  const names = Object.keys(shape) as (keyof Shape & keyof Thing)[];
  return Object.fromEntries(names.map((name) => [name, thing[name]])) as Pick<Thing, keyof Shape & keyof Thing>;
}

/** Puts one page of a list into the form of its answer. */
export function answerPage<Row>({ rows, next, counted }: PageOf<Row>) {
  if (counted === undefined) return { data: rows, meta: { next_cursor: next } };
  const total_pages = Math.ceil(counted.total / counted.page_size);
  return { data: rows, meta: { ...counted, total_pages, next_cursor: next } };
}

/** A time in an answer: ISO 8601 UTC. */
export const time = z.iso.datetime();

/** An answer without a body. */
export const nothing = z.null().meta({ description: 'Done; there is nothing more to say.' });

/** Said of a secret in an answer. */
export const nullInRepeats = (instead = 'make another one') =>
  `Null where the answer is repeated for its Idempotency-Key, since it is kept nowhere: ${instead} then.`;
