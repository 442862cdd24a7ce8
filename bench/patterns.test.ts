import { expect, test } from 'vitest';
import { PATTERNS, type PatternDeps } from './patterns.ts';

const CALLERS = [{ apiKey: 'key', meterToken: 'token' }];

interface Started {
  programs: string[];
  urls: string[];
  /** The settings of each program. */
  settings: Record<string, string>[];
  /** What was closed by the time the pattern was ready. */
  closed: string[];
}

/** The programs that a pattern starts, and the addresses that its load goes to. */
async function startedBy(name: string, apis: number): Promise<Started> {
  const programs: string[] = [];
  const settings: Record<string, string>[] = [];
  const closed: string[] = [];
  const run = async (program: string, env: Record<string, string>) => {
    programs.push(program);
    settings.push({ ...env, closedBefore: closed.join() });
    return { url: `http://127.0.0.1:${programs.length}` };
  };
  const openOtherRedis = async () => ({ redisUrl: 'redis://other', close: async () => void closed.push('other') });
  const environment = { redisUrl: 'redis://usual', prefix: '{bench}', openOtherRedis };
  const deps = {
    environment,
    database: { url: '', client: { query: async () => {} } },
    apis,
    workers: 1,
    callers: CALLERS,
    run,
  };
  const target = await PATTERNS.find((pattern) => pattern.name === name)?.start(deps as unknown as PatternDeps);
  return { programs, urls: target?.urls ?? [], settings, closed };
}

const API = 'apps/api/dist/main.js';
const WORKER = 'apps/worker/dist/main.js';
const FLOOR = 'bench/dist/baselines/floor-main.js';

test.each([
  ['floor', 1, [FLOOR]],
  ['floor', 3, [FLOOR, FLOOR, FLOOR]],
  ['floor-2', 1, [FLOOR, FLOOR]],
  ['weir-single', 1, [API, WORKER]],
  ['weir-single-2', 1, [API, API, WORKER]],
  ['weir-single-2', 3, [API, API, WORKER]],
])(
  '%s with --apis %i is so many processes, and the load goes to all that take requests',
  async (name, apis, programs) => {
    const started = await startedBy(name, apis);
    expect(started.programs).toEqual(programs);
    expect(started.urls).toHaveLength(programs.filter((program) => program !== WORKER).length);
  },
);

test.each([
  ['weir-single-replica', 'Redis', { REDIS_COPIES: '2' }],
  ['weir-single-standby', 'Postgres', { DATABASE_COPIES: '2' }],
])('%s has a second copy of %s, and every process waits for it', async (name, store, copies) => {
  expect(PATTERNS.find((pattern) => pattern.name === name)?.secondCopyOf).toBe(store);
  const { programs, settings } = await startedBy(name, 1);
  expect(programs).toEqual([API, WORKER]);
  expect(settings).toEqual([expect.objectContaining(copies), expect.objectContaining(copies)]);
});

test('with Redis away, all have seen one of their own that is gone before the load', async () => {
  const { programs, settings, closed } = await startedBy('weir-single-direct', 1);
  expect(programs).toEqual([API, WORKER]);
  const seen = expect.objectContaining({ REDIS_URL: 'redis://other', closedBefore: '' });
  expect(settings).toEqual([seen, seen]);
  expect(closed).toEqual(['other']);
});
