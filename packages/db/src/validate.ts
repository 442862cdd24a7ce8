import type { StagedEvent } from '@weir/shared/event';
import { countsValues } from '@weir/shared/meter';

/** Why an event's meter does not take it, for the person who will replay it; undefined when it does. Pure. */
export function validate({ aggregation, metadata: text }: StagedEvent): string | undefined {
  if (!countsValues(aggregation)) return undefined;
  const metadata = (text === undefined ? {} : JSON.parse(text)) as Record<string, unknown>;
  const user = metadata['user_id'];
  if (user === undefined) return 'metadata.user_id is missing: a UNIQUE_COUNT meter counts its distinct values';
  if (typeof user === 'number' || (typeof user === 'string' && user !== '')) return undefined;
  return 'metadata.user_id must be a number or a text that is not empty';
}
