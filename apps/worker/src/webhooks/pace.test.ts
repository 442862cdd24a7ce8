import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

test('the first begins at once, and the others one after the other', async () => {
  const pace = new Pace(100);
  const began = performance.now();
  const order: number[] = [];
  await pace.turn();
  expect(performance.now() - began).toBeLessThan(9);
  await Promise.all(Array.from({ length: 20 }, (_, n) => pace.turn().then(() => order.push(n))));
  expect(performance.now() - began).toBeGreaterThan(195);
  expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
});
