// The lines of invoices as a CSV file.

import { LONG_PAGE_SIZE_MAX } from '../api/limits.ts';
import { pagesOf, type PageOf, type Part } from '../api/pages.ts';
import { toCsv } from '../text/csv.ts';

type Row = Record<string, string | number | null>;

export interface LinesFile {
  /** A browser has no text as long as all of it may be, and keeps such parts outside of the page. */
  parts: Blob[];
  /** How many lines are in it, and whether these are all. */
  count: number;
  isAll: boolean;
}

/** Reads lines until there are no more, or as many as are wanted. */
export async function readLinesFile(
  readPage: (part: Part) => Promise<PageOf<Row>>,
  { linesMax, onProgress }: { linesMax: number; onProgress: (count: number) => void },
): Promise<LinesFile> {
  const parts: Blob[] = [];
  let [count, isAll] = [0, true];
  for await (const { data, meta } of pagesOf(readPage, LONG_PAGE_SIZE_MAX)) {
    // A page may have no line, and is not the last one.
    const head = count === 0 ? data.slice(0, 1).map((line) => Object.keys(line)) : [];
    if (data.length > 0) parts.push(new Blob([toCsv([...head, ...data.map((line) => Object.values(line))])]));
    count += data.length;
    isAll = meta.next_cursor === null;
    onProgress(count);
    if (count >= linesMax) break;
  }
  return { parts, count, isAll };
}
