import { firstInstantOfDate } from '@weir/rating/local-date';
import { microsOf, parseInstant, type Micros } from '@weir/shared/instant';
import { z } from 'zod';
import { invalidFields } from '../http/problem.ts';

/** The instant that a field of a body means: a date is its first instant in a time zone. Throws a Refusal for what is neither. */
export function readTime(path: string, text: string, timeZone: string): Micros {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) {
    if (!z.iso.date().safeParse(text).success || text < '0001')
      throw invalidFields([{ path, message: 'is not a date of the calendar' }]);
    return firstInstantOfDate(timeZone, text);
  }
  const instant = parseInstant(text);
  if ('problem' in instant)
    throw invalidFields([{ path, message: `${instant.problem}; or a date, such as 2026-01-31` }]);
  return microsOf(instant);
}
