// In which order a list is read, and where in it a reader goes on. An order is data: ORDER BY, the comparison with the last row of the
// page before, and the cursor that names this row are all made of it, here.

import { Refusal } from '@weir/shared/errors';
import { isStorable } from '@weir/shared/text';

/** What Postgres takes the values of a column for, and which texts it takes as such. */
const TYPES = {
  uuid: (text: string) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text),
  text: isStorable,
  bigint: (text: string) => /^-?\d{1,18}$/.test(text),
  // A quotient has up to a thousand digits after the point.
  numeric: (text: string) => /^-?\d{1,200}(\.\d{1,1000})?$/.test(text),
  date: (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && isTime(`${text}T00:00:00.000Z`),
  timestamptz: (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d{3})?Z$/.test(text) && isTime(text),
} as const;

/** Whether there is such a time: JavaScript moves February 30 to March, and Postgres knows no year 0. */
function isTime(text: string): boolean {
  const milliseconds = `${text.slice(0, 23).replace(/Z$/, '')}Z`;
  const time = Date.parse(milliseconds);
  return !text.startsWith('0000') && !Number.isNaN(time) && new Date(time).toISOString() === milliseconds;
}

/** A column that a list is put in order by. */
export interface SortKey<Field extends string = string> {
  /** Of the rows that are read. */
  field: Field;
  /** What SQL calls it where that is not the field alone: `subscriptions.id`. */
  column?: string;
  /** The field that is taken where it is NULL. */
  orElse?: Field;
  /** Whatever the case of its letters. */
  anyCase?: boolean;
  type: keyof typeof TYPES;
  descending?: boolean;
  /** It may be NULL, which is larger than every value, as Postgres has it. */
  nullable?: boolean;
}

/** The columns that a list of such rows is put in order by. The last one is unique among them, and never NULL. */
export type Order<Row> = readonly SortKey<keyof Row & string>[];

/** The order of most lists: ids rise with time. */
export const NEWEST_FIRST = [{ field: 'id', type: 'uuid', descending: true }] as const satisfies Order<{ id: string }>;

export const OLDEST_FIRST = [{ field: 'id', type: 'uuid' }] as const satisfies Order<{ id: string }>;

/** The orders of a list by time or by name. `named` and `ids`: what is to be said of these columns besides. */
export function sortsByName<Row extends { id: string; name: string | null }>(
  named: Partial<SortKey<keyof Row & string>> = {},
  ids: Partial<SortKey<keyof Row & string>> = {},
) {
  const oldest: Order<Row> = [{ field: 'id', type: 'uuid', ...ids }];
  const byName: Order<Row> = [{ field: 'name', anyCase: true, type: 'text', ...named }, ...oldest];
  return { created_at: oldest, '-created_at': reversed(oldest), name: byName, '-name': reversed(byName) };
}

/** The same order from its end. */
export function reversed<Row>(order: Order<Row>): Order<Row> {
  return order.map((key) => ({ ...key, descending: key.descending !== true }));
}

export function columnOf({ field, column = field, orElse, anyCase }: SortKey): string {
  const value = orElse === undefined ? column : `coalesce(${column}, ${orElse})`;
  return anyCase === true ? `lower(${value})` : value;
}

/** The columns of an order as ORDER BY has them. */
export function orderBy(order: readonly SortKey[]): string {
  return order.map((key) => `${columnOf(key)} ${key.descending === true ? 'DESC' : 'ASC'}`).join(', ');
}

/** Said of a cursor that names no place in a list. */
export const NO_CURSOR = 'must be the next_cursor of the page before';

/** Names a row as the last of a page. What it says is nobody's to read, and no secret: rows are found by it among those of the caller. */
export function writeCursor<Row>(order: Order<Row>, row: Row): string {
  return encode(
    order,
    order.map(({ field, orElse = field }) => {
      const value: unknown = row[field] ?? row[orElse];
      return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
    }),
  );
}

/** Returns the values of the row that a cursor names, each fit for its column. Throws a Refusal for what is no cursor of this order. */
export function readCursor<Row>(order: Order<Row>, cursor: string): (string | null)[] {
  const values = decode(cursor).slice(1);
  const isOfOrder = order.every(({ type, nullable }, index) => {
    const value = values[index];
    return value === null ? nullable === true : typeof value === 'string' && TYPES[type](value);
  });
  const texts = values.map((value) => (typeof value === 'string' ? value : null));
  // What was encoded in another way, or is of another order, is none of ours.
  if (!isOfOrder || values.length !== order.length || encode(order, texts) !== cursor) {
    throw new Refusal('invalid_request', `cursor ${NO_CURSOR}.`, { errors: [{ path: 'cursor', message: NO_CURSOR }] });
  }
  return texts;
}

function encode<Row>(order: Order<Row>, values: readonly (string | null)[]): string {
  const name = order.map(({ field, descending }) => `${descending === true ? '-' : ''}${field}`).join();
  return Buffer.from(JSON.stringify([name, ...values])).toString('base64url');
}

function decode(cursor: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

/** A part of an SQL text: the text itself, or a value that is sent beside it. */
export type Piece = string | { value: string; type: SortKey['type'] };

/** A condition on rows: those that come after the row with these values. */
export function after<Row>(order: Order<Row>, values: readonly (string | null)[]): Piece[] {
  const [first] = order;
  const isOneWay = order.every(({ nullable, descending }) => nullable !== true && descending === first?.descending);
  if (!isOneWay) return ['(', ...bound(first, values[0] ?? null), ...spelledOut(order, values), ')'];
  // Postgres finds this in an index of the same columns.
  const columns = order.map(columnOf).join(', ');
  const row = order.flatMap((key, index): Piece[] => [index === 0 ? '' : ', ', ...given(key, values[index] ?? '')]);
  return [`((${columns}) ${first?.descending === true ? '<' : '>'} (`, ...row, '))'];
}

/** A value of a cursor as its column is compared with it. */
function given({ type, anyCase }: SortKey, value: string): Piece[] {
  return anyCase === true ? ['lower(', { value, type }, ')'] : [{ value, type }];
}

/** Says again of the first column where rows may begin, so that an index leads there. */
function bound(key: SortKey | undefined, value: string | null): Piece[] {
  if (key === undefined || value === null || (key.nullable === true && key.descending !== true)) return [];
  return [`${columnOf(key)} ${key.descending === true ? '<=' : '>='} `, ...given(key, value), ' AND '];
}

function spelledOut(
  [key, ...others]: readonly SortKey[],
  [value = null, ...values]: readonly (string | null)[],
): Piece[] {
  if (key === undefined) return ['false'];
  const column = columnOf(key);
  const equal: Piece[] = value === null ? [`${column} IS NULL`] : [`${column} = `, ...given(key, value)];
  return ['(', ...beyond(key, value), ' OR ', ...equal, ' AND ', ...spelledOut(others, values), ')'];
}

function beyond(key: SortKey, value: string | null): Piece[] {
  const column = columnOf(key);
  if (value === null) return [key.descending === true ? `${column} IS NOT NULL` : 'false'];
  if (key.descending === true) return [`${column} < `, ...given(key, value)];
  const larger: Piece[] = [`${column} > `, ...given(key, value)];
  return key.nullable === true ? ['(', ...larger, ` OR ${column} IS NULL)`] : larger;
}
