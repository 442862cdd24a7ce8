import { expect, test } from 'vitest';
import { readLinesFile } from './lines-file.ts';

/** A list of so many lines, in pages of two. */
const listOf = (count: number) => {
  const asked: number[] = [];
  return {
    asked,
    readPage: async ({ limit, cursor }: { limit: number; cursor?: string }) => {
      asked.push(limit);
      const from = Number(cursor ?? '0');
      const data = [from, from + 1]
        .filter((n) => n < count)
        .map((n) => ({ description: `Line ${n}`, amount: `${n}.00` }));
      return { data, meta: { next_cursor: from + 2 < count ? String(from + 2) : null } };
    },
  };
};

const ALL = { linesMax: 100, onProgress: () => {} };

test('a page is a part of the file, of which the first one has the names of the fields', async () => {
  const { asked, readPage } = listOf(3);
  const seen: number[] = [];
  const file = await readLinesFile(readPage, { ...ALL, onProgress: (count) => seen.push(count) });
  expect(await Promise.all(file.parts.map((part) => part.text()))).toEqual([
    'description,amount\r\nLine 0,0.00\r\nLine 1,1.00\r\n',
    'Line 2,2.00\r\n',
  ]);
  expect([file.count, file.isAll, seen, asked]).toEqual([3, true, [2, 3], [1_000, 1_000]]);
});

test('the names of the fields come before the first line, also after pages without a line', async () => {
  const pages = [[], [{ description: 'Line 0', amount: '0.00' }], [], [{ description: 'Line 1', amount: '1.00' }]];
  const { parts, ...file } = await readLinesFile(async ({ cursor = '0' }) => {
    const next = Number(cursor) + 1;
    return { data: pages[next - 1]!, meta: { next_cursor: next < pages.length ? String(next) : null } };
  }, ALL);
  expect(await new Blob(parts).text()).toBe('description,amount\r\nLine 0,0.00\r\nLine 1,1.00\r\n');
  expect(file).toEqual({ count: 2, isAll: true });
});

test('no more is read than is wanted, and that there is more is told', async () => {
  const { asked, readPage } = listOf(9);
  const { count, isAll, parts } = await readLinesFile(readPage, { ...ALL, linesMax: 4 });
  expect([count, isAll, parts.length, asked.length]).toEqual([4, false, 2, 2]);
  expect(await readLinesFile(listOf(4).readPage, { ...ALL, linesMax: 4 })).toMatchObject({ count: 4, isAll: true });
});

test('of no lines there is an empty file', async () => {
  const { parts, ...file } = await readLinesFile(listOf(0).readPage, ALL);
  expect(file).toEqual({ count: 0, isAll: true });
  expect(await new Blob(parts).text()).toBe('');
});

test('whoever stops it hears of that, and no further page is read', async () => {
  const { asked, readPage } = listOf(9);
  const stopped = new Error('stopped');
  const stop = (count: number) => {
    if (count >= 4) throw stopped;
  };
  await expect(readLinesFile(readPage, { ...ALL, onProgress: stop })).rejects.toBe(stopped);
  expect(asked.length).toBe(2);
});
