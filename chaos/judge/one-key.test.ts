import { expect, test } from 'vitest';
import { answersAreExpected } from './answers.ts';
import { MadeUpRun, UNIQUE_COUNT, eventOf, idOf } from './made-up-run.ts';
import { claimsAreHeld, keysBelongToTheirEvents, recordedIsWhatWasSent } from './one-key.ts';

const a = eventOf('a');
const held = (id: string) => ({ status: 409, body: { code: 'duplicate_event', detail: 'taken', id } });
const reused = (id: string) => ({ status: 422, body: { code: 'idempotency_key_reused', detail: 'other', id } });

test('an event that is recorded as it was sent passes, however its digits and its time were written', () => {
  const sent = eventOf('a', { quantity: '1.50e1', timestamp: '2026-11-20T12:15:00.1234569+02:00' });
  const stored = eventOf('a', { quantity: '15', timestamp: '2026-11-20T10:15:00.123456Z' });
  const run = new MadeUpRun().accept(sent, idOf(1)).record(stored, idOf(1));
  expect(recordedIsWhatWasSent(run.facts, run.index)).toMatchObject({ examined: 1, violations: 0 });
});

test('an event without a timestamp is recorded with the time in its id', () => {
  const { timestamp: _given, ...sent } = a;
  const run = new MadeUpRun().accept(sent, idOf(1)).record(sent, idOf(1));
  expect(recordedIsWhatWasSent(run.facts, run.index).violations).toBe(0);
  const late = new MadeUpRun().accept(sent, idOf(1)).record(a, idOf(1));
  expect(recordedIsWhatWasSent(late.facts, late.index).violations).toBe(1);
});

test.for([
  ['quantity', { quantity: '0.10000000000000001' }],
  ['customer', { customer: 'other' }],
  ['meter', { meter: UNIQUE_COUNT }],
  ['microsecond', { timestamp: '2026-11-20T10:15:00.000001Z' }],
  ['user', { userId: 'someone' }],
  ['region', { region: 'eu' }],
] as const)('another %s is found', ([, changed]) => {
  const run = new MadeUpRun().accept(a, idOf(1)).record(eventOf('a', changed), idOf(1));
  expect(recordedIsWhatWasSent(run.facts, run.index).violations).toBe(1);
});

test('two events of one key are found', () => {
  const run = new MadeUpRun().accept(a, idOf(1)).record(a, idOf(1)).record(a, idOf(2));
  expect(recordedIsWhatWasSent(run.facts, run.index).violations).toBeGreaterThan(0);
});

test('an event that nobody sent is found', () => {
  const run = new MadeUpRun().record(a, idOf(1));
  expect(recordedIsWhatWasSent(run.facts, run.index).violations).toBe(1);
});

test('an event is recorded with the payload that was answered 201, and not with the one that was refused', () => {
  const rival = eventOf('a', { quantity: '7' });
  const run = new MadeUpRun()
    .accept(a, idOf(1))
    .exchange([rival], reused(idOf(1)))
    .record(rival, idOf(1));
  expect(recordedIsWhatWasSent(run.facts, run.index).violations).toBe(1);
});

test('an event that was replayed with a user has that user', () => {
  const [sent, corrected] = [eventOf('u', { meter: UNIQUE_COUNT }), eventOf('u', { meter: UNIQUE_COUNT, userId: 'x' })];
  const run = new MadeUpRun()
    .accept(sent, idOf(1))
    .exchange([corrected], { operation: 'replay', subject: idOf(1), status: 202, expect: [202] })
    .record(corrected, idOf(1));
  expect(recordedIsWhatWasSent(run.facts, run.index).violations).toBe(0);
});

test('a row whose id differs from what its sender was told is found', () => {
  const run = new MadeUpRun().accept(a, idOf(1)).record(a, idOf(2));
  expect(recordedIsWhatWasSent(run.facts, run.index).violations).toBe(1);
});

test('one 201, then 409 for the same and 422 for another payload, is how a claim is held', () => {
  const rival = eventOf('a', { quantity: '7' });
  const run = new MadeUpRun()
    .accept(a, idOf(1))
    .exchange([a], held(idOf(1)))
    .exchange([rival], reused(idOf(1)));
  expect(claimsAreHeld(run.facts, run.index)).toMatchObject({ examined: 3, violations: 0 });
});

test('the same quantity in other digits is the same payload', () => {
  const run = new MadeUpRun()
    .exchange([eventOf('a', { quantity: '7.0e0' })], held(idOf(1)))
    .accept(eventOf('a', { quantity: '7' }), idOf(1));
  expect(claimsAreHeld(run.facts, run.index)).toMatchObject({ violations: 0 });
});

test.for([
  ['a second 201', eventOf('a'), { status: 201, body: { id: idOf(1) } }],
  ['another id', eventOf('a'), held(idOf(2))],
  ['422 for the same payload', eventOf('a'), reused(idOf(1))],
  ['409 for another payload', eventOf('a', { quantity: '7' }), held(idOf(1))],
] as const)('%s is found, and forgiven only when Redis had lost its claims', ([, event, answer]) => {
  const run = new MadeUpRun().accept(a, idOf(1)).exchange([event], answer);
  expect(claimsAreHeld(run.facts, run.index).violations).toBe(1);
  run.fault({ at: 16, until: 18, losesClaims: true });
  expect(claimsAreHeld(run.facts, run.index).violations).toBe(0);
});

test('two 201 are found also where Redis lost its claims after both', () => {
  const run = new MadeUpRun().accept(a, idOf(1)).accept(a, idOf(2));
  run.fault({ at: 4_000, until: 4_100, losesClaims: true }).exchange([a], { ...held(idOf(2)), at: 5_000 });
  expect(claimsAreHeld(run.facts, run.index).violations).toBe(1);
});

test('422 for the same payload is forgiven where a replay changed the event and Redis is away, or found', () => {
  const [sent, corrected] = [eventOf('u', { meter: UNIQUE_COUNT }), eventOf('u', { meter: UNIQUE_COUNT, userId: 'x' })];
  const run = (target: string, isReplayed: boolean) =>
    new MadeUpRun()
      .accept(sent, idOf(1))
      .exchange([corrected], {
        operation: 'replay',
        subject: idOf(1),
        status: isReplayed ? 202 : 409,
        expect: [202, 409],
      })
      .exchange([sent], { ...reused(idOf(1)), expect: [201, 409] })
      .fault({ at: 16, until: 900, target });
  for (const [target, isReplayed, violations] of [
    ['api-0>redis', true, 0],
    ['api-0>postgres', true, 1],
    ['api-0>redis', false, 1],
  ] as const) {
    const { facts, index } = run(target, isReplayed);
    expect([claimsAreHeld(facts, index).violations, answersAreExpected(facts).violations]).toEqual([
      violations,
      violations,
    ]);
  }
});

test('a second 201 is forgiven of an event that was rejected while Redis was away, and then replayed', () => {
  const [sent, corrected] = [eventOf('u', { meter: UNIQUE_COUNT }), eventOf('u', { meter: UNIQUE_COUNT, userId: 'x' })];
  const run = (directFrom: number) =>
    new MadeUpRun()
      .accept(sent, idOf(1))
      .exchange([sent], { status: 201, body: { id: idOf(2) }, at: 5_000 })
      .exchange([corrected], { operation: 'replay', subject: idOf(1), status: 202, expect: [202] })
      .record(corrected, idOf(1))
      .fault({ at: 16, until: 5_500, target: 'redis' })
      .direct(directFrom, directFrom + 500);
  for (const [directFrom, violations] of [
    [4_900, 0],
    [9_000, 1],
  ] as const) {
    const { facts, index } = run(directFrom);
    expect(claimsAreHeld(facts, index).violations).toBe(violations);
  }
});

test('a key that another event holds, or one of no event, is found', () => {
  const run = new MadeUpRun().accept(eventOf('a'), idOf(1)).record(eventOf('a'), idOf(1));
  expect(keysBelongToTheirEvents(run.facts, run.state, run.index)).toMatchObject({ examined: 1, violations: 0 });
  const [name] = run.state.keys.keys();
  run.state.keys.set(name ?? '', idOf(8));
  expect(keysBelongToTheirEvents(run.facts, run.state, run.index).violations).toBe(1);
  run.state.keys.set('ff', idOf(9));
  expect(keysBelongToTheirEvents(run.facts, run.state, run.index).violations).toBe(2);
});
