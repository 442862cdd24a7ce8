import { LIMITS } from './limits.ts';
import { z } from 'zod';

/** Whether Postgres can hold a text: no NUL, and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The text as Postgres can hold it, with U+FFFD in the place of what it cannot. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** How many characters a text has: Unicode code points, not bytes. */
export function charactersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** A text of `min` to `max` characters (Unicode code points, not bytes) that Postgres can hold. */
export function text(min: number, max: number) {
  return z
    .string()
    .refine((value) => value.length >= min && (value.length <= max || charactersOf(value) <= max), {
      error: max === min ? `must have ${max} characters` : `must have ${min} to ${max} characters`,
      abort: true,
    })
    .refine(isStorable, 'must not hold a NUL character or half of a surrogate pair')
    .meta({ minLength: min, maxLength: max });
}

/** A slug: starts with a lower-case letter or digit, then those, `_` and `-`; at most {@link LIMITS.slug} characters. */
export const slug = z
  .string()
  .regex(
    new RegExp(`^[a-z0-9][a-z0-9_-]{0,${LIMITS.slug - 1}}$`),
    `must be a slug: a-z and 0-9, then also _ and -, at most ${LIMITS.slug} characters`,
  );
