import { createLog } from '@weir/shared/log';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Way } from './way.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A way whose probes the test answers, and by whose clock time passes as the test says. */
function openWay() {
  const seen = { probes: 0, told: 0, isThere: false, isTold: true, isThereWhileTold: false, isPostgresOpen: true };
  const warnings: object[] = [];
  const log = createLog('api', 'silent');
  log.warn = (fields: object) => void warnings.push(fields);
  const way = new Way({
    probe() {
      seen.probes += 1;
      return seen.isThere ? Promise.resolve() : Promise.reject(new Error('away'));
    },
    tellRedis() {
      seen.told += 1;
      seen.isThereWhileTold = way.isRedisThere() && way.isDirect();
      return seen.isTold ? Promise.resolve() : Promise.reject(new Error('a lock'));
    },
    isPostgresOpen: () => seen.isPostgresOpen,
    log,
    now: () => Date.now(),
  });
  /** Lets time pass until Redis was probed once more: there are other timers. */
  const probed = async (): Promise<void> => {
    const before = seen.probes;
    while (seen.probes === before) await vi.advanceTimersToNextTimerAsync();
  };
  /** How many probes Redis has to answer until events go there again. */
  const backAfter = async (): Promise<number> => {
    seen.isThere = true;
    const before = seen.probes;
    while (way.isDirect()) await vi.advanceTimersToNextTimerAsync();
    return seen.probes - before;
  };
  return { way, seen, warnings, probed, backAfter };
}

test('events go directly from the first failure on, and back after two probes that Redis answers', async () => {
  const { way, seen, backAfter } = openWay();
  expect(way.isDirect()).toBe(false);
  way.leave('it did not answer');
  expect(way.isDirect()).toBe(true);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(way.isDirect()).toBe(true);
  expect(seen.probes).toBeGreaterThanOrEqual(10_000 / 400 - 1);
  expect(seen.probes).toBeLessThanOrEqual(10_000 / 200);
  expect(await backAfter()).toBe(2);
  // Nobody asks any more.
  await vi.advanceTimersByTimeAsync(10_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('nobody is back before Redis is told of what was recorded; meanwhile it is known to be there', async () => {
  const { way, seen, backAfter } = openWay();
  expect(way.isRedisThere()).toBe(true);
  way.leave('it did not answer');
  expect(way.isRedisThere()).toBe(false);
  Object.assign(seen, { isThere: true, isTold: false });
  await vi.advanceTimersByTimeAsync(10_000);
  expect([way.isDirect(), way.isRedisThere(), seen.isThereWhileTold]).toEqual([true, false, true]);
  seen.isTold = true;
  await backAfter();
  expect([way.isDirect(), way.isRedisThere()]).toEqual([false, true]);
});

test('what keeps events from coming back is told where it is not why Redis was left, and once', async () => {
  const { way, seen, warnings, backAfter } = openWay();
  way.leave('away');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(warnings).toEqual([{ way: 'direct', because: 'away' }]);
  Object.assign(seen, { isThere: true, isTold: false });
  await vi.advanceTimersByTimeAsync(100_000);
  expect(warnings.slice(1)).toEqual([{ way: 'direct', err: new Error('a lock') }]);
  seen.isTold = true;
  await backAfter();
  expect(warnings).toHaveLength(2);
});

test('Redis is told at each probe that it answers, since another process may be back before', async () => {
  const { way, seen, backAfter } = openWay();
  for (let round = 0; round < 3; round += 1) {
    way.leave('it did not answer');
    await backAfter();
  }
  expect([seen.probes, seen.told]).toEqual([2 + 4 + 8, 2 + 4 + 8]);
});

test('two probes in a row: one that Redis answers between others brings nobody back', async () => {
  const { way, seen, probed } = openWay();
  way.leave('it did not answer');
  for (let round = 0; round < 20; round += 1) {
    seen.isThere = round % 2 === 0;
    await probed();
    expect(way.isDirect()).toBe(true);
  }
  way.close();
});

test('who leaves again soon after coming back has to be sure of Redis for longer, up to 64 probes', async () => {
  const { way, backAfter } = openWay();
  const needed: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    way.leave('it did not answer');
    needed.push(await backAfter());
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(needed).toEqual([2, 4, 8, 16, 32, 64, 64]);
  // Ten seconds without a failure, and it is as at first.
  await vi.advanceTimersByTimeAsync(10_000);
  way.leave('it did not answer');
  expect(await backAfter()).toBe(2);
});

test('while Postgres takes nothing either, the first probe that Redis answers brings events back', async () => {
  const { way, seen, backAfter } = openWay();
  for (let round = 0; round < 4; round += 1) {
    way.leave('it did not answer');
    await backAfter();
  }
  way.leave('it did not answer');
  seen.isPostgresOpen = false;
  expect(await backAfter()).toBe(1);
});

test('once it is closed nobody asks', async () => {
  const { way, seen } = openWay();
  way.leave('it did not answer');
  way.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen.probes).toBe(0);
});
