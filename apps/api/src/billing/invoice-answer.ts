// Invoices and their lines as they are answered: a page of lines may hold thousands of tiers, which are written between the turns of others.

import { writingList } from '../http/writing/write-list.ts';
import type { LinePage } from '@weir/db/billing/invoices/line-pages';

/** Lines that are written in one step: each may hold a hundred tiers, and as many parts. */
const STEP = 5;

/** Anything with lines, as JSON. */
export function* writingWithLines({
  lines,
  ...head
}: {
  lines: readonly object[];
}): Generator<undefined, string, undefined> {
  return `${JSON.stringify(head).slice(0, -1)},"lines":${yield* writingList(lines, STEP)}}`;
}

/** A page of lines, as JSON. */
export function* writingPage({ lines, next }: LinePage<object>): Generator<undefined, string, undefined> {
  const meta = JSON.stringify({ next_cursor: next === undefined ? null : String(next) });
  return `{"data":${yield* writingList(lines, STEP)},"meta":${meta}}`;
}
