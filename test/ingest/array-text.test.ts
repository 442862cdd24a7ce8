import { plainArray, textArray } from '@weir/db/array-text';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/setup/database.ts';

let testDatabase: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  pool = new pg.Pool({ connectionString: testDatabase.url, max: 4 });
});
afterAll(async () => {
  await pool.end();
  await testDatabase.drop();
});

test('Postgres reads from an array the texts that were put in', async () => {
  // What Postgres cannot hold never comes so far: NUL, and halves of surrogate pairs.
  const anyText = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
  const awkward = fc.constantFrom('', 'NULL', 'null', '"', '\\', '{', '}', ',', ' ', '\\"', 'a"b\\c', '{"a":1}', "'");
  const values = fc.array(fc.option(fc.oneof(anyText, awkward)));
  const comesBack = async (texts: (string | null)[]) => {
    const { rows } = await pool.query('SELECT $1::text[] AS texts', [textArray(texts)]);
    expect(rows[0].texts).toEqual(texts);
  };
  await fc.assert(fc.asyncProperty(values, comesBack), { numRuns: 300 });
});

test('Postgres reads from an array the numbers and times that were put in', async () => {
  const { rows } = await pool.query(
    'SELECT $1::numeric[]::text[] AS numbers, $2::boolean[] AS flags, $3::uuid[] AS ids',
    [plainArray(['1.50', null, '9007199254740991']), plainArray([true, false]), plainArray([])],
  );
  expect(rows[0]).toEqual({ numbers: ['1.50', null, '9007199254740991'], flags: [true, false], ids: [] });
});
