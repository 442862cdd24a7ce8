import { expect, test } from 'vitest';
import { acknowledgedEvents } from './acknowledged.ts';
import { MadeUpRun, UNIQUE_COUNT, eventOf, idOf } from './made-up-run.ts';

function quantitiesOf(run: MadeUpRun): string[] {
  return acknowledgedEvents(run.facts, run.index).map(({ quantity }) => quantity);
}

const [a, changed] = [eventOf('a'), eventOf('a', { quantity: '0.2' })];

test('an event that was acknowledged counts, also when it is gone', () => {
  expect(quantitiesOf(new MadeUpRun().accept(a, idOf(1)).record(a, idOf(1)))).toEqual(['0.1']);
  expect(quantitiesOf(new MadeUpRun().accept(a, idOf(1)))).toEqual(['0.1']);
});

test('an event that was lost with Redis does not count', () => {
  const run = new MadeUpRun().accept(a, idOf(1)).fault({ losesClaims: true, lostEvents: [idOf(1)] });
  expect(quantitiesOf(run)).toEqual([]);
});

test('an event that nobody was told of counts when it was recorded', () => {
  const run = () => new MadeUpRun().exchange([a], { why: 'reset' });
  expect(quantitiesOf(run())).toEqual([]);
  expect(quantitiesOf(run().record(a, idOf(1)))).toEqual(['0.1']);
});

test('the digits that count are those that were sent, and not those of a row that was changed', () => {
  expect(quantitiesOf(new MadeUpRun().accept(a, idOf(1)).record(changed, idOf(1)))).toEqual(['0.1']);
});

test('of two payloads under one key the one counts that was accepted', () => {
  const run = new MadeUpRun()
    .accept(changed, idOf(1))
    .exchange([a], { status: 422, body: { code: 'idempotency_key_reused', detail: 'taken', id: idOf(1) } })
    .record(changed, idOf(1));
  expect(quantitiesOf(run)).toEqual(['0.2']);
});

test('an event whose user came with a replay counts with that user, and none that its meter did not take', () => {
  const rejected = eventOf('u', { meter: UNIQUE_COUNT, quantity: '1' });
  const run = () => new MadeUpRun().accept(rejected, idOf(1));
  expect(quantitiesOf(run().reject(rejected, idOf(1)))).toEqual([]);
  const complete = { ...rejected, userId: 'x' };
  const wronged = new MadeUpRun().accept(complete, idOf(2)).reject(complete, idOf(2));
  expect(quantitiesOf(wronged)).toEqual(['1']);
  const corrected = { ...rejected, userId: 'replayed' };
  const replayed = run()
    .exchange([corrected], { operation: 'replay', subject: idOf(1), status: 202, body: {} })
    .record(corrected, idOf(1));
  expect(acknowledgedEvents(replayed.facts, replayed.index)).toMatchObject([{ userId: 'replayed' }]);
});
