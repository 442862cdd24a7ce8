// One key, one event, as it was sent.

import { createHash } from 'node:crypto';
import { Check } from './check.ts';
import { unitsOf, microsOf } from './exact.ts';
import {
  isComparedWithReplay,
  mayHaveCrossed,
  mayHaveLostClaim,
  keyName,
  type Facts,
  type NamingAnswer,
  type KeyHistory,
} from './history-facts.ts';
import type { SentEvent } from '../history.ts';
import type { StateIndex, StoredEvent, StoredState } from './stored-state.ts';

/** Every row is an event that was sent, with the digits that were sent, and one for each key. */
export function recordedIsWhatWasSent(facts: Facts, index: StateIndex): Check {
  const check = new Check(
    'as sent',
    'Every recorded or rejected event was sent under its key, with this meter, customer, quantity, time, user and region; one for each key.',
  );
  for (const [name, events] of index.recordedByName) {
    check.examine(events.length);
    if (events.length > 1)
      check.violate(`${name} is recorded ${events.length} times: ${events.map(({ id }) => id).join(', ')}`);
  }
  for (const event of [...index.recorded.values(), ...index.rejected.values()]) {
    const name = keyName(event.organization, event);
    const keyHistory = facts.keyHistories.get(name);
    if (keyHistory === undefined) check.violate(`${event.id} is recorded under ${name}, which nobody sent`);
    else {
      const problem = problemOf(facts, keyHistory, event);
      if (problem !== undefined) check.violate(`${event.id} of ${name} ${problem}: ${JSON.stringify(event)}`);
    }
  }
  return check;
}

function problemOf(facts: Facts, keyHistory: KeyHistory, event: StoredEvent): string | undefined {
  const accepted = keyHistory.answers.find(({ id, status }) => id === event.id && status === 201);
  const sent = accepted === undefined ? keyHistory.payloads : [keyHistory.payloads[accepted.payload] as SentEvent];
  const replayed = facts.replays.get(event.id)?.map(({ payload }) => payload) ?? [];
  if (![...sent, ...replayed].some((payload) => isSame(payload, event))) return 'is not what was sent';
  if (accepted?.timestamp !== undefined && microsOf(accepted.timestamp) !== microsOf(event.timestamp)) {
    return `is not of the time that its sender was told, ${accepted.timestamp}`;
  }
  const isNamed = keyHistory.answers.length === 0 || keyHistory.answers.some(({ id }) => id === event.id);
  const hasCrossed = () => keyHistory.answers.some(({ id }) => mayHaveCrossed(facts, keyHistory, id, event.id));
  if (!isNamed && !mayHaveLostClaim(facts, keyHistory.firstSentAt, Infinity) && !hasCrossed())
    return 'has an id that no answer named';
  return undefined;
}

/** Whether it is what was sent, whatever it is known by. */
export function isSame(sent: SentEvent, event: StoredEvent): boolean {
  return (
    sent.meter === event.meter &&
    sent.customer === event.customer &&
    sent.userId === event.userId &&
    sent.region === event.region &&
    sent.mark === event.mark &&
    unitsOf(sent.quantity) === unitsOf(event.quantity) &&
    microsOf(sent.timestamp ?? receivedAt(event.id)) === microsOf(event.timestamp)
  );
}

/** The time of receipt, which is in the id: what an event without a timestamp has for one. */
export function receivedAt(id: string): string {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString();
}

/** What the answers say about keys, whatever Postgres holds. */
export function claimsAreHeld(facts: Facts, index: StateIndex): Check {
  const check = new Check(
    'claims',
    'A key is accepted once, every later answer names the same event, 409 for the same payload and 422 for another; except where Redis had lost the claim, and of events that crossed on both ways.',
  );
  for (const keyHistory of facts.keyHistories.values()) {
    const [first] = keyHistory.answers;
    if (first === undefined) continue;
    check.examine(keyHistory.answers.length);
    const answers = withoutCrossed(facts, index, keyHistory).filter(
      ({ at }) => !mayHaveLostClaim(facts, keyHistory.firstSentAt, at),
    );
    const problem = problemOfClaim(answers.filter((each) => each.status !== 422 || !isComparedWithReplay(facts, each)));
    if (problem !== undefined) check.violate(`${keyHistory.name} ${problem}`);
  }
  return check;
}

/** Leaves out what was said of an event before anybody could know that it is not the one that counts. */
function withoutCrossed(facts: Facts, index: StateIndex, keyHistory: KeyHistory): NamingAnswer[] {
  const [recorded] = index.recordedByName.get(keyHistory.name) ?? [];
  const ids = new Set(keyHistory.answers.map(({ id }) => id));
  if (ids.size < 2) return keyHistory.answers;
  // What is rejected holds no key in Postgres, so any of them may have been the first, also where one was replayed later.
  for (const holder of recorded === undefined || facts.replays.has(recorded.id) ? ids : [recorded.id]) {
    const left = keyHistory.answers.filter(({ id }) => id === holder || !mayHaveCrossed(facts, keyHistory, id, holder));
    if (left.length < keyHistory.answers.length) return left;
  }
  return keyHistory.answers;
}

/** What is wrong with these answers about one key that Redis never lost. */
function problemOfClaim(answers: NamingAnswer[]): string | undefined {
  const [first] = answers;
  const accepted = answers.filter(({ status }) => status === 201);
  if (accepted.length > 1) return `was accepted ${accepted.length} times`;
  const other = answers.find(({ id }) => id !== first?.id);
  if (other !== undefined) return `is ${first?.id} in one answer and ${other.id} in another`;
  const [holder] = accepted;
  if (holder === undefined) return undefined;
  const wrong = answers.find(
    (answer) => answer !== holder && (answer.status === 409) !== (answer.payload === holder.payload),
  );
  return wrong && `was answered ${wrong.status} for payload ${wrong.payload}; payload ${holder.payload} holds the key`;
}

/** Every key that Postgres holds belongs to the event that was recorded under it, and every recorded key is held. */
export function keysBelongToTheirEvents(facts: Facts, state: StoredState, index: StateIndex): Check {
  const check = new Check(
    'keys',
    'Every idempotency key in Postgres belongs to the one event that is recorded under it.',
  );
  const unseen = new Map(state.keys);
  for (const event of state.events) {
    if (event.key === undefined) continue;
    check.examine();
    const organization = facts.organizations[event.organization]?.id ?? '';
    const name = createHash('sha256').update(`${organization}${event.key}`).digest('hex').slice(0, 32);
    const holder = state.keys.get(name);
    if (holder !== event.id)
      check.violate(`the key of ${keyName(event.organization, event)} belongs to ${holder}, recorded is ${event.id}`);
    unseen.delete(name);
  }
  for (const [name, id] of unseen) {
    if (!index.recorded.has(id)) check.violate(`the key ${name} belongs to ${id}, which is not recorded`);
  }
  return check;
}
