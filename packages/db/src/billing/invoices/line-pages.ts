// Lines of one invoice, page by page. A line carries a copy of its charge, which may have a hundred tiers, and its detail as many
// again; and years of late usage are tens of thousands of lines. So a page is bounded by both.

import type { ComputedLine } from '@weir/billing/lines';
import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import { joinedDues, LINE_COLUMNS, type LineRow } from './invoice-lines.ts';

/** Which part of the lines: from a position on, which counts from 0. */
export interface LineSpan {
  from: number;
  limit: number;
  /** Instead of {@link LIMITS.invoiceLineTiers}. */
  tiersMax?: number;
}

/** What there is at most beside an invoice. */
export const FIRST_LINES: LineSpan = { from: 0, limit: LIMITS.invoiceLines };

/** Part of the lines of an invoice, and the position where the next part begins; undefined: these were the last. */
export interface LinePage<Line> {
  lines: Line[];
  next: number | undefined;
}

/** A page of lines that are kept. */
export async function readLinePage(
  db: Queries,
  organizationId: string,
  invoiceId: string,
  { from, limit, tiersMax = LIMITS.invoiceLineTiers }: LineSpan,
): Promise<LinePage<LineRow>> {
  const { rows } = await sql<LineRow & { tiers: number }>`
    SELECT * FROM (
      SELECT *, coalesce(sum(tiers) OVER (
        ORDER BY position, id ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING), 0) AS before_last
      FROM (
        SELECT ${LINE_COLUMNS}, coalesce(jsonb_array_length(dues.terms -> 'tiers'), 0)
          + CASE jsonb_typeof(lines.detail) WHEN 'array' THEN jsonb_array_length(lines.detail) ELSE 0 END AS tiers
        FROM (
          SELECT * FROM invoice_lines WHERE invoice_id = ${invoiceId}::uuid AND (organization_id = ${organizationId}::uuid) IS TRUE
            AND position >= ${from}::integer ORDER BY position, id LIMIT ${limit + 1}::integer
        ) AS lines
        ${joinedDues(organizationId)}
      ) AS lines
    ) AS lines WHERE before_last < ${tiersMax}::integer ORDER BY position, id`.execute(db);
  const page = new PageOfLines<LineRow & { tiers: number }>({ limit, tiersMax }, ({ tiers }) => tiers);
  page.take(rows);
  return page.page;
}

/** How many lines are kept of an invoice. */
export async function countLines(db: Queries, organizationId: string, invoiceId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    SELECT count(*)::integer AS total FROM invoice_lines
    WHERE invoice_id = ${invoiceId}::uuid AND (organization_id = ${organizationId}::uuid) IS TRUE`.execute(db);
  return rows[0]?.total ?? 0;
}

/** How many tiers a line that was just computed has, in its charge and its detail. */
export function tiersOfComputed({ due, detail }: ComputedLine): number {
  const ofCharge = due !== null && 'tiers' in due.terms ? due.terms.tiers.length : 0;
  return ofCharge + (Array.isArray(detail) ? detail.length : 0);
}

/** Takes lines, in their order, until a page of them is full; at least one, where there is any. */
export class PageOfLines<Line extends { position: number }> {
  readonly #span: { limit: number; tiersMax?: number };
  readonly #tiersOf: (line: Line) => number;
  readonly #lines: Line[] = [];
  #tiers = 0;
  #next: number | undefined;

  constructor(span: { limit: number; tiersMax?: number }, tiersOf: (line: Line) => number) {
    this.#span = span;
    this.#tiersOf = tiersOf;
  }

  get isFull(): boolean {
    return this.#next !== undefined;
  }

  take(lines: readonly Line[]): void {
    const { limit, tiersMax = LIMITS.invoiceLineTiers } = this.#span;
    for (const line of lines) {
      if (this.isFull) return;
      if (this.#lines.length >= limit || this.#tiers >= tiersMax) this.#next = line.position;
      else {
        this.#lines.push(line);
        this.#tiers += this.#tiersOf(line);
      }
    }
  }

  get page(): LinePage<Line> {
    return { lines: this.#lines, next: this.#next };
  }
}
