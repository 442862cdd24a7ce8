// packages/db/schema.sql is what the migrations make. `npx vitest run test/operations/schema.test.ts -u` writes it after a new one.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/setup/database.ts';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const IN_SCHEMA = `relnamespace = 'public'::regnamespace`;

/** A row for each table but the months of events, which are made as time goes on; then for each index, function, trigger and view. */
const DUMP = `
WITH tables AS (
  SELECT * FROM pg_class WHERE ${IN_SCHEMA} AND relkind IN ('r', 'p') AND relname !~ '^events_\\d'
)
SELECT 1 AS kind, relname AS name, format(E'CREATE TABLE %s %s;', relname, concat_ws(' ',
  CASE WHEN relispartition
    THEN format('PARTITION OF %s %s', (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = tables.oid), pg_get_expr(relpartbound, oid))
    ELSE format(E'(\\n%s\\n)', (SELECT string_agg('  ' || line, E',\\n' ORDER BY part, place) FROM (
      SELECT 1 AS part, lpad(attnum::text, 4) AS place, concat_ws(' ', quote_ident(attname), format_type(atttypid, atttypmod),
        CASE WHEN attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(adbin, adrelid)) AS line
      FROM pg_attribute LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
      WHERE attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
      UNION ALL
      SELECT 2, conname, format('CONSTRAINT %s %s', conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE conrelid = tables.oid AND contype <> 'n'
    ) AS lines)) END,
  'PARTITION BY ' || pg_get_partkeydef(oid),
  'WITH (' || array_to_string(reloptions, ', ') || ')')) AS definition
FROM tables
UNION ALL
SELECT 2, indexrelid::regclass::text, pg_get_indexdef(indexrelid) || ';'
FROM pg_index JOIN tables ON tables.oid = indrelid
WHERE NOT relispartition AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
UNION ALL
SELECT 3, proname, pg_get_functiondef(oid) || ';' FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL
SELECT 4, tgname, pg_get_triggerdef(pg_trigger.oid) || ';' FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
WHERE NOT tgisinternal AND ${IN_SCHEMA} AND NOT relispartition
UNION ALL
SELECT 5, relname, format(E'CREATE VIEW %s AS\\n%s', relname, pg_get_viewdef(oid)) FROM pg_class WHERE ${IN_SCHEMA} AND relkind = 'v'
ORDER BY kind, name, definition`;

test('the schema that lies in the repository is what the migrations make', async () => {
  const { rows } = await client.query<{ definition: string }>(DUMP);
  const head =
    '-- What all migrations make, for reading: a test writes it and keeps it true. Nothing is made from it.\n';
  const text = [head, ...rows.map(({ definition }) => `${definition.trim()}\n`)].join('\n');
  await expect(text).toMatchFileSnapshot(fileURLToPath(new URL('../../packages/db/schema.sql', import.meta.url)));
});

test('of a table that others refer to by organization and id, no other index begins with the organization', async () => {
  const { rows } = await client.query(`
    SELECT DISTINCT other.indexrelid::regclass::text AS index
    FROM pg_constraint AS reference
    JOIN pg_index AS key ON key.indexrelid = reference.conindid
    JOIN pg_index AS other ON other.indrelid = key.indrelid AND other.indexrelid <> key.indexrelid
    WHERE reference.contype = 'f' AND reference.connamespace = 'public'::regnamespace
      AND key.indnkeyatts > 1 AND other.indkey[0] = key.indkey[0]
      -- One of some rows only does not serve the check of a reference, which does not say that it asks for these.
      AND other.indpred IS NULL`);
  expect(rows).toEqual([]);
});

/** The columns of each table that the queries know, and whether each may be null, as schema.ts and tables.ts have them. */
async function readTypes(): Promise<Record<string, Record<string, boolean>>> {
  const sources = ['schema.ts', 'billing/tables.ts'].map((file) => `../../packages/db/src/${file}`);
  const texts = await Promise.all(sources.map((file) => readFile(new URL(file, import.meta.url), 'utf8')));
  const members = new Map(
    [...texts.join('\n').matchAll(/^(?:export )?interface (\w+)[^{]*\{\n(.*?)^\}/gms)].map(
      ([, name = '', body = '']) => [
        name,
        [...body.matchAll(/^ {2}(\w+): (.*);$/gm)].map(([, column = '', type = '']) => [column, type] as const),
      ],
    ),
  );
  const tables = [...(members.get('Tables') ?? []), ...(members.get('BillingTables') ?? [])];
  const isNullable = (type: string) => /TimeOrNull|\| null/.test(type);
  return Object.fromEntries(
    tables.map(([table, type]) => [
      table,
      Object.fromEntries((members.get(type) ?? []).map(([column, of]) => [column, isNullable(of)])),
    ]),
  );
}

test('the queries know every column of each table that they read, whether it may be null, and no other', async () => {
  const types = await readTypes();
  const { rows } = await client.query<{ name: string; columns: Record<string, boolean> }>(
    `SELECT table_name AS name, json_object_agg(column_name, is_nullable = 'YES') AS columns FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = ANY ($1) GROUP BY table_name`,
    [Object.keys(types)],
  );
  expect(rows.length).toBeGreaterThan(30);
  expect(types).toEqual(Object.fromEntries(rows.map(({ name, columns }) => [name, columns])));
});
