import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

test('what is due within a tenth of a second begins together, and the rest one such time after the other', async () => {
  const pace = new Pace(95);
  const began = performance.now();
  const order: number[] = [];
  const turns = Array.from({ length: 20 }, (_, n) => pace.turn().then(() => order.push(n)));
  // What waits for no timer is there before the event loop turns.
  for (let step = 0; step < 3; step += 1) await Promise.resolve();
  expect(order).toHaveLength(10);
  await Promise.all(turns);
  expect(performance.now() - began).toBeGreaterThan(95);
  await pace.turn();
  expect(performance.now() - began).toBeGreaterThan(195);
  expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
});
