import { expect, test } from 'vitest';
import { MadeUpRun, idOf } from './made-up-run.ts';
import { reconcileFindsAllEqual } from './reconciled.ts';

/** What reconcile found of a run: events that differ, and rollups that do. */
function violationsOf(run: MadeUpRun, difference: number, differing: object[] = []): number {
  const events = [
    { organization_id: 'a', month: '2026-11', difference },
    { organization_id: 'b', month: '2026-11', difference: 0 },
  ];
  return reconcileFindsAllEqual(run.facts, { events, rollups: { compared: 28, differing } }).violations;
}

test('a run in which nothing differs passes, and a rollup that differs is found', () => {
  expect(violationsOf(new MadeUpRun(), 0)).toBe(0);
  expect(violationsOf(new MadeUpRun(), 0, [{ table: 'usage' }])).toBe(1);
});

test('events that are missing are found, but for as many as were lost with Redis', () => {
  const cut = new MadeUpRun().fault({ losesClaims: true, lostEvents: [idOf(1)] });
  expect(violationsOf(new MadeUpRun(), 1)).toBe(1);
  expect(violationsOf(cut, 1)).toBe(0);
  expect(violationsOf(cut, 2)).toBe(1);
});

test('events that were not counted are found, unless Redis lost its counts', () => {
  expect(violationsOf(new MadeUpRun(), -1)).toBe(1);
  expect(violationsOf(new MadeUpRun().fault({ losesClaims: true }), -1)).toBe(0);
});
