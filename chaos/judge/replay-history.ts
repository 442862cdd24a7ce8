// The whole history once more: whoever is accepted twice was forgotten once.

import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, tokenOf } from '../clients/events.ts';
import type { OrganizationLine } from '../history.ts';
import { eachOf, type Questions } from './questions.ts';
import { Check } from './check.ts';
import { decimalOf, hourOf, unitsOf } from './exact.ts';
import { lostEventsOf, mayHaveLostClaim, keyName, type Facts, type KeyHistory } from './history-facts.ts';
import { rollupName, type Rollup, type State, type StateIndex, type StoredEvent } from './stored-state.ts';

/** An event that is told to come back does so after this time, but not for ever. */
const RETRY_MS = 1_000;
const ATTEMPTS_MAX = 10;

/** Events in one request; a batch may have 1,000. */
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

/** What the replay came to. */
export interface Replayed {
  answers: ReplayAnswer[];
  /** What became of the events that were accepted this time. */
  recorded: Map<string, StoredEvent>;
  rejected: ReadonlySet<string>;
  /** Id → the event that it is a duplicate of. */
  duplicates: ReadonlyMap<string, string>;
  /** All rollups and the number of events, after. */
  rollups: ReadonlyMap<string, Rollup>;
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

/** The replay accepts nothing that was accepted, and changes no sum; only what was lost with Redis is counted now. */
export function replayChangesNothing(facts: Facts, state: State, index: StateIndex, replayed: Replayed): Check {
  const check = new Check(
    'replay',
    'The whole history once more: no key is accepted again while its claim lives, and no sum changes but by events that were lost with Redis.',
  );
  const lost = lostEventsOf(facts);
  for (const answer of replayed.answers) {
    check.examine();
    const problem = problemOf(facts, index, replayed, lost, answer);
    if (problem !== undefined) check.violate(`${answer.keyHistory.name}, sent again, ${problem}`);
  }
  compareTotals(check, state, replayed);
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
    const isKnown = index.recorded.has(id) || index.rejected.has(id) || index.duplicates.has(id);
    const isNew = replayed.recorded.has(id) || replayed.rejected.has(id) || replayed.duplicates.has(id);
    return isKnown || isNew ? undefined : `is said to be ${id}, which is nowhere`;
  }
  if (status !== 201) return `was answered ${status} ${code ?? ''}`;
  if (!mayHaveLostClaim(facts, keyHistory.firstSentAt, Infinity)) return `was accepted again as ${id}`;
  const [recorded] = index.recordedByName.get(keyHistory.name) ?? [];
  const original = replayed.duplicates.get(id);
  if (original !== undefined)
    return original === recorded?.id || replayed.recorded.has(original) ? undefined : `is a duplicate of ${original}`;
  if (replayed.rejected.has(id)) return undefined;
  if (!replayed.recorded.has(id)) return `was accepted as ${id}, which is nowhere`;
  if (recorded !== undefined) return `is recorded as ${id} and was recorded as ${recorded.id}`;
  return keyHistory.answers.some((said) => lost.has(said.id))
    ? undefined
    : `is recorded as ${id} only now, and was not lost`;
}

function compareTotals(check: Check, state: State, replayed: Replayed): void {
  const added = new Map<string, { count: bigint; sum: bigint }>();
  for (const event of replayed.recorded.values()) {
    const name = rollupName(event.organization, event.meter, event.customer, hourOf(event.timestamp));
    const { count, sum } = added.get(name) ?? { count: 0n, sum: 0n };
    added.set(name, { count: count + 1n, sum: sum + unitsOf(event.quantity) });
  }
  for (const name of new Set([...state.rollups.keys(), ...replayed.rollups.keys()])) {
    const { count, sum } = added.get(name) ?? { count: 0n, sum: 0n };
    const before = state.rollups.get(name);
    const after = replayed.rollups.get(name);
    const expectedCount = (before?.count ?? 0n) + count;
    const expectedSum = unitsOf(before?.sum ?? '0') + sum;
    if (after?.count === expectedCount && unitsOf(after.sum) === expectedSum) continue;
    check.violate(
      `the rollup ${name} became ${after?.count} and ${after?.sum}, not ${expectedCount} and ${decimalOf(expectedSum)}`,
    );
  }
  const expected = state.events.length + replayed.recorded.size;
  if (replayed.events !== expected) check.violate(`there are ${replayed.events} events now, not ${expected}`);
}
