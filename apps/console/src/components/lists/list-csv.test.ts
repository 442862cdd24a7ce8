import { expect, test } from 'vitest';
import { parseExact } from '../../api/exact-json.ts';
import { csvOf } from './list-csv.ts';

test('rows stand under the names of their fields, each once, and what is no plain value is JSON', () => {
  const acme = { id: '1', name: 'Acme', is_past_due: false, customer: { city: 'Oslo' }, total: '1.50' };
  const other = { id: '2', note: null, cycle: 3 };
  const exact = parseExact('{"id":"3","metadata":{"large":9007199254740993}}') as { id: string };
  expect(csvOf([acme, other, acme])).toEqual([
    ['id', 'name', 'is_past_due', 'customer', 'total', 'note', 'cycle'],
    ['1', 'Acme', 'false', '{"city":"Oslo"}', '1.50', null, null],
    ['2', null, null, null, null, null, 3],
  ]);
  expect(csvOf([exact])).toEqual([
    ['id', 'metadata'],
    ['3', '{"large":9007199254740993}'],
  ]);
  expect(csvOf([])).toEqual([]);
});
