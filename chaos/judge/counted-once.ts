// A 201 is counted once; a 409 names an event that is; nothing else is there.

import { isRejectable } from './acknowledged.ts';
import { Check } from './check.ts';
import {
  lostEventsOf,
  mayHaveCrossed,
  mayHaveLostClaim,
  keyName,
  type Facts,
  type NamingAnswer,
  type KeyHistory,
} from './history-facts.ts';
import type { StateIndex } from './stored-state.ts';

/** Every id of a 201 is recorded once or rejected once. */
export function acceptedIsCountedOnce(facts: Facts, index: StateIndex): Check {
  const check = new Check(
    'accepted',
    'Every id that a 201 named is recorded once or rejected once; gone only with the lost part of the log, a duplicate only where Redis had lost the claim or an event with its key crossed it on the direct way (as an API says of itself).',
  );
  judgeNamed(facts, index, check, ({ status }) => status === 201);
  return check;
}

/** Every id of a 409, and of a 422 for another payload, is recorded once or rejected once. */
export function heldIsCountedOnce(facts: Facts, index: StateIndex): Check {
  const check = new Check(
    'held',
    'Every id that a 409 or an idempotency_key_reused named is recorded once or rejected once.',
  );
  judgeNamed(facts, index, check, ({ status }) => status !== 201);
  return check;
}

function judgeNamed(facts: Facts, index: StateIndex, check: Check, isMeant: (answer: NamingAnswer) => boolean): void {
  const lost = lostEventsOf(facts);
  const repeated = new Set(index.repeated);
  for (const keyHistory of facts.keyHistories.values()) {
    for (const answer of keyHistory.answers.filter(isMeant)) {
      check.examine();
      const problem = problemOf(facts, index, keyHistory, answer, lost);
      if (problem !== undefined) check.violate(`${answer.id} of ${keyHistory.name} (${answer.status}) ${problem}`);
      else if (repeated.has(answer.id))
        check.violate(`${answer.id} of ${keyHistory.name} stands in the table of events twice`);
    }
  }
}

function problemOf(
  facts: Facts,
  index: StateIndex,
  keyHistory: KeyHistory,
  { id, at }: NamingAnswer,
  lost: ReadonlySet<string>,
): string | undefined {
  const recorded = index.recorded.get(id);
  const rejected = index.rejected.get(id);
  const duplicateOf = index.duplicates.get(id);
  const places = [recorded, rejected, duplicateOf].filter((place) => place !== undefined);
  if (places.length === 0) return lost.has(id) ? undefined : 'is nowhere';
  if (places.length > 1) return 'is in more than one of events, rejected_events and duplicate_events';
  const stored = recorded ?? rejected;
  if (stored !== undefined && keyName(stored.organization, stored) !== keyHistory.name)
    return 'is the event of another key';
  if (rejected !== undefined && !mayBeRejected(facts, keyHistory)) return 'is rejected, and nothing is wrong with it';
  if (duplicateOf === undefined) return undefined;
  const original = index.recorded.get(duplicateOf);
  if (original === undefined) return `is a duplicate of ${duplicateOf}, which is not recorded`;
  if (keyName(original.organization, original) !== keyHistory.name) return 'is a duplicate of another key';
  if (mayHaveCrossed(facts, keyHistory, id, duplicateOf)) return undefined;
  // What was rejected held no key in Postgres until it was replayed.
  if (facts.replays.has(duplicateOf) && mayHaveCrossed(facts, keyHistory, duplicateOf, id)) return undefined;
  // Either may be recorded first, so the claim was lost before the later of the two was accepted; of one that nobody heard of, by then.
  const heard = keyHistory.answers.filter((answer) => answer.id === duplicateOf && answer.status === 201);
  const holderAt = heard.length > 0 ? Math.max(...heard.map((answer) => answer.at)) : keyHistory.unclearUntil;
  const laterAt = Math.max(at, holderAt);
  return mayHaveLostClaim(facts, keyHistory.firstSentAt, laterAt)
    ? undefined
    : 'is a duplicate, though Redis never lost its claim';
}

/** Whether it has no user that its meter counts, or another payload may hold the key. */
function mayBeRejected(facts: Facts, { organization, payloads }: KeyHistory): boolean {
  return payloads.length > 1 || payloads.every((payload) => isRejectable(facts, organization, payload));
}

/** Events of which the clients know that they were refused. */
export function refusedLeavesNoTrace(facts: Facts, index: StateIndex): Check {
  const check = new Check(
    'refused',
    'Nothing is recorded, rejected or a duplicate of which every answer was a refusal (4xx, or 503 not_accepted), and no later answer says that such an attempt holds the key.',
  );
  const rejectedNames = new Set([...index.rejected.values()].map((event) => keyName(event.organization, event)));
  for (const keyHistory of facts.keyHistories.values()) {
    if (keyHistory.unclear > 0 || keyHistory.refused + keyHistory.notAccepted === 0) continue;
    const [first] = keyHistory.answers;
    if (first !== undefined && keyHistory.answers.every(({ status }) => status !== 201))
      check.violate(`${keyHistory.name} was refused each time and is held by ${first.id}`);
    check.examine();
    if (first !== undefined) continue;
    if (index.recordedByName.has(keyHistory.name)) check.violate(`${keyHistory.name} was refused and is recorded`);
    if (rejectedNames.has(keyHistory.name))
      check.violate(`${keyHistory.name} was refused and is among the rejected events`);
  }
  return check;
}
