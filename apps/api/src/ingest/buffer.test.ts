import { expect, test } from 'vitest';
import type { Admission, Candidate } from './admit.ts';
import { FlushBuffer } from './buffer.ts';

const candidate = (id: string): Candidate => ({ id, event: '{}', apiKeyId: null, claim: null });
const staged: Admission = { outcome: 'staged' };
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Flush {
  batch: string;
  ids: string[];
  answer: (admissions?: Admission[]) => void;
  fail: (error: Error) => void;
}

/** A buffer whose flushes wait until the test answers them. */
function openBuffer() {
  const flushes: Flush[] = [];
  const buffer = new FlushBuffer((batch, candidates) => {
    return new Promise((resolve, reject) => {
      const ids = candidates.map(({ id }) => id);
      flushes.push({
        batch,
        ids,
        answer: (admissions = ids.map(() => staged)) => resolve(admissions),
        fail: reject,
      });
    });
  });
  const flushAt = async (index: number): Promise<Flush> => {
    for (;;) {
      const flush = flushes[index];
      if (flush !== undefined) return flush;
      await turn();
    }
  };
  return { buffer, flushes, flushAt };
}

test('a lone event leaves at once', async () => {
  const { buffer, flushAt } = openBuffer();
  const answered = buffer.submit(candidate('a'));
  const flush = await flushAt(0);
  expect(flush.ids).toEqual(['a']);
  flush.answer();
  expect(await answered).toEqual(staged);
});

test('events of one turn of the event loop share a flush, in the order they came', async () => {
  const { buffer, flushes, flushAt } = openBuffer();
  const answered = ['a', 'b', 'c'].map((id) => buffer.submit(candidate(id)));
  (await flushAt(0)).answer();
  await Promise.all(answered);
  expect(flushes.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']]);
});

test('each event gets the answer that the flush gave for it', async () => {
  const { buffer, flushAt } = openBuffer();
  const answered = ['a', 'b', 'c'].map((id) => buffer.submit(candidate(id)));
  const held: Admission = { outcome: 'held', id: 'x', isSamePayload: true };
  (await flushAt(0)).answer([staged, held, { outcome: 'revoked' }]);
  expect(await Promise.all(answered)).toEqual([staged, held, { outcome: 'revoked' }]);
});

test('at most two flushes are under way; what comes meanwhile gathers for the next', async () => {
  const { buffer, flushes, flushAt } = openBuffer();
  const answered = [buffer.submit(candidate('a'))];
  await flushAt(0);
  answered.push(buffer.submit(candidate('b')));
  await flushAt(1);
  for (const id of ['c', 'd', 'e']) {
    answered.push(buffer.submit(candidate(id)));
    await turn();
  }
  expect(flushes.length).toBe(2);
  expect(buffer.depth).toBe(3);
  flushes[0]?.answer();
  expect((await flushAt(2)).ids).toEqual(['c', 'd', 'e']);
  expect(buffer.depth).toBe(0);
  for (const flush of flushes) flush.answer();
  await Promise.all(answered);
});

test('a flush holds at most 500 events, and no event is left behind', async () => {
  const { buffer, flushes, flushAt } = openBuffer();
  const answered = Array.from({ length: 1_200 }, (_, index) => buffer.submit(candidate(String(index))));
  for (const index of [0, 1, 2]) (await flushAt(index)).answer();
  await Promise.all(answered);
  expect(flushes.map(({ ids }) => ids.length)).toEqual([500, 500, 200]);
  expect(flushes.flatMap(({ ids }) => ids)).toEqual(Array.from({ length: 1_200 }, (_, index) => String(index)));
  expect(new Set(flushes.map(({ batch }) => batch)).size).toBe(3);
});

test('a flush that fails is told to each of its events, and the next flush goes on', async () => {
  const { buffer, flushAt } = openBuffer();
  const answered = [buffer.submit(candidate('a')), buffer.submit(candidate('b'))];
  const settled = Promise.allSettled(answered);
  (await flushAt(0)).fail(new Error('Redis is away'));
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const after = buffer.submit(candidate('c'));
  (await flushAt(1)).answer();
  expect(await after).toEqual(staged);
});

test('an event for which a flush has no answer is not taken for accepted', async () => {
  const { buffer, flushAt } = openBuffer();
  const settled = Promise.allSettled(['a', 'b'].map((id) => buffer.submit(candidate(id))));
  (await flushAt(0)).answer([staged]);
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});

test('a drain waits until every event that was handed in is answered, and lets no new one in', async () => {
  const { buffer, flushAt } = openBuffer();
  const answered = buffer.submit(candidate('a'));
  let isDrained = false;
  const drained = buffer.drain().then(() => (isDrained = true));
  await expect(buffer.submit(candidate('b'))).rejects.toMatchObject({
    code: 'shutting_down',
    fields: { outcome: 'not_accepted' },
  });
  const flush = await flushAt(0);
  await turn();
  expect(isDrained).toBe(false);
  flush.answer();
  await drained;
  expect(await answered).toEqual(staged);
});

test('an idle buffer is drained at once', async () => {
  const { buffer, flushes } = openBuffer();
  await buffer.drain();
  expect(flushes).toEqual([]);
});
