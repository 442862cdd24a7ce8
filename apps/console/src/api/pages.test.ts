import { expect, test } from 'vitest';
import { readPages } from './pages.ts';

test('a list is read to its last page, in its order', async () => {
  const pages = [['a', 'b'], ['c', 'd'], ['e']];
  const asked: number[] = [];
  const items = await readPages(async (page) => {
    asked.push(page);
    return { data: pages[page - 1] ?? [], meta: { total_pages: pages.length } };
  });
  expect(items).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(asked).toEqual([1, 2, 3]);
});

test('no more pages are read than are wanted', async () => {
  const items = await readPages(async (page) => ({ data: [page], meta: { total_pages: 9 } }), 2);
  expect(items).toEqual([1, 2]);
});

test('an empty list is one request, and a refusal is told', async () => {
  expect(await readPages(async () => ({ data: [], meta: { total_pages: 0 } }))).toEqual([]);
  const refused = readPages(async () => Promise.reject(new Error('refused')));
  await expect(refused).rejects.toThrow('refused');
});
