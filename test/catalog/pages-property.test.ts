// Pages of any order, of rows that share values and lack some, read while others come and go: by cursor each row that stands from the
// first page to the last comes exactly once, and in its place.

import { selectPage } from '@weir/db/page';
import type { SortKey } from '@weir/db/order';
import type { Database } from '@weir/db/database';
import { sql } from 'kysely';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

interface Row {
  id: string;
  name: string | null;
  made: string;
  due: string | null;
  amount: string | null;
  number: string;
  other: string;
}
type Field = keyof Row;

const weir = ownWeir({ withWorker: false });
let database: Database;

beforeAll(async () => {
  database = openTestDatabase(weir);
  await sql`CREATE TABLE paged (
    id uuid PRIMARY KEY, name text, made timestamptz NOT NULL, due date, amount numeric, number bigint NOT NULL, other text NOT NULL
  )`.execute(database.kysely);
});
afterAll(() => database.close());

// Few values of each, so that most are shared; and what a cursor could stumble over.
const NAMES = ['', 'a', 'A', 'é', 'Ω"\\\n', '👋', 'a,b', '-1', "o'x", '\u0001'];
const TIMES = [
  '2026-11-25T09:30:00.000Z',
  '2026-11-25T09:30:00.000001Z',
  '2026-11-25T09:30:00.001Z',
  '1999-12-31T23:59:59.999999Z',
];
const AMOUNTS = ['0', '-1.5', '0.1', '0.10000000000000000001', '12345678901234567890.5', `0.${'0'.repeat(399)}1`];
const orNone = <Value>(...values: Value[]) => fc.constantFrom(null, ...values);

const row: fc.Arbitrary<Row> = fc.record({
  id: fc.uuid(),
  name: orNone(...NAMES),
  made: fc.constantFrom(...TIMES),
  due: orNone('2026-02-28', '2026-03-01'),
  amount: orNone(...AMOUNTS),
  number: fc.constantFrom('0', '-7', '123456789012345678'),
  other: fc.constantFrom('B', 'b', ''),
});

const COLUMNS: Record<Exclude<Field, 'id' | 'other'>, Pick<SortKey, 'type' | 'nullable'>> = {
  name: { type: 'text', nullable: true },
  made: { type: 'timestamptz' },
  due: { type: 'date', nullable: true },
  amount: { type: 'numeric', nullable: true },
  number: { type: 'bigint' },
};

const order = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...(Object.keys(COLUMNS) as (keyof typeof COLUMNS)[])), { maxLength: 3 }),
    fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
  )
  .map(([fields, descending]): SortKey<Field>[] => [
    ...fields.map((field, index): SortKey<Field> => {
      const key = { field, ...COLUMNS[field], descending: descending[index] === true };
      // As names are: whatever their case, and where there is none something else.
      const isName = field === 'name' && descending[4] === true;
      return isName ? { ...key, anyCase: true, orElse: 'other', column: 'paged.name', nullable: false } : key;
    }),
    { field: 'id', type: 'uuid', descending: descending[3] === true },
  ]);

/** What the text of a value is worth: in the same order as the values. */
function worthOf({ type }: SortKey, value: string): bigint | string {
  if (type === 'bigint') return BigInt(value);
  if (type === 'numeric') {
    const [whole = '', fraction = ''] = value.replace('-', '').split('.');
    return BigInt(`${value.startsWith('-') ? '-' : ''}${whole}${fraction.padEnd(20, '0')}`);
  }
  if (type === 'timestamptz') return value.replace(/\.(\d{3})Z$/, '.$1000Z');
  return Buffer.from(value).toString('hex');
}

/** In the order of the database as Weir makes it, every letter has its case, and comes where its code point does. */
function valueOf({ field, orElse = field, anyCase }: SortKey<Field>, from: Row): string | null {
  const value = from[field] ?? from[orElse];
  return anyCase === true ? (value?.toLowerCase() ?? null) : value;
}

function compare(keys: readonly SortKey<Field>[], one: Row, other: Row): number {
  for (const key of keys) {
    const [a, b] = [valueOf(key, one), valueOf(key, other)];
    if (a === b) continue;
    // NULL is larger than every value.
    const isLess = a !== null && (b === null || worthOf(key, a) < worthOf(key, b));
    return isLess === (key.descending !== true) ? -1 : 1;
  }
  return 0;
}

const insert = (rows: readonly Row[]) =>
  sql`INSERT INTO paged SELECT * FROM json_populate_recordset(NULL::paged, ${JSON.stringify(rows)}::json)
    ON CONFLICT DO NOTHING`.execute(database.kysely);
const remove = (rows: readonly Row[]) =>
  sql`DELETE FROM paged WHERE id = ANY (${rows.map(({ id }) => id)}::uuid[])`.execute(database.kysely);
const query = () => database.kysely.selectFrom(sql<Row>`paged`.as('paged')).selectAll();
const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);

test('a walk by cursor shows what stands exactly once and in order, whatever comes and goes', async () => {
  const rows = fc.uniqueArray(row, { minLength: 1, maxLength: 25, selector: ({ id }) => id });
  await fc.assert(
    fc.asyncProperty(
      order,
      rows,
      fc.array(row, { maxLength: 6 }),
      fc.nat({ max: 5 }),
      fc.integer({ min: 1, max: 7 }),
      async (keys, all, coming, gone, limit) => {
        await sql`TRUNCATE paged`.execute(database.kysely);
        await insert(all);
        const sorted = all.toSorted((a, b) => compare(keys, a, b));
        const whole = await selectPage(query(), keys, { page: 1, page_size: 50 });
        expect([idsOf(whole.rows), whole.next, whole.counted?.total]).toEqual([idsOf(sorted), null, all.length]);

        const going = all.slice(0, gone);
        const walked: Row[] = [];
        let cursor: string | undefined;
        for (let pages = 0; ; pages += 1) {
          const page = await selectPage(query(), keys, { cursor, limit });
          expect(page.counted).toBeUndefined();
          walked.push(...page.rows);
          if (page.next === null) break;
          expect(page.rows).toHaveLength(limit);
          cursor = page.next;
          // Also the row that the cursor names may go.
          await insert(coming.slice(pages, pages + 1));
          await remove(going.slice(pages, pages + 1));
        }
        const standing = new Set(idsOf(all.slice(gone)));
        expect(idsOf(walked).filter((id) => standing.has(id))).toEqual(idsOf(sorted).filter((id) => standing.has(id)));
        expect(new Set(idsOf(walked)).size).toBe(walked.length);

        // By its number a page is what it always was, and says where the walk goes on.
        const [first, second] = [
          { page: 1, page_size: limit },
          { page: 2, page_size: limit },
        ];
        const [one, two] = [await selectPage(query(), keys, first), await selectPage(query(), keys, second)];
        const next = one.next === null ? [] : (await selectPage(query(), keys, { cursor: one.next, limit })).rows;
        expect(next).toEqual(two.rows);
      },
    ),
    { numRuns: 25 },
  );
}, 60_000);

const NEWEST: SortKey<Field>[] = [
  { field: 'made', type: 'timestamptz', descending: true },
  { field: 'id', type: 'uuid', descending: true },
];
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const ID = '0193a1b2-0000-7000-8000-000000000001';

test.each([
  ['what is no base64url', 'a+b/'],
  ['what is no JSON', Buffer.from('["').toString('base64url')],
  ['what is no list', encoded({ made: TIMES[0] })],
  ['nothing', encoded(null)],
  ['another order', encoded(['made,-id', TIMES[0], ID])],
  ['too few values', encoded(['-made,-id', TIMES[0]])],
  ['too many', encoded(['-made,-id', TIMES[0], ID, ID])],
  ['no id', encoded(['-made,-id', TIMES[0], 'x'])],
  ['a number', encoded(['-made,-id', 5, ID])],
  ['NULL where there is none', encoded(['-made,-id', null, ID])],
  ['no time', encoded(['-made,-id', 'now', ID])],
  ['infinity', encoded(['-made,-id', 'infinity', ID])],
  ['a day that there is not', encoded(['-made,-id', '2026-02-30T00:00:00.000Z', ID])],
  ['the year 0', encoded(['-made,-id', '0000-01-01T00:00:00.000Z', ID])],
  ['SQL', encoded(['-made,-id', "2026-01-01T00:00:00.000Z'; DROP TABLE paged; --", ID])],
  ['the same with white space', Buffer.from(`["-made,-id", "${TIMES[0]}", "${ID}"]`).toString('base64url')],
  ['the same with padding', `${encoded(['-made,-id', TIMES[0], ID])}==`],
])('a cursor with %s is refused, and says what one is', async (_, cursor) => {
  await expect(selectPage(query(), NEWEST, { cursor })).rejects.toMatchObject({
    code: 'invalid_request',
    fields: { errors: [{ path: 'cursor', message: 'must be the next_cursor of the page before' }] },
  });
});

test('a cursor with the largest values that fit its columns is compared, and nothing breaks', async () => {
  for (const [field, value] of [
    ['name', '\u0001'.repeat(255)],
    ['name', '\uffff'],
    ['amount', `-${'9'.repeat(200)}.${'9'.repeat(200)}`],
    ['number', '-999999999999999999'],
    ['due', '9999-12-31'],
    ['made', '0001-01-01T00:00:00.000Z'],
  ] as const) {
    const keys: SortKey<Field>[] = [
      { field, ...COLUMNS[field] },
      { field: 'id', type: 'uuid' },
    ];
    const cursor = encoded([`${field},id`, value, ID]);
    expect((await selectPage(query(), keys, { cursor })).rows.length).toBeLessThanOrEqual(20);
  }
});
