// The whole history once more: whoever is accepted twice was forgotten once.

import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, tokenOf } from '../clients/made-events.ts';
import type { OrganizationLine } from '../history.ts';
import { eachOf, type Questions } from './questions.ts';
import { Check } from './check.ts';
import { lostEventsOf, mayHaveLostClaim, keyName, type Facts, type KeyHistory } from './history-facts.ts';
import type { FoundEvents } from './read-stored-state.ts';
import type { StateIndex, StoredState } from './stored-state.ts';

/** An event that is told to come back does so after this time, but not for ever. */
const RETRY_MS = 1_000;
const ATTEMPTS_MAX = 10;

/** Events in one request, half of what a batch may have. */
const BATCH = 500;

interface Item {
  keyHistory: KeyHistory;
  payload: KeyHistory['payloads'][number];
}

export interface ReplayAnswer {
  keyHistory: KeyHistory;
  status: number;
  code?: string | undefined;
  id?: string | undefined;
}

/** What the replay came to, and what became of the events that were accepted this time. */
export interface Replayed extends FoundEvents {
  answers: ReplayAnswer[];
  /** How many events are recorded, after. */
  events: number;
}

/** Sends every payload of every keyed event again that was ever taken. */
export async function sendAgain(questions: Questions, facts: Facts, index: StateIndex): Promise<ReplayAnswer[]> {
  const rejected = new Set([...index.rejected.values()].map((event) => keyName(event.organization, event)));
  const wasTaken = (keyHistory: KeyHistory) =>
    keyHistory.answers.length > 0 || index.recordedByName.has(keyHistory.name) || rejected.has(keyHistory.name);
  const requests = facts.organizations.flatMap((organization) => {
    const items = [...facts.keyHistories.values()]
      .filter(
        (keyHistory) => keyHistory.organization === organization.index && keyHistory.isKeyed && wasTaken(keyHistory),
      )
      .flatMap((keyHistory) => keyHistory.payloads.map((payload) => ({ keyHistory, payload })));
    return chunksOf(items, BATCH).map((chunk) => ({ organization, items: chunk }));
  });
  const answers: ReplayAnswer[] = [];
  const send = async (organization: OrganizationLine, items: readonly Item[], attempt: number): Promise<void> => {
    const events = items.map(({ payload }) => bodyOf(payload, tokenOf(organization, payload)));
    const { status, text } = await questions.ask({
      method: 'POST',
      path: '/api/v1/sdk/track/batch',
      headers: { 'x-api-key': organization.apiKey },
      body: `{"events":[${events.join(',')}]}`,
    });
    const data =
      status === 201 || status === 207
        ? (JSON.parse(text) as { data: { status: number; code?: string; id?: string }[] }).data
        : [];
    const later: Item[] = [];
    items.forEach((item, position) => {
      const { status: own = status, code, id } = data[position] ?? {};
      // Of a batch, too, some events may be told to come back.
      if (own === 503 && attempt < ATTEMPTS_MAX) later.push(item);
      else answers.push({ keyHistory: item.keyHistory, status: own, code, id });
    });
    if (later.length === 0) return;
    await delay(RETRY_MS);
    await send(organization, later, attempt + 1);
  };
  await eachOf(requests, ({ organization, items }) => send(organization, items, 1));
  return answers;
}

function chunksOf<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/** The replay accepts nothing that was accepted, and records only what was lost with Redis. */
export function replayChangesNothing(facts: Facts, state: StoredState, index: StateIndex, replayed: Replayed): Check {
  const check = new Check(
    'replay',
    'The whole history once more: no key is accepted again while its claim lives, and nothing is recorded but events that were lost with Redis.',
  );
  const lost = lostEventsOf(facts);
  for (const answer of replayed.answers) {
    check.examine();
    const problem = problemOf(facts, index, replayed, lost, answer);
    if (problem !== undefined) check.violate(`${answer.keyHistory.name}, sent again, ${problem}`);
  }
  const expected = state.events.length + state.amended.length + replayed.recorded.size;
  if (replayed.events !== expected) check.violate(`there are ${replayed.events} events now, not ${expected}`);
  return check;
}

function problemOf(
  facts: Facts,
  index: StateIndex,
  replayed: Replayed,
  lost: ReadonlySet<string>,
  { keyHistory, status, code, id = '' }: ReplayAnswer,
): string | undefined {
  const wasTaken = status === 409 || (status === 422 && code === 'idempotency_key_reused');
  if (wasTaken) {
    if (index.recorded.has(id) || index.rejected.has(id) || index.duplicates.has(id)) return undefined;
    // Of this replay: what its own answer, which was another, did not tell is judged by the same rules.
    const isNew = replayed.recorded.has(id) || replayed.rejected.has(id) || replayed.duplicates.has(id);
    if (!isNew) return `is said to be ${id}, which is nowhere`;
  } else if (status !== 201) return `was answered ${status} ${code ?? ''}`;
  if (!mayHaveLostClaim(facts, keyHistory.firstSentAt, Infinity)) return `was accepted again as ${id}`;
  const [recorded] = index.recordedByName.get(keyHistory.name) ?? [];
  const original = replayed.duplicates.get(id);
  if (original !== undefined)
    return original === recorded?.id || replayed.recorded.has(original) ? undefined : `is a duplicate of ${original}`;
  if (replayed.rejected.has(id)) return undefined;
  if (!replayed.recorded.has(id)) return `was accepted as ${id}, which is nowhere`;
  if (recorded !== undefined) return `is recorded as ${id} and was recorded as ${recorded.id}`;
  return keyHistory.answers.some((answer) => lost.has(answer.id))
    ? undefined
    : `is recorded as ${id} only now, and was not lost`;
}
