import { expect, test } from 'vitest';
import { Random } from '../random.ts';
import { ATTACK_KINDS } from './attack-kinds.ts';
import { TURN_LANES, planTurns, type Turn } from './turns.ts';

function plan(seed: number, turns: number): Turn[][] {
  return planTurns(300, new Random(seed)).map((lane) =>
    Array.from({ length: turns }, () => (lane.next() as IteratorYieldResult<Turn>).value),
  );
}

const told = (lanes: Turn[][]) => lanes.map((lane) => lane.map(({ kind, ...rest }) => [kind.name, rest]));

test('the same seed sends the same hostile clients, and another seed others', () => {
  expect(told(plan(7, 10))).toEqual(told(plan(7, 10)));
  expect(told(plan(7, 10))).not.toEqual(told(plan(8, 10)));
});

test('every kind has its turn before any has another, and never in two lanes at once', () => {
  const turns = Math.floor(ATTACK_KINDS.length / TURN_LANES);
  const names = plan(1, turns).flatMap((lane) => lane.map(({ kind }) => kind.name));
  expect(new Set(names).size).toBe(names.length);
  const all = plan(1, turns * 3).map((lane) => new Set(lane.map(({ kind }) => kind.name)));
  expect(all.reduce((sum, lane) => sum + lane.size, 0)).toBe(ATTACK_KINDS.length);
});
