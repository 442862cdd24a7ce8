import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { isBadData, isUnavailable, violatedConstraint } from './database.ts';
import { whileRetried } from './record.ts';

function sqlError(code: string, constraint?: string): pg.DatabaseError {
  const error = new pg.DatabaseError('told by Postgres', 0, 'error');
  error.code = code;
  error.constraint = constraint;
  return error;
}
const networkError = (code: string) => Object.assign(new Error('told by the network'), { code });

describe('a row that Postgres will never take is bad data', () => {
  test.each(['22P02', '22003', '22P05', '22021', '23514', '23502', '23505'])('%s', (code) => {
    expect(isBadData(sqlError(code))).toBe(true);
    expect(isUnavailable(sqlError(code))).toBe(false);
  });
});

describe('a Postgres that cannot answer now is unavailable, and no row is to blame', () => {
  test.each(['08006', '25P03', '40001', '40P01', '53100', '53300', '57014', '57P01', '57P03', '58030'])(
    '%s',
    (code) => {
      expect(isUnavailable(sqlError(code))).toBe(true);
      expect(isBadData(sqlError(code))).toBe(false);
    },
  );
  test.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE'])('%s', (code) => {
    expect(isUnavailable(networkError(code))).toBe(true);
    expect(isBadData(networkError(code))).toBe(false);
  });
  test.each(['timeout exceeded when trying to connect', 'Connection terminated unexpectedly'])('%s', (message) => {
    expect(isUnavailable(new Error(message))).toBe(true);
  });
});

test('a row that a partition refuses again and again ends the tries, and is not to blame', async () => {
  let tries = 0;
  const error = await whileRetried(() => {
    tries += 1;
    return Promise.reject(tries < 1_000 ? sqlError('23514') : new Error('there is no end'));
  }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: expect.stringContaining('partitions'), cause: { code: '23514' } });
  expect([isBadData(error), isUnavailable(error)]).toEqual([false, false]);
  // One that was made meanwhile is found by the next try.
  expect(
    await whileRetried(() => (++tries % 2 === 0 ? Promise.reject(sqlError('23514')) : Promise.resolve('done'))),
  ).toBe('done');
});

test('a mistake in our own SQL, and any other error, is neither', () => {
  for (const error of [sqlError('42P01'), sqlError('42601'), new TypeError('x is not a function'), 'text', undefined]) {
    expect(isBadData(error)).toBe(false);
    expect(isUnavailable(error)).toBe(false);
  }
});

test('a violation names its constraint', () => {
  expect(violatedConstraint(sqlError('23505', 'users_email_key'))).toBe('users_email_key');
  expect(violatedConstraint(sqlError('22003', 'users_email_key'))).toBeUndefined();
  expect(violatedConstraint(networkError('23505'))).toBeUndefined();
});
