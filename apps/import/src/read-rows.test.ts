import { describe, expect, test } from 'vitest';
import { OptionError } from './errors.ts';
import { readLines } from './read-lines.ts';
import { openCsv, openNdjson, type Row, type Table } from './read-rows.ts';

/** The text as a stream in pieces of a few bytes, so that every boundary falls inside something. */
async function* pieces(text: string | Buffer, size = 3): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text as string);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function csv(text: string | Buffer, options = {}): Promise<Table> {
  return await openCsv(readLines(pieces(text)), { delimiter: ',', header: true, ...options });
}

async function rowsOf(table: Table): Promise<Row[]> {
  const rows = [];
  for await (const row of table.rows) rows.push(row);
  return rows;
}

const values = (rows: Row[]) => rows.map((row) => ('values' in row ? row.values : row.problem));

describe('lines', () => {
  test('have numbers and end where the next begins, whatever the pieces', async () => {
    for (const size of [1, 2, 7, 100]) {
      const lines = [];
      for await (const line of readLines(pieces('é\r\n\nlast', size))) lines.push(line);
      expect(lines).toEqual([
        { number: 1, text: 'é\r', endByte: 4, isEnded: true },
        { number: 2, text: '', endByte: 5, isEnded: true },
        { number: 3, text: 'last', endByte: 9, isEnded: false },
      ]);
    }
  });

  test('a file without line feeds ends the import instead of filling the memory', async () => {
    const read = async () => {
      for await (const _ of readLines(pieces(Buffer.alloc(3_000_000, 'x'), 65_536)));
    };
    await expect(read()).rejects.toThrow('Line 1 is longer than 1 MiB');
  });

  test('a line longer than 1 MiB costs its own row only, and lines after it keep their numbers', async () => {
    const long = 'x'.repeat(3_000_000);
    const ndjson = openNdjson(readLines(pieces(`{"a":1}\n${long}\n{"a":2}\n${long}`, 65_536)));
    expect(await rowsOf(ndjson)).toEqual([
      { row: 1, line: 1, endByte: 8, values: { a: 1 } },
      { row: 2, line: 2, endByte: 3_000_009, problem: 'is longer than 1 MiB' },
      { row: 3, line: 3, endByte: 3_000_017, values: { a: 2 } },
      { row: 4, line: 4, endByte: 6_000_017, problem: 'is longer than 1 MiB' },
    ]);

    const csvLines = readLines(pieces(`a,b\n1,"open\n${long}\n${long}\n2,ok\n`, 65_536));
    expect(await rowsOf(await openCsv(csvLines, { delimiter: ',', header: true }))).toEqual([
      { row: 1, line: 2, endByte: 3_000_013, problem: 'is longer than 1 MiB; lines 2 to 3 are left out' },
      { row: 2, line: 4, endByte: 6_000_014, problem: 'is longer than 1 MiB' },
      { row: 3, line: 5, endByte: 6_000_019, values: ['2', 'ok'] },
    ]);
  });

  test('whether a line is longer than 1 MiB does not depend on the pieces that it comes in', async () => {
    const text = `first\n${'x'.repeat(1_048_576)}\n${'y'.repeat(1_048_577)}\n`;
    for (const size of [65_536, 5_000_000]) {
      const problems = [];
      for await (const { problem } of readLines(pieces(text, size))) problems.push(problem);
      expect(problems).toEqual([undefined, undefined, 'is longer than 1 MiB']);
    }
  });
});

describe('CSV', () => {
  test('columns are found by name after a byte order mark, with either line ending', async () => {
    const table = await csv('\uFEFFuser, tokens\r\nann,5\n\r\nbob,\n');
    const [first, second] = (await rowsOf(table)) as (Row & { values: string[] })[];
    expect([table.column('user')(first!.values), table.column('tokens')(first!.values)]).toEqual(['ann', '5']);
    expect(table.column('tokens')(second!.values)).toBeUndefined();
    expect(second).toMatchObject({ row: 2, line: 4 });
  });

  test('quoted values hold delimiters, quotes and line feeds, and the line is where the row begins', async () => {
    const table = await csv('a,b\n1,"x, ""y""\r\nz"\n2,ok\n');
    expect(await rowsOf(table)).toEqual([
      { row: 1, line: 2, endByte: 20, values: ['1', 'x, "y"\r\nz'] },
      { row: 2, line: 4, endByte: 25, values: ['2', 'ok'] },
    ]);
  });

  test('a stray quote or a missing field costs its own row only', async () => {
    const table = await csv('a,b\n1,"x"y\n2,5" pipe\n3\n4,d\n');
    expect(values(await rowsOf(table))).toEqual([
      expect.stringContaining('a quote stands where none can be'),
      expect.stringContaining('a quote stands where none can be'),
      'has 1 fields instead of 2',
      ['4', 'd'],
    ]);
  });

  test('a quote that is never closed costs a hundred lines at most, and says which', async () => {
    const filler = Array.from({ length: 120 }, (_, index) => `${index},x\n`).join('');
    const rows = await rowsOf(await csv(`a,b\n1,"open\n${filler}`));
    expect(rows[0]).toMatchObject({
      line: 2,
      problem: 'a quoted value is not closed; lines 2 to 101 are left out',
    });
    expect(rows[1]).toMatchObject({ line: 102, values: ['99', 'x'] });
    expect(rows).toHaveLength(22);

    const [last] = await rowsOf(await csv('a,b\n1,"open\nmore\n'));
    expect(last).toMatchObject({ problem: 'a quoted value is not closed; lines 2 to 3 are left out' });
  });

  test('a last row without a line feed is bad: what looks whole may be cut within its last value', async () => {
    for (const last of ['2,12', '2,"12"', '2', '2,12\r']) {
      const rows = await rowsOf(await csv(`a,b\n1,7\n${last}`));
      expect(values(rows)).toEqual([['1', '7'], expect.stringContaining('has no line feed at its end')]);
    }
    expect(values(await rowsOf(await csv('a,b\n1,7\n\r')))).toEqual([['1', '7']]);
    await expect(csv('a,bc')).rejects.toThrow('the row of column names cannot be read: has no line feed at its end');
  });

  test('bytes that are not UTF-8 make a bad row, not another name', async () => {
    const table = await csv(Buffer.from('a,b\n1,M\xfcller\n', 'latin1'));
    expect(values(await rowsOf(table))).toEqual(['holds bytes that are not UTF-8']);
  });

  test('without a header, columns are numbers', async () => {
    const table = await csv('ann;5\n', { header: false, delimiter: ';' });
    const [row] = (await rowsOf(table)) as (Row & { values: string[] })[];
    expect(row).toMatchObject({ row: 1, line: 1 });
    expect(table.column('2')(row!.values)).toBe('5');
    expect(() => table.column('user')).toThrow(OptionError);
  });

  test('a column that is not there or is there twice is refused before anything is read', async () => {
    const table = await csv('a,b,b\n');
    expect(() => table.column('c')).toThrow('there are: a, b, b');
    expect(() => table.column('b')).toThrow('several columns');
    await expect(csv('')).rejects.toThrow('the file is empty');
  });
});

describe('NDJSON', () => {
  const ndjson = (text: string) => openNdjson(readLines(pieces(text)));

  test('columns are keys or paths of keys, and values keep their type', async () => {
    const table = ndjson('{"a.b":1,"usage":{"tokens":5,"ok":true,"list":[7]},"none":null}\n\n');
    const [row] = (await rowsOf(table)) as (Row & { values: Record<string, never> })[];
    const read = (name: string) => table.column(name)(row!.values);
    expect(['a.b', 'usage.tokens', 'usage.ok', 'usage.list.0', 'none', 'usage.x', 'constructor'].map(read)).toEqual([
      1,
      5,
      true,
      7,
      null,
      undefined,
      undefined,
    ]);
  });

  test('a number that a double cannot hold is kept as its digits', async () => {
    const rows = await rowsOf(ndjson('{"q":0.1234567890123456789,"id":12345678901234567890,"n":1.50}'));
    expect(values(rows)).toEqual([{ q: '0.1234567890123456789', id: '12345678901234567890', n: 1.5 }]);
  });

  test('a line that is no JSON object costs its own row only', async () => {
    const rows = await rowsOf(ndjson('{"a":1}\n{"a":\n[1]\n\n{"a":2}'));
    expect(values(rows)).toEqual([{ a: 1 }, expect.stringContaining('is not JSON'), 'is not a JSON object', { a: 2 }]);
    expect(rows[3]).toMatchObject({ row: 4, line: 5 });
  });
});
