// Corrections: what was answered is there, what is there was asked for, and what counts in place of an event is what was asked for.

import type { SentEvent } from '../history.ts';
import { Check } from './check.ts';
import { microsOf } from './exact.ts';
import { lostEventsOf, type CorrectionFact, type Facts } from './history-facts.ts';
import { isSame } from './one-key.ts';
import type { StateIndex, StoredEvent, StoredState } from './stored-state.ts';

/** The events as they were sent, with those that count in the place of others. Which are void says the state. */
export function withAmended(
  facts: Facts,
  state: Pick<StoredState, 'corrections'>,
  acknowledged: readonly StoredEvent[],
): StoredEvent[] {
  const originals = new Map(acknowledged.map((event) => [event.id, event]));
  const amended = [...state.corrections].flatMap(([id, { amendedBy }]): StoredEvent[] => {
    const [original, asked] = [originals.get(id), facts.corrections.get(id)?.event];
    if (amendedBy === null || original === undefined || asked === undefined) return [];
    return [{ ...inPlaceOf(original, asked), id: amendedBy }];
  });
  return [...acknowledged, ...amended];
}

/** What is to count in the place of an event: what was asked for, without the key, which stays with that one. */
function inPlaceOf(original: StoredEvent, sent: SentEvent): StoredEvent {
  const { id, organization, timestamp } = original;
  const { key: _, ...asked } = sent;
  return { ...asked, id, organization, timestamp: microsOf(asked.timestamp ?? timestamp) };
}

export function correctionsAreKept(facts: Facts, state: StoredState, index: StateIndex): Check {
  const check = new Check(
    'corrections',
    'A correction that was answered 201 is there, none is there that nobody asked for, and an amended event has the quantity, time, user and region that were asked for, and nothing else that is new.',
  );
  const lost = lostEventsOf(facts);
  const amended = new Map(state.amended.map((event) => [event.id, event]));
  for (const [id, { made, statuses }] of facts.corrections) {
    const stored = state.corrections.get(id);
    // One that was refused is right, and proves nothing of corrections.
    if (made !== undefined || stored !== undefined) check.examine();
    if (made !== undefined && stored?.id !== made)
      check.violate(`${id} was corrected by ${made}, and is by ${stored?.id ?? 'none'}`);
    if (statuses.includes(404) && index.recorded.has(id) && !lost.has(id))
      check.violate(`${id} is recorded, and who corrected it heard 404`);
  }
  for (const [id, { amendedBy }] of state.corrections) {
    const asked = facts.corrections.get(id);
    const problem = problemOf(index.recorded.get(id), asked, amendedBy, amended.get(amendedBy ?? ''));
    if (problem !== undefined) check.violate(`the correction of ${id} ${problem}`);
    amended.delete(amendedBy ?? '');
  }
  for (const id of amended.keys()) check.violate(`${id} counts in the place of an event that is not void`);
  return check;
}

function problemOf(
  original: StoredEvent | undefined,
  asked: CorrectionFact | undefined,
  amendedBy: string | null,
  amended: StoredEvent | undefined,
): string | undefined {
  if (original === undefined) return 'is of an event that is not recorded';
  if (asked === undefined) return 'was asked for by nobody';
  if (asked.event === undefined) return amendedBy === null ? undefined : `has ${amendedBy} in its place`;
  if (amended === undefined) return 'has no event in its place';
  const isAsAsked = amended.key === undefined && isSame(inPlaceOf(original, asked.event), amended);
  return isAsAsked ? undefined : `has another event in its place than was asked for: ${JSON.stringify(amended)}`;
}
