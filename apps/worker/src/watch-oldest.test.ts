import { Gauge } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { watchOldest } from './watch-oldest.ts';
import { buildWorkerMetrics } from './worker-metrics.ts';

/** What comes with a look comes at once, unless the machine is busy. */
const PATIENT = { timeout: 20_000 };

test('the age of what cannot be looked at grows, and looks do not overlap', async () => {
  const gauge = new Gauge({ name: 'oldest_seconds', help: 'Of this test.', registers: [] });
  const value = async () => (await gauge.get()).values[0]?.value;
  let ms = 0;
  const looks: { resolve: (seconds: number) => void; reject: (error: unknown) => void }[] = [];
  const failures: unknown[] = [];
  const close = watchOldest(gauge, {
    intervalMs: 1,
    look: () => new Promise((resolve, reject) => looks.push({ resolve, reject })),
    onFailed: (error) => failures.push(error),
    now: () => ms,
  });
  const lookIsMade = async (count: number) => vi.waitFor(() => expect(looks.length).toBe(count), PATIENT);
  await lookIsMade(1);
  // Many intervals later there is still the one.
  for (let at = 0; at < 10; at += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(looks.length).toBe(1);
  looks[0]?.resolve(7);
  await lookIsMade(2);
  expect(await value()).toBe(7);
  for (const [at, seconds] of [
    [5_000, 7],
    [700_000, 700],
  ] as const) {
    ms = at;
    looks.at(-1)?.reject(new Error('statement timeout'));
    await lookIsMade(looks.length + 1);
    expect(await value()).toBe(seconds);
  }
  looks.at(-1)?.resolve(0);
  await lookIsMade(looks.length + 1);
  expect(await value()).toBe(0);
  expect(failures.length).toBe(2);
  // One that does not end, as while Redis is away.
  ms = 1_400_000;
  await vi.waitFor(async () => expect(await value()).toBe(700), PATIENT);
  expect(failures.length).toBe(2);
  close();
});

test('it is looked at once, and until that look is back nobody is told that nothing waits', async () => {
  const gauge = buildWorkerMetrics().billingOldestSeconds;
  const value = async () => (await gauge.get()).values[0]?.value;
  let answer = (_seconds: number): void => {};
  const close = watchOldest(gauge, {
    intervalMs: 1_000_000,
    look: () => new Promise((resolve) => (answer = resolve)),
    onFailed: () => {},
  });
  expect(await value()).toBeNaN();
  answer(0);
  await vi.waitFor(async () => expect(await value()).toBe(0), PATIENT);
  close();
});
