import { expect, test } from 'vitest';
import { MadeUpRun, eventOf, idOf, storedOf } from './made-up-run.ts';
import { replayChangesNothing, type Replayed } from './replay-history.ts';

const event = eventOf('a');

/** A run of one event, and what came of sending it again. */
function judgeReplay(
  run: MadeUpRun,
  answer: { status: number; code?: string; id?: string },
  more: Partial<Replayed> = {},
) {
  const { facts, state, index } = run;
  const [keyHistory] = facts.keyHistories.values();
  if (keyHistory === undefined) throw new Error('the run has no key');
  const nothing = { recorded: new Map(), rejected: new Set<string>(), duplicates: new Map() };
  return replayChangesNothing(facts, state, index, {
    answers: [{ keyHistory, ...answer }],
    ...nothing,
    events: state.events.length,
    ...more,
  });
}

const recordedRun = () => new MadeUpRun().accept(event, idOf(1)).record(event, idOf(1));
const lostRun = () =>
  new MadeUpRun().accept(event, idOf(1)).fault({ at: 16, until: 18, losesClaims: true, lostEvents: [idOf(1)] });
const held = { status: 409, code: 'duplicate_event', id: idOf(1) };

test('an event that is held passes', () => {
  expect(judgeReplay(recordedRun(), held)).toMatchObject({ examined: 1, violations: 0 });
});

test('an event that is accepted again is found, though Postgres knows it for a duplicate', () => {
  const duplicates = new Map([[idOf(2), idOf(1)]]);
  const again = { status: 201, id: idOf(2) };
  expect(judgeReplay(recordedRun(), again, { duplicates }).violations).toBe(1);
  const forgetful = recordedRun().fault({ at: 16, until: 18, losesClaims: true });
  expect(judgeReplay(forgetful, again, { duplicates }).violations).toBe(0);
});

test('an event that is recorded again is found', () => {
  const run = recordedRun().fault({ at: 16, until: 18, losesClaims: true });
  const recorded = new Map([[idOf(2), storedOf(event, idOf(2))]]);
  expect(judgeReplay(run, { status: 201, id: idOf(2) }, { recorded, events: 2 }).violations).toBe(1);
});

test('an event that appeared is found', () => {
  expect(judgeReplay(recordedRun(), held, { events: 2 }).violations).toBe(1);
});

test('an event that was lost with Redis is recorded now, once; one that was not lost may not be', () => {
  const again = { status: 201, id: idOf(2) };
  const recorded = new Map([[idOf(2), storedOf(event, idOf(2))]]);
  const after = { recorded, events: 1 };
  expect(judgeReplay(lostRun(), again, after).violations).toBe(0);
  const notLost = new MadeUpRun().accept(event, idOf(1)).fault({ at: 16, until: 18, losesClaims: true });
  expect(judgeReplay(notLost, again, after).violations).toBe(1);
});

test('an event that was recorded by an attempt whose answer did not come is judged as if it had come', () => {
  const recorded = new Map([[idOf(2), storedOf(event, idOf(2))]]);
  const told = { ...held, id: idOf(2) };
  expect(judgeReplay(lostRun(), told, { recorded, events: 1 }).violations).toBe(0);
  expect(judgeReplay(recordedRun(), told, { recorded, events: 2 }).violations).toBe(1);
});

test('an event that is said to be held and is nowhere, or accepted and nowhere, is found', () => {
  expect(judgeReplay(recordedRun(), { ...held, id: idOf(7) }).violations).toBe(1);
  expect(judgeReplay(lostRun(), { status: 201, id: idOf(2) }).violations).toBe(1);
});

test('an API that cannot take the replay is found', () => {
  expect(judgeReplay(recordedRun(), { status: 503, code: 'unavailable' }).violations).toBe(1);
});
