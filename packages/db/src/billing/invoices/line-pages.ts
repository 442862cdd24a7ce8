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
  return cut(rows, { limit, tiersMax }, ({ tiers }) => tiers);
}

/** How many lines are kept of an invoice. */
export async function countLines(db: Queries, organizationId: string, invoiceId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    SELECT count(*)::integer AS total FROM invoice_lines
    WHERE invoice_id = ${invoiceId}::uuid AND (organization_id = ${organizationId}::uuid) IS TRUE`.execute(db);
  return rows[0]?.total ?? 0;
}

/** A page of lines that were just computed: all of them, in the order of their positions. */
export function pageOfComputed(lines: readonly ComputedLine[], { from, limit }: LineSpan): LinePage<ComputedLine> {
  const some = lines.slice(from, from + limit + 1);
  return cut(some, { limit, tiersMax: LIMITS.invoiceLineTiers }, ({ due, detail }) => {
    const ofCharge = due !== null && 'tiers' in due.terms ? due.terms.tiers.length : 0;
    return ofCharge + (Array.isArray(detail) ? detail.length : 0);
  });
}

/** The page that some lines begin with; at least one line, where there is any. */
function cut<Line extends { position: number }>(
  lines: readonly Line[],
  { limit, tiersMax }: { limit: number; tiersMax: number },
  tiersOf: (line: Line) => number,
): LinePage<Line> {
  let tiers = 0;
  const page: Line[] = [];
  for (const line of lines) {
    if (page.length >= limit || tiers >= tiersMax) return { lines: page, next: line.position };
    page.push(line);
    tiers += tiersOf(line);
  }
  return { lines: page, next: undefined };
}
