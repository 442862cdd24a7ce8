// How columns are read and written, for kysely, where that is not the same type.

import type { ColumnType } from 'kysely';

/** A timestamp, read as ISO 8601 UTC text to the microsecond. */
export type Time = ColumnType<string, string | undefined, string>;
export type TimeOrNull = ColumnType<string | null, string | null | undefined, string | null>;

/** Read as it was parsed, written as JSON text. */
export type Json<Value> = ColumnType<Value, string, string>;

/** A bigint, read as text. */
export type Int8 = ColumnType<string, string | number | undefined, string | number>;
