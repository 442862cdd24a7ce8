import { expect, test } from 'vitest';
import { LANES } from './fault.ts';
import { FAULT_KINDS } from './fault-kinds.ts';
import { Random } from '../random.ts';
import { planLane, type PlannedFault } from './fault-schedule.ts';

function plan(seed: number, runSeconds: number, count: number): PlannedFault[] {
  const random = new Random(seed);
  return LANES.flatMap((lane) => take(planLane(lane, runSeconds, random.fork()), count));
}

function take<T>(endless: Iterable<T>, count: number): T[] {
  const taken: T[] = [];
  for (const each of endless) if (taken.push(each) === count) break;
  return taken;
}

const told = (faults: PlannedFault[]) =>
  faults.map(({ kind, target, seconds, pauseSeconds }) => [kind.lane, kind.name, target, seconds, pauseSeconds]);

test('the same seed makes the same faults, and another seed makes others', () => {
  expect(told(plan(7, 600, 20))).toEqual(told(plan(7, 600, 20)));
  expect(told(plan(7, 600, 20))).not.toEqual(told(plan(8, 600, 20)));
});

test('every kind comes before any comes again, and is planned for a run of ten minutes', () => {
  for (const lane of LANES) {
    const kinds = FAULT_KINDS.filter((kind) => kind.lane === lane);
    const planned = take(planLane(lane, 600, new Random(1)), kinds.length);
    expect(new Set(planned.map(({ kind }) => kind))).toEqual(new Set(kinds));
  }
});

test('a short run has none of the kinds that take long', () => {
  expect(plan(1, 25, 30).every(({ kind }) => kind.isQuick)).toBe(true);
});

test.for([
  ['away', 20, 3],
  ['away', 300, 30],
  ['away', 6_000, 60],
  ['Redis away', 600, 120],
  ['Redis away', 1_500, 300],
  ['Redis away', 6_000, 300],
])('%s, in a run of %i s, lasts for its share of it: %i s', ([name, runSeconds, seconds]) => {
  const lane = name === 'away' ? 'stores' : 'machines';
  const planned = take(planLane(lane, Number(runSeconds), new Random(1), [String(name)]), 2);
  expect(planned.map((fault) => fault.seconds)).toEqual([seconds]);
});
