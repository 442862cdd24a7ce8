import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

test('the first begins at once, and the others one after the other', async () => {
  const pace = new Pace(100);
  const began = performance.now();
  const order: number[] = [];
  let hasBegun = false;
  void pace.turn().then(() => (hasBegun = true));
  // What waits for no timer is there before the event loop turns.
  for (let step = 0; step < 3; step += 1) await Promise.resolve();
  expect(hasBegun).toBe(true);
  await Promise.all(Array.from({ length: 20 }, (_, n) => pace.turn().then(() => order.push(n))));
  expect(performance.now() - began).toBeGreaterThan(195);
  expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
});
