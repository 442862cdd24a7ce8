// Settlements: the invoices of what changed late of subscriptions that have ended, of which no other invoice is to come, and of what is to
// be billed again of others before their next boundary, where somebody asks for that. Their kind is ADJUSTMENT; a line that an admin adds
// to a draft is an adjustment, and nothing of this.

import { amountOf } from '@weir/billing/amounts';
import { OPENED_BYTES_MAX, Room } from '@weir/billing/chunk-weight';
import type { InvoiceToCompute } from '@weir/billing/dues-of-invoices';
import { draftData } from '@weir/billing/feed-events';
import type { ComputedInvoice, ComputedLine } from '@weir/billing/lines';
import { newId } from '@weir/shared/ids';
import { isoOf, microsOfText, type Micros } from '@weir/shared/instant';
import { sql } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { isMovedAway } from '../../moves/usage-moves.ts';
import { closeUntil } from '../usage/closing.ts';
import { computeInvoices } from '../invoices/compute-lines.ts';
import { readClosing } from './finalize.ts';
import { holdAutomatic } from '../drafting.ts';
import { appendFeed } from '../feed.ts';
import type { InvoiceRow } from '../invoices/invoices.ts';
import { inSnapshot } from '../snapshot.ts';
import { endRebilling, isRebilling, type IdleDue } from '../subscriptions/dues.ts';
import { lateDuesOf } from '../subscriptions/late-events.ts';
import { openPeriods } from '../subscriptions/open-periods.ts';
import { lockSubscription, type SubscriptionRow } from '../subscriptions/subscriptions.ts';
import { writeFinalized } from './write-finalized.ts';
import { writeLines } from './write-lines.ts';

/** The outcome of settling a subscription. */
export type Settlement =
  | { outcome: 'settled'; invoiceId: string }
  /** On a draft, which a person has to finalize. */
  | { outcome: 'drafted'; invoiceId: string }
  /** Its late changes come to no amount, or it has none. They wait. */
  | { outcome: 'nothing' }
  | { outcome: 'not_found' }
  /** Nor is anything of it to be billed again: what came late is on its next invoice. */
  | { outcome: 'subscription_not_ended' }
  /** One of its invoices is a draft, which may have been made just now, and takes all of it. */
  | { outcome: 'earlier_draft' }
  /** Its customer is just being erased. */
  | { outcome: 'usage_moving' };

/** By whom: `user:` and an id, or `weir`. */
interface SettleOptions {
  actor: string;
  /** Finalize it also where only a person does. */
  now?: boolean;
}

/**
 * Puts the late changes of a subscription that has ended, or of which something is to be billed again, on an invoice, and finalizes it,
 * where that is not left to people. It closes the organization only where that comes to an amount by now: what comes to none waits, and
 * is looked at again and again.
 */
export async function settleSubscription(
  database: Database,
  organizationId: string,
  subscriptionId: string,
  by: SettleOptions,
): Promise<Settlement> {
  return (
    (await closeForSettling(database, organizationId, subscriptionId)) ??
    (await database.kysely
      .transaction()
      .execute((transaction) => settleClosed(transaction, organizationId, subscriptionId, by)))
  );
}

/** The first half of it: closes the organization, or returns why there is nothing to settle. */
export async function closeForSettling(
  database: Database,
  organizationId: string,
  subscriptionId: string,
): Promise<Settlement | undefined> {
  await passEnd(database, organizationId, subscriptionId);
  const problem = await findProblem(database.kysely, organizationId, subscriptionId);
  if (problem !== undefined) return problem;
  const draft = await inSnapshot(database, (snapshot) =>
    computeSettlement(snapshot, organizationId, subscriptionId, null),
  );
  if (draft.computed === undefined) {
    await leaveAsBilled(database, organizationId, subscriptionId, draft.idle);
    return { outcome: 'nothing' };
  }
  await closeUntil(database, organizationId, await findReach(database.kysely, organizationId, subscriptionId));
  return undefined;
}

/** The second half, in a transaction that began after the first one. */
export async function settleClosed(
  transaction: Queries,
  organizationId: string,
  subscriptionId: string,
  { actor, now = false }: SettleOptions,
): Promise<Settlement> {
  // The organization behind the subscription, as whoever numbers its invoices has it.
  const subscription = await lockSubscription(transaction, organizationId, subscriptionId);
  const isAutomatic = await holdAutomatic(transaction, organizationId);
  const changed = await findProblem(transaction, organizationId, subscriptionId);
  if (subscription === undefined || changed !== undefined) return changed ?? { outcome: 'not_found' };
  const closing = await readClosing(transaction, organizationId);
  const settlement = await computeSettlement(transaction, organizationId, subscriptionId, closing.number);
  const { asked, computed } = settlement;
  if (computed === undefined) return { outcome: 'nothing' };
  await endPostponement(transaction, organizationId, subscriptionId);
  const row = await insertSettlement(transaction, subscription, settlement);
  const created = { type: 'invoice.created', actor, data: draftData(row, { isManual: !isAutomatic }) } as const;
  if (!now && !isAutomatic) {
    await appendFeed(transaction, organizationId, [created]);
    return { outcome: 'drafted', invoiceId: row.id };
  }
  // Computed once more: until the sum was known, there was no invoice to write lines of.
  const take = (lines: ComputedLine[]) => writeLines(transaction, organizationId, lines, closing.number);
  await computeInvoices(transaction, organizationId, [asked], closing.number, { take });
  await writeFinalized(transaction, organizationId, [{ row, computed }], closing.number, actor, [created]);
  return { outcome: 'settled', invoiceId: computed.id };
}

/** What a settlement comes to. */
interface ComputedSettlement {
  asked: InvoiceToCompute;
  /** Undefined where it comes to no amount. */
  computed: ComputedInvoice | undefined;
  /** What the periods of its lines span. */
  start: Micros;
  end: Micros;
  /** Dues that were to be billed again, where none of its lines comes to an amount. */
  idle: readonly IdleDue[];
}

/** What the late changes come to, at a closing or with null by now. */
async function computeSettlement(
  db: Queries,
  organizationId: string,
  subscriptionId: string,
  closing: number | null,
): Promise<ComputedSettlement> {
  const { currency } = await db
    .selectFrom('subscriptions')
    .select('currency')
    .where('organization_id', '=', organizationId)
    .where('id', '=', subscriptionId)
    .executeTakeFirstOrThrow();
  const asked = { id: newId(), kind: 'ADJUSTMENT', subscription_id: subscriptionId, cycle: null, currency } as const;
  let [start, end] = [Infinity, -Infinity];
  let isNothing = true;
  const idle: IdleDue[] = [];
  const take = (lines: ComputedLine[]): void => {
    for (const { due, amount } of lines) {
      if (due === null) continue;
      const { subscription_id, cycle, charge_id, rebills } = due;
      start = Math.min(start, microsOfText(due.period_start));
      end = Math.max(end, microsOfText(due.period_end));
      isNothing &&= amountOf(amount, currency) === 0n;
      if (isNothing && due.rebilling) idle.push({ subscription_id, cycle, charge_id, rebills });
    }
  };
  const [computed] = await computeInvoices(db, organizationId, [asked], closing, { take });
  const isDue = computed !== undefined && computed.total !== 0n;
  return { asked, computed: isDue ? computed : undefined, start, end, idle: isNothing ? idle : [] };
}

/**
 * Bills dues no more that were to be billed again and come to what was billed, as when the invoice that gave something back was voided, and
 * then the one that had billed it. No invoice would ever say so, and each run would look at them. What comes late finds them all the same.
 */
async function leaveAsBilled(
  database: Database,
  organizationId: string,
  subscriptionId: string,
  dues: readonly IdleDue[],
): Promise<void> {
  await endPostponement(database.kysely, organizationId, subscriptionId);
  if (dues.length === 0) return;
  await database.kysely.transaction().execute(async (transaction) => {
    const subscription = await lockSubscription(transaction, organizationId, subscriptionId);
    // Of a running one the next invoice says so.
    if (subscription?.status === 'CANCELED') await endRebilling(transaction, organizationId, dues);
  });
}

/** What had the run put it off (`postponeSettlement`) is over, as it was computed by now. */
async function endPostponement(db: Queries, organizationId: string, subscriptionId: string): Promise<void> {
  await sql`UPDATE subscriptions SET run_at = NULL, run_error = NULL
    WHERE organization_id = ${organizationId}::uuid AND id = ${subscriptionId}::uuid AND status = 'CANCELED'
      AND run_error IS NOT NULL`.execute(db);
}

/** Makes the final invoice of a subscription that has ended, where the run has not been there yet. */
async function passEnd(database: Database, organizationId: string, subscriptionId: string): Promise<void> {
  const { rows } = await sql`
    SELECT FROM subscriptions WHERE organization_id = ${organizationId}::uuid AND id = ${subscriptionId}::uuid
      AND status <> 'CANCELED' AND ended_at <= billing_now()`.execute(database.kysely);
  if (rows.length === 0) return;
  await database.kysely.transaction().execute(async (transaction) => {
    await lockSubscription(transaction, organizationId, subscriptionId);
    await openPeriods(transaction, organizationId, [subscriptionId], new Room(OPENED_BYTES_MAX));
  });
}

async function findProblem(
  db: Queries,
  organizationId: string,
  subscriptionId: string,
): Promise<Settlement | undefined> {
  const { rows } = await sql<{ is_due: boolean; has_draft: boolean; is_moved_away: boolean }>`
    SELECT status = 'CANCELED' OR ${isRebilling} AS is_due, ${isMovedAway('s')} AS is_moved_away, EXISTS (
      SELECT FROM invoices
      WHERE organization_id = s.organization_id AND subscription_id = s.id AND invoices.status = 'DRAFT') AS has_draft
    FROM subscriptions s
    WHERE organization_id = ${organizationId}::uuid AND id = ${subscriptionId}::uuid`.execute(db);
  const [row] = rows;
  if (row === undefined) return { outcome: 'not_found' };
  if (!row.is_due) return { outcome: 'subscription_not_ended' };
  if (row.is_moved_away) return { outcome: 'usage_moving' };
  return row.has_draft ? { outcome: 'earlier_draft' } : undefined;
}

/** All of its periods, as far as they have come by this moment. */
async function findReach(
  db: Queries,
  organizationId: string,
  subscriptionId: string,
): Promise<{ until: string; notBefore: string }> {
  const { rows } = await sql<{ until: string; not_before: string }>`
    SELECT least(max(period_end), billing_clock()) AS until, billing_clock() AS not_before FROM dues
    WHERE organization_id = ${organizationId}::uuid AND subscription_id = ${subscriptionId}::uuid
    HAVING count(*) > 0`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`the subscription ${subscriptionId} has late dues, and no dues`);
  return { until: row.until, notBefore: row.not_before };
}

async function insertSettlement(
  transaction: Queries,
  { organization_id, id: subscription_id, customer_id, currency }: SubscriptionRow,
  { asked: { id }, start, end }: ComputedSettlement,
): Promise<InvoiceRow> {
  const { rows } = await sql<InvoiceRow>`
    INSERT INTO invoices (organization_id, id, kind, status, subscription_id, customer_id, currency, period_start, period_end,
      finalizes_at, run_at)
    VALUES (${organization_id}::uuid, ${id}::uuid, 'ADJUSTMENT', 'DRAFT', ${subscription_id}::uuid, ${customer_id}::uuid,
      ${currency}, ${isoOf(start)}::timestamptz, ${isoOf(end)}::timestamptz, billing_now(), billing_now())
    RETURNING *`.execute(transaction);
  const [row] = rows;
  if (row === undefined) throw new Error('an invoice was inserted, and is not there');
  return row;
}

/** Days between two invoices of kind ADJUSTMENT that nobody asked for. */
const DAYS_BETWEEN = 1;

/** What a look at some subscriptions has found to settle. */
export interface Unsettled {
  ids: string[];
  /** The last one that was looked at; undefined where no other follows it. */
  last: string | undefined;
}

/**
 * Looks at `limit` subscriptions of an organization in the order of their ids, after the one that the look before ended with, and finds
 * those that have ended, have late changes, no draft, no invoice of kind ADJUSTMENT of the last day, and are not put off. Late events are
 * never deleted, so most looks find nothing: the limit is of what is read, and not of what is found.
 */
export async function findUnsettled(
  db: Queries,
  organizationId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<Unsettled> {
  // Each is asked for by itself, and no further than it has to be. Drafts are the last of its cycles, since none is finalized before an
  // earlier one: the last one alone is read, by an index. A condition more, and Postgres may believe that it is quicker to sort all.
  const { rows } = await sql<{ id: string; is_unsettled: boolean }>`
    SELECT s.id, CASE
      WHEN s.status <> 'CANCELED' OR s.run_at IS NOT NULL OR ${isMovedAway('s')} THEN false
      WHEN (SELECT i.status = 'DRAFT' AND i.organization_id = s.organization_id FROM invoices i
        WHERE i.subscription_id = s.id AND i.cycle IS NOT NULL ORDER BY i.organization_id DESC, i.cycle DESC LIMIT 1) THEN false
      WHEN (SELECT true FROM invoices i
        WHERE i.subscription_id = s.id AND (i.organization_id = s.organization_id) IS TRUE AND i.cycle IS NULL
          AND (i.status = 'DRAFT' OR i.created_at > billing_now() - make_interval(days => ${DAYS_BETWEEN})) LIMIT 1) THEN false
      WHEN ${isRebilling} THEN true
      ELSE coalesce((SELECT true FROM ${lateDuesOf(null)} LIMIT 1), false) END AS is_unsettled
    FROM (
      SELECT * FROM subscriptions
      WHERE organization_id = ${organizationId}::uuid AND (${after ?? null}::uuid IS NULL OR id > ${after ?? null}::uuid)
      ORDER BY id LIMIT ${limit}::integer
    ) AS s
    ORDER BY s.id`.execute(db);
  const ids = rows.filter(({ is_unsettled: isUnsettled }) => isUnsettled).map(({ id }) => id);
  return { ids, last: rows.length < limit ? undefined : rows.at(-1)?.id };
}
