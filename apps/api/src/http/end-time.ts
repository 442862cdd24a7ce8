// When something ends that counts until then: a grant, or a token.

import { parseInstant } from '@weir/shared/instant';
import { YEARS } from '@weir/shared/limits';
import { z } from 'zod';
import { invalidFields } from './problem.ts';

/** As late as any window of usage may end, in milliseconds since 1970; what is later is a mistake, and Postgres may not hold it. */
const END_MS_MAX = Date.UTC(YEARS.max + 1, 0);

/** The field `expires_at` of a body; null where it is not given. {@link readEnd} reads it. */
export function endTime(description: string) {
  return z.string().meta({ description, format: 'date-time' }).nullable().default(null);
}

/** Puts it into the form in which it is kept. Throws a Refusal where it is none. */
export function readEnd(text: string | null): string | null {
  if (text === null) return null;
  const instant = parseInstant(text);
  if ('problem' in instant) throw invalidFields([{ path: 'expires_at', message: instant.problem }]);
  if (instant.epochMs >= END_MS_MAX)
    throw invalidFields([{ path: 'expires_at', message: `must be before the year ${YEARS.max + 1}` }]);
  return instant.text;
}
