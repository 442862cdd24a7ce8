import { expect, test } from 'vitest';
import { EndpointPlaces } from './endpoint-places.ts';

const well = (organizationId: string) => ({ organizationId, failingSince: null, answerMs: 5 });

test('one organization has an eighth of the places, and gets one again when it gives one back', () => {
  const places = new EndpointPlaces(16);
  const [first] = [places.take(well('a')), places.take(well('a'))];
  expect([places.take(well('a')), places.take(well('b'))]).toEqual([undefined, expect.any(Function)]);
  first?.();
  expect(places.take(well('a'))).toBeDefined();
});

test('receivers that fail or are slow have half of the places together, and the others all', () => {
  const places = new EndpointPlaces(16);
  const slow = (n: number) =>
    places.take({ organizationId: `s${n}`, failingSince: n % 2 ? 'then' : null, answerMs: 14_000 });
  const taken = Array.from({ length: 9 }, (_, n) => slow(n) !== undefined);
  expect(taken).toEqual([...Array<boolean>(8).fill(true), false]);
  expect(Array.from({ length: 8 }, (_, n) => places.take(well(`w${n}`)) !== undefined)).not.toContain(false);
});
