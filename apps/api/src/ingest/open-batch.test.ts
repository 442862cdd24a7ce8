import { BATCH_CHARACTERS_MAX, BATCH_EVENTS_MAX } from '@weir/queue/record-jobs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Batches } from './open-batch.ts';

let enqueued: string[];
let batches: Batches;
beforeEach(() => {
  vi.useFakeTimers();
  enqueued = [];
  batches = new Batches((batch) => enqueued.push(batch));
});
afterEach(() => vi.useRealTimers());

/** Has a flush join that is answered when the test says so. */
function flush(events: number, characters = events) {
  const texts = Array.from({ length: events }, (_, index) => ({ event: index === 0 ? 'x'.repeat(characters) : '' }));
  const batch = batches.join(texts);
  return { batch: batch.id, answer: (mayHoldEvents = true) => batches.leave(batch, mayHoldEvents) };
}

test('flushes of 200 milliseconds go to one batch, which is recorded once', () => {
  const first = flush(1);
  vi.advanceTimersByTime(199);
  const second = flush(1);
  first.answer();
  second.answer();
  expect(enqueued).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(enqueued).toEqual([first.batch]);
  expect(second.batch).toBe(first.batch);
  const third = flush(1);
  third.answer();
  vi.advanceTimersByTime(200);
  expect(enqueued).toEqual([first.batch, third.batch]);
  expect(third.batch).not.toBe(first.batch);
});

test('a full batch is recorded without waiting for more', () => {
  const flushes = [flush(BATCH_EVENTS_MAX - 1), flush(1), flush(1)];
  for (const each of flushes) each.answer();
  expect(enqueued).toEqual([flushes[0]?.batch]);
  expect(flushes[1]?.batch).toBe(flushes[0]?.batch);
  expect(flushes[2]?.batch).not.toBe(flushes[0]?.batch);
});

test('a batch of few but large events is full, too', () => {
  const flushes = [flush(1, BATCH_CHARACTERS_MAX - 1), flush(1, 1), flush(1, 1)];
  for (const each of flushes) each.answer();
  expect(enqueued).toEqual([flushes[0]?.batch]);
  expect(flushes[2]?.batch).not.toBe(flushes[0]?.batch);
});

test('no job is added before the last flush of its batch is answered', () => {
  const first = flush(1);
  const second = flush(1);
  first.answer();
  vi.advanceTimersByTime(1_000);
  expect(enqueued).toEqual([]);
  second.answer(false);
  expect(enqueued).toEqual([first.batch]);
});

test('a batch of which nothing was staged has no job', () => {
  flush(1).answer(false);
  vi.advanceTimersByTime(200);
  expect(enqueued).toEqual([]);
});

test('closing has the open batch recorded at once, after its last flush', () => {
  const last = flush(1);
  batches.close();
  expect(enqueued).toEqual([]);
  last.answer();
  expect(enqueued).toEqual([last.batch]);
  batches.close();
  expect(enqueued.length).toBe(1);
});
