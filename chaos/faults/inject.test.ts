import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Stack } from '../environment/stack.ts';
import { History } from '../history.ts';
import { Random } from '../random.ts';
import { injectFaults, type InjectOptions } from './inject.ts';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-test-inject-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

afterEach(() => void vi.useRealTimers());

/** Makes faults of a stack that has nothing, and returns how long it took in seconds, and the history. */
async function inject(name: string, options: Partial<InjectOptions>): Promise<{ took: number; lines: string }> {
  const path = join(folder, name);
  const history = new History(path);
  const began = performance.now();
  const injection = injectFaults({
    stack: {} as Stack,
    history,
    random: new Random(1),
    seconds: 0.3,
    kinds: undefined,
    pauseSeconds: 0,
    probe: () => Promise.resolve(),
    race() {},
    calmMs: () => Infinity,
    log() {},
    signal: new AbortController().signal,
    ...options,
  });
  await injection.done;
  await history.close();
  return { took: (performance.now() - began) / 1_000, lines: await readFile(path, 'utf8') };
}

test('a run whose faults are over lasts as long as was asked for', async () => {
  const { took, lines } = await inject('over', { kinds: ['pause'] });
  expect(took).toBeGreaterThan(0.29);
  expect(lines).toBe('');
});

test('a fault that is made alone is left out where the system is never calm, and the run says so', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const said = new Set<string>();
  const calmMs = () => {
    vi.advanceTimersByTime(20_000);
    return 0;
  };
  const { lines } = await inject('busy', { kinds: ['rolling restart'], calmMs, log: (line) => void said.add(line) });
  expect(lines).toBe('');
  expect([...said]).toEqual(['rolling restart was left out: the system was not calm for 60 s']);
});
