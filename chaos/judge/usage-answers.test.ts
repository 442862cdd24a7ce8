import { expect, test } from 'vitest';
import { MadeUpRun, SUM, UNIQUE_COUNT, eventOf, idOf, type Exchange } from './made-up-run.ts';
import { usageEqualsAcknowledged, usageOnlyGrows, type UsageReading } from './usage-answers.ts';

function run(): MadeUpRun {
  return new MadeUpRun()
    .record(eventOf('a', { region: 'eu' }), idOf(1))
    .record(eventOf('b', { quantity: '0.2', customer: 'other' }), idOf(2))
    .record(eventOf('u', { meter: UNIQUE_COUNT, quantity: '1', userId: 7 }), idOf(3))
    .record(eventOf('v', { meter: UNIQUE_COUNT, quantity: '1', userId: '7' }), idOf(4));
}

const ofMeter = {
  organization: 0,
  meter: SUM,
  total: '0.3',
  count: 2,
  buckets: [
    { period: '2026-11-20T09', usage: '0', count: 0 },
    { period: '2026-11-20T10', usage: '0.3', count: 2 },
  ],
};
const ofCustomer = {
  organization: 0,
  meter: SUM,
  customer: 'other',
  total: '0.2',
  count: 1,
  buckets: [{ period: '2026-11-20', usage: '0.2', count: 1 }],
};
const ofRegion = {
  organization: 0,
  meter: SUM,
  region: 'eu',
  total: '0.1',
  count: 1,
  buckets: [{ period: '2026-11-20', usage: '0.1', count: 1 }],
};
const ofUsers = {
  organization: 0,
  meter: UNIQUE_COUNT,
  total: '1',
  count: 2,
  buckets: [{ period: '2026-11-20', usage: '1', count: 2 }],
};
const ofNobody = { organization: 1, meter: SUM, total: '0', count: 0, buckets: [] };

test('usage that is what the events add up to passes', () => {
  const { facts, state } = run();
  expect(
    usageEqualsAcknowledged(facts, state.events, [ofMeter, ofCustomer, ofRegion, ofUsers, ofNobody]),
  ).toMatchObject({
    examined: 10,
    violations: 0,
  });
});

const [empty, full] = ofMeter.buckets;

test.for([
  ['a sum', { ...ofMeter, total: '0.30000000000000004' }],
  ['a number of events', { ...ofMeter, count: 3 }],
  ['the sum of an hour', { ...ofMeter, buckets: [empty, { ...full, usage: '0.2' }] }],
  ['the number of events of an hour', { ...ofMeter, buckets: [empty, { ...full, count: 1 }] }],
  ['an hour without events', { ...ofMeter, buckets: [{ ...empty, usage: '0.1' }, full] }],
  ['an hour that is not there', { ...ofMeter, buckets: [empty] }],
  ['the usage of another customer', { ...ofCustomer, total: '0.3' }],
  ['the usage of another region', { ...ofRegion, total: '0.3' }],
  ['a number of users', { ...ofUsers, total: '2' }],
  ['an answer that was none', { ...ofNobody, total: 'status 503' }],
] as const)('%s that is wrong is found', ([, reading]) => {
  const { facts, state } = run();
  expect(usageEqualsAcknowledged(facts, state.events, [reading as UsageReading]).violations).toBe(1);
});

const read = (count: number, at: number, tookMs = 5) => ({
  operation: 'usage' as const,
  subject: String(SUM),
  expect: [200],
  status: 200,
  body: { total_usage: '0', event_count: count },
  at,
  tookMs,
});

test('usage that grows passes, and so does a read that overtakes another', () => {
  const grows = run()
    .exchange([], read(1, 10))
    .exchange([], read(2, 20, 50))
    .exchange([], read(1, 30));
  expect(usageOnlyGrows(grows.facts, grows.state)).toMatchObject({ examined: 3, violations: 0 });
});

test('usage that goes back is found', () => {
  const shrinks = run().exchange([], read(2, 10)).exchange([], read(1, 20));
  expect(usageOnlyGrows(shrinks.facts, shrinks.state).violations).toBe(1);
});

test('usage goes back by what was voided since, and by nothing that was void when it was read before', () => {
  const correction: Exchange = { operation: 'correct', expect: [201], status: 201 };
  const voided = (at: number) => {
    const made = run().exchange([], { ...correction, subject: idOf(1), body: { id: idOf(9) }, at });
    made.state.corrections.set(idOf(1), { id: idOf(9), amendedBy: null });
    return made.exchange([], read(2, 100)).exchange([], read(1, 200));
  };
  for (const [at, violations] of [
    [150, 0],
    [99, 0],
    [10, 1],
  ] as const)
    expect(usageOnlyGrows(voided(at).facts, voided(at).state).violations, String(at)).toBe(violations);
});

test('usage that was more than there is in the end is found', () => {
  const vanishes = run().exchange([], read(3, 10));
  expect(usageOnlyGrows(vanishes.facts, vanishes.state).violations).toBe(1);
});
