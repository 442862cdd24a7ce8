import type { FastifyBaseLogger } from 'fastify';
import { expect, test } from 'vitest';
import { SparseLog } from './sparse-log.ts';

test('of many equal warnings fewer and fewer are written, and each says how many there were between', () => {
  const lines: unknown[] = [];
  const log = { warn: (fields: object, message: string) => lines.push({ ...fields, message }) };
  const clock = { ms: 0 };
  const sparse = new SparseLog(() => clock.ms);
  const warn = (kind: string) => sparse.warn(log as unknown as FastifyBaseLogger, kind, { kind }, 'away');
  for (const ms of [0, 1, 999, 1_000, 2_999, 3_000, 6_999, 7_000, 30_000, 31_000]) {
    clock.ms = ms;
    warn('redis');
  }
  warn('postgres');
  expect(lines).toEqual([
    { kind: 'redis', message: 'away' },
    { kind: 'redis', message: 'away', alike: 2 },
    { kind: 'redis', message: 'away', alike: 1 },
    { kind: 'redis', message: 'away', alike: 1 },
    // Not for twice as long as it would have waited: news again.
    { kind: 'redis', message: 'away' },
    { kind: 'redis', message: 'away' },
    { kind: 'postgres', message: 'away' },
  ]);
});
