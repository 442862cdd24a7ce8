import { expect, test } from 'vitest';
import { memoryOf } from './redis-policy.ts';

test('the memory of Redis is read from what it says of itself', () => {
  expect(memoryOf('# Memory\r\nused_memory:750\r\nused_memory_human:1K\r\nmaxmemory:1000\r\n')).toEqual({
    used: 750,
    limit: 1000,
  });
});
