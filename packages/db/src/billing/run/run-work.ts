// What the run has to do, and what of it could not be done. The indexes on run_at and past_due_at hold only what is to come.

import { OPENED_BYTES_MAX, Room } from '@weir/billing/chunk-weight';
import { sql, type RawBuilder } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { isAutomatic, isDraftPutOff } from '../drafting.ts';
import { invoicesById } from '../invoices/invoices.ts';
import { openPeriods } from '../subscriptions/open-periods.ts';

/** One that could not be billed is tried again after this; the others of its chunk do not wait for it. */
const RETRY_MINUTES = 5;

/** One that a worker died of twice, and would die of again; and one that waits for a person. */
const LONG_RETRY_MINUTES = 6 * 60;

/** The longest that finalization waits for events that were accepted and are not recorded. */
const WAITS_HOURS_MAX = 24;

/** An error is kept in so many characters. */
const ERROR_LENGTH_MAX = 500;

/** Work of the run that has a time of its own. */
export type DueTask = 'open' | 'finalize' | 'past_due';

/** Organizations that have something due, one by one: none of them hides the others, however much it has. */
export async function findDueOrganizations(db: Queries, task: DueTask): Promise<string[]> {
  const due = {
    open: sql`SELECT FROM subscriptions s WHERE s.organization_id = o.id AND s.run_at <= billing_now()`,
    finalize: sql`SELECT FROM invoices i WHERE i.organization_id = o.id AND i.run_at <= billing_now() AND o.finalize = 'automatic'`,
    past_due: sql`SELECT FROM invoices i
      WHERE i.organization_id = o.id AND i.status = 'OPEN' AND NOT i.is_past_due AND i.past_due_at <= billing_now()`,
  }[task];
  const { rows } = await sql<{ id: string }>`SELECT id FROM organizations o WHERE EXISTS (${due})`.execute(db);
  return rows.map(({ id }) => id);
}

/** A subscription that is due. */
export interface DueSubscription {
  id: string;
  /** There is nothing to open of it: its settlement was put off until now. */
  hasEnded: boolean;
}

/** Subscriptions of an organization whose next boundary is past, or whose settlement was put off until now, earliest first. */
export async function findDueSubscriptions(
  db: Queries,
  organizationId: string,
  limit: number,
): Promise<DueSubscription[]> {
  const { rows } = await sql<DueSubscription>`
    SELECT id, status = 'CANCELED' AS "hasEnded" FROM subscriptions
    WHERE organization_id = ${organizationId}::uuid AND run_at <= billing_now()
    ORDER BY run_at, id LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * Drafts of an organization whose grace is over, earliest first; those of one subscription in the order of their cycles. Without
 * those that wait for events which were accepted at `stagedSince` (ISO 8601; null: none are), unless they have waited for long.
 */
export async function findDueDrafts(
  db: Queries,
  organizationId: string,
  { stagedSince, limit }: { stagedSince: string | null; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM invoices WHERE organization_id = ${organizationId}::uuid AND run_at <= billing_now()
      AND ${isAutomatic(organizationId)} AND (${stagedSince}::timestamptz IS NULL OR ${isReady(stagedSince)})
    ORDER BY run_at, id LIMIT ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Whether a draft does not wait for events that were accepted at `stagedSince` or later. */
function isReady(stagedSince: string | null): RawBuilder<boolean> {
  return sql`(period_end <= ${stagedSince}::timestamptz
    OR finalizes_at <= billing_now() - make_interval(hours => ${WAITS_HOURS_MAX}))`;
}

/** The drafts of some subscriptions whose grace is over, those of one subscription in the order of their cycles. */
export async function findDueDraftsOf(
  db: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND subscription_id = ANY (${subscriptionIds}::uuid[])
      AND status = 'DRAFT' AND run_at <= billing_now() AND ${isAutomatic(organizationId)}
    ORDER BY cycle, subscription_id LIMIT ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Open invoices of an organization that are past due and not marked yet. */
export async function findPastDue(db: Queries, organizationId: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND status = 'OPEN' AND NOT is_past_due
      AND past_due_at <= billing_now()
    ORDER BY past_due_at LIMIT ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Organizations that have something for a settlement: late events, or dues of a void invoice that are to be billed again. */
export async function findOrganizationsToSettle(db: Queries): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM organizations o
    WHERE EXISTS (SELECT FROM late_events l WHERE l.organization_id = o.id)
      OR EXISTS (SELECT FROM dues d WHERE d.organization_id = o.id AND d.rebilling)`.execute(db);
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
      AND ${isReady(stagedSince)}`.execute(db);
  const ready = new Set(rows.map(({ id }) => id));
  return invoiceIds.filter((id) => ready.has(id));
}

/** The backlog of the run, as one looks at it from outside. */
export interface RunState {
  /** Drafts whose grace is over. */
  draftsDue: number;
  /** How long the oldest boundary, draft or due date that is past has waited, in seconds; 0 where none is. */
  oldestSeconds: number;
  /** What could not be opened, finalized, marked as past due or settled when it was tried last, and is tried again. */
  leftOut: number;
}

export async function readRunState(db: Queries): Promise<RunState> {
  const { rows } = await sql<{ drafts: string; seconds: number; left_out: string }>`
    SELECT (SELECT count(*) FROM invoices i JOIN organizations o ON o.id = i.organization_id
        WHERE i.run_at <= billing_now() AND o.finalize = 'automatic') AS drafts,
      greatest(0, extract(epoch FROM billing_now() - least(
        (SELECT min(due.run_at) FROM organizations o CROSS JOIN LATERAL (
          SELECT run_at FROM invoices WHERE organization_id = o.id AND run_at IS NOT NULL AND o.finalize = 'automatic'
          ORDER BY run_at LIMIT 1) AS due),
        (SELECT min(due.run_at) FROM organizations o CROSS JOIN LATERAL (
          SELECT run_at FROM subscriptions WHERE organization_id = o.id AND run_at IS NOT NULL ORDER BY run_at LIMIT 1) AS due),
        (SELECT min(due.past_due_at) FROM organizations o CROSS JOIN LATERAL (
          SELECT past_due_at FROM invoices WHERE organization_id = o.id AND status = 'OPEN' AND NOT is_past_due
          ORDER BY past_due_at LIMIT 1) AS due),
        billing_now())))::float8 AS seconds,
      (SELECT count(*) FROM invoices WHERE ${isDraftPutOff})
        + (SELECT count(*) FROM invoices WHERE run_error IS NOT NULL AND status = 'OPEN')
        + (SELECT count(*) FROM subscriptions WHERE run_error IS NOT NULL) AS left_out`.execute(db);
  const [row] = rows;
  return {
    draftsDue: Number(row?.drafts ?? 0),
    oldestSeconds: row?.seconds ?? 0,
    leftOut: Number(row?.left_out ?? 0),
  };
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
    SELECT organization_id, period_end, count(*)::integer AS drafts
    FROM invoices JOIN organizations o ON o.id = organization_id AND o.finalize = 'automatic'
    WHERE run_at <= billing_now() AND finalizes_at > billing_now() - make_interval(hours => ${WAITS_HOURS_MAX})
    GROUP BY organization_id, period_end`.execute(db);
  return rows;
}

/** How many subscriptions were brought on, and whether some of them are still behind: none whose plan somebody changes. */
interface Opened {
  opened: number;
  isBehind: boolean;
}

/**
 * Brings those of some subscriptions up to date whose boundary is past and which nobody else has in hand, nor their plan, as far as one
 * transaction takes it on: where it throws, none of them.
 */
export async function openDueSubscriptions(
  database: Database,
  organizationId: string,
  subscriptionIds: readonly string[],
): Promise<Opened> {
  return await database.kysely.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM subscriptions
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (${subscriptionIds}::uuid[]) AND run_at <= billing_now()
      ORDER BY id FOR UPDATE SKIP LOCKED`.execute(transaction);
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return { opened: 0, isBehind: false };
    const room = new Room(OPENED_BYTES_MAX);
    const opened = await openPeriods(transaction, organizationId, ids, room);
    // Those of a plan that somebody changes are left, too: for the next look, and not for this one again and again.
    if (room.isLeft) return { opened, isBehind: false };
    const { rows: behind } = await sql`
      SELECT FROM subscriptions
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (${ids}::uuid[]) AND run_at <= billing_now()
      LIMIT 1`.execute(transaction);
    return { opened, isBehind: behind.length > 0 };
  });
}

/** Has the run leave a subscription alone for some minutes, and says why. */
export async function postponeSubscription(
  db: Queries,
  organizationId: string,
  id: string,
  error: string,
  { isForLong = false } = {},
): Promise<void> {
  const minutes = isForLong ? LONG_RETRY_MINUTES : RETRY_MINUTES;
  await sql`
    UPDATE subscriptions
    SET run_error = ${error.slice(0, ERROR_LENGTH_MAX)}, run_at = billing_now() + make_interval(mins => ${minutes})
    WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid AND run_at <= billing_now()`.execute(db);
}

/** The same for a draft, and for those that have to wait until it is finalized. */
export async function postponeDraft(
  db: Queries,
  organizationId: string,
  id: string,
  error: string,
  { isForLong = false } = {},
): Promise<void> {
  const minutes = isForLong ? LONG_RETRY_MINUTES : RETRY_MINUTES;
  await sql`
    UPDATE invoices
    SET run_error = CASE WHEN id = ${id}::uuid THEN ${error.slice(0, ERROR_LENGTH_MAX)} ELSE run_error END,
      run_at = billing_now() + make_interval(mins => ${minutes})
    WHERE organization_id = ${organizationId}::uuid AND status = 'DRAFT' AND run_at <= billing_now()
      AND subscription_id = (
        SELECT subscription_id FROM invoices WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid)
    `.execute(db);
}

/** The same for an open invoice that is to be marked as past due. */
export async function postponePastDue(
  db: Queries,
  organizationId: string,
  id: string,
  error: string,
  { isForLong = false } = {},
): Promise<void> {
  const minutes = isForLong ? LONG_RETRY_MINUTES : RETRY_MINUTES;
  await sql`
    UPDATE invoices
    SET run_error = ${error.slice(0, ERROR_LENGTH_MAX)}, past_due_at = billing_now() + make_interval(mins => ${minutes})
    WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid AND status = 'OPEN' AND NOT is_past_due
      AND past_due_at <= billing_now()`.execute(db);
}

/**
 * Has the run settle nothing of a subscription that has ended for some hours, and says why. When they are over, the run tries it again.
 */
export async function postponeSettlement(
  db: Queries,
  organizationId: string,
  subscriptionId: string,
  error: string,
): Promise<void> {
  await sql`
    UPDATE subscriptions
    SET run_error = ${error.slice(0, ERROR_LENGTH_MAX)}, run_at = billing_now() + make_interval(mins => ${LONG_RETRY_MINUTES})
    WHERE organization_id = ${organizationId}::uuid AND id = ${subscriptionId}::uuid AND status = 'CANCELED'`.execute(
    db,
  );
}

/**
 * Has the run leave drafts alone for some minutes that wait for an earlier one which is not due itself. Each is asked for by itself:
 * side by side, all drafts of the organization would be compared with each of these.
 */
export async function postponeLater(db: Queries, organizationId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    UPDATE invoices SET run_at = billing_now() + make_interval(mins => ${RETRY_MINUTES})
    WHERE organization_id = ${organizationId}::uuid AND status = 'DRAFT' AND run_at <= billing_now() AND id = ANY (ARRAY(
      SELECT id FROM ${invoicesById(organizationId, ids)}
      WHERE (SELECT true FROM invoices earlier
        WHERE earlier.organization_id = ${organizationId}::uuid AND earlier.subscription_id = invoice.subscription_id
          AND earlier.cycle < invoice.cycle AND earlier.status = 'DRAFT' AND earlier.run_at <= billing_now() LIMIT 1) IS NULL))
    `.execute(db);
}
