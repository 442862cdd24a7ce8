import { Refusal } from '@weir/shared/errors';
import { BATCH_CHARACTERS_MAX, BATCH_EVENTS_MAX } from '@weir/shared/queue';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Admission } from './admit.ts';
import { Batches } from './batches.ts';

const staged: Admission = { outcome: 'staged' };
const revoked: Admission = { outcome: 'revoked' };

let enqueued: string[];
let batches: Batches;
beforeEach(() => {
  vi.useFakeTimers();
  enqueued = [];
  batches = new Batches((batch) => enqueued.push(batch));
});
afterEach(() => vi.useRealTimers());

/** Stages a flush whose answer the test gives; `batch` is where it went. */
function flush(events: number, characters = events) {
  let resolve!: (admissions: Admission[]) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<Admission[]>((...settle) => ([resolve, reject] = settle));
  const flushed = { batch: '', answer: resolve, fail: reject, done: Promise.resolve<unknown>(undefined) };
  flushed.done = batches
    .stage({ events, characters }, (batch) => {
      flushed.batch = batch;
      return promise;
    })
    .catch((error: unknown) => error);
  return flushed;
}

test('flushes of 200 milliseconds go to one batch, which is recorded once', async () => {
  const first = flush(1);
  vi.advanceTimersByTime(199);
  const second = flush(1);
  first.answer([staged]);
  second.answer([staged]);
  await Promise.all([first.done, second.done]);
  expect(enqueued).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(enqueued).toEqual([first.batch]);
  expect(second.batch).toBe(first.batch);
  const third = flush(1);
  third.answer([staged]);
  await third.done;
  vi.advanceTimersByTime(200);
  expect(enqueued).toEqual([first.batch, third.batch]);
  expect(third.batch).not.toBe(first.batch);
});

test('a full batch is recorded without waiting for more', async () => {
  const flushes = [flush(BATCH_EVENTS_MAX - 1), flush(1), flush(1)];
  for (const each of flushes) each.answer([staged]);
  await Promise.all(flushes.map(({ done }) => done));
  expect(enqueued).toEqual([flushes[0]?.batch]);
  expect(flushes[1]?.batch).toBe(flushes[0]?.batch);
  expect(flushes[2]?.batch).not.toBe(flushes[0]?.batch);
});

test('a batch of few but large events is full, too', async () => {
  const flushes = [flush(1, BATCH_CHARACTERS_MAX - 1), flush(1, 1), flush(1, 1)];
  for (const each of flushes) each.answer([staged]);
  await Promise.all(flushes.map(({ done }) => done));
  expect(enqueued).toEqual([flushes[0]?.batch]);
  expect(flushes[2]?.batch).not.toBe(flushes[0]?.batch);
});

test('no job is added before the last flush of its batch is answered', async () => {
  const first = flush(1);
  const second = flush(1);
  first.answer([staged]);
  await first.done;
  vi.advanceTimersByTime(1_000);
  expect(enqueued).toEqual([]);
  second.answer([revoked]);
  await second.done;
  expect(enqueued).toEqual([first.batch]);
});

test('a batch of which nothing was staged has no job; one of which nobody knows has', async () => {
  const refused = flush(1);
  refused.answer([revoked, { outcome: 'held', id: 'x', isSamePayload: true }]);
  await refused.done;
  vi.advanceTimersByTime(200);
  const notAccepted = flush(1);
  notAccepted.fail(new Refusal('unavailable', 'away', { outcome: 'not_accepted' }));
  await notAccepted.done;
  vi.advanceTimersByTime(200);
  expect(enqueued).toEqual([]);
  const unknown = flush(1);
  unknown.fail(new Refusal('unavailable', 'no answer', { outcome: 'unknown' }));
  expect(await unknown.done).toMatchObject({ fields: { outcome: 'unknown' } });
  vi.advanceTimersByTime(200);
  expect(enqueued).toEqual([unknown.batch]);
});

test('closing has the open batch recorded at once, after its last flush', async () => {
  const last = flush(1);
  const closed = batches.close();
  expect(enqueued).toEqual([]);
  last.answer([staged]);
  await closed;
  expect(enqueued).toEqual([last.batch]);
  await batches.close();
  expect(enqueued.length).toBe(1);
});
