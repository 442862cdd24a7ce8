import type { DirectAnswer } from '@weir/db/record-directly';
import type { Candidate } from '@weir/queue/admit';
import { expect, test } from 'vitest';
import { Direct } from './direct.ts';
import type { Waiting } from './waiting.ts';

const candidate = (id: string): Candidate => ({ id, event: '{}', sender: null, claim: null });
const ANSWERS: Record<string, DirectAnswer> = {
  locked: { outcome: 'locked', error: new Error('a lock') },
  repeated: { outcome: 'held', id: 'first', isSamePayload: true },
  reused: { outcome: 'held', id: 'first', isSamePayload: false },
};

/** The direct way of a Postgres that holds a lock on some events, and has the keys of others. */
function openDirect() {
  const direct = new Direct(
    {
      record: (flush) => Promise.resolve(flush.map(({ id }): DirectAnswer => ANSWERS[id] ?? { outcome: 'taken' })),
      isPostgresAway: () => false,
      onAnswered: () => {},
      now: () => 0,
    },
    () => {},
  );
  /** Resolves with why each was not taken; undefined: it was. */
  const give = (ids: string[], hand: (waiting: Waiting[]) => void) =>
    new Promise<unknown[]>((resolve) => {
      const heard: unknown[] = [];
      hand(
        ids.map((id, index) => ({
          candidate: candidate(id),
          since: 0,
          settle: (error) => {
            heard[index] = error;
            if (heard.length === ids.length) resolve(heard);
          },
        })),
      );
    });
  return {
    direct,
    add: (...ids: string[]) => give(ids, (waiting) => waiting.forEach((each) => direct.add(each))),
    takeOver: (isPerhapsStaged: boolean, ...ids: string[]) =>
      give(ids, (waiting) => direct.takeOver(waiting, isPerhapsStaged)),
  };
}

test('whoever a lock keeps out is told so, the others of the flush are taken, and the way stays open', async () => {
  const { direct, add } = openDirect();
  const refused = { code: 'unavailable', fields: { outcome: 'not_accepted', because: 'locked' } };
  expect(await add('a', 'locked', 'b')).toMatchObject([undefined, refused, undefined]);
  expect(direct.isOpen()).toBe(true);
  expect(await add('c')).toEqual([undefined]);
});

test('of an event that a lock keeps out, and that Redis may have, nobody knows', async () => {
  const { takeOver } = openDirect();
  expect(await takeOver(true, 'locked')).toMatchObject([{ code: 'unavailable', fields: { outcome: 'unknown' } }]);
  expect(await takeOver(false, 'locked')).toMatchObject([{ fields: { outcome: 'not_accepted', because: 'locked' } }]);
});

test('of an event whose key another payload holds, and that Redis may have, nobody knows', async () => {
  const { takeOver } = openDirect();
  expect(await takeOver(true, 'repeated', 'reused')).toMatchObject([
    { code: 'duplicate_event' },
    { code: 'unavailable', fields: { outcome: 'unknown' } },
  ]);
  expect(await takeOver(false, 'reused')).toMatchObject([{ code: 'idempotency_key_reused' }]);
});
