import { markdownTable } from '../markdown-table.ts';
import { oneDigit, whole } from '../spread.ts';
import type { ReadResult } from './measure-reading.ts';

/** A Markdown table: a row for each question, and p50, p99 and the first answer after a restart for each size. */
export function readTable(results: readonly ReadResult[]): string {
  const sizes = results.map(({ events }) => `${whole(events)} events`);
  const head = ['ms', ...sizes.flatMap((size) => [`p50, ${size}`, `p99, ${size}`, `restarted, ${size}`])];
  const rows = (results[0]?.readings ?? []).map(({ title }, index) => [
    title,
    ...results.flatMap(({ readings }) => {
      const reading = readings[index];
      return [reading?.p50Ms, reading?.p99Ms, reading?.restartedMs].map((value) =>
        value === undefined || value === null ? '–' : oneDigit(value),
      );
    }),
  ]);
  return markdownTable(head, rows);
}
