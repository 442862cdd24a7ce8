import { describe, expect, test } from 'vitest';
import { WaitingEvents, type Waiting } from './waiting.ts';

let since = 0;

function eventOf(organizationId: string, characters = 1): Waiting {
  const sender = { organizationId, apiKeyId: 'key', epoch: 'epoch' };
  since += 1;
  const candidate = { id: `${organizationId}${since}`, event: 'x'.repeat(characters), sender, claim: null };
  return { candidate, since, settle: () => {} };
}

const ofEach = (taken: Waiting[]) => {
  const counts: Record<string, number> = {};
  for (const { candidate } of taken) {
    const organization = candidate.sender?.organizationId ?? '';
    counts[organization] = (counts[organization] ?? 0) + 1;
  }
  return counts;
};
/** Adds as many as there is room for, and returns how many that were. */
function fill(waiting: WaitingEvents, organization: string, characters = 1): number {
  let count = 0;
  while (waiting.add(eventOf(organization, characters))) count += 1;
  return count;
}

describe('a flush', () => {
  const room = { events: 10_000, characters: 100_000 };

  test('has the events of one organization in the order they came', () => {
    const waiting = new WaitingEvents(room);
    const events = Array.from({ length: 5 }, () => eventOf('a'));
    for (const each of events) waiting.add(each);
    expect(waiting.take({ events: 3, characters: 100 })).toEqual(events.slice(0, 3));
    expect(waiting.take({ events: 3, characters: 100 })).toEqual(events.slice(3));
    expect(waiting.count).toBe(0);
  });

  test('has those of a newcomer, however many of another organization came before', () => {
    const waiting = new WaitingEvents(room);
    fill(waiting, 'crowd');
    waiting.add(eventOf('one'));
    waiting.add(eventOf('two'));
    expect(ofEach(waiting.take({ events: 100, characters: 1_000 }))).toEqual({ crowd: 98, one: 1, two: 1 });
    expect(ofEach(waiting.take({ events: 100, characters: 1_000 }))).toEqual({ crowd: 100 });
  });

  test('is shared evenly by those who have more than fits, counted in characters too', () => {
    const waiting = new WaitingEvents(room);
    for (let count = 0; count < 200; count += 1) for (const each of ['a', 'b']) waiting.add(eventOf(each));
    expect(ofEach(waiting.take({ events: 100, characters: 1_000 }))).toEqual({ a: 50, b: 50 });
    fill(waiting, 'large', 100);
    expect(ofEach(waiting.take({ events: 1_000, characters: 600 }))).toEqual({ large: 3, a: 150, b: 150 });
  });

  test('has one event at least, however large it is, and no organization is passed over for ever', () => {
    const waiting = new WaitingEvents(room);
    for (const each of ['a', 'b', 'c', 'a', 'b', 'c']) waiting.add(eventOf(each, 500));
    const turns = Array.from({ length: 6 }, () => Object.keys(ofEach(waiting.take({ events: 10, characters: 100 }))));
    expect(turns).toEqual([['a'], ['b'], ['c'], ['a'], ['b'], ['c']]);
    expect(waiting.take({ events: 10, characters: 100 })).toEqual([]);
  });
});

describe('an organization', () => {
  test('may have half of the room waiting when it is alone, and leaves room for others', () => {
    const waiting = new WaitingEvents({ events: 1_000, characters: 100_000 });
    expect([fill(waiting, 'a'), fill(waiting, 'b'), fill(waiting, 'c')]).toEqual([500, 250, 125]);
    expect(waiting.count).toBe(875);
  });

  test('may have half of the characters waiting when its events are large', () => {
    const waiting = new WaitingEvents({ events: 1_000, characters: 100_000 });
    expect([fill(waiting, 'a', 1_000), fill(waiting, 'b', 1_000)]).toEqual([50, 25]);
  });

  test('has the room again when its events were taken', () => {
    const waiting = new WaitingEvents({ events: 1_000, characters: 100_000 });
    fill(waiting, 'a', 100);
    waiting.take({ events: 500, characters: 100_000 });
    expect(waiting.count).toBe(0);
    expect(fill(waiting, 'a', 100)).toBe(500);
  });
});

test('those who have waited for too long are found in every queue', () => {
  const waiting = new WaitingEvents({ events: 1_000, characters: 100_000 });
  const events = ['a', 'b', 'a', 'b'].map((each) => eventOf(each));
  for (const each of events) waiting.add(each);
  expect(waiting.takeLate(events[2]?.since ?? 0)).toEqual(events.slice(0, 2));
  expect(waiting.takeAll()).toEqual(events.slice(2));
  expect(waiting.count).toBe(0);
});
