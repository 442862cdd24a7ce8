import { expect, test } from 'vitest';
import { memorySettings } from './postgres.ts';

const GB = 2 ** 30;

test.for([
  [0.5 * GB, '128MB', '256MB'],
  [4 * GB, '512MB', '2048MB'],
  [24 * GB, '3072MB', '12288MB'],
  [64 * GB, '4096MB', '32768MB'],
] as const)('of %i bytes Postgres gets %s', ([bytes, shared_buffers, effective_cache_size]) => {
  expect(memorySettings(bytes)).toEqual({ shared_buffers, effective_cache_size });
});
