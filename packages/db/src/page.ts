import { DEFAULTS } from '@weir/shared/limits';
import {
  sql,
  type DeleteResult,
  type ExpressionBuilder,
  type ReferenceExpression,
  type SelectQueryBuilder,
  type SqlBool,
  type UpdateResult,
} from 'kysely';
import { after, columnOf, readCursor, writeCursor, type Order } from './order.ts';

/** Which part of a list: what comes after a cursor, or a page by its number, which counts from 1; neither: the beginning. */
export interface Page {
  cursor?: string | undefined;
  /** How much comes after the cursor, or without one from the beginning on. */
  limit?: number | undefined;
  page?: number | undefined;
  page_size?: number | undefined;
}

/** One page of a list. */
export interface PageOf<Row> {
  rows: Row[];
  /** The cursor of what comes after it; null: nothing does. */
  next: string | null;
  /** How long the whole list is: counted only where a page is asked for by its number, or nothing is said. */
  counted?: { page: number; page_size: number; total: number };
}

/** What is asked for, in numbers. With a cursor or a limit nothing is counted, and nothing is skipped. */
export function spanOf({ cursor, limit, page = 1, page_size }: Page) {
  const size = limit ?? page_size ?? DEFAULTS.pageSize;
  const isCounted = cursor === undefined && limit === undefined;
  return { size, isCounted, page, offset: isCounted ? (page - 1) * size : 0 };
}

/**
 * Runs a query for one page of it, in an order. The count is a query of its own, since a page past the end has no row to carry it; rows
 * that come or go in between show in the next request. Throws a Refusal for a cursor that is none of this order.
 */
export async function selectPage<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  order: Order<NoInfer<Row>>,
  page: Page,
): Promise<PageOf<Row>> {
  const { size, isCounted, offset } = spanOf(page);
  const rest = page.cursor === undefined ? query : query.where(() => isAfter(order, page.cursor ?? ''));
  const wanted = inOrder(rest, order);
  const total = isCounted ? await countRows(query) : undefined;
  const found = await (offset === 0 ? wanted : wanted.offset(offset)).limit(size + 1).execute();
  return cutPage(found, order, page, total);
}

/** The query in an order. */
export function inOrder<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  order: Order<NoInfer<Row>>,
): SelectQueryBuilder<DB, TB, Row> {
  return order.reduce(
    (sorted, key) => sorted.orderBy(sql.raw(columnOf(key)), key.descending === true ? 'desc' : 'asc'),
    query,
  );
}

/** How many rows a query finds. */
export async function countRows<DB, TB extends keyof DB, Row>(query: SelectQueryBuilder<DB, TB, Row>): Promise<number> {
  const { total } = await query
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .$castTo<{ total: string }>()
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** Whether a statement that changes or deletes rows found one. */
export async function hasDone(statement: {
  executeTakeFirst(): Promise<DeleteResult | UpdateResult>;
}): Promise<boolean> {
  const result = await statement.executeTakeFirst();
  return ('numDeletedRows' in result ? result.numDeletedRows : result.numUpdatedRows) > 0n;
}

/** A page of what was found for it, which is one row more where there is one. */
export function cutPage<Row>(found: Row[], order: Order<Row>, page: Page, total: number | undefined): PageOf<Row> {
  const { size, page: number } = spanOf(page);
  const rows = found.slice(0, size);
  const last = rows.at(-1);
  return {
    rows,
    next: found.length > size && last !== undefined ? writeCursor(order, last) : null,
    ...(total !== undefined && { counted: { page: number, page_size: size, total } }),
  };
}

/** The page of a list that is known to be empty. */
export function emptyPage(page: Page): PageOf<never> {
  return cutPage<never>([], [], page, spanOf(page).isCounted ? 0 : undefined);
}

/** The page with something else for each of its rows. */
export function mapPage<Row, Other>({ rows, ...page }: PageOf<Row>, map: (row: Row) => Other): PageOf<Other> {
  return { ...page, rows: rows.map(map) };
}

function isAfter<Row>(order: Order<Row>, cursor: string) {
  const pieces = after(order, readCursor(order, cursor)).map((piece) =>
    typeof piece === 'string' ? sql.raw(piece) : sql`${piece.value}::${sql.raw(piece.type)}`,
  );
  return sql<SqlBool>`${sql.join(pieces, sql``)}`;
}

/** What ILIKE finds a part of a text by, whatever stands in it. */
function containing(part: string): string {
  return `%${beginningWith(part)}`;
}

/** Whether one of these columns holds a text, in whatever case: any row does, where the text is empty. */
export function holds<DB, TB extends keyof DB>(
  { eb, or, lit }: ExpressionBuilder<DB, TB>,
  search: string,
  ...columns: ReferenceExpression<DB, TB>[]
) {
  return search === '' ? lit(true) : or(columns.map((column) => eb(column, 'ilike', containing(search))));
}

/** What LIKE finds a text by that begins like this one. */
export function beginningWith(beginning: string): string {
  return `${beginning.replace(/[\\%_]/g, '\\$&')}%`;
}
