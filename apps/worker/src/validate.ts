import type { StagedEvent } from '@weir/shared/event';
import type { AggregationType } from '@weir/shared/meter';

/** What a meter says to an event. A reason is read by the person who will replay it. */
export type Judgement = { outcome: 'accepted' } | { outcome: 'rejected'; reason: string };

const ACCEPTED: Judgement = { outcome: 'accepted' };

/** Judges an event by how its meter counts; undefined is a meter that does not exist any more. Pure. */
export function judge(event: StagedEvent, aggregation: AggregationType | undefined): Judgement {
  if (aggregation === undefined) return rejected('the meter does not exist any more');
  if (aggregation !== 'UNIQUE_COUNT') return ACCEPTED;
  const metadata = (event.metadata === undefined ? {} : JSON.parse(event.metadata)) as Record<string, unknown>;
  const user = metadata['user_id'];
  if (user === undefined)
    return rejected('metadata.user_id is missing: a UNIQUE_COUNT meter counts its distinct values');
  if (typeof user === 'number' || (typeof user === 'string' && user !== '')) return ACCEPTED;
  return rejected('metadata.user_id must be a number or a text that is not empty');
}

function rejected(reason: string): Judgement {
  return { outcome: 'rejected', reason };
}
