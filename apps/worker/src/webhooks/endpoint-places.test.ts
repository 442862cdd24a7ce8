import { expect, test, vi } from 'vitest';
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

test('who gives back a place like the one that somebody asked for in vain a moment ago is told so', () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  try {
    const places = new EndpointPlaces(8);
    const slow = (organizationId: string) => ({ organizationId, failingSince: null, answerMs: 14_000 });
    const asked = () =>
      [well('a'), slow('b'), well('c'), slow('d')].map((one) => places.isAskedFor(one) && one.organizationId);
    places.take(well('a'));
    const leave = ['b', 'd', 'e', 'f'].map((organizationId) => places.take(slow(organizationId)));
    expect(asked()).toEqual([false, false, false, false]);
    places.take(slow('g'));
    expect(asked()).toEqual([false, 'b', false, 'd']);
    // Of an organization that has all its places nobody gets one of another.
    now += 60_000;
    places.take(slow('b'));
    expect(asked()).toEqual([false, 'b', false, false]);
    places.take(well('a'));
    expect(asked()).toEqual(['a', 'b', false, false]);
    now += 60_000;
    places.take(slow('g'));
    expect(asked()).toEqual([false, 'b', false, 'd']);
    leave[0]?.();
    places.take(slow('g'));
    now += 60_000;
    expect(asked()).toEqual([false, false, false, false]);
  } finally {
    clock.mockRestore();
  }
});
