// Closes invoices for good. First the organization is closed, in a transaction of its own; then one transaction takes the drafts that
// nobody else has in hand, looks again whether there is anything to do, computes them as of that closing, and writes them down.
// A worker that dies leaves all of a chunk or nothing, and a job that comes twice finds nothing. Next: write-finalized.ts.

import type { ComputedLine } from '@weir/billing/lines';
import { microsOfText, type Micros } from '@weir/shared/instant';
import { sql } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { closeUntil } from '../usage/closing.ts';
import { holdAutomatic, isAutomatic } from '../drafting.ts';
import { computeEach } from '../invoices/compute-lines.ts';
import { invoicesById, type InvoiceRow } from '../invoices/invoices.ts';
import { metersOf } from '../subscriptions/late-events.ts';
import { writeFinalized, type LockedInvoice } from './write-finalized.ts';
import { writeLines } from './write-lines.ts';

/** Outcomes of invoices that were to be finalized; one in none of the lists was no draft, not due, or in other hands. */
export interface Finalized {
  finalized: string[];
  /** Came to no line, so they are no more. */
  deleted: string[];
  /** An earlier cycle of their subscription is a draft. */
  earlierDraft: string[];
  /** Could not be computed, and why: they hold up the later ones of their subscription, and nothing else. */
  notComputed: ReadonlyMap<string, Error>;
}

/** By whom, and whether before the grace is over. */
export interface FinalizeOptions {
  /** `user:` and an id, or `weir`. */
  actor: string;
  /**
   * Also before their grace is over, where only a person finalizes, and waiting for whoever has them in hand; else those are left
   * out.
   */
  now?: boolean;
}

/**
 * Finalizes drafts, up to 500 at once: all that can be, or where it throws none of them. Each takes the next number, in the order of
 * their periods.
 */
export async function finalizeInvoices(
  database: Database,
  organizationId: string,
  invoiceIds: readonly string[],
  options: FinalizeOptions,
): Promise<Finalized> {
  if (!(await closeForDrafts(database, organizationId, invoiceIds, options))) return NOTHING;
  return await database.kysely
    .transaction()
    .execute((transaction) => finalizeClosed(transaction, organizationId, invoiceIds, options));
}

const NOTHING: Finalized = { finalized: [], deleted: [], earlierDraft: [], notComputed: new Map() };

/** The first half of it: closes the organization. Returns false, and changes nothing, where none of the drafts is due. */
export async function closeForDrafts(
  database: Database,
  organizationId: string,
  invoiceIds: readonly string[],
  { now = false }: Pick<FinalizeOptions, 'now'>,
): Promise<boolean> {
  const reach = await findReach(database.kysely, organizationId, invoiceIds, now);
  if (reach === undefined) return false;
  await closeUntil(database, organizationId, reach);
  return true;
}

/** The second half, in a transaction that began after the first one. */
export async function finalizeClosed(
  transaction: Queries,
  organizationId: string,
  invoiceIds: readonly string[],
  { actor, now = false }: FinalizeOptions,
): Promise<Finalized> {
  if (!now && !(await holdAutomatic(transaction, organizationId))) return NOTHING;
  const locked = await lockDrafts(transaction, organizationId, invoiceIds, now);
  // Only now: what somebody else settled while this one waited was settled at this closing or at one before it.
  const closing = await readClosing(transaction, organizationId);
  const covered = locked.filter((row) => isCovered(row, closing, now));
  if (covered.length === 0) return NOTHING;
  const { both, earlierDraft, notComputed } = await writeEach(
    transaction,
    organizationId,
    covered.sort(byPeriod),
    closing,
  );
  const deleted = both.filter(({ computed }) => computed.lines === 0).map(({ row }) => row.id);
  const kept = both.filter(({ computed }) => computed.lines > 0);
  await deleteInvoices(transaction, organizationId, deleted);
  await writeFinalized(transaction, organizationId, kept, closing.number, actor);
  return { finalized: kept.map(({ row }) => row.id), deleted, earlierDraft, notComputed };
}

/** So many chunks are tried: each may take some tenths of a second. */
const CHUNKS_TRIED_MAX = 10;

/**
 * The same for the first of some chunks of which anything can be finalized, all of which were closed. What is behind it is `notReached`, and
 * what cannot be computed before it keeps nothing from it.
 */
export async function finalizeFirstClosed(
  transaction: Queries,
  organizationId: string,
  chunks: readonly (readonly string[])[],
  options: FinalizeOptions,
): Promise<Finalized & { notReached: string[] }> {
  const earlierDraft: string[] = [];
  const notComputed = new Map<string, Error>();
  for (const [index, chunk] of chunks.slice(0, CHUNKS_TRIED_MAX).entries()) {
    await sql`SAVEPOINT before_chunk`.execute(transaction);
    const { finalized, deleted, ...left } = await finalizeClosed(transaction, organizationId, chunk, options);
    earlierDraft.push(...left.earlierDraft);
    for (const [id, why] of left.notComputed) notComputed.set(id, why);
    if (finalized.length > 0 || deleted.length > 0)
      return { finalized, deleted, earlierDraft, notComputed, notReached: chunks.slice(index + 1).flat() };
    // Nothing was written. Its locks are let go: those of the next chunk would come behind them, and not in the order of ids.
    await sql`ROLLBACK TO SAVEPOINT before_chunk`.execute(transaction);
  }
  const notReached = chunks.slice(CHUNKS_TRIED_MAX).flat();
  return { finalized: [], deleted: [], earlierDraft, notComputed, notReached };
}

interface WrittenLines extends Pick<Finalized, 'earlierDraft' | 'notComputed'> {
  both: LockedInvoice[];
}

/**
 * Computes drafts and writes their lines down: of those that can be computed. While one of them cannot, nothing stays written, and it is done
 * again without that one and what has to wait for it.
 */
async function writeEach(
  transaction: Queries,
  organizationId: string,
  covered: readonly InvoiceRow[],
  { number }: ReadClosing,
): Promise<WrittenLines> {
  const take = (lines: ComputedLine[]) => writeLines(transaction, organizationId, lines, number);
  const notComputed = new Map<string, Error>();
  for (;;) {
    const left = covered.filter(({ id }) => !notComputed.has(id));
    const { ready, earlierDraft } = await leaveLater(transaction, organizationId, left);
    await sql`SAVEPOINT before_lines`.execute(transaction);
    const computed = await computeEach(transaction, organizationId, ready, number, { take });
    const both: LockedInvoice[] = [];
    for (const [index, row] of ready.entries()) {
      const each = computed[index] ?? new Error('an invoice was not computed');
      if (each instanceof Error) notComputed.set(row.id, each);
      else both.push({ row, computed: each });
    }
    if (both.length === ready.length) return { both, earlierDraft: earlierDraft.map(({ id }) => id), notComputed };
    await sql`ROLLBACK TO SAVEPOINT before_lines`.execute(transaction);
  }
}

/**
 * How far the organization has to be closed for these invoices, and since when; undefined where none is a draft that is due. Where
 * events of these drafts are late for the closing that there is, there has to be another: a finalization has waited for them, and a
 * draft has shown them. Those of periods that were billed before are its late changes, whatever the subscription is charged for now.
 */
async function findReach(
  db: Queries,
  organizationId: string,
  ids: readonly string[],
  now: boolean,
): Promise<{ until: string; notBefore: string } | undefined> {
  const { rows } = await sql<{ until: string | null; not_before: string }>`
    SELECT max(period_end) AS until,
      CASE WHEN ${now} OR bool_or(is_behind) THEN billing_clock() ELSE max(greatest(finalizes_at, created_at)) END AS not_before
    FROM ${invoicesById(organizationId, ids)} CROSS JOIN LATERAL (
      SELECT EXISTS (
        SELECT FROM closings
        CROSS JOIN LATERAL ${metersOf({ id: sql`invoice.subscription_id` })} AS billed
        CROSS JOIN LATERAL (
          SELECT FROM late_events
          WHERE organization_id = closings.organization_id AND meter_id = billed.meter_id
            AND customer_external_id = billed.customer_external_id AND closing > 0 AND closing >= closings.number
          ORDER BY closing LIMIT 1
        ) AS late
        WHERE closings.organization_id = invoice.organization_id) AS is_behind OFFSET 0
    ) AS looked
    WHERE status = 'DRAFT' AND (${now} OR run_at <= billing_now() AND ${isAutomatic(organizationId)})`.execute(db);
  const [row] = rows;
  return row === undefined || row.until === null ? undefined : { until: row.until, notBefore: row.not_before };
}

/** Takes drafts in hand: first their subscriptions, then themselves. */
async function lockDrafts(
  transaction: Queries,
  organizationId: string,
  ids: readonly string[],
  now: boolean,
): Promise<InvoiceRow[]> {
  const unlessTaken = now ? sql`` : sql`SKIP LOCKED`;
  const subscriptions = await sql<{ id: string }>`
    SELECT id FROM subscriptions
    WHERE organization_id = ${organizationId}::uuid AND id = ANY (ARRAY(
      SELECT subscription_id FROM ${invoicesById(organizationId, ids)} WHERE status = 'DRAFT'))
    ORDER BY id FOR UPDATE ${unlessTaken}`.execute(transaction);
  // Another statement sees what was committed while this one waited.
  const { rows } = await sql<InvoiceRow>`
    SELECT * FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND id = ANY (${ids}::uuid[])
      AND subscription_id = ANY (${subscriptions.rows.map(({ id }) => id)}::uuid[])
      AND status = 'DRAFT' AND (${now} OR run_at <= billing_now())
    ORDER BY id FOR UPDATE ${unlessTaken}`.execute(transaction);
  return rows;
}

/** A closing of an organization, and what it covers. */
export interface ReadClosing {
  number: number;
  until: Micros;
  closedAt: Micros;
}

/** The last closing of an organization that has committed. Throws where there is none. */
export async function readClosing(transaction: Queries, organizationId: string): Promise<ReadClosing> {
  const { number, until, closed_at } = await transaction
    .selectFrom('closings')
    .select(['number', 'until', 'closed_at'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return { number: Number(number), until: microsOfText(until), closedAt: microsOfText(closed_at) };
}

/**
 * A draft that came to be due, or was made, only after the closing is for another time: with a start long ago it is due at once, and
 * what was recorded between that closing and the making of the subscription would be late for its first invoice.
 */
function isCovered(row: InvoiceRow, { until, closedAt }: ReadClosing, now: boolean): boolean {
  const since = Math.max(microsOfText(row.finalizes_at ?? row.created_at), microsOfText(row.created_at));
  return microsOfText(row.period_end) <= until && (now || since <= closedAt);
}

/** By the ends of their periods, so that each subscription's cycles follow each other. */
function byPeriod(a: InvoiceRow, b: InvoiceRow): number {
  return microsOfText(a.period_end) - microsOfText(b.period_end) || (a.subscription_id < b.subscription_id ? -1 : 1);
}

/** Numbers of one subscription are in the order of its cycles: none is given while an earlier cycle has none. */
async function leaveLater(
  transaction: Queries,
  organizationId: string,
  locked: readonly InvoiceRow[],
): Promise<{ ready: InvoiceRow[]; earlierDraft: InvoiceRow[] }> {
  const { rows } = await sql<{ subscription_id: string; cycle: number }>`
    SELECT subscription_id, min(cycle) AS cycle FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND status = 'DRAFT' AND cycle IS NOT NULL
      AND subscription_id = ANY (${locked.map(({ subscription_id }) => subscription_id)}::uuid[])
      AND id <> ALL (${locked.map(({ id }) => id)}::uuid[])
    GROUP BY subscription_id`.execute(transaction);
  const earliest = new Map(rows.map(({ subscription_id, cycle }) => [subscription_id, cycle]));
  const isLater = ({ subscription_id, cycle }: InvoiceRow) =>
    (cycle ?? 0) > (earliest.get(subscription_id) ?? Infinity);
  return { ready: locked.filter((row) => !isLater(row)), earlierDraft: locked.filter(isLater) };
}

async function deleteInvoices(transaction: Queries, organizationId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    DELETE FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND id = ANY (${ids}::uuid[])`.execute(transaction);
}
