import { expect, test } from 'vitest';
import { memoryShareOf, noRoom } from './redis-watch.ts';

test('the share of memory in use is that of maxmemory, and none without a limit', () => {
  expect(memoryShareOf('# Memory\r\nused_memory:750\r\nused_memory_human:1K\r\nmaxmemory:1000\r\n')).toBe(0.75);
  expect(memoryShareOf('used_memory:750\r\nmaxmemory:0\r\n')).toBe(0);
});

test('there is room until three quarters of the memory are in use, or as many batches wait as may', () => {
  expect(noRoom({ memoryShare: 0.75, batches: 9 }, 10)).toBeUndefined();
  expect(noRoom({ memoryShare: 0.76, batches: 0 }, 10)).toMatch(/nearly full/);
  expect(noRoom({ memoryShare: 0, batches: 10 }, 10)).toMatch(/wait to be recorded/);
});
