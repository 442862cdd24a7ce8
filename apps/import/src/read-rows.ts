import type { JsonValue } from '@weir/sdk';
import { CsvError, parse as parseCsv } from 'csv-parse/sync';
import { isSafeNumber, parse as parseJson } from 'lossless-json';
import { OptionError } from './errors.ts';
import type { Line } from './read-lines.ts';

/** The fields of a CSV record, or a JSON object. */
type Values = readonly string[] | { [key: string]: JsonValue };

/** `row` counts the rows of data from 1; blank lines and the header are none. `line` is where the row begins. */
interface Place {
  row: number;
  line: number;
  endByte: number;
}
export type ReadableRow = Place & { values: Values };
/** A row of data, or why it cannot be read. */
export type Row = ReadableRow | (Place & { problem: string });

export interface Table {
  rows: AsyncIterable<Row>;
  /** How to read a column; an empty CSV field is undefined. Throws an OptionError when the file has no such column. */
  column: (name: string) => (values: Values) => JsonValue | undefined;
}

export interface CsvFormat {
  delimiter: string;
  /** Whether the first row names the columns; without it they are called `1`, `2`, … */
  header: boolean;
}

/** Without a limit, a quote that is never closed would take in the rest of the file. */
const recordLinesMax = 100;

/** Reads the header now, and the rows as they are asked for. */
export async function openCsv(lines: AsyncIterable<Line>, { delimiter, header }: CsvFormat): Promise<Table> {
  const rows = readRecords(lines, delimiter, header ? 0 : 1);
  if (!header) {
    return {
      rows,
      column: (name) => {
        if (/^[1-9]\d*$/.test(name)) return field(Number(name));
        throw new OptionError(`without a header columns are called 1, 2, …, not "${name}"`);
      },
    };
  }
  const first = (await rows.next()).value;
  if (!first) throw new OptionError('the file is empty: a CSV file begins with a row of column names');
  if ('problem' in first) throw new OptionError(`the row of column names cannot be read: ${first.problem}`);
  const names = (first.values as readonly string[]).map((name) => name.trim());
  return {
    rows,
    column: (name) => {
      const index = names.indexOf(name);
      if (index < 0) {
        throw new OptionError(`no column "${name}" (a fixed text is written as =text); there are: ${names.join(', ')}`);
      }
      if (index !== names.lastIndexOf(name)) throw new OptionError(`several columns are called "${name}"`);
      return field(index + 1);
    },
  };
}

function field(number: number): (values: Values) => string | undefined {
  return (values) => (values as readonly string[])[number - 1] || undefined;
}

/**
 * One JSON object a line; a column is a key or a path of keys (`usage.tokens`). A number that a double cannot hold
 * becomes a string of its digits, so that two long ids never become one.
 */
export function openNdjson(lines: AsyncIterable<Line>): Table {
  return {
    rows: readObjects(lines),
    column: (name) => {
      const path = name.split('.');
      return (values) => own(values, name) ?? (path.reduce<unknown>(own, values) as JsonValue | undefined);
    },
  };
}

function own(value: unknown, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as { [key: string]: JsonValue })[key];
}

async function* readObjects(lines: AsyncIterable<Line>): AsyncGenerator<Row> {
  let row = 0;
  for await (const { text, number, endByte, problem } of lines) {
    if (problem === undefined && text.trim() === '') continue;
    row += 1;
    yield { row, line: number, endByte, ...(problem === undefined ? parseObject(text) : { problem }) };
  }
}

function parseObject(text: string): { values: Values } | { problem: string } {
  if (isDamaged(text)) return { problem: damaged };
  try {
    const value: unknown = parseJson(text, null, (digits) => (isSafeNumber(digits) ? Number(digits) : digits));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { values: value as Values };
    return { problem: 'is not a JSON object' };
  } catch (error) {
    return { problem: `is not JSON: ${(error as Error).message}` };
  }
}

/**
 * The quoting rules are csv-parse's, record by record. Its own reading of whole files loses count after a stray quote:
 * good rows that follow would be left out without a word.
 */
async function* readRecords(lines: AsyncIterable<Line>, delimiter: string, firstRow: number): AsyncGenerator<Row> {
  let row = firstRow;
  let width: number | undefined;
  let open: { line: number; endLine: number; endByte: number; text: string } | undefined;
  for await (const { text: lineText, number, endByte, isEnded, problem } of lines) {
    const line = open?.line ?? number;
    if (problem !== undefined) {
      open = undefined;
      yield { row: row++, line, endByte, problem: leftOut(problem, line, number) };
      continue;
    }
    if (!open && (lineText === '' || lineText === '\r')) continue;
    const text: string = open ? `${open.text}\n${lineText}` : lineText;
    const record = splitRecord(text, delimiter);
    if ('unclosed' in record && number - line + 1 < recordLinesMax) {
      open = { line, endLine: number, endByte, text };
      continue;
    }
    open = undefined;
    const place = { row: row++, line, endByte };
    // Cut within its last value, it would be sent as it stands, and what it says once it is whole would be refused.
    if (!isEnded) yield { ...place, problem: leftOut(unended, line, number) };
    else if ('problem' in record) yield { ...place, problem: leftOut(record.problem, line, number) };
    else if (record.values.length === (width ??= record.values.length)) yield { ...place, ...record };
    else yield { ...place, problem: `has ${record.values.length} fields instead of ${width}` };
  }
  if (open) {
    const { line, endLine, endByte } = open;
    yield { row, line, endByte, problem: leftOut(unclosed.problem, line, endLine) };
  }
}

const unended =
  'has no line feed at its end, so it may still be written: run this again when it is, or end the file with a line feed';

const unclosed = { problem: 'a quoted value is not closed', unclosed: true };

function splitRecord(
  text: string,
  delimiter: string,
): { values: readonly string[] } | { problem: string } | typeof unclosed {
  const record = text.endsWith('\r') ? text.slice(0, -1) : text;
  if (isDamaged(record)) return { problem: damaged };
  if (!record.includes('"')) return { values: record.split(delimiter) };
  try {
    return {
      values: parseCsv(record, { delimiter, record_delimiter: '\n', relax_column_count: true })[0] ?? [],
    };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (error.code === 'CSV_QUOTE_NOT_CLOSED') return unclosed;
    return {
      problem: 'a quote stands where none can be; inside a quoted value it is written twice',
    };
  }
}

function leftOut(problem: string, firstLine: number, lastLine: number): string {
  return firstLine === lastLine ? problem : `${problem}; lines ${firstLine} to ${lastLine} are left out`;
}

const damaged = 'holds bytes that are not UTF-8';

/** Decoding puts U+FFFD for what it cannot read; sent like that, two customers could become one. */
function isDamaged(text: string): boolean {
  return text.includes('\uFFFD');
}
