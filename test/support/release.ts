// What is kept of a release in test/releases/<version>: rows as it leaves them in a database, and what it answers about them.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';

type Client = Pick<pg.ClientBase, 'query'>;

/** Where releases are kept. */
export const RELEASES = fileURLToPath(new URL('../releases', import.meta.url));

/** Where a release is going to be kept. Throws where it is: in its place would be what this build is. */
export function newReleaseFolder(version: string): string {
  const folder = `${RELEASES}/${version}`;
  if (!existsSync(folder)) return folder;
  throw new Error(
    `${version} is kept already: put the new number into package.json first. If ${folder} was left by an attempt, remove it.`,
  );
}

/** What is kept beside the rows. */
export interface Kept {
  /** When billing stood still. */
  at: string;
  email: string;
  password: string;
  /** What was answered, by path. */
  answers: Record<string, unknown>;
  /** Events as its API stages them, and the meter and customer that they are of. */
  staged: string[];
}

/** The SHA-256 of a migration: one that is released is never changed. */
export async function hashOfFile(path: string): Promise<string> {
  return hash('sha256', await readFile(path));
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;

/**
 * All rows of a database, as SQL that puts them into another one with the same schema in place of what is there. Rows are written as
 * Postgres itself writes them, so that each digit of JSON and numbers stays.
 */
export async function dumpRows(client: Client): Promise<Buffer> {
  const statements: string[] = [];
  const tables = await tablesInOrder(client);
  for (const table of tables.toReversed()) statements.push(`DELETE FROM ${table};`);
  for (const table of tables) {
    const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${table} AS t ORDER BY 1`);
    if (rows.length === 0) continue;
    const columns = await columnsOf(client, table);
    const values = rows.map(({ row }) => quote(row)).join(',\n');
    statements.push(
      `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.map((name) => `(each).${name}`).join(', ')}
FROM unnest(ARRAY[\n${values}\n]::${table}[]) AS each;`,
    );
  }
  return gzipSync(statements.join('\n'), { level: 9 });
}

/** Puts such rows in the place of what is there. */
export async function loadRows(client: Client, dump: Buffer): Promise<void> {
  await client.query(`BEGIN; ${gunzipSync(dump).toString()} COMMIT`);
}

/** Those that others refer to come first. The months of events are reached through the whole. */
async function tablesInOrder(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; refers: string[] }>(
    `SELECT relname AS name, ARRAY(SELECT confrelid::regclass::text FROM pg_constraint
       WHERE conrelid = pg_class.oid AND contype = 'f' AND confrelid <> conrelid) AS refers
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname <> 'migrations' ORDER BY relname`,
  );
  const refers = new Map(rows.map((row) => [row.name, row.refers]));
  const ordered = new Set<string>();
  const add = (name: string) => {
    if (ordered.has(name)) return;
    for (const other of refers.get(name) ?? []) add(other);
    ordered.add(name);
  };
  for (const name of refers.keys()) add(name);
  return [...ordered];
}

async function columnsOf(client: Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT quote_ident(attname) AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** What statements rely on, by name: columns of tables, and functions. */
export interface Schema {
  columns: Record<string, { type: string; nullable: boolean; filled: boolean }>;
  functions: string[];
}

export async function readSchemaOf(client: Client): Promise<Schema> {
  const columns = await client.query<{ name: string; type: string; nullable: boolean; filled: boolean }>(
    `SELECT relname || '.' || attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS nullable,
       atthasdef OR attidentity <> '' AS filled
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition
       AND attnum > 0 AND NOT attisdropped`,
  );
  const functions = await client.query<{ name: string }>(
    `SELECT oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  );
  return {
    columns: Object.fromEntries(columns.rows.map(({ name, ...column }) => [name, column])),
    functions: functions.rows.map(({ name }) => name),
  };
}

/** What of a new schema the statements that were written for the former one do not bear. `unread` names what they do not use. */
export function brokenBy(before: Schema, after: Schema, unread: ReadonlySet<string>): string[] {
  const broken: string[] = [];
  const isUnread = (column: string) => unread.has(column) || unread.has(column.split('.')[0] ?? '');
  const tables = new Set(Object.keys(before.columns).map((name) => name.split('.')[0]));
  for (const [name, column] of Object.entries(before.columns)) {
    const now = after.columns[name];
    if (isUnread(name)) continue;
    if (now === undefined) broken.push(`${name} is gone`);
    else if (now.type !== column.type) broken.push(`${name} was ${column.type} and is ${now.type}`);
    else if (column.nullable && !now.nullable) broken.push(`${name} may not be null any more`);
  }
  for (const [name, { nullable, filled }] of Object.entries(after.columns))
    if (before.columns[name] === undefined && tables.has(name.split('.')[0]) && !nullable && !filled)
      broken.push(`${name} is new, and has to be given`);
  for (const name of before.functions)
    if (!after.functions.includes(name) && !unread.has(name) && !unread.has(`${name.split('(')[0]}()`))
      broken.push(`${name} is gone`);
  return broken;
}
