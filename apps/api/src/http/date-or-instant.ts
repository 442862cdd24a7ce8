import { problemOfDateOrInstant } from '@weir/shared/date-or-instant';
import { z } from 'zod';

/** A point in time: a date, or a time with its offset. Whose zone a date is of, the field says. */
export const dateOrInstant = z.string().superRefine((text, { addIssue }) => {
  const message = problemOfDateOrInstant(text);
  if (message !== undefined) addIssue({ code: 'custom', message });
});
