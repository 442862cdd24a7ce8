import pg from 'pg';
import { expect, test } from 'vitest';
import { databaseUrl } from './database-url.ts';

test.each([
  ['postgres://u:100%@db/weir', '100%'],
  ['postgres://u:a%zz@db/weir', 'a%zz'],
  ['postgres://u:p%!x@db/weir?sslmode=verify-full', 'p%!x'],
  ['postgres://u:p%cd%@db/weir', 'p%cd%'],
  ['postgres://u:p%25cd@db/weir', 'p%cd'],
])('DATABASE_URL may be %j, with which pg connects', (url, password) => {
  expect(databaseUrl.parse(url)).toBe(url);
  expect(new pg.Client({ connectionString: url }).password).toBe(password);
});

test('it may name a certificate that is not there', () => {
  const url = 'postgres://u:p@db/weir?sslrootcert=/nowhere.pem&sslmode=verify-ca';
  expect(databaseUrl.parse(url)).toBe(url);
});

test.each(['postgres://u:p%cd@db/weir', 'postgres://u%cd@db/weir', 'postgres://u@db/we%cd'])(
  'it may not be %j, at which pg throws',
  (url) => {
    expect(() => new pg.Client({ connectionString: url })).toThrow(URIError);
    expect(databaseUrl.safeParse(url).error?.issues).toEqual([
      expect.objectContaining({ message: 'has a % that stands for no character: write it %25' }),
    ]);
  },
);
