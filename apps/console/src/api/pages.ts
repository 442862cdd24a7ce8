// Lists that are read to their end, page after page.

import { ApiError } from './problem.ts';

export interface PageOf<Item> {
  data: Item[];
  meta: { total_pages: number };
}

/**
 * Reads a list from its first page to its last, or to the last that is wanted. Throws an ApiError for a refusal, but waits where one
 * has read too much.
 */
export async function readPages<Item>(
  readPage: (page: number) => Promise<PageOf<Item>>,
  pagesMax = Infinity,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1, pages = 1; page <= Math.min(pages, pagesMax); page += 1) {
    const { data, meta } = await whenAllowed(() => readPage(page));
    items.push(...data);
    pages = meta.total_pages;
  }
  return items;
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
