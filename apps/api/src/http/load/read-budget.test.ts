import { Refusal } from '@weir/shared/errors';
import fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Caller } from './caller.ts';
import { watchConnections } from '../connection/connections.ts';
import { usePressure } from './pressure.ts';
import { ALTOGETHER, QUICK_READ, ReadBudget, useReadBudget } from './read-budget.ts';

let budget: ReadBudget;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  budget = new ReadBudget({ underWayMax: 4, connections: 20, bucketsPerSecond: 40_000, waitingMax: 1_000 });
});
afterEach(() => vi.useRealTimers());

interface Entered {
  /** Undefined while it waits. */
  outcome: 'in' | 'refused' | undefined;
  leave: () => void;
  error?: unknown;
}

/** Begins a request; what became of it is known after `settled`. */
function enter(caller = 'a'): Entered {
  const entered: Entered = { outcome: undefined, leave: () => {} };
  budget.enter(caller).then(
    (leave) => Object.assign(entered, { outcome: 'in', leave }),
    (error: unknown) => Object.assign(entered, { outcome: 'refused', error }),
  );
  return entered;
}
const settled = () => vi.advanceTimersByTimeAsync(0);
const outcomes = (all: Entered[]) => all.map(({ outcome }) => outcome);

test('a caller has four requests worked on at the same time, and others wait for one of them to end', async () => {
  const all = Array.from({ length: 6 }, () => enter());
  await settled();
  expect(outcomes(all)).toEqual(['in', 'in', 'in', 'in', undefined, undefined]);
  all[1]?.leave();
  await settled();
  expect(outcomes(all)).toEqual(['in', 'in', 'in', 'in', 'in', undefined]);
  const other = enter('b');
  await settled();
  expect(other.outcome).toBe('in');
});

test('more than twenty times as many do not wait', async () => {
  const all = Array.from({ length: 85 }, () => enter());
  await settled();
  expect(all.filter(({ outcome }) => outcome === 'refused').length).toBe(1);
  expect(all[84]?.error).toMatchObject({ code: 'rate_limited', fields: { retryAfterSeconds: 1 } });
});

test('one that has waited for five seconds is refused, and those behind it are let on in time', async () => {
  const first = Array.from({ length: 4 }, () => enter());
  const late = enter();
  await vi.advanceTimersByTimeAsync(3_000);
  const inTime = enter();
  await vi.advanceTimersByTimeAsync(2_000);
  expect([late.outcome, inTime.outcome]).toEqual(['refused', undefined]);
  first[0]?.leave();
  await settled();
  expect(inTime.outcome).toBe('in');
});

describe('a page of 20 charts of 720 hours', () => {
  test('that is loaded every ten seconds waits for nothing but its turn', async () => {
    for (let load = 0; load < 10; load += 1) {
      const waiting = Array.from({ length: 20 }, () => enter());
      const began = performance.now();
      while (waiting.length > 0) {
        await settled();
        for (const each of waiting.filter(({ outcome }) => outcome !== undefined)) {
          expect(each.outcome).toBe('in');
          budget.pay('a', 720);
          each.leave();
          waiting.splice(waiting.indexOf(each), 1);
        }
      }
      expect(performance.now() - began).toBeLessThan(10);
      await vi.advanceTimersByTimeAsync(10_000);
    }
  });
});

test('whoever asks for 10,000 buckets again and again gets four of them in a second', async () => {
  let done = 0;
  let isOver = false;
  const ask = async () => {
    while (!isOver) {
      const leave = await budget.enter('a');
      budget.pay('a', 9_900);
      await new Promise((resolve) => setTimeout(resolve, 10));
      leave();
      done += 1;
    }
  };
  const asking = Promise.all(Array.from({ length: 4 }, ask));
  await vi.advanceTimersByTimeAsync(10_000);
  // What was saved up lets ten more of them through at the beginning, and those under way at the end overdraw by some.
  expect(done).toBeGreaterThanOrEqual(48);
  expect(done).toBeLessThanOrEqual(56);
  isOver = true;
  await vi.advanceTimersByTimeAsync(10_000);
  await asking;
});

test('an organization has no more waiting than there is room left, and the next one finds room', async () => {
  budget = new ReadBudget({ underWayMax: 4, connections: 20, bucketsPerSecond: 40_000, waitingMax: 60 });
  const crowd = (organization: string, callers: number) => {
    const outcomes: string[] = [];
    for (let n = 0; n < callers * 10; n += 1) {
      const entering = budget.enter(`${organization} customer ${n % callers}`, undefined, { organization });
      entering.then(
        () => outcomes.push('in'),
        () => outcomes.push('refused'),
      );
    }
    return outcomes;
  };
  const first = crowd('a', 20);
  await settled();
  // Of each customer four are worked on.
  expect([first.filter((each) => each === 'in').length, budget.waiting]).toEqual([80, 30]);
  const second = crowd('b', 20);
  await settled();
  expect([second.filter((each) => each === 'in').length, budget.waiting]).toEqual([80, 45]);
  crowd('c', 1);
  await settled();
  expect(budget.waiting).toBe(51);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(budget.waiting).toBe(0);
});

test('who is told to stop waiting is not let on, and those behind it are', async () => {
  const first = Array.from({ length: 4 }, () => enter());
  const controller = new AbortController();
  const gone = budget.enter('a', undefined, { signal: controller.signal }).catch((error: unknown) => error);
  const behind = enter();
  controller.abort();
  expect(await gone).toMatchObject({ code: 'rate_limited' });
  first[0]?.leave();
  await settled();
  expect([behind.outcome, budget.waiting]).toEqual(['in', 0]);
});

test('callers that have asked for nothing lately are forgotten', async () => {
  for (let caller = 0; caller < 1_000; caller += 1) (await budget.enter(`caller ${caller}`))();
  const stays = enter('stays');
  await vi.advanceTimersByTimeAsync(2_000);
  (await budget.enter('one more'))();
  expect(budget.callers).toBe(2);
  expect(stays.outcome).toBe('in');
});

test('a caller that comes for quick reads has three times as many worked on, and 2,000 of them in a second', async () => {
  const all = Array.from({ length: 14 }, () => budget.enter('a quick', QUICK_READ));
  let isIn = 0;
  for (const each of all) void each.then(() => (isIn += 1));
  await settled();
  expect(isIn).toBe(12);
  for (const each of all.slice(0, 12)) (await each)();
  for (const each of all.slice(12)) (await each)();
  let done = 0;
  for (; done < 10_000; done += 1) {
    const entering = budget.enter('a quick', QUICK_READ);
    let hasEntered = false;
    void entering.then(() => (hasEntered = true));
    await settled();
    if (!hasEntered) break;
    (await entering)();
  }
  // What was saved up in 2.5 seconds, less the 14 before.
  expect(done).toBeGreaterThanOrEqual(4_980);
  expect(done).toBeLessThanOrEqual(5_000);
});

test.each([
  [2, 20, 10],
  [2, 10, 5],
  // Half would be no more than charts have.
  [2, 8, 5],
  [3, 10, 7],
  // One is left to others.
  [4, 6, 5],
  // One caller alone is given more than all.
  [4, 3, 4],
])(
  'where a caller has %i of %i connections, its organization has %i for all of its budgets',
  (underWayMax, connections, most) => {
    budget = new ReadBudget({ underWayMax, connections, bucketsPerSecond: 40_000, waitingMax: 1_000 });
    const entered = Array.from({ length: 30 }, () => budget.tryEnter('a altogether', ALTOGETHER));
    expect(entered.filter((leave) => leave !== undefined)).toHaveLength(most);
    expect(budget.tryEnter('b altogether', ALTOGETHER)).toBeDefined();
  },
);

test('a quick read is worked on at once, however many charts of its organization and its customers are', () => {
  budget = new ReadBudget({ underWayMax: 2, connections: 8, bucketsPerSecond: 40_000, waitingMax: 1_000 });
  for (const caller of ['a', 'a customers']) {
    const charts = Array.from({ length: 3 }, () => budget.tryEnter(caller));
    expect(charts.filter((leave) => leave !== undefined)).toHaveLength(2);
    for (let n = 0; n < 2; n += 1) budget.tryEnter('a altogether', ALTOGETHER);
  }
  expect(budget.tryEnter('a quick', QUICK_READ)).toBeDefined();
  expect(budget.tryEnter('a altogether', ALTOGETHER)).toBeDefined();
});

test('a request waits for all of its budgets together no longer than for one', async () => {
  const app = fastify();
  const connections = watchConnections(app);
  const pressure = usePressure(app, connections, {
    othersMax: 10,
    delayMsMax: 1_000,
    databaseAway: () => undefined,
    onShed: () => {},
  });
  app.setErrorHandler((error, _request, reply) => reply.code(error instanceof Refusal ? 429 : 500).send());
  const options = { underWayMax: 1, connections: 10, bucketsPerSecond: 40_000, waitingMax: 1_000 };
  budget = useReadBudget(app, { connections, pressure }, options);
  const caller: Caller = { organizationId: 'a', customerExternalId: 'acme' };
  app.decorateRequest('caller', { getter: () => caller });
  app.get('/api/chart', () => 'served');
  await app.ready();
  const first = budget.tryEnter('a customer acme');
  const second = budget.tryEnter('a customers');
  const status = app.inject('/api/chart').then(({ statusCode }) => statusCode);
  await vi.waitFor(() => expect(budget.waiting).toBe(1));
  await vi.advanceTimersByTimeAsync(4_000);
  first?.();
  await vi.advanceTimersByTimeAsync(900);
  expect(budget.waiting).toBe(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(budget.waiting).toBe(0);
  expect(await status).toBe(429);
  second?.();
  await app.close();
});
