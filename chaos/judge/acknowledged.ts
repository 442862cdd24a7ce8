// What has to be in the count, from the history of the clients: the digits that were sent in the events that were
// acknowledged, or that were taken without an answer. What Postgres says only settles what the clients were not told.

import { countsValues } from '@weir/shared/meter';
import type { SentEvent } from '../history.ts';
import { microsOf, unitsOf } from './exact.ts';
import { lostEventsOf, type Facts, type KeyHistory } from './history-facts.ts';
import { receivedAt } from './one-key.ts';
import type { StateIndex, StoredEvent } from './stored-state.ts';

/** Every event that counts, as it was sent. */
export function acknowledgedEvents(facts: Facts, index: StateIndex): StoredEvent[] {
  const lost = lostEventsOf(facts);
  return [...facts.keyHistories.values()].flatMap(
    (keyHistory) => acknowledgedEvent(facts, index, keyHistory, lost) ?? [],
  );
}

/**
 * Where an answer named the event, it is the payload which that answer was for, whether Postgres has it or not; else it is
 * what Postgres has.
 */
function acknowledgedEvent(
  facts: Facts,
  index: StateIndex,
  keyHistory: KeyHistory,
  lost: ReadonlySet<string>,
): StoredEvent | undefined {
  const { organization, answers, payloads } = keyHistory;
  const [recorded] = index.recordedByName.get(keyHistory.name) ?? [];
  const answer = answers.find(({ id, status }) => status !== 422 && id === recorded?.id) ?? answers[0];
  if (recorded !== undefined) {
    const sent = sentAs(facts, keyHistory, recorded);
    // The user of an event may come with its replay.
    return storedAs({ ...recorded, ...sent }, sent.timestamp ?? recorded.timestamp);
  }
  // A meter that counts users has not taken it, or Redis has lost it; other checks say whether that may be.
  const sent = payloads[answer?.payload ?? -1];
  if (answer?.status !== 201 || sent === undefined || lost.has(answer.id)) return undefined;
  if (isRejectable(facts, organization, sent)) return undefined;
  return storedAs(
    { ...sent, id: answer.id, organization },
    sent.timestamp ?? answer.timestamp ?? receivedAt(answer.id),
  );
}

function storedAs(event: SentEvent & { id: string; organization: number }, timestamp: string): StoredEvent {
  return { ...event, timestamp: microsOf(timestamp) };
}

function sentAs(facts: Facts, { payloads, answers }: KeyHistory, recorded: StoredEvent): SentEvent {
  const replayed = facts.replays.get(recorded.id)?.map(({ payload }) => payload) ?? [];
  const accepted = answers.find(({ id, status }) => id === recorded.id && status === 201);
  if (accepted !== undefined) return payloads[accepted.payload] ?? recorded;
  return (
    [...payloads, ...replayed].find(
      (sent) => sent.customer === recorded.customer && unitsOf(sent.quantity) === unitsOf(recorded.quantity),
    ) ?? recorded
  );
}

/** Whether its meter counts users and it names none: the one thing for which an event is rejected that was accepted. */
export function isRejectable(facts: Facts, organization: number, { meter, userId }: SentEvent): boolean {
  const found = facts.organizations[organization]?.meters[meter];
  return found !== undefined && countsValues(found.aggregation) && userId === undefined;
}
