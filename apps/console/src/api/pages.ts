// Lists that are read to their end, page after page.

import { PAGE_SIZE_MAX } from './limits.ts';
import type { components } from './openapi.d.ts';
import { ApiError } from './problem.ts';

/** Which part of a list is asked for, as the API takes it. */
export interface Part {
  limit: number;
  cursor?: string;
}

export interface PageOf<Item> {
  data: Item[];
  meta: { next_cursor: string | null };
}

/** What the API says of a page: that it is one of so many only where it was asked for by its number. */
export type PageMeta = components['schemas']['PageMeta' | 'CursorMeta'];

/** How long the whole list is, as far as that is said. */
export const totalOf = (meta: PageMeta): number => ('total' in meta ? meta.total : 0);

/**
 * Reads a list from its first page to its last, or until there are as many rows as are wanted. Throws an ApiError for a refusal, but waits where one
 * has read too much.
 */
export async function readPages<Item>(
  readPage: (part: Part) => Promise<PageOf<Item>>,
  rowsMax = Infinity,
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const { data } of pagesOf(readPage)) {
    items.push(...data);
    if (items.length >= rowsMax) break;
  }
  return items;
}

/** The pages of a list, one after the other, for whoever keeps something else of them than their rows. */
export async function* pagesOf<Page extends PageOf<unknown>>(
  readPage: (part: Part) => Promise<Page>,
  limit = PAGE_SIZE_MAX,
): AsyncGenerator<Page> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const part = { limit, ...(cursor !== undefined && { cursor }) };
    const page = await whenAllowed(() => readPage(part));
    yield page;
    cursor = page.meta.next_cursor;
  }
}

/** A long list is read faster than one caller may: then it waits as long as the API says, and goes on. */
async function whenAllowed<Result>(action: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ApiError) || error.problem.code !== 'rate_limited') throw error;
      const { retry_after_seconds: seconds = 0 } = error.problem;
      await new Promise((resolve) => setTimeout(resolve, Math.max(seconds, 1) * 1_000));
    }
  }
}
