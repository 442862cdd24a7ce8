import { expect, test } from 'vitest';
import { acknowledgedEvents } from './acknowledged.ts';
import { correctionsAreKept, withAmended } from './corrections.ts';
import { MadeUpRun, UNIQUE_COUNT, eventOf, idOf, storedOf, type Exchange } from './made-up-run.ts';
import type { SentEvent } from '../history.ts';

const [id, amendedBy, correction] = [idOf(1), idOf(2), idOf(3)];

/** An event that was accepted and recorded, and then corrected; with something new, amended. */
function correctedRun(amended?: Partial<SentEvent>): MadeUpRun {
  const event = eventOf('a', { meter: UNIQUE_COUNT, userId: 'someone', region: 'eu' });
  const run = new MadeUpRun().record(event, id).exchange([event], { status: 201, body: { id } });
  const asked = { ...event, ...amended };
  const events = amended === undefined ? [] : [asked];
  run.exchange(events, { operation: 'correct', subject: id, status: 201, body: { id: correction } });
  run.state.corrections.set(id, { id: correction, amendedBy: amended === undefined ? null : amendedBy });
  const { key: _, ...rest } = storedOf(asked, amendedBy);
  if (amended !== undefined) run.state.amended.push(rest);
  return run;
}

/** All that may be amended: it is of another day, user and region. */
const WHOLLY = { quantity: '7.5', timestamp: '2026-11-18T23:59:59.999Z', userId: 'other', region: 'us' };

const judged = (run: MadeUpRun) => correctionsAreKept(run.facts, run.state, run.index);

test('what was corrected as it was asked for passes, and an amended event counts as it was asked for', () => {
  for (const run of [correctedRun(), correctedRun({ quantity: '7.5' }), correctedRun(WHOLLY)])
    expect(judged(run)).toMatchObject({ examined: 1, violations: 0 });
  const run = correctedRun(WHOLLY);
  const events = withAmended(run.facts, run.state, acknowledgedEvents(run.facts, run.index));
  expect(events.map((event) => [event.id, event.quantity, event.timestamp, event.userId, event.region])).toEqual([
    [id, '0.1', '2026-11-20T10:15:00.000000Z', 'someone', 'eu'],
    [amendedBy, '7.5', '2026-11-18T23:59:59.999000Z', 'other', 'us'],
  ]);
});

test('corrections that were all refused prove nothing', () => {
  const refused: Exchange = { operation: 'correct', subject: id, status: 409, body: {}, expect: [201, 409] };
  expect(judged(new MadeUpRun().exchange([], refused))).toMatchObject({ examined: 0, violations: 0 });
});

test.for<[what: string, spoil: (run: MadeUpRun) => unknown]>([
  ['a correction that was answered and is gone', ({ state }) => state.corrections.clear()],
  [
    'a correction that nobody asked for',
    ({ state }) => state.corrections.set(idOf(9), { id: idOf(8), amendedBy: null }),
  ],
  ['another event in place of none', ({ state }) => state.corrections.set(id, { id: correction, amendedBy: null })],
  ['another quantity than was asked for', ({ state }) => state.amended.forEach((event) => (event.quantity = '7.4'))],
  [
    'the time of before',
    ({ state }) => state.amended.forEach((event) => (event.timestamp = '2026-11-20T10:15:00.000000Z')),
  ],
  ['the user of before', ({ state }) => state.amended.forEach((event) => (event.userId = 'someone'))],
  ['the region of before', ({ state }) => state.amended.forEach((event) => (event.region = 'eu'))],
  ['another customer', ({ state }) => state.amended.forEach((event) => (event.customer = 'other'))],
  ['no event in its place', ({ state }) => state.amended.pop()],
])('%s is found', ([, spoil]) => {
  const run = correctedRun(WHOLLY);
  spoil(run);
  expect(judged(run).violations).toBeGreaterThan(0);
});
