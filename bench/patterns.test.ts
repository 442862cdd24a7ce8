import { expect, test } from 'vitest';
import { PATTERNS, type PatternDeps } from './patterns.ts';

const CALLERS = [{ apiKey: 'key', meterToken: 'token' }];

/** The programs that a pattern starts, and the addresses that its load goes to. */
async function startedBy(name: string, apis: number): Promise<{ programs: string[]; urls: string[] }> {
  const programs: string[] = [];
  const run = async (program: string) => {
    programs.push(program);
    return { url: `http://127.0.0.1:${programs.length}` };
  };
  const environment = { redisUrl: '', prefix: '{bench}' };
  const deps = {
    environment,
    database: { url: '', client: { query: async () => {} } },
    apis,
    workers: 1,
    callers: CALLERS,
    run,
  };
  const target = await PATTERNS.find((pattern) => pattern.name === name)?.start(deps as unknown as PatternDeps);
  return { programs, urls: target?.urls ?? [] };
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
