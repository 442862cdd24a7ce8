// A 201 is counted once; a 409 names an event that is; nothing else is there.

import { Tally, type Check } from './check.ts';
import { lostEventsOf, mayHaveLostClaim, storyName, type Facts, type Said, type Story } from './history-facts.ts';
import type { StateIndex } from './stored-state.ts';

/** Every id of a 201 is recorded once or rejected once. */
export function acceptedIsCountedOnce(facts: Facts, index: StateIndex): Check {
  const tally = new Tally(
    'accepted',
    'Every id that a 201 named is recorded once or rejected once; a duplicate only where Redis had lost the claim.',
  );
  judgeNamed(facts, index, tally, ({ status }) => status === 201);
  return tally.check;
}

/** Every id of a 409, and of a 422 for another payload, is recorded once or rejected once. */
export function heldIsCountedOnce(facts: Facts, index: StateIndex): Check {
  const tally = new Tally(
    'held',
    'Every id that a 409 or an idempotency_key_reused named is recorded once or rejected once.',
  );
  judgeNamed(facts, index, tally, ({ status }) => status !== 201);
  return tally.check;
}

function judgeNamed(facts: Facts, index: StateIndex, tally: Tally, isMeant: (said: Said) => boolean): void {
  const lost = lostEventsOf(facts);
  const repeated = new Set(index.repeated);
  for (const story of facts.stories.values()) {
    for (const said of story.said.filter(isMeant)) {
      tally.examine();
      const problem = problemOf(facts, index, story, said, lost);
      if (problem !== undefined) tally.violate(`${said.id} of ${story.name} (${said.status}) ${problem}`);
      else if (repeated.has(said.id)) tally.violate(`${said.id} of ${story.name} stands in the table of events twice`);
    }
  }
}

function problemOf(
  facts: Facts,
  index: StateIndex,
  story: Story,
  { id, at }: Said,
  lost: ReadonlySet<string>,
): string | undefined {
  const recorded = index.recorded.get(id);
  const rejected = index.rejected.get(id);
  const duplicateOf = index.duplicates.get(id);
  const places = [recorded, rejected, duplicateOf].filter((place) => place !== undefined);
  if (places.length === 0) return lost.has(id) ? undefined : 'is nowhere';
  if (places.length > 1) return 'is in more than one of events, rejected_events and duplicate_events';
  const stored = recorded ?? rejected;
  if (stored !== undefined && storyName(stored.organization, stored) !== story.name)
    return 'is the event of another key';
  if (duplicateOf === undefined) return undefined;
  if (!mayHaveLostClaim(facts, story.firstSentAt, at)) return 'is a duplicate, though Redis never lost its claim';
  const original = index.recorded.get(duplicateOf);
  if (original === undefined) return `is a duplicate of ${duplicateOf}, which is not recorded`;
  return storyName(original.organization, original) === story.name ? undefined : 'is a duplicate of another key';
}

/** Events of which the clients know that they were refused. */
export function refusedLeavesNoTrace(facts: Facts, index: StateIndex): Check {
  const tally = new Tally(
    'refused',
    'Nothing is recorded, rejected or a duplicate of which every answer was a refusal (4xx, or 503 not_accepted).',
  );
  const rejectedNames = new Set([...index.rejected.values()].map((event) => storyName(event.organization, event)));
  for (const story of facts.stories.values()) {
    if (story.said.length > 0 || story.unclear > 0 || story.refused + story.notAccepted === 0) continue;
    tally.examine();
    if (index.recordedByName.has(story.name)) tally.violate(`${story.name} was refused and is recorded`);
    if (rejectedNames.has(story.name)) tally.violate(`${story.name} was refused and is among the rejected events`);
  }
  return tally.check;
}

/** Events that were lost with a part of Redis, and how many of those that were reported lost are gone. */
export function lostTailIsAllThatIsGone(facts: Facts, index: StateIndex): Check {
  const tally = new Tally('lost tail', 'What is gone is among the events that only the lost part of the log held.');
  const lost = lostEventsOf(facts);
  for (const story of facts.stories.values()) {
    for (const { id } of story.said) {
      if (index.recorded.has(id) || index.rejected.has(id) || index.duplicates.has(id)) continue;
      tally.examine();
      if (!lost.has(id)) tally.violate(`${id} of ${story.name} is gone, and was not in what was lost`);
    }
  }
  return tally.check;
}
