import { createLog } from '@weir/shared/log';
import { beforeEach, expect, test } from 'vitest';
import { Known } from './known.ts';

interface Grant {
  scope: string;
}

const hash = 'hash of a key';
const grant: Grant = { scope: 'usage.write' };
const HOUR_MS = 3_600_000;

let now: number;
let lookUps: number;
let answer: () => Promise<Grant | undefined>;
let known: Known<Grant>;

beforeEach(() => {
  now = 1_000;
  lookUps = 0;
  answer = async () => grant;
  const find = () => {
    lookUps += 1;
    return answer();
  };
  known = new Known({
    what: 'API key',
    find,
    freshMs: 10_000,
    usableMs: HOUR_MS,
    countMax: 2,
    log: createLog('test', 'silent'),
    now: () => now,
  });
});

test('a key is looked up once, and then answered from memory in the same turn', async () => {
  expect(await known.get(hash)).toBe(grant);
  expect(known.get(hash)).toBe(grant);
  now += 10_000;
  expect(known.get(hash)).toBe(grant);
  expect(lookUps).toBe(1);
});

test('requests that come at the same time share one look-up', async () => {
  const answers = await Promise.all([known.get(hash), known.get(hash), known.get(hash)]);
  expect(answers).toEqual([grant, grant, grant]);
  expect(lookUps).toBe(1);
});

test('a key that is not there is asked for each time, so that it works as soon as it is', async () => {
  answer = async () => undefined;
  expect(await known.get(hash)).toBeUndefined();
  answer = async () => grant;
  expect(await known.get(hash)).toBe(grant);
});

test('after 10 seconds a key is looked up again before it is used, and forgotten if it is gone', async () => {
  await known.get(hash);
  answer = async () => undefined;
  now += 10_001;
  expect(await known.get(hash)).toBeUndefined();
  expect(await known.get(hash)).toBeUndefined();
});

test('while Postgres is away a key in use goes on working, and Postgres is asked once a second', async () => {
  await known.get(hash);
  answer = () => Promise.reject(new Error('away'));
  now += 10_001;
  for (let request = 0; request < 5; request += 1) {
    expect(await known.get(hash)).toBe(grant);
  }
  expect(lookUps).toBe(2);
  now += 1_001;
  expect(await known.get(hash)).toBe(grant);
  expect(lookUps).toBe(3);
});

test('a key in use does not wait for a Postgres that says nothing', async () => {
  await known.get(hash);
  answer = () => new Promise(() => {});
  now += 10_001;
  expect(await known.get(hash)).toBe(grant);
});

test('a key that was not looked up for an hour is not used from memory any more', async () => {
  await known.get(hash);
  answer = () => Promise.reject(new Error('away'));
  now += HOUR_MS + 1;
  await expect(known.get(hash)).rejects.toThrow('away');
});

test('an answer is as old as its question: one that took too long is not used again', async () => {
  answer = async () => {
    now += HOUR_MS + 1;
    return grant;
  };
  await known.get(hash);
  await known.get(hash);
  expect(lookUps).toBe(2);
});

test('beyond its number, the key that was looked up first is forgotten', async () => {
  for (const name of ['first', 'second', 'third']) await known.get(name);
  expect(known.get('third')).toBe(grant);
  expect(known.get('second')).toBe(grant);
  expect(known.get('first')).toBeInstanceOf(Promise);
});
