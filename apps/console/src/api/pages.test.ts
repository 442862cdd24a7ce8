import { expect, test } from 'vitest';
import { readPages, type Part } from './pages.ts';

test('a list is read to its last page, in its order', async () => {
  const pages = [['a', 'b'], ['c', 'd'], ['e']];
  const asked: Part[] = [];
  const items = await readPages(async (part) => {
    asked.push(part);
    const next = Number(part.cursor ?? 0) + 1;
    return { data: pages[next - 1] ?? [], meta: { next_cursor: next < pages.length ? String(next) : null } };
  });
  expect(items).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(asked).toEqual([{ limit: 100 }, { limit: 100, cursor: '1' }, { limit: 100, cursor: '2' }]);
});

test('no more pages are read than are wanted', async () => {
  const items = await readPages(async () => ({ data: [1, 2], meta: { next_cursor: 'more' } }), 4);
  expect(items).toEqual([1, 2, 1, 2]);
});

test('an empty list is one request, and a refusal is told', async () => {
  expect(await readPages(async () => ({ data: [], meta: { next_cursor: null } }))).toEqual([]);
  const refused = readPages(async () => Promise.reject(new Error('refused')));
  await expect(refused).rejects.toThrow('refused');
});
