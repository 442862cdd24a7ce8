import { expect, test } from 'vitest';
import { backoffMs, recordJobOptions } from './record-jobs.ts';

test('a job is named after its batch, and is tried for as long as it takes', () => {
  expect(recordJobOptions('b1')).toMatchObject({
    jobId: 'b1',
    attempts: Number.MAX_SAFE_INTEGER,
    removeOnComplete: true,
  });
});

test('the pause before the next attempt grows to five seconds and no further', () => {
  expect([1, 2, 3, 4, 5, 6, 100, 1e9].map(backoffMs)).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
});
