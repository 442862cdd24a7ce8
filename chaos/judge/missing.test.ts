import { expect, test } from 'vitest';
import type { ResourceUsageLine } from '../history.ts';
import { MadeUpRun, eventOf, idOf } from './made-up-run.ts';
import { connectionsAreLetGo, noSlotIsMissing, nothingElseIsMissing } from './missing.ts';

const MEGABYTE = 1024 * 1024;

test('a connection that an API still holds is found', () => {
  const run = (left: number) =>
    new MadeUpRun().line({ type: 'let go', at: 0, process: 'api-0', held: 20, left, afterMs: 60_000 });
  expect(connectionsAreLetGo(run(0).facts)).toMatchObject({ examined: 20, violations: 0 });
  expect(connectionsAreLetGo(run(1).facts).violations).toBe(1);
});

test('one slot that is missing is found', () => {
  const run = (served: number) => new MadeUpRun().line({ type: 'slots', at: 0, process: 'api-0', slots: 100, served });
  expect(noSlotIsMissing(run(100).facts)).toMatchObject({ examined: 100, violations: 0 });
  expect(noSlotIsMissing(run(99).facts).violations).toBe(1);
});

function usageOf(process: string, after: Partial<ResourceUsageLine>): MadeUpRun {
  const before = {
    type: 'resource usage',
    at: 0,
    process,
    usedBytes: 40 * MEGABYTE,
    residentBytes: 150 * MEGABYTE,
  } as const;
  return new MadeUpRun()
    .line({ ...before, when: 'before', descriptors: 30 })
    .line({ ...before, when: 'after', descriptors: 30, ...after });
}

test.for([
  ['what objects and buffers use', { usedBytes: 72 * MEGABYTE }, { usedBytes: 73 * MEGABYTE }],
  ['the memory of a process', { residentBytes: 300 * MEGABYTE }, { residentBytes: 301 * MEGABYTE }],
  ['its open files', { descriptors: 54 }, { descriptors: 55 }],
] as const)('%s may grow by what caches and pools take, and by no more', ([, within, beyond]) => {
  expect(nothingElseIsMissing(usageOf('api-0', within).facts)).toMatchObject({ examined: 1, violations: 0 });
  expect(nothingElseIsMissing(usageOf('api-0', beyond).facts).violations).toBe(1);
});

test('Redis may hold a claim for each event, and 32 MB more', () => {
  const redis = (used: number) => usageOf('redis', { usedBytes: 72 * MEGABYTE + used });
  expect(nothingElseIsMissing(redis(0).facts).violations).toBe(0);
  expect(nothingElseIsMissing(redis(512).facts).violations).toBe(1);
  expect(nothingElseIsMissing(redis(512).accept(eventOf('a'), idOf(1)).facts).violations).toBe(0);
});
