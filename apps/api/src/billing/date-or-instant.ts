// A point in time as requests of billing name it: an instant, or a date, which is its first instant in a time zone.

import { firstInstant } from '@weir/shared/time-zone';
import { isoOf, microsOf, parseInstant } from '@weir/shared/instant';
import { z } from 'zod';

const DATE = /^\d{4}-\d\d-\d\d$/;

/** Years that every calendar agrees on, and whose instants are safe integers. */
const YEAR_MIN = 1970;
const YEAR_MAX = 2199;

/** What is wrong with a text as a date or an instant; undefined where it is one. */
function problemOf(text: string): string | undefined {
  const read = parseInstant(DATE.test(text) ? `${text}T00:00Z` : text);
  if ('problem' in read) {
    return DATE.test(text)
      ? 'is not a date of the calendar'
      : `must be a date such as 2026-01-31, or a time: it ${read.problem}`;
  }
  const year = Number(text.slice(0, 4));
  return year < YEAR_MIN || year > YEAR_MAX ? `must be in the years ${YEAR_MIN} to ${YEAR_MAX}` : undefined;
}

/** A date, or a time with its offset. */
export const dateOrInstant = z.string().superRefine((text, context) => {
  const message = problemOf(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** The instant that such a text means, as ISO 8601 UTC. */
export function instantOf(text: string, timeZone: string): string {
  const read = parseInstant(DATE.test(text) ? `${text}T00:00Z` : text);
  if ('problem' in read) throw new Error(`not checked before: ${text}`);
  return DATE.test(text) ? isoOf(firstInstant(timeZone, microsOf(read))) : read.text;
}
