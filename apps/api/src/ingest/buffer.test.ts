import { Refusal } from '@weir/shared/errors';
import { expect, test } from 'vitest';
import type { Admission, Candidate } from './admit.ts';
import { FlushBuffer } from './buffer.ts';

const candidate = (id: string): Candidate => ({ id, event: '{}', sender: null, claim: null });
const staged: Admission = { outcome: 'staged' };
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** As a promise, which rejects where an event has failed. */
function submit(buffer: FlushBuffer, event: Candidate): Promise<Admission> {
  return new Promise((resolve, reject) => {
    buffer.submit(event, (settled) => (settled.outcome === 'failed' ? reject(settled.error) : resolve(settled)));
  });
}

interface Flush {
  ids: string[];
  answer: (admissions?: Admission[]) => void;
  fail: (error: Error) => void;
}

/** A buffer whose flushes wait until the test answers them. */
function openBuffer() {
  const flushes: Flush[] = [];
  const clock = { ms: 0 };
  const flushBatch = (candidates: Candidate[]) =>
    new Promise<Admission[]>((resolve, reject) => {
      const ids = candidates.map(({ id }) => id);
      flushes.push({
        ids,
        answer: (admissions = ids.map(() => staged)) => resolve(admissions),
        fail: reject,
      });
    });
  const buffer = new FlushBuffer(flushBatch, () => clock.ms);
  const flushAt = async (index: number): Promise<Flush> => {
    for (;;) {
      const flush = flushes[index];
      if (flush !== undefined) return flush;
      await turn();
    }
  };
  return { buffer, flushes, flushAt, clock };
}

test('a lone event leaves at once', async () => {
  const { buffer, flushAt } = openBuffer();
  const answered = submit(buffer, candidate('a'));
  const flush = await flushAt(0);
  expect(flush.ids).toEqual(['a']);
  flush.answer();
  expect(await answered).toEqual(staged);
});

test('events of one turn of the event loop share a flush, in the order they came', async () => {
  const { buffer, flushes, flushAt } = openBuffer();
  const answered = ['a', 'b', 'c'].map((id) => submit(buffer, candidate(id)));
  (await flushAt(0)).answer();
  await Promise.all(answered);
  expect(flushes.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']]);
});

test('each event gets the answer that the flush gave for it', async () => {
  const { buffer, flushAt } = openBuffer();
  const answered = ['a', 'b', 'c'].map((id) => submit(buffer, candidate(id)));
  const held: Admission = { outcome: 'held', id: 'x', isSamePayload: true };
  (await flushAt(0)).answer([staged, held, { outcome: 'revoked' }]);
  expect(await Promise.all(answered)).toEqual([staged, held, { outcome: 'revoked' }]);
});

test('at most two flushes are under way; what comes meanwhile gathers for the next', async () => {
  const { buffer, flushes, flushAt } = openBuffer();
  const answered = [submit(buffer, candidate('a'))];
  await flushAt(0);
  answered.push(submit(buffer, candidate('b')));
  await flushAt(1);
  for (const id of ['c', 'd', 'e']) {
    answered.push(submit(buffer, candidate(id)));
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

test('a flush holds at most 1,000 events, and no event is left behind', async () => {
  const { buffer, flushes, flushAt } = openBuffer();
  const answered = Array.from({ length: 2_400 }, (_, index) => submit(buffer, candidate(String(index))));
  for (const index of [0, 1, 2]) (await flushAt(index)).answer();
  await Promise.all(answered);
  expect(flushes.map(({ ids }) => ids.length)).toEqual([1_000, 1_000, 400]);
  expect(flushes.flatMap(({ ids }) => ids)).toEqual(Array.from({ length: 2_400 }, (_, index) => String(index)));
});

test('a flush of large events holds fewer of them', async () => {
  const { buffer, flushes, flushAt } = openBuffer();
  const large = (id: string): Candidate => ({ ...candidate(id), event: 'x'.repeat(8_192) });
  const answered = Array.from({ length: 300 }, (_, index) => submit(buffer, large(String(index))));
  for (const index of [0, 1, 2]) (await flushAt(index)).answer();
  await Promise.all(answered);
  expect(flushes.map(({ ids }) => ids.length)).toEqual([128, 128, 44]);
});

test('a flush that fails is told to each of its events, and the next flush goes on', async () => {
  const { buffer, flushAt } = openBuffer();
  const answered = [submit(buffer, candidate('a')), submit(buffer, candidate('b'))];
  const settled = Promise.allSettled(answered);
  (await flushAt(0)).fail(new Error('Redis is away'));
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const after = submit(buffer, candidate('c'));
  (await flushAt(1)).answer();
  expect(await after).toEqual(staged);
});

/** Two flushes that are under way, so that what is handed in next has to wait. */
async function occupy({ buffer, flushAt }: ReturnType<typeof openBuffer>) {
  const answers = [submit(buffer, candidate('first'))];
  await flushAt(0);
  answers.push(submit(buffer, candidate('second')));
  await flushAt(1);
  return Promise.allSettled(answers);
}

test('while Redis does not answer, those who wait are refused with the first flush that fails, and were never sent', async () => {
  const open = openBuffer();
  const occupied = occupy(open);
  const first = await open.flushAt(0);
  const second = await open.flushAt(1);
  const waiting = submit(open.buffer, candidate('waiting'));
  first.fail(new Refusal('unavailable', 'no answer in time', { outcome: 'unknown' }));
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable', fields: { outcome: 'not_accepted' } });
  second.answer();
  await occupied;
  expect(open.flushes.length).toBe(2);
  const after = submit(open.buffer, candidate('after'));
  (await open.flushAt(2)).answer();
  expect(await after).toEqual(staged);
});

test('an event that has waited for more than a second is refused instead of sent', async () => {
  const open = openBuffer();
  const occupied = occupy(open);
  const second = await open.flushAt(1);
  const late = submit(open.buffer, candidate('late'));
  open.clock.ms = 600;
  const inTime = submit(open.buffer, candidate('in time'));
  open.clock.ms = 1_001;
  second.answer();
  await expect(late).rejects.toMatchObject({ code: 'unavailable', fields: { outcome: 'not_accepted' } });
  const third = await open.flushAt(2);
  expect(third.ids).toEqual(['in time']);
  third.answer();
  expect(await inTime).toEqual(staged);
  open.flushes[0]?.answer();
  await occupied;
});

test('when all who waited were late, a drain still ends', async () => {
  const open = openBuffer();
  const occupied = occupy(open);
  const second = await open.flushAt(1);
  const late = submit(open.buffer, candidate('late'));
  const drained = open.buffer.drain();
  open.clock.ms = 2_000;
  second.answer();
  await expect(late).rejects.toMatchObject({ fields: { outcome: 'not_accepted' } });
  open.flushes[0]?.answer();
  await occupied;
  await drained;
});

test('beyond 50,000 events that wait, the next is refused at once', async () => {
  const open = openBuffer();
  const occupied = occupy(open);
  await open.flushAt(1);
  const waiting = Array.from({ length: 50_000 }, (_, index) => submit(open.buffer, candidate(String(index))));
  const settled = Promise.allSettled(waiting);
  await expect(submit(open.buffer, candidate('more'))).rejects.toMatchObject({ fields: { outcome: 'not_accepted' } });
  open.flushes[0]?.fail(new Refusal('unavailable', 'gone', { outcome: 'not_accepted' }));
  open.flushes[1]?.answer();
  await occupied;
  expect(new Set((await settled).map(({ status }) => status))).toEqual(new Set(['rejected']));
});

test('an event for which a flush has no answer is not taken for accepted', async () => {
  const { buffer, flushAt } = openBuffer();
  const settled = Promise.allSettled(['a', 'b'].map((id) => submit(buffer, candidate(id))));
  (await flushAt(0)).answer([staged]);
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});

test('a drain waits until every event that was handed in is answered, and lets no new one in', async () => {
  const { buffer, flushAt } = openBuffer();
  const answered = submit(buffer, candidate('a'));
  let isDrained = false;
  const drained = buffer.drain().then(() => (isDrained = true));
  await expect(submit(buffer, candidate('b'))).rejects.toMatchObject({
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
