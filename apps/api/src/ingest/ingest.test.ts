import type { DirectAnswer } from '@weir/db/record-directly';
import type { Admission, Candidate } from '@weir/queue/admit';
import { Refusal } from '@weir/shared/errors';
import { describe, expect, test } from 'vitest';
import { Ingest } from './ingest.ts';

const candidate = (id: string): Candidate => ({ id, event: '{}', sender: null, claim: null });
const sender = { organizationId: 'o', apiKeyId: 'key', epoch: 'a former one' };
const staged: Admission = { outcome: 'staged' };
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Flush {
  batch: string;
  ids: string[];
  answer: (admissions?: Admission[]) => void;
  fail: (error: Error) => void;
}

interface DirectFlush {
  ids: string[];
  isPerhapsStaged: boolean;
  answer: (answers?: DirectAnswer[]) => void;
  fail: (error: Error) => void;
}

/** A way in whose flushes wait until the test answers them. By default Postgres is away. */
function openIngest(hasPostgres = false) {
  const flushes: Flush[] = [];
  const directs: DirectFlush[] = [];
  const enqueued: string[] = [];
  const seen = { ms: 0, unsure: [] as [string[], boolean][], isDirect: false, hasPostgres, left: [] as string[] };
  const ingest = new Ingest({
    refusal: () => undefined,
    isDirect: () => seen.isDirect,
    refusalOfRedis: () => undefined,
    leaveRedis({ message }) {
      seen.left.push(message);
      seen.isDirect = true;
    },
    direct: {
      record: (flush, isPerhapsStaged) =>
        new Promise((resolve, reject) => {
          const ids = flush.map(({ id }) => id);
          const answer = (answers?: DirectAnswer[]) =>
            resolve(answers ?? ids.map(() => ({ outcome: 'taken' as const })));
          directs.push({ ids, isPerhapsStaged, answer, fail: reject });
        }),
      isPostgresAway: () => !seen.hasPostgres,
      onAnswered: () => {},
    },
    admit: (batch, candidates) =>
      new Promise<Admission[]>((resolve, reject) => {
        const ids = candidates.map(({ id }) => id);
        flushes.push({ batch, ids, answer: (admissions = ids.map(() => staged)) => resolve(admissions), fail: reject });
      }),
    enqueue: (batch) => enqueued.push(batch),
    onAdmitted: () => {},
    onUnsure: (epochs, isDirect) => void seen.unsure.push([[...epochs], isDirect]),
    now: () => seen.ms,
  });
  const flushAt = async (index: number): Promise<Flush> => {
    for (;;) {
      const flush = flushes[index];
      if (flush !== undefined) return flush;
      await turn();
    }
  };
  const directAt = async (index: number): Promise<DirectFlush> => {
    for (;;) {
      const flush = directs[index];
      if (flush !== undefined) return flush;
      await turn();
    }
  };
  return { ingest, flushes, flushAt, directs, directAt, enqueued, seen };
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
  const answered = ingest.submitAll([...['a', 'b', 'c'].map(candidate), { ...candidate('d'), sender }]);
  const held: Admission = { outcome: 'held', id: 'x', isSamePayload: true };
  (await flushAt(0)).answer([staged, held, { outcome: 'revoked' }, { outcome: 'unsure' }]);
  expect(await answered).toMatchObject([
    undefined,
    { code: 'duplicate_event', fields: { id: 'x' } },
    { code: 'unauthenticated' },
    { code: 'unavailable', fields: { outcome: 'not_accepted' } },
  ]);
  expect(seen.unsure).toEqual([[['a former one'], false]]);
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

test('while neither answers, those who wait are refused with the first flush that fails, and unsent', async () => {
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
  await expect(open.ingest.submit(candidate('more'))).rejects.toMatchObject({
    fields: { outcome: 'not_accepted', because: 'crowd' },
  });
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

describe('the direct way', () => {
  const unknown = () => new Refusal('unavailable', 'no answer', { outcome: 'unknown' });
  const notAccepted = () => new Refusal('unavailable', 'full', { outcome: 'not_accepted' });

  test.each([
    ['not take', notAccepted, false],
    ['answer', unknown, true],
  ])('a flush that Redis does %s goes there as it is, and those after it', async (_, error, isPerhapsStaged) => {
    const open = openIngest(true);
    const answered = [open.ingest.submit(candidate('a')), open.ingest.submit(candidate('b'))];
    const flush = await open.flushAt(0);
    const waiting = open.ingest.submit(candidate('second'));
    const second = await open.flushAt(1);
    answered.push(waiting, open.ingest.submit(candidate('c')));
    flush.fail(error());
    const direct = await open.directAt(0);
    expect([direct.ids, direct.isPerhapsStaged]).toEqual([['a', 'b'], isPerhapsStaged]);
    const next = await open.directAt(1);
    expect([next.ids, next.isPerhapsStaged]).toEqual([['c'], false]);
    answered.push(open.ingest.submit(candidate('d')));
    second.answer();
    next.answer();
    (await open.directAt(2)).answer();
    // Whatever refuses it as a whole, Redis may have it.
    direct.fail(notAccepted());
    const reason = { fields: { outcome: isPerhapsStaged ? 'unknown' : 'not_accepted' } };
    const taken = { status: 'fulfilled' };
    expect(await Promise.allSettled(answered)).toMatchObject([{ reason }, { reason }, taken, taken, taken]);
    expect(open.flushes.length).toBe(2);
    // What nobody knows of may be staged: its batch is recorded.
    await open.ingest.close();
    expect(open.enqueued).toEqual([flush.batch]);
  });

  test('answers as the way through Redis does', async () => {
    const open = openIngest(true);
    open.seen.isDirect = true;
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const answered = Promise.all(ids.map((id) => open.ingest.submit(candidate(id)).catch((error) => error)));
    const failed = { outcome: 'failed', error: new Error('gone') } as const;
    (await open.directAt(0)).answer([
      { outcome: 'taken' },
      { outcome: 'held', id: 'x', isSamePayload: true },
      { outcome: 'held', id: 'y', isSamePayload: false },
      { outcome: 'revoked' },
      { ...failed, isPerhapsTaken: false },
    ]);
    expect(await answered).toMatchObject([
      undefined,
      { code: 'duplicate_event', fields: { id: 'x' } },
      { code: 'idempotency_key_reused', fields: { id: 'y' } },
      { code: 'unauthenticated' },
      { code: 'unavailable', fields: { outcome: 'not_accepted' } },
    ]);
  });

  test('a flush that neither answered is unknown, and after it others are refused at once', async () => {
    const open = openIngest(true);
    const answered = Promise.allSettled(['a', 'key deleted'].map((id) => open.ingest.submit(candidate(id))));
    const flush = await open.flushAt(0);
    const handedOver = open.ingest.submit(candidate('handed over'));
    const later = await open.flushAt(1);
    flush.fail(unknown());
    const waiting = open.ingest.submit(candidate('b'));
    const [first, second] = [await open.directAt(0), await open.directAt(1)];
    const third = open.ingest.submit(candidate('c'));
    later.fail(unknown());
    await turn();
    first.answer([{ outcome: 'failed', error: new Error('gone'), isPerhapsTaken: false }, { outcome: 'revoked' }]);
    const isUnknown = { reason: { code: 'unavailable', fields: { outcome: 'unknown' } } };
    expect(await answered).toMatchObject([isUnknown, isUnknown]);
    await expect(handedOver).rejects.toMatchObject({ fields: { outcome: 'unknown' } });
    await expect(third).rejects.toMatchObject({ fields: { outcome: 'not_accepted' } });
    await expect(open.ingest.submit(candidate('d'))).rejects.toMatchObject({ fields: { outcome: 'not_accepted' } });
    expect(open.ingest.refusal()).toMatchObject({ code: 'unavailable' });
    second.answer();
    await waiting;
    // Postgres is asked again after a second.
    open.seen.ms = 1_001;
    const fourth = open.ingest.submit(candidate('e'));
    (await open.directAt(2)).answer();
    await fourth;
    expect(open.directs.length).toBe(3);
  });

  test('while Postgres is away as well, an event is refused at once', async () => {
    const open = openIngest();
    open.seen.isDirect = true;
    await expect(open.ingest.submit(candidate('a'))).rejects.toMatchObject({ fields: { outcome: 'not_accepted' } });
    expect(await open.ingest.submitAll([candidate('a')])).toMatchObject([{ fields: { outcome: 'not_accepted' } }]);
    expect([open.flushes, open.directs]).toEqual([[], []]);
  });

  test('an event whose API key Redis cannot vouch for is taken there, and no other of its flush', async () => {
    const open = openIngest(true);
    const answered = [candidate('a'), { ...candidate('b'), sender }].map((each) => open.ingest.submit(each));
    (await open.flushAt(0)).answer([staged, { outcome: 'unsure' }]);
    const direct = await open.directAt(0);
    expect([direct.ids, direct.isPerhapsStaged, open.seen.isDirect]).toEqual([['b'], false, false]);
    direct.answer();
    await Promise.all(answered);
    expect(open.seen.unsure).toEqual([[['a former one'], true]]);
  });

  test('has two flushes under way at most, and room for others beside one organization', async () => {
    const open = openIngest(true);
    open.seen.isDirect = true;
    const of = (organizationId: string, id: string): Candidate => ({
      ...candidate(id),
      sender: { organizationId, apiKeyId: 'key', epoch: 'epoch' },
    });
    const first = [open.ingest.submit(of('one', 'a'))];
    await open.directAt(0);
    first.push(open.ingest.submit(of('one', 'b')));
    await open.directAt(1);
    const crowd = Array.from({ length: 25_001 }, (_, index) => open.ingest.submit(of('one', String(index))));
    await expect(crowd.pop()).rejects.toMatchObject({ fields: { outcome: 'not_accepted', because: 'crowd' } });
    const other = open.ingest.submit(of('two', 'other'));
    const settled = Promise.allSettled(crowd);
    expect(open.directs.length).toBe(2);
    open.directs[0]?.answer();
    const third = await open.directAt(2);
    expect(third.ids.length).toBe(1_000);
    expect(third.ids).toContain('other');
    // Those who are left have waited for too long by now.
    open.seen.ms = 3_001;
    third.answer();
    open.directs[1]?.answer();
    await Promise.all([...first, other]);
    expect((await settled).filter(({ status }) => status === 'fulfilled').length).toBe(999);
  });

  test('a close waits for what is on it', async () => {
    const open = openIngest(true);
    open.seen.isDirect = true;
    const answered = open.ingest.submit(candidate('a'));
    let isClosed = false;
    const closed = open.ingest.close().then(() => (isClosed = true));
    const direct = await open.directAt(0);
    await turn();
    expect(isClosed).toBe(false);
    direct.answer();
    await closed;
    await answered;
  });
});
