import type { ReplayBound } from '@weir/db/webhooks/webhook-endpoints';
import { instantInZone } from '@weir/shared/date-or-instant';
import { z } from 'zod';
import { dateOrInstant } from '../http/fields.ts';

const bound = z.union([z.int().min(1).max(Number.MAX_SAFE_INTEGER), dateOrInstant]);

/** Which part of the feed is sent again. */
export const replayBody = z.strictObject({
  from: bound.meta({
    description: 'A sequence, or a time: a date is its beginning in UTC.',
    examples: ['2026-11-01T00:00:00Z'],
  }),
  to: bound.optional().meta({
    description: 'A sequence, which is in it, or a time, which is not. Missing: up to now.',
    examples: [4711],
  }),
});

export function replayOf({ from, to }: z.output<typeof replayBody>): {
  from: ReplayBound;
  to: ReplayBound | undefined;
} {
  const boundOf = (value: number | string): ReplayBound =>
    typeof value === 'number' ? value : instantInZone(value, 'UTC');
  return { from: boundOf(from), to: to === undefined ? undefined : boundOf(to) };
}
