// Which time an invoice is of: instants that are compared with the end of its period, and dates with its issue date.

import { findTimeZone } from '@weir/db/organizations';
import type { Queries } from '@weir/db/database';
import { instantInZone, problemOfDateOrInstant } from '@weir/shared/date-or-instant';
import { z } from 'zod';
import { dateOrInstant } from '../http/fields.ts';

const POINTS = 'Compared with period_end. A bare date is its first instant in the time zone of the organization.';
const DATES = 'Compared with issue_date, which a draft has not.';

/** A date of the calendar. */
const date = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, { error: 'must be a date, such as 2026-11-30', abort: true })
  .superRefine((text, { addIssue }) => {
    const message = problemOfDateOrInstant(text);
    if (message !== undefined) addIssue({ code: 'custom', message });
  })
  .meta({ format: 'date' });

/** The part of a query that says of when invoices are. */
export const betweenQuery = {
  from: dateOrInstant.optional().meta({ description: `From this instant on. ${POINTS}` }),
  to: dateOrInstant.optional().meta({ description: `Before this instant. ${POINTS}` }),
  issued_from: date.optional().meta({ description: `From this date on. ${DATES}` }),
  issued_to: date.optional().meta({ description: `Before this date. ${DATES}` }),
};

interface BetweenQuery {
  from?: string | undefined;
  to?: string | undefined;
  issued_from?: string | undefined;
  issued_to?: string | undefined;
}

export async function between(
  db: Queries,
  organizationId: string,
  { from, to, issued_from: issuedFrom, issued_to: issuedTo }: BetweenQuery,
) {
  if (from === undefined && to === undefined) return { issuedFrom, issuedTo };
  const timeZone = await findTimeZone(db, organizationId);
  const instant = (text: string | undefined) => (text === undefined ? undefined : instantInZone(text, timeZone));
  return { from: instant(from), to: instant(to), issuedFrom, issuedTo };
}
