import { expect, test } from 'vitest';
import { Rest } from './rest.ts';

test('after a turn its organization waits for the whole rest, and another one for none', () => {
  let now = 10_000;
  const rest = new Rest(1, () => now);
  rest.owe('finalize', 400);
  expect(rest.owedMs).toBe(500);
  expect(rest.beforeTurnMs).toBe(0);
  now += 500;
  expect(rest.owedMs).toBe(0);
});

test('turns of many organizations, one each, rest as much as those of one, but for two seconds', () => {
  let now = 10_000;
  const rest = new Rest(1, () => now);
  for (let turns = 0; turns < 100; turns += 1) {
    now += rest.beforeTurnMs;
    now += 100;
    rest.owe('open', 100);
  }
  expect(now).toBe(10_000 + 100 * 175 - 2_000 - 75);
});

test('slots of one worker share its rest', () => {
  const rest = new Rest(4, () => 10_000);
  rest.owe('finalize', 400);
  expect(rest.owedMs).toBe(125);
});
