import { markdownTable } from '../markdown-table.ts';
import { oneDigit, whole } from '../spread.ts';
import type { ReadResult } from './measure-reading.ts';

/** A row for each question, and p50 and p99 for each number of events. */
export function readTable(results: readonly ReadResult[]): string {
  const sizes = results.map(({ events }) => `${whole(events)} events`);
  const head = ['ms', ...sizes.flatMap((size) => [`p50, ${size}`, `p99, ${size}`])];
  const rows = (results[0]?.readings ?? []).map(({ title }, index) => [
    title,
    ...results.flatMap(({ readings }) => {
      const reading = readings[index];
      return reading === undefined ? ['–', '–'] : [reading.p50Ms, reading.p99Ms].map(oneDigit);
    }),
  ]);
  return markdownTable(head, rows);
}
