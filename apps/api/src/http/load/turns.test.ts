import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a slice is over after 3 ms, and each turn of the event loop has one, for whoever works in it', async () => {
  let now = 0;
  const turns = new Turns(() => now);
  expect(turns.isOver()).toBe(false);
  now += 2;
  expect(turns.isOver()).toBe(false);
  now += 1;
  expect(turns.isOver()).toBe(true);
  await turn();
  expect(turns.isOver()).toBe(false);
});

test('of those who wait, one goes on in each turn of the event loop, in the order they came', async () => {
  const turns = new Turns();
  const log: string[] = [];
  let isDone = false;
  const work = async (name: string) => {
    for (let slice = 1; slice <= 3; slice += 1) {
      await turns.next();
      log.push(`${name}${slice}`);
    }
  };
  const count = async () => {
    while (!isDone) {
      await turn();
      log.push('-');
    }
  };
  const counting = count();
  await Promise.all([work('a'), work('b')]);
  isDone = true;
  await counting;
  const slices = log
    .join('')
    .split('-')
    .filter((each) => each !== '');
  expect(slices).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
});

test('whoever comes while others wait has to wait too', async () => {
  const turns = new Turns();
  const waiting = turns.next();
  expect(turns.isOver()).toBe(true);
  await waiting;
});
