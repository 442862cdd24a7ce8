import type { SelectQueryBuilder } from 'kysely';

/** Which part of a list: pages count from 1. */
export interface Page {
  page: number;
  page_size: number;
}

/** One page of a list, and how long the whole list is. */
export interface PageOf<Row> {
  rows: Row[];
  total: number;
}

/**
 * Runs a query for one page. The count is a query of its own, since a page past the end has no row to carry it; rows
 * that come or go in between show in the next request.
 */
export async function selectPage<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { page, page_size }: Page,
): Promise<PageOf<Row>> {
  const { total } = await query
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .$castTo<{ total: string }>()
    .executeTakeFirstOrThrow();
  const rows = await query
    .limit(page_size)
    .offset((page - 1) * page_size)
    .execute();
  return { rows, total: Number(total) };
}

/** What ILIKE finds a part of a text by, whatever stands in it. */
export function containing(part: string): string {
  return `%${beginningWith(part)}`;
}

/** What LIKE finds a text by that begins like this one. */
export function beginningWith(beginning: string): string {
  return `${beginning.replace(/[\\%_]/g, '\\$&')}%`;
}
