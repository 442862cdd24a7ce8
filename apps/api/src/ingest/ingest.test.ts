import type { Admission, Candidate } from '@weir/queue/admit';
import { Refusal } from '@weir/shared/errors';
import { expect, test } from 'vitest';
import { Ingest } from './ingest.ts';

const candidate = (id: string): Candidate => ({ id, event: '{}', sender: null, claim: null });
const staged: Admission = { outcome: 'staged' };
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Flush {
  batch: string;
  ids: string[];
  answer: (admissions?: Admission[]) => void;
  fail: (error: Error) => void;
}

/** A way in whose flushes wait until the test answers them. */
function openIngest() {
  const flushes: Flush[] = [];
  const enqueued: string[] = [];
  const seen = { ms: 0, unsure: 0 };
  const ingest = new Ingest({
    refusal: () => undefined,
    admit: (batch, candidates) =>
      new Promise<Admission[]>((resolve, reject) => {
        const ids = candidates.map(({ id }) => id);
        flushes.push({ batch, ids, answer: (admissions = ids.map(() => staged)) => resolve(admissions), fail: reject });
      }),
    enqueue: (batch) => enqueued.push(batch),
    onAdmitted: () => {},
    onUnsure: () => (seen.unsure += 1),
    now: () => seen.ms,
  });
  const flushAt = async (index: number): Promise<Flush> => {
    for (;;) {
      const flush = flushes[index];
      if (flush !== undefined) return flush;
      await turn();
    }
  };
  return { ingest, flushes, flushAt, enqueued, seen };
}

test('a lone event leaves at once', async () => {
  const { ingest, flushAt } = openIngest();
  const answered = ingest.submit(candidate('a'));
  const flush = await flushAt(0);
  expect(flush.ids).toEqual(['a']);
  flush.answer();
  expect(await answered).toBeUndefined();
});

test('events of one turn of the event loop share a flush, in the order they came', async () => {
  const { ingest, flushes, flushAt } = openIngest();
  const answered = ['a', 'b', 'c'].map((id) => ingest.submit(candidate(id)));
  (await flushAt(0)).answer();
  await Promise.all(answered);
  expect(flushes.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']]);
});

test('each event gets the answer that the flush gave for it', async () => {
  const { ingest, flushAt, seen } = openIngest();
  const answered = Promise.all(['a', 'b', 'c', 'd'].map((id) => ingest.submit(candidate(id)).catch((error) => error)));
  const held: Admission = { outcome: 'held', id: 'x', isSamePayload: true };
  (await flushAt(0)).answer([staged, held, { outcome: 'revoked' }, { outcome: 'unsure' }]);
  expect(await answered).toMatchObject([
    undefined,
    { code: 'duplicate_event', fields: { id: 'x' } },
    { code: 'unauthenticated' },
    { code: 'unavailable', fields: { outcome: 'not_accepted' } },
  ]);
  expect(seen.unsure).toBe(1);
});

test('the events of one request are answered together, in their order', async () => {
  const { ingest, flushAt } = openIngest();
  const answered = ingest.submitAll(['a', 'b', 'c'].map(candidate));
  (await flushAt(0)).answer([staged, { outcome: 'held', id: 'x', isSamePayload: false }, staged]);
  expect(await answered).toMatchObject([undefined, { code: 'idempotency_key_reused' }, undefined]);
  expect(await ingest.submitAll([])).toEqual([]);
});

test('at most two flushes are under way; what comes meanwhile gathers for the next', async () => {
  const { ingest, flushes, flushAt } = openIngest();
  const answered = [ingest.submit(candidate('a'))];
  await flushAt(0);
  answered.push(ingest.submit(candidate('b')));
  await flushAt(1);
  for (const id of ['c', 'd', 'e']) {
    answered.push(ingest.submit(candidate(id)));
    await turn();
  }
  expect(flushes.length).toBe(2);
  expect(ingest.depth).toBe(3);
  flushes[0]?.answer();
  expect((await flushAt(2)).ids).toEqual(['c', 'd', 'e']);
  expect(ingest.depth).toBe(0);
  for (const flush of flushes) flush.answer();
  await Promise.all(answered);
});

test('a flush holds at most 1,000 events, and no event is left behind', async () => {
  const { ingest, flushes, flushAt } = openIngest();
  const answered = Array.from({ length: 2_400 }, (_, index) => ingest.submit(candidate(String(index))));
  for (const index of [0, 1, 2]) (await flushAt(index)).answer();
  await Promise.all(answered);
  expect(flushes.map(({ ids }) => ids.length)).toEqual([1_000, 1_000, 400]);
  expect(flushes.flatMap(({ ids }) => ids)).toEqual(Array.from({ length: 2_400 }, (_, index) => String(index)));
});

test('a flush of large events holds fewer of them', async () => {
  const { ingest, flushes, flushAt } = openIngest();
  const large = (id: string): Candidate => ({ ...candidate(id), event: 'x'.repeat(8_192) });
  const answered = Array.from({ length: 300 }, (_, index) => ingest.submit(large(String(index))));
  for (const index of [0, 1, 2]) (await flushAt(index)).answer();
  await Promise.all(answered);
  expect(flushes.map(({ ids }) => ids.length)).toEqual([128, 128, 44]);
});

test('a flush that fails is told to each of its events, and the next flush goes on', async () => {
  const { ingest, flushAt } = openIngest();
  const answered = [ingest.submit(candidate('a')), ingest.submit(candidate('b'))];
  const settled = Promise.allSettled(answered);
  (await flushAt(0)).fail(new Error('Redis is away'));
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const after = ingest.submit(candidate('c'));
  (await flushAt(1)).answer();
  expect(await after).toBeUndefined();
});

/** Two flushes that are under way, so that what is handed in next has to wait. */
async function occupy({ ingest, flushAt }: ReturnType<typeof openIngest>) {
  const answers = [ingest.submit(candidate('first'))];
  await flushAt(0);
  answers.push(ingest.submit(candidate('second')));
  await flushAt(1);
  return Promise.allSettled(answers);
}

test('while Redis does not answer, those who wait are refused with the first flush that fails, and unsent', async () => {
  const open = openIngest();
  const occupied = occupy(open);
  const first = await open.flushAt(0);
  const second = await open.flushAt(1);
  const waiting = open.ingest.submit(candidate('waiting'));
  first.fail(new Refusal('unavailable', 'no answer in time', { outcome: 'unknown' }));
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable', fields: { outcome: 'not_accepted' } });
  second.answer();
  await occupied;
  expect(open.flushes.length).toBe(2);
  const after = open.ingest.submit(candidate('after'));
  (await open.flushAt(2)).answer();
  expect(await after).toBeUndefined();
});

test('an event that has waited for more than a second is refused instead of sent', async () => {
  const open = openIngest();
  const occupied = occupy(open);
  const second = await open.flushAt(1);
  const late = open.ingest.submit(candidate('late'));
  open.seen.ms = 600;
  const inTime = open.ingest.submit(candidate('in time'));
  open.seen.ms = 1_001;
  second.answer();
  await expect(late).rejects.toMatchObject({ code: 'unavailable', fields: { outcome: 'not_accepted' } });
  const third = await open.flushAt(2);
  expect(third.ids).toEqual(['in time']);
  third.answer();
  expect(await inTime).toBeUndefined();
  open.flushes[0]?.answer();
  await occupied;
});

test('when all who waited were late, a close still ends', async () => {
  const open = openIngest();
  const occupied = occupy(open);
  const second = await open.flushAt(1);
  const late = open.ingest.submit(candidate('late'));
  const closed = open.ingest.close();
  open.seen.ms = 2_000;
  second.answer();
  await expect(late).rejects.toMatchObject({ fields: { outcome: 'not_accepted' } });
  open.flushes[0]?.answer();
  await occupied;
  await closed;
});

test('beyond 50,000 events that wait, the next is refused at once', async () => {
  const open = openIngest();
  const occupied = occupy(open);
  await open.flushAt(1);
  const waiting = Array.from({ length: 50_000 }, (_, index) => open.ingest.submit(candidate(String(index))));
  const settled = Promise.allSettled(waiting);
  await expect(open.ingest.submit(candidate('more'))).rejects.toMatchObject({ fields: { outcome: 'not_accepted' } });
  open.flushes[0]?.fail(new Refusal('unavailable', 'gone', { outcome: 'not_accepted' }));
  open.flushes[1]?.answer();
  await occupied;
  expect(new Set((await settled).map(({ status }) => status))).toEqual(new Set(['rejected']));
});

test('an event for which a flush has no answer is not taken for accepted', async () => {
  const { ingest, flushAt } = openIngest();
  const settled = Promise.allSettled(['a', 'b'].map((id) => ingest.submit(candidate(id))));
  (await flushAt(0)).answer([staged]);
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});

test('a close waits until every event that was handed in is answered, and lets no new one in', async () => {
  const { ingest, flushAt } = openIngest();
  const answered = ingest.submit(candidate('a'));
  let isClosed = false;
  const closed = ingest.close().then(() => (isClosed = true));
  await expect(ingest.submit(candidate('b'))).rejects.toMatchObject({
    code: 'shutting_down',
    fields: { outcome: 'not_accepted' },
  });
  const flush = await flushAt(0);
  await turn();
  expect(isClosed).toBe(false);
  flush.answer();
  await closed;
  expect(await answered).toBeUndefined();
});

test('what is idle is closed at once', async () => {
  const { ingest, flushes } = openIngest();
  await ingest.close();
  expect(flushes).toEqual([]);
});

test('a close has the open batch recorded, if anything of it may be staged', async () => {
  const { ingest, flushAt, enqueued } = openIngest();
  const answered = ingest.submit(candidate('a'));
  const flush = await flushAt(0);
  flush.answer();
  await answered;
  expect(enqueued).toEqual([]);
  await ingest.close();
  expect(enqueued).toEqual([flush.batch]);
});

test.each([
  ['not_accepted', []],
  ['unknown', ['the batch']],
] as const)('a batch whose only flush failed with the outcome %s is recorded: %j', async (outcome, expected) => {
  const { ingest, flushAt, enqueued } = openIngest();
  const answered = ingest.submit(candidate('a'));
  const flush = await flushAt(0);
  flush.fail(new Refusal('unavailable', 'no answer', { outcome }));
  await expect(answered).rejects.toMatchObject({ fields: { outcome } });
  await ingest.close();
  expect(enqueued.map((batch) => (batch === flush.batch ? 'the batch' : batch))).toEqual(expected);
});
