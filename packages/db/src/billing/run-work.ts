// What the run has to do, and what of it could not be done. The indexes on run_at and past_due_at hold only what is to come.

import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { Queries } from '../page.ts';
import { OPENED_BYTES_MAX, Room } from './chunk-weight.ts';
import { openPeriods } from './open-periods.ts';

/** Rows of one organization that the run has to look at. */
export interface DueWork {
  organization_id: string;
  ids: string[];
}

/** How many rows are looked for at once: the next time finds the others. */
const FOUND_MAX = 100_000;

/** One that could not be billed is tried again after this; the others of its chunk do not wait for it. */
const RETRY_MINUTES = 5;

/** The longest that finalization waits for events that were accepted and are not recorded. */
const WAITS_HOURS_MAX = 24;

/** An error is kept in so many characters. */
const ERROR_LENGTH_MAX = 500;

/** Subscriptions whose next boundary is past. */
export async function findDueSubscriptions(db: Queries): Promise<DueWork[]> {
  const { rows } = await sql<DueWork>`
    SELECT organization_id, array_agg(id ORDER BY id) AS ids FROM (
      SELECT organization_id, id FROM subscriptions WHERE run_at <= billing_now() ORDER BY run_at LIMIT ${FOUND_MAX}
    ) AS due
    GROUP BY organization_id`.execute(db);
  return rows;
}

/** Drafts whose grace is over. */
export async function findDueDrafts(db: Queries): Promise<DueWork[]> {
  const { rows } = await sql<DueWork>`
    SELECT organization_id, array_agg(id ORDER BY run_at, id) AS ids FROM (
      SELECT organization_id, id, run_at FROM invoices WHERE run_at <= billing_now() ORDER BY run_at LIMIT ${FOUND_MAX}
    ) AS due
    GROUP BY organization_id`.execute(db);
  return rows;
}

/** The same of some subscriptions, those of one subscription in the order of their cycles. */
export async function findDueDraftsOf(
  db: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND subscription_id = ANY (${subscriptionIds}::uuid[])
      AND status = 'DRAFT' AND run_at <= billing_now()
    ORDER BY cycle, subscription_id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Open invoices that are past due and not marked yet. */
export async function findPastDue(db: Queries): Promise<DueWork[]> {
  const { rows } = await sql<DueWork>`
    SELECT organization_id, array_agg(id ORDER BY id) AS ids FROM (
      SELECT organization_id, id FROM invoices
      WHERE status = 'OPEN' AND NOT is_past_due AND past_due_at <= billing_now()
      ORDER BY past_due_at LIMIT ${FOUND_MAX}
    ) AS due
    GROUP BY organization_id`.execute(db);
  return rows;
}

/** Organizations that have late events at all. */
export async function findOrganizationsWithLateEvents(db: Queries): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM organizations o
    WHERE EXISTS (SELECT FROM late_events l WHERE l.organization_id = o.id)`.execute(db);
  return rows.map(({ id }) => id);
}

/** Those drafts that do not wait for events which were accepted at `stagedSince` or later (ISO 8601), or have waited for long. */
export async function leaveWaiting(
  db: Queries,
  organizationId: string,
  invoiceIds: readonly string[],
  stagedSince: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND id = ANY (${invoiceIds}::uuid[])
      AND (period_end <= ${stagedSince}::timestamptz OR finalizes_at <= billing_now() - make_interval(hours => ${WAITS_HOURS_MAX}))
    `.execute(db);
  const ready = new Set(rows.map(({ id }) => id));
  return invoiceIds.filter((id) => ready.has(id));
}

/** What of the run waits, as one looks at it from outside. */
export interface RunState {
  /** Drafts whose grace is over. */
  draftsDue: number;
  /** How long the work that is due and oldest has waited, in seconds; 0 where none is. */
  oldestSeconds: number;
}

export async function readRunState(db: Queries): Promise<RunState> {
  const { rows } = await sql<{ drafts: string; seconds: number }>`
    SELECT (SELECT count(*) FROM invoices WHERE run_at <= billing_now()) AS drafts,
      greatest(0, extract(epoch FROM billing_now() - least(
        (SELECT min(run_at) FROM invoices WHERE run_at IS NOT NULL),
        (SELECT min(run_at) FROM subscriptions WHERE run_at IS NOT NULL),
        billing_now())))::float8 AS seconds`.execute(db);
  const [row] = rows;
  return { draftsDue: Number(row?.drafts ?? 0), oldestSeconds: row?.seconds ?? 0 };
}

/** How many drafts whose grace is over end at an instant (ISO 8601), but for those that have waited for long. */
export interface DueDrafts {
  organization_id: string;
  period_end: string;
  drafts: number;
}

/** Those that may wait for events. */
export async function countDueDrafts(db: Queries): Promise<DueDrafts[]> {
  const { rows } = await sql<DueDrafts>`
    SELECT organization_id, period_end, count(*)::integer AS drafts FROM invoices
    WHERE run_at <= billing_now() AND finalizes_at > billing_now() - make_interval(hours => ${WAITS_HOURS_MAX})
    GROUP BY organization_id, period_end`.execute(db);
  return rows;
}

/**
 * Brings those of some subscriptions up to date whose boundary is past and which nobody else has in hand, as far as one transaction
 * takes it on: where it throws, none of them. Returns whether some of them are still behind.
 */
export async function openDueSubscriptions(
  database: Database,
  organizationId: string,
  subscriptionIds: readonly string[],
): Promise<boolean> {
  return await database.kysely.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM subscriptions
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (${subscriptionIds}::uuid[]) AND run_at <= billing_now()
      ORDER BY id FOR UPDATE SKIP LOCKED`.execute(transaction);
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return false;
    await openPeriods(transaction, organizationId, ids, new Room(OPENED_BYTES_MAX));
    const { rows: behind } = await sql`
      SELECT FROM subscriptions
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (${ids}::uuid[]) AND run_at <= billing_now()
      LIMIT 1`.execute(transaction);
    return behind.length > 0;
  });
}

/** Has the run leave a subscription alone for some minutes, and says why. */
export async function postponeSubscription(
  db: Queries,
  organizationId: string,
  id: string,
  error: string,
): Promise<void> {
  await sql`
    UPDATE subscriptions
    SET run_error = ${error.slice(0, ERROR_LENGTH_MAX)}, run_at = billing_now() + make_interval(mins => ${RETRY_MINUTES})
    WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid AND run_at <= billing_now()`.execute(db);
}

/** The same for a draft, and for those that have to wait until it is finalized. */
export async function postponeDraft(db: Queries, organizationId: string, id: string, error: string): Promise<void> {
  await sql`
    UPDATE invoices
    SET run_error = CASE WHEN id = ${id}::uuid THEN ${error.slice(0, ERROR_LENGTH_MAX)} ELSE run_error END,
      run_at = billing_now() + make_interval(mins => ${RETRY_MINUTES})
    WHERE organization_id = ${organizationId}::uuid AND status = 'DRAFT' AND run_at <= billing_now()
      AND subscription_id = (
        SELECT subscription_id FROM invoices WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid)
    `.execute(db);
}

/** Has the run leave drafts alone for some minutes that wait for an earlier one which is not due itself. */
export async function postponeLater(db: Queries, organizationId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    UPDATE invoices SET run_at = billing_now() + make_interval(mins => ${RETRY_MINUTES})
    WHERE organization_id = ${organizationId}::uuid AND id = ANY (${ids}::uuid[]) AND status = 'DRAFT'
      AND run_at <= billing_now() AND NOT EXISTS (
        SELECT FROM invoices earlier
        WHERE earlier.organization_id = invoices.organization_id AND earlier.subscription_id = invoices.subscription_id
          AND earlier.cycle < invoices.cycle AND earlier.status = 'DRAFT' AND earlier.run_at <= billing_now())`.execute(
    db,
  );
}
