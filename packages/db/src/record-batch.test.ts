import pg from 'pg';
import { expect, test } from 'vitest';
import type { Database } from './database.ts';
import { recordOrSplit, type AcceptedEvent } from './record-batch.ts';

const ofNoDatabase = {} as Database;

const three = ['1', '2', '3'].map((id) => ({ event: { id }, countsUniqueValues: false }) as AcceptedEvent);

function timedOut(): pg.DatabaseError {
  const error = new pg.DatabaseError('canceling statement due to statement timeout', 0, 'error');
  error.code = '57014';
  return error;
}

test('what takes too long together is recorded in smaller parts', async () => {
  const outcome = await recordOrSplit(ofNoDatabase, three, (part) =>
    part.length > 1 ? Promise.reject(timedOut()) : Promise.resolve({ recorded: 1, duplicates: 0, reused: [] }),
  );
  expect(outcome).toEqual({ recorded: 3, duplicates: 0, reused: [], refused: [] });
});

test('what takes too long by itself is not refused: it comes again', async () => {
  const sizes: number[] = [];
  const outcome = recordOrSplit(ofNoDatabase, three, (part) => {
    sizes.push(part.length);
    return Promise.reject(timedOut());
  });
  await expect(outcome).rejects.toMatchObject({ code: '57014' });
  expect(sizes).toEqual([3, 2, 1]);
});
