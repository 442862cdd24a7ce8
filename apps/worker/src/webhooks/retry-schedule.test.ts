import { expect, test } from 'vitest';
import { retryMsAfter } from './retry-schedule.ts';

const exactly = { random: () => 0.5, now: () => Date.parse('2026-11-25T08:00:00Z') };

test('nine attempts follow the first, each later than the one before, and then none', () => {
  const minutes = Array.from({ length: 10 }, (_, tries) => retryMsAfter(tries + 1, undefined, exactly));
  expect(minutes.map((ms) => (ms === undefined ? undefined : ms / 60_000))).toEqual([
    5 / 60,
    5,
    30,
    120,
    300,
    600,
    840,
    1200,
    1440,
    undefined,
  ]);
});

test('a wait is up to a fifth shorter or longer', () => {
  expect([0, 1].map((random) => retryMsAfter(2, undefined, { random: () => random }))).toEqual([240_000, 360_000]);
});

test('Retry-After is followed, in seconds or as a date, up to a day, and never shortens a wait', () => {
  const after = (retryAfter: string) => (retryMsAfter(1, retryAfter, exactly) ?? 0) / 1_000;
  expect(after('120')).toBe(120);
  expect(after('Wed, 25 Nov 2026 08:10:00 GMT')).toBe(600);
  expect(after('999999999999')).toBe(86_400);
  expect(['1', '0', '-5', 'soon', '', 'Wed, 25 Nov 2020 08:10:00 GMT'].map(after)).toEqual([5, 5, 5, 5, 5, 5]);
});
