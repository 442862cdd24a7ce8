import { expect, test } from 'vitest';
import { acknowledgedEvents } from './acknowledged.ts';
import { correctionsAreKept, withAmended } from './corrections.ts';
import { MadeUpRun, eventOf, idOf } from './made-up-run.ts';

const [id, amendedBy, correction] = [idOf(1), idOf(2), idOf(3)];

/** An event that was accepted and recorded, and then corrected; with a quantity, amended. */
function correctedRun(quantity?: string): MadeUpRun {
  const run = new MadeUpRun().record(eventOf('a'), id).exchange([eventOf('a')], { status: 201, body: { id } });
  const events = quantity === undefined ? [] : [eventOf('a', { quantity })];
  run.exchange(events, { operation: 'correct', subject: id, status: 201, body: { id: correction } });
  run.state.corrections.set(id, { id: correction, amendedBy: quantity === undefined ? null : amendedBy });
  const [recorded] = run.state.events;
  if (quantity !== undefined && recorded !== undefined) {
    const { key: _, ...rest } = recorded;
    run.state.amended.push({ ...rest, id: amendedBy, quantity });
  }
  return run;
}

const judged = (run: MadeUpRun) => correctionsAreKept(run.facts, run.state, run.index);

test('what was corrected as it was asked for passes, and an amended event counts with its new quantity', () => {
  for (const run of [correctedRun(), correctedRun('7.5')])
    expect(judged(run)).toMatchObject({ examined: 1, violations: 0 });
  const run = correctedRun('7.5');
  const events = withAmended(run.facts, run.state, acknowledgedEvents(run.facts, run.index));
  expect(events.map((event) => [event.id, event.quantity])).toEqual([
    [id, '0.1'],
    [amendedBy, '7.5'],
  ]);
});

test.for<[what: string, spoil: (run: MadeUpRun) => unknown]>([
  ['a correction that was answered and is gone', ({ state }) => state.corrections.clear()],
  [
    'a correction that nobody asked for',
    ({ state }) => state.corrections.set(idOf(9), { id: idOf(8), amendedBy: null }),
  ],
  ['another event in place of none', ({ state }) => state.corrections.set(id, { id: correction, amendedBy: null })],
  ['another quantity than was asked for', ({ state }) => state.amended.forEach((event) => (event.quantity = '7.4'))],
  ['another customer', ({ state }) => state.amended.forEach((event) => (event.customer = 'other'))],
  ['no event in its place', ({ state }) => state.amended.pop()],
])('%s is found', ([, spoil]) => {
  const run = correctedRun('7.5');
  spoil(run);
  expect(judged(run).violations).toBeGreaterThan(0);
});
