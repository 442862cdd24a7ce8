// Computes finalized invoices again, from the events behind them: each line with its own copy of the charge, its closing, its
// rating version and its days. Changes nothing.

import { COMPUTED_BYTES_MAX, ROW_BYTES } from '@weir/billing/chunk-weight';
import { inOneGo, type Drive } from '@weir/billing/drive';
import { usageToRate, type DueUsage } from '@weir/billing/due';
import { amountOf, amountText } from '@weir/billing/amounts';
import { minorDigits } from '@weir/rating/currencies';
import { formatExact, parseExact } from '@weir/rating/exact';
import type { Amount } from '@weir/rating/money';
import { rate, type Days } from '@weir/rating/rate';
import { settleAgain } from '@weir/rating/settle';
import { LIMITS } from '@weir/shared/limits';
import { toEnd } from '@weir/shared/to-end';
import { sql } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import type { Database, Queries } from '../../database.ts';
import type { UsageSource } from '../usage/due-question.ts';
import { readDueUsage } from '../usage/due-usage.ts';
import { lineOf, listLineRows, questionOfLine, type InvoiceLine, type LineRow } from './invoice-lines.ts';
import { findInvoiceRow, type InvoiceRow } from './invoices.ts';
import { readLinePage, type LinePage, type LineSpan } from './line-pages.ts';
import { inSnapshot } from '../snapshot.ts';

/** The lines of an invoice, and their sum. */
interface LineSet {
  /** Those that differ and the first of the others, where there are more than a page. */
  lines: InvoiceLine[];
  subtotal: string;
  total: string;
}

/** What an invoice says, and what it comes to when it is computed again. */
export interface Recomputed {
  invoice_id: string;
  invoice_number: string;
  from: UsageSource;
  identical: boolean;
  stored: LineSet;
  recomputed: LineSet;
  /** How many lines were compared, where these are not all. */
  lines_total?: number;
}

/**
 * Computes one invoice of an organization again, in one snapshot, page by page of its lines: it may have tens of thousands.
 * Undefined for a draft, and for an id that is no invoice. Throws a MonthTakenOut where a line cannot be told.
 */
export async function recomputeInvoice(
  database: Database,
  organizationId: string,
  invoiceId: string,
  from: UsageSource,
  drive: Drive = inOneGo,
): Promise<Recomputed | undefined> {
  return await inSnapshot(database, async (snapshot) => {
    const invoice = await findInvoiceRow(snapshot, organizationId, invoiceId);
    if (invoice === undefined || invoice.status === 'DRAFT') return undefined;
    const compared = new ComparedLines();
    for (let position: number | undefined = 0; position !== undefined;) {
      const span: LineSpan = { from: position, limit: LIMITS.invoiceLines, tiersMax: COMPARED_TIERS_MAX };
      const page: LinePage<LineRow> = await readLinePage(snapshot, organizationId, invoiceId, span);
      const usage = await readUsageOfLines(snapshot, organizationId, page.lines, from);
      const before = await readBilledBefore(snapshot, organizationId, page.lines);
      await drive(
        compared.comparing(page.lines, (line) => lineAgain(line, invoice.currency, usage, before), invoice.currency),
      );
      position = page.next;
    }
    return compared.answer(invoice, from);
  });
}

/** Tiers in the lines that are compared in one go: some megabytes. */
const COMPARED_TIERS_MAX = 20_000;

/** Lines that differ and are shown beside the first page: one is a fault already. */
const DIFFERENT_MAX = 50;

/** What comes of comparing the lines of an invoice, page after page. Holds one page, and what differs. */
class ComparedLines {
  readonly #first: ComparedLine[] = [];
  readonly #different: ComparedLine[] = [];
  #total = 0;
  #differing = 0;
  /** For tiers of lines that are shown. */
  #room = LIMITS.invoiceLineTiers;
  #sum: Amount = 0n;

  *comparing(
    lines: readonly LineRow[],
    again: (line: LineRow) => InvoiceLine,
    currency: string,
  ): Generator<undefined, void, undefined> {
    for (const line of lines) {
      const each = { stored: lineOf(line, currency), recomputed: again(line) };
      this.#total += 1;
      this.#sum += amountOf(each.recomputed.amount, currency);
      const isSame = isDeepStrictEqual(asJson(each.stored), asJson(each.recomputed));
      if (!isSame) this.#differing += 1;
      if (this.#room > 0) {
        this.#first.push(each);
        this.#room -= tiersOf(line);
      } else if (!isSame && this.#different.length < DIFFERENT_MAX) this.#different.push(each);
      yield;
    }
    // As many as an answer holds.
    this.#room = 0;
  }

  answer(invoice: InvoiceRow, from: UsageSource): Recomputed {
    const { currency } = invoice;
    const text = (amount: string | null): string => amountText(amountOf(amount, currency), currency);
    const lines = [...this.#different, ...this.#first];
    const total = amountText(this.#sum, currency);
    const stored: LineSet = {
      lines: lines.map((line) => line.stored),
      subtotal: text(invoice.subtotal),
      total: text(invoice.total),
    };
    const isSameSum = stored.subtotal === total && stored.total === total;
    return {
      invoice_id: invoice.id,
      invoice_number: invoice.invoice_number ?? '',
      from,
      identical: this.#differing === 0 && isSameSum,
      stored,
      recomputed: { lines: lines.map((line) => line.recomputed), subtotal: total, total },
      ...(this.#total > lines.length && { lines_total: this.#total }),
    };
  }
}

function tiersOf({ terms, detail }: LineRow): number {
  const ofCharge = terms !== null && 'tiers' in terms ? terms.tiers.length : 0;
  return ofCharge + (Array.isArray(detail) ? detail.length : 0);
}

interface ComparedLine {
  stored: InvoiceLine;
  recomputed: InvoiceLine;
}

/**
 * Computes these invoices of an organization again, in one snapshot, from rollups or from events. Drafts and ids that are no invoice
 * are left out; the others come in the order of their ids. All of their lines are held in memory: so many at a time as
 * {@link listFinalizedInvoices} names. What it names alone is for {@link recomputeInvoice}.
 */
export async function recomputeInvoices(
  database: Database,
  organizationId: string,
  invoiceIds: readonly string[],
  from: UsageSource = 'rollups',
): Promise<Recomputed[]> {
  if (invoiceIds.length === 0) return [];
  return await inSnapshot(database, async (transaction) => {
    const invoices = await transaction
      .selectFrom('invoices')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', 'in', [...invoiceIds])
      .where('status', '<>', 'DRAFT')
      .orderBy('id')
      .execute();
    const lines = await listLineRows(
      transaction,
      organizationId,
      invoices.map(({ id }) => id),
    );
    const usage = await readUsageOfLines(transaction, organizationId, lines, from);
    const before = await readBilledBefore(transaction, organizationId, lines);
    return invoices.map((invoice) => {
      const { currency } = invoice;
      const compared = new ComparedLines();
      const own = lines.filter((line) => line.invoice_id === invoice.id);
      toEnd(compared.comparing(own, (line) => lineAgain(line, currency, usage, before), currency));
      return compared.answer(invoice, from);
    });
  });
}

/**
 * The ids of finalized invoices of an organization, in order, after the one that the page before ended with: up to `limit`, and fewer
 * where their lines are many. One that is heavy is alone.
 */
export async function listFinalizedInvoices(
  db: Queries,
  organizationId: string,
  { after, limit, bytesMax = COMPUTED_BYTES_MAX }: { after?: string | undefined; limit: number; bytesMax?: number },
): Promise<string[]> {
  // A line holds the detail of its tiers beside its charge.
  const { rows } = await sql<{ id: string; bytes: number }>`
    SELECT page.id, weight.bytes FROM (
      SELECT id FROM invoices
      WHERE organization_id = ${organizationId}::uuid AND status <> 'DRAFT' AND (${after ?? null}::uuid IS NULL OR id > ${after ?? null}::uuid)
      ORDER BY id LIMIT ${limit}::integer
    ) AS page
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(lines.count * (${ROW_BYTES}::integer + 2 * coalesce(charge.bytes, 0))), 0)::float8 AS bytes
      FROM (
        SELECT charge_id, count(*) AS count FROM invoice_lines
        WHERE invoice_id = page.id AND (organization_id = ${organizationId}::uuid) IS TRUE GROUP BY charge_id OFFSET 0
      ) AS lines
      LEFT JOIN LATERAL (
        SELECT octet_length(terms::text) AS bytes FROM charges
        WHERE organization_id = ${organizationId}::uuid AND id = lines.charge_id LIMIT 1
      ) AS charge ON true
    ) AS weight
    ORDER BY page.id`.execute(db);
  // A `Room` would take a heavy one with those before it: it is alone, to be computed in parts.
  let room = bytesMax;
  const beyond = rows.findIndex(({ bytes }, index) => {
    room -= bytes;
    return index > 0 && room < 0;
  });
  return rows.slice(0, beyond === -1 ? rows.length : beyond).map(({ id }) => id);
}

/** What of it is answered: members in any order, and nothing undefined. */
function asJson(value: InvoiceLine): unknown {
  return JSON.parse(JSON.stringify(value));
}

function lineAgain(
  line: LineRow,
  currency: string,
  usage: ReadonlyMap<string, DueUsage>,
  before: ReadonlyMap<string, Amount>,
): InvoiceLine {
  if (line.terms === null) {
    const exact_amount = formatExact(parseExact(line.amount));
    return lineOf({ ...line, exact_amount, billed_before: '0' }, currency);
  }
  const read = usage.get(line.id);
  const { exact, detail } = rate(line.terms, usageToRate(read), daysOfLine(line), line.rating_version);
  const billedBefore = before.get(line.id) ?? 0n;
  const waived = line.waived === null ? null : amountOf(line.waived, currency);
  const { exactAmount, amount } = settleAgain(exact, billedBefore, minorDigits(currency), waived);
  return lineOf(
    {
      ...line,
      quantity: read?.quantity ?? null,
      event_count: read === undefined ? null : String(read.eventCount),
      detail,
      exact_amount: exactAmount,
      billed_before: amountText(billedBefore, currency),
      amount: amountText(amount, currency),
    },
    currency,
  );
}

function daysOfLine({ days_in_force: inForce, days_in_period: inPeriod }: LineRow): Days | null {
  return inForce === null || inPeriod === null ? null : { inForce, inPeriod };
}

async function readUsageOfLines(
  db: Queries,
  organizationId: string,
  lines: readonly LineRow[],
  from: UsageSource,
): Promise<Map<string, DueUsage>> {
  const asked = lines.flatMap((line) => {
    const question = questionOfLine(organizationId, line);
    return question === undefined ? [] : [{ id: line.id, question }];
  });
  const read = await readDueUsage(
    db,
    asked.map(({ question }) => question),
    from,
  );
  return new Map(asked.flatMap(({ id }, index) => (read[index] === undefined ? [] : [[id, read[index]]])));
}

/**
 * What was billed before each line for its due: the sum of the due's lines that were finalized before it. Closings say which came
 * first, without those whose invoices were to be billed again by then; two lines of a due have the same one only where nothing changed in between but the due itself, and then cycles say it.
 */
async function readBilledBefore(
  db: Queries,
  organizationId: string,
  lines: readonly LineRow[],
): Promise<Map<string, Amount>> {
  if (lines.length === 0) return new Map();
  const order = (line: string, invoice: string) =>
    sql.raw(`ROW(${line}.closing, coalesce(${invoice}.cycle, 2147483647), ${invoice}.finalized_at)`);
  const invoiceOf = (line: string) => sql`
    SELECT currency, cycle, finalized_at FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND id = ${sql.ref(`${line}.invoice_id`)} LIMIT 1`;
  const { rows } = await sql<{ id: string; currency: string; billed: string }>`
    SELECT lines.id, lines.currency, earlier.billed
    FROM (
      SELECT lines.*, own.currency, ${order('lines', 'own')} AS place FROM (
        SELECT * FROM invoice_lines
        WHERE organization_id = ${organizationId}::uuid AND id = ANY (${lines.map(({ id }) => id)}::uuid[]) OFFSET 0
      ) AS lines CROSS JOIN LATERAL (${invoiceOf('lines')}) AS own OFFSET 0
    ) AS lines
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount) FILTER (WHERE place < lines.place), 0) AS billed FROM (
        SELECT former.amount, ${order('former', 'own')} AS place FROM (
          SELECT * FROM invoice_lines WHERE organization_id = ${organizationId}::uuid
            AND subscription_id = lines.subscription_id AND cycle = lines.cycle AND charge_id = lines.charge_id
            AND (rebilled IS NULL OR rebilled > lines.rebills) OFFSET 0
        ) AS former CROSS JOIN LATERAL (${invoiceOf('former')}) AS own OFFSET 0
      ) AS each
    ) AS earlier`.execute(db);
  return new Map(rows.map(({ id, currency, billed }) => [id, amountOf(billed, currency)]));
}
