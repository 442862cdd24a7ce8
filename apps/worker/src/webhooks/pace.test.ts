import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

test('what is due within a tenth of a second begins together, and what is due later waits for its own', async () => {
  const pace = new Pace(25);
  const began = performance.now();
  const order: number[] = [];
  const turns = Array.from({ length: 9 }, (_, n) => pace.turn().then(() => order.push(n)));
  // What waits for no timer is there before the event loop turns.
  for (let step = 0; step < 3; step += 1) await Promise.resolve();
  expect(order).toHaveLength(3);
  await Promise.all(turns);
  expect(performance.now() - began).toBeGreaterThan(295);
  expect(order).toEqual(Array.from({ length: 9 }, (_, n) => n));
});
