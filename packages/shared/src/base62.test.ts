import { expect, test } from 'vitest';
import { base62Of, randomBase62 } from './base62.ts';

test('every character of base62 comes up about as often as any other', () => {
  const counts = new Map<string, number>();
  for (const character of randomBase62(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // About 1000 each, with a standard deviation of 31: 300 away is not chance. Taking bytes modulo 62 would be 200 off
  // for eight of them, and 1300 against 1000 in the worst case of six bits.
  for (const [character, count] of counts) expect(Math.abs(count - 1000), character).toBeLessThan(300);
});

test('a number is written with the digits asked for, its highest ones cut off', () => {
  expect(base62Of(0, 3)).toBe('000');
  expect(base62Of(61, 2)).toBe('0z');
  expect(base62Of(62 ** 2, 3)).toBe('100');
  expect(base62Of(62 ** 2, 2)).toBe('00');
});
