import { expect, test } from 'vitest';
import { memoryShareOf } from './redis-watch.ts';

test('the share of memory in use is that of maxmemory, and none without a limit', () => {
  expect(memoryShareOf('# Memory\r\nused_memory:750\r\nused_memory_human:1K\r\nmaxmemory:1000\r\n')).toBe(0.75);
  expect(memoryShareOf('used_memory:750\r\nmaxmemory:0\r\n')).toBe(0);
});
