// Numbers of invoices: without a gap, and in the order of finalization. The row of the counter is the last lock of whoever finalizes,
// but for the feed, and is held for a moment only: it was held over the computing elsewhere, and runs failed on billing days.

import { addDays, dateOf, firstInstantOfDate } from '@weir/rating/local-date';
import { isoOf, microsOfText } from '@weir/shared/instant';
import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '../../database.ts';

/** What invoices get in the moment that they are finalized. */
export interface Issue {
  /** As many as were asked for, rising. */
  numbers: string[];
  /** Taken after the lock of the counter, and later than what was given before, also where the clock goes back. */
  finalized_at: string;
  /** Dates of the organization's zone. */
  issue_date: string;
  due_date: string;
  /** When the due date has ended there. */
  past_due_at: string;
}

/** A number has at least as many digits. */
const DIGITS = 6;

/**
 * Takes numbers for invoices. Neither a number nor an issue date is before one that was given, also where the time zone has been moved
 * to the west since, or the clock has gone back: that of the last one is given again. Throws where there is no such organization.
 */
export async function takeNumbers(transaction: Queries, organizationId: string, count: number): Promise<Issue> {
  const { time_zone, payment_terms_days, invoice_prefix, now } = await transaction
    .selectFrom('organizations')
    .select(['time_zone', 'payment_terms_days', 'invoice_prefix', sql<string>`billing_clock()`.as('now')])
    .where('id', '=', organizationId)
    // Until this commits the zone stays: whoever goes by another one sees below what is given here.
    .forShare()
    .executeTakeFirstOrThrow();
  const last = await findLast(transaction, organizationId);
  let year = Math.max(yearOf(dateAt(time_zone, now)), last?.year ?? 0);
  let after = last?.last_at ?? null;
  for (;;) {
    const { last_number, at, issue_date } = await countOn(transaction, organizationId, {
      year,
      count,
      after,
      dateOf: (instant) => dateAt(time_zone, instant),
    });
    if (yearOf(issue_date) === year) {
      const due_date = addDays(issue_date, payment_terms_days);
      const past_due_at = isoOf(firstInstantOfDate(time_zone, addDays(due_date, 1)));
      const first = last_number - count + 1;
      const numbers = Array.from({ length: count }, (_, index) => {
        return `${invoice_prefix}-${year}-${String(first + index).padStart(DIGITS, '0')}`;
      });
      return { numbers, finalized_at: at, issue_date, due_date, past_due_at };
    }
    // The year ended while this one waited for the lock. What it took is given back, still under the lock.
    await giveBack(transaction, organizationId, { year, count });
    year = yearOf(issue_date);
    after = at;
  }
}

function dateAt(timeZone: string, text: string): string {
  return dateOf(timeZone, microsOfText(text));
}

function yearOf(date: string): number {
  return Number(date.slice(0, 4));
}

/** The last year in which an invoice was issued, and when. Undefined where none was. */
async function findLast(
  transaction: Queries,
  organizationId: string,
): Promise<{ year: number; last_at: string | null } | undefined> {
  return await transaction
    .selectFrom('invoice_numbers')
    .select(['year', 'last_at'])
    .where('organization_id', '=', organizationId)
    .orderBy('year', 'desc')
    .limit(1)
    .executeTakeFirst();
}

interface Counted {
  last_number: number;
  at: string;
  /** In another year where that of the counter is over. */
  issue_date: string;
}

/**
 * Counts on, and writes down the time and the issue date beside it, once the row is locked. No two transactions have the same time: by it
 * as-issued.ts knows which credits an invoice had when it was issued.
 */
async function countOn(
  transaction: Queries,
  organizationId: string,
  {
    year,
    count,
    after,
    dateOf: localDate,
  }: { year: number; count: number; after: string | null; dateOf: (instant: string) => string },
): Promise<Counted> {
  const clockAfter = (last: RawBuilder<unknown>) => sql`greatest(billing_clock(), ${last} + interval '1 microsecond')`;
  const { rows } = await sql<{ last_number: string; at: string; last_date: string | null }>`
    INSERT INTO invoice_numbers AS numbers (organization_id, year, last_number, last_at)
    VALUES (${organizationId}, ${year}, ${count}, ${clockAfter(sql`${after}::timestamptz`)})
    ON CONFLICT (organization_id, year) DO UPDATE SET last_number = numbers.last_number + excluded.last_number,
      last_at = ${clockAfter(sql`numbers.last_at`)}
    RETURNING last_number, last_at AS at, issue_date::text AS last_date`.execute(transaction);
  const [row] = rows;
  if (row === undefined) throw new Error('the counter of invoices returned no number');
  // Without one, nothing was issued in this year.
  const last = row.last_date ?? `${year}-01-01`;
  const local = localDate(row.at);
  const issue_date = local > last ? local : last;
  if (yearOf(issue_date) === year) {
    await sql`
      UPDATE invoice_numbers SET issue_date = ${issue_date}::date
      WHERE organization_id = ${organizationId} AND year = ${year}`.execute(transaction);
  }
  return { last_number: Number(row.last_number), at: row.at, issue_date };
}

async function giveBack(
  transaction: Queries,
  organizationId: string,
  { year, count }: { year: number; count: number },
): Promise<void> {
  await sql`
    UPDATE invoice_numbers SET last_number = last_number - ${count}
    WHERE organization_id = ${organizationId} AND year = ${year}`.execute(transaction);
}
