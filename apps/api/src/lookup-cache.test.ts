import { createLog } from '@weir/shared/log';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LookupCache } from './lookup-cache.ts';

interface Grant {
  scope: string;
}

const hash = 'hash of a key';
const grant: Grant = { scope: 'usage.write' };
const HOUR_MS = 3_600_000;

let now: number;
let lookUps: number;
let questions: string[][];
let answer: () => Promise<Grant | undefined>;
let open: (clock: { now?: () => number }) => LookupCache<Grant>;
let cache: LookupCache<Grant>;
let warnings: object[];

afterEach(() => vi.restoreAllMocks());
beforeEach(() => {
  now = 1_000;
  lookUps = 0;
  answer = async () => grant;
  questions = [];
  warnings = [];
  const log = createLog('test', 'silent');
  log.warn = (fields: object) => void warnings.push(fields);
  const find = async (names: readonly string[]) => {
    lookUps += 1;
    questions.push([...names]);
    const value = await answer();
    return new Map(value === undefined ? [] : names.map((name) => [name, value]));
  };
  open = (clock) =>
    new LookupCache({ what: 'API key', find, freshMs: 10_000, usableMs: HOUR_MS, countMax: 2, log, ...clock });
  cache = open({ now: () => now });
});

test('a key is looked up once, and then answered from memory in the same turn', async () => {
  expect(await cache.get(hash)).toBe(grant);
  expect(cache.get(hash)).toBe(grant);
  now += 10_000;
  expect(cache.get(hash)).toBe(grant);
  expect(lookUps).toBe(1);
});

test('a key that is to be looked up again is, before it is used, and stays in use while Postgres is away', async () => {
  await cache.get(hash);
  cache.lookUpAgain(({ scope }) => scope === 'another');
  expect(cache.get(hash)).toBe(grant);
  cache.lookUpAgain(({ scope }) => scope === grant.scope);
  expect(await cache.get(hash)).toBe(grant);
  expect(lookUps).toBe(2);
  cache.lookUpAgain(() => true);
  answer = () => Promise.reject(new Error('away'));
  expect(await cache.get(hash)).toBe(grant);
  expect(lookUps).toBe(3);
});

test('requests that come at the same time share one look-up', async () => {
  const answers = await Promise.all([cache.get(hash), cache.get(hash), cache.get(hash)]);
  expect(answers).toEqual([grant, grant, grant]);
  expect(lookUps).toBe(1);
});

test('a key that is not there is asked for again after a second, however often it is sent', async () => {
  answer = async () => undefined;
  expect(await cache.get(hash)).toBeUndefined();
  expect(cache.get(hash)).toBeUndefined();
  expect(lookUps).toBe(1);
  now += 1_000;
  answer = async () => grant;
  expect(await cache.get(hash)).toBe(grant);
});

test('a thousand requests that wait for a Postgres that fails make one line of the log', async () => {
  await cache.get(hash);
  const error = new Error('silent');
  now += 10_001;
  answer = () => Promise.reject(error);
  const answers = await Promise.all(Array.from({ length: 1_000 }, async () => await cache.get(hash)));
  expect(answers.every((each) => each === grant)).toBe(true);
  expect(warnings).toEqual([{ err: error }]);
});

test('a key that nobody asked for before it was made works at once', async () => {
  answer = async () => undefined;
  await cache.get('another one');
  answer = async () => grant;
  expect(await cache.get(hash)).toBe(grant);
});

test('a thousand unknown names are one question, and two are under way at most', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  answer = () => released.then(() => undefined);
  const names = Array.from({ length: 3_500 }, (_, index) => `name ${index}`);
  const all = Promise.all(names.map(async (name) => await cache.get(name)));
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(questions.map(({ length }) => length)).toEqual([1_000, 1_000]);
  release();
  expect(new Set(await all)).toEqual(new Set([undefined]));
  expect(questions.map(({ length }) => length)).toEqual([1_000, 1_000, 1_000, 500]);
});

test('a key in use is renewed before the names that strangers made up', async () => {
  await cache.get(hash);
  now += 10_001;
  questions.length = 0;
  const strangers = Array.from({ length: 1_500 }, async (_, index) => await cache.get(`stranger ${index}`));
  expect(await cache.get(hash)).toBe(grant);
  await Promise.all(strangers);
  expect(questions[0]).toContain(hash);
});

test('when thousands upon thousands of names wait for a Postgres that says nothing, one more is refused', async () => {
  answer = () => new Promise(() => {});
  for (let name = 0; name < 2_000; name += 1) void cache.get(`asked ${name}`);
  while (questions.length < 2) await new Promise((resolve) => setImmediate(resolve));
  for (let name = 0; name < 20_000; name += 1) void cache.get(`waiting ${name}`);
  await expect(cache.get('one more')).rejects.toMatchObject({
    code: 'unavailable',
    fields: { outcome: 'not_accepted' },
  });
});

test('after 10 seconds a key is looked up again before it is used, and forgotten if it is gone', async () => {
  await cache.get(hash);
  answer = async () => undefined;
  now += 10_001;
  expect(await cache.get(hash)).toBeUndefined();
  expect(await cache.get(hash)).toBeUndefined();
});

test('while Postgres is away a key in use goes on working, and Postgres is asked once a second', async () => {
  await cache.get(hash);
  answer = () => Promise.reject(new Error('away'));
  now += 10_001;
  for (let request = 0; request < 5; request += 1) {
    expect(await cache.get(hash)).toBe(grant);
  }
  expect(lookUps).toBe(2);
  now += 1_001;
  expect(await cache.get(hash)).toBe(grant);
  expect(lookUps).toBe(3);
});

test('a key in use does not wait for a Postgres that says nothing', async () => {
  await cache.get(hash);
  answer = () => new Promise(() => {});
  now += 10_001;
  expect(await cache.get(hash)).toBe(grant);
});

test('whether a key is gone is asked anew, also where a question that began before is under way', async () => {
  await cache.get(hash);
  expect(await cache.isGone(hash)).toBe(false);
  expect(lookUps).toBe(2);
  now += 10_001;
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  answer = () => released.then(() => grant);
  const before = cache.get(hash);
  while (lookUps < 3) await new Promise((resolve) => setImmediate(resolve));
  const all = Promise.all(Array.from({ length: 1_000 }, () => cache.isGone(hash)));
  answer = async () => undefined;
  release();
  expect(await before).toBe(grant);
  expect(new Set(await all)).toEqual(new Set([true]));
  expect(lookUps).toBe(4);
  expect(cache.get(hash)).toBeUndefined();
  expect(await cache.isGone(hash)).toBe(true);
  expect(lookUps).toBe(4);
});

test('of a name that is not in memory nobody asks whether it is gone', async () => {
  expect(await cache.isGone('made up')).toBe(false);
  expect(lookUps).toBe(0);
});

test('while Postgres is away nothing is gone, and it is asked for that once a second', async () => {
  await cache.get(hash);
  answer = () => Promise.reject(new Error('away'));
  for (let refusal = 0; refusal < 5; refusal += 1) expect(await cache.isGone(hash)).toBe(false);
  expect(lookUps).toBe(2);
  // What was looked up a moment ago is as good as before.
  expect(cache.get(hash)).toBe(grant);
  now += 1_001;
  answer = async () => undefined;
  expect(await cache.isGone(hash)).toBe(true);
});

test('a key that was not looked up for an hour is not used from memory any more', async () => {
  await cache.get(hash);
  answer = () => Promise.reject(new Error('away'));
  now += HOUR_MS + 1;
  await expect(cache.get(hash)).rejects.toThrow('away');
});

test('an answer is as old as its question: one that took too long is not used again', async () => {
  answer = async () => {
    now += HOUR_MS + 1;
    return grant;
  };
  await cache.get(hash);
  await cache.get(hash);
  expect(lookUps).toBe(2);
});

test('beyond its number, the key that was looked up first is forgotten', async () => {
  for (const name of ['first', 'second', 'third']) await cache.get(name);
  expect(cache.get('third')).toBe(grant);
  expect(cache.get('second')).toBe(grant);
  expect(cache.get('first')).toBeInstanceOf(Promise);
});

test('a key ages while the machine is suspended, and while the time of day is set back', async () => {
  const clocks = { sinceStart: 0, day: Date.parse('2026-01-01') };
  vi.spyOn(performance, 'now').mockImplementation(() => clocks.sinceStart);
  vi.spyOn(Date, 'now').mockImplementation(() => clocks.day);
  const own = open({});
  expect(await own.get(hash)).toBe(grant);
  for (const [sinceStart, day, isAsked] of [
    [9_000, -HOUR_MS, false],
    [10_001, -HOUR_MS, true],
    [19_000, -HOUR_MS + 9_001, false],
    // As long as it has been set back, and longer: of the one clock nothing has passed.
    [19_000, 0, true],
    [19_500, 600, false],
    [19_500, HOUR_MS, true],
  ] as const) {
    Object.assign(clocks, { sinceStart, day: Date.parse('2026-01-01') + day });
    const before = lookUps;
    expect(await own.get(hash)).toBe(grant);
    expect([sinceStart, day, lookUps - before]).toEqual([sinceStart, day, isAsked ? 1 : 0]);
  }
});
