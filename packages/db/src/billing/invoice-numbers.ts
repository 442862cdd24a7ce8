// Numbers of invoices: without a gap, and in the order of finalization. The row of the counter is the last lock of whoever finalizes,
// but for the feed, and is held for a moment only: it was held over the computing elsewhere, and runs failed on billing days.

import { addDays, dateOf, firstInstantOfDate } from '@weir/rating/local-date';
import { isoOf } from '@weir/shared/instant';
import { sql } from 'kysely';
import type { Queries } from '../page.ts';
import { instantOf } from './schedules.ts';

/** What invoices get in the moment that they are finalized. */
export interface Issue {
  /** As many as were asked for, rising. */
  numbers: string[];
  /** Taken after the lock of the counter: a greater number has no earlier time. */
  finalized_at: string;
  /** Dates of the organization's zone. */
  issue_date: string;
  due_date: string;
  /** When the due date has ended there. */
  past_due_at: string;
}

/** A number has at least as many digits. */
const DIGITS = 6;

/** Takes numbers for invoices. Throws where there is no such organization. */
export async function takeNumbers(transaction: Queries, organizationId: string, count: number): Promise<Issue> {
  const { time_zone, payment_terms_days, invoice_prefix, now } = await transaction
    .selectFrom('organizations')
    .select(['time_zone', 'payment_terms_days', 'invoice_prefix', sql<string>`billing_clock()`.as('now')])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  let year = dateAt(time_zone, now).slice(0, 4);
  for (;;) {
    const { last_number, at } = await countOn(transaction, organizationId, Number(year), count);
    const issue_date = dateAt(time_zone, at);
    if (issue_date.startsWith(year)) {
      const due_date = addDays(issue_date, payment_terms_days);
      const past_due_at = isoOf(firstInstantOfDate(time_zone, addDays(due_date, 1)));
      const first = last_number - count + 1;
      const numbers = Array.from({ length: count }, (_, index) => {
        return `${invoice_prefix}-${year}-${String(first + index).padStart(DIGITS, '0')}`;
      });
      return { numbers, finalized_at: at, issue_date, due_date, past_due_at };
    }
    // The year ended while this one waited for the lock. What it took is given back, still under the lock.
    await countOn(transaction, organizationId, Number(year), -count);
    year = issue_date.slice(0, 4);
  }
}

function dateAt(timeZone: string, text: string): string {
  return dateOf(timeZone, instantOf(text));
}

async function countOn(
  transaction: Queries,
  organizationId: string,
  year: number,
  count: number,
): Promise<{ last_number: number; at: string }> {
  const { rows } = await sql<{ last_number: string; at: string }>`
    INSERT INTO invoice_numbers AS numbers (organization_id, year, last_number)
    VALUES (${organizationId}, ${year}, ${count})
    ON CONFLICT (organization_id, year) DO UPDATE SET last_number = numbers.last_number + excluded.last_number
    RETURNING last_number, billing_clock() AS at`.execute(transaction);
  const [row] = rows;
  if (row === undefined) throw new Error('the counter of invoices returned no number');
  return { last_number: Number(row.last_number), at: row.at };
}
