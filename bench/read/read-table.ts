import { markdownTable } from '../markdown-table.ts';
import { oneDigit, whole } from '../spread.ts';
import type { ReadResult } from './measure-reading.ts';

/** A row for each question, and p50 and p99 for each number of events: asked for the first time, and again. */
export function readTable(results: readonly ReadResult[]): string {
  const sizes = results.map(({ events }) => `${whole(events)} events`);
  const head = ['ms', ...sizes.flatMap((size) => [`${size}: first p50`, 'first p99', 'again p50', 'again p99'])];
  const rows = (results[0]?.readings ?? []).map(({ title }, index) => [
    title,
    ...results.flatMap(({ readings }) => {
      const reading = readings[index];
      if (reading === undefined) return ['–', '–', '–', '–'];
      return [reading.first, reading.again].flatMap(({ p50Ms, p99Ms }) => [p50Ms, p99Ms].map(oneDigit));
    }),
  ]);
  return markdownTable(head, rows);
}
