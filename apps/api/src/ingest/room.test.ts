import { expect, test } from 'vitest';
import { claimSecondsAt, isTimeToLetGo, noRoom, shareOf, waitingBytesMax } from './room.ts';

test('the share of memory in use is that of maxmemory, and none without a limit', () => {
  expect(shareOf({ used: 750, limit: 1000 })).toBe(0.75);
  expect(shareOf({ used: 750, limit: 0 })).toBe(0);
});

test('there is room until three quarters of the memory are in use, or as many batches wait as may', () => {
  const queue = { memoryShare: 0, batches: 0, batchesMax: 10, wasFull: false };
  expect(noRoom({ ...queue, memoryShare: 0.75, batches: 9 })).toBeUndefined();
  expect(noRoom({ ...queue, memoryShare: 0.76 })).toBe('memory');
  expect(noRoom({ ...queue, batches: 10 })).toBe('batches');
});

test('a queue that was full has room again a little below that, so that it does not come and go', () => {
  const queue = { memoryShare: 0, batches: 0, batchesMax: 100, wasFull: true };
  expect(noRoom({ ...queue, memoryShare: 0.74 })).toBe('memory');
  expect(noRoom({ ...queue, batches: 96 })).toBe('batches');
  expect(noRoom({ ...queue, memoryShare: 0.71, batches: 94 })).toBeUndefined();
});

test('claims live in full until half of the memory is in use, half as long per percent more, then not', () => {
  const day = 86_400;
  expect([0, 0.3, 0.5].map((share) => claimSecondsAt(share, day))).toEqual([day, day, day]);
  expect([0.51, 0.52, 0.55, 0.6].map((share) => claimSecondsAt(share, day))).toEqual([43_200, 21_600, 2_700, 84]);
  expect([0.68, 0.7, 0.75, 2].map((share) => claimSecondsAt(share, day))).toEqual([0, 0, 0, 0]);
  const year = 365 * day;
  expect(claimSecondsAt(0.699, year)).toBeGreaterThan(30);
  expect(claimSecondsAt(0.7, year)).toBe(0);
  let before = Number.POSITIVE_INFINITY;
  for (let share = 0; share < 0.8; share += 0.001) {
    const seconds = claimSecondsAt(share, day);
    expect(seconds).toBeLessThanOrEqual(before);
    before = seconds;
  }
});

test('claims are let go of when that frees more than half of the time they go back to', () => {
  expect(isTimeToLetGo(3_600, 7_201)).toBe(true);
  expect(isTimeToLetGo(3_600, 7_200)).toBe(false);
  expect(isTimeToLetGo(86_400, 86_400)).toBe(false);
  expect(isTimeToLetGo(0, 0.5)).toBe(true);
});

test('one organization that takes all it can leaves a fifth of the room, and several leave less', () => {
  const limit = 1_000_000;
  // What is in use is what waits: how far can it go?
  const filledBy = (organizations: number): number => {
    let waiting = 0;
    for (; waiting < limit; waiting += 100)
      if (waiting / organizations > (waitingBytesMax(waiting / limit, limit) ?? limit)) break;
    return waiting / limit;
  };
  expect(filledBy(1)).toBeCloseTo(0.6, 3);
  expect(filledBy(2)).toBeCloseTo((0.75 * 8) / 9, 3);
  expect(waitingBytesMax(0.8, limit)).toBe(0);
});

test('shares are not looked at while nobody can be over theirs, nor without a limit', () => {
  expect(waitingBytesMax(0.6, 1_000)).toBeUndefined();
  expect(waitingBytesMax(0, 0)).toBeUndefined();
});
