import { expect, test } from 'vitest';
import { inColumns } from './columns.ts';

test('each column is as wide as its widest text, and no line ends in white space', () => {
  const rows = [
    ['EMAIL', 'ROLE', 'SINCE'],
    ['a@b.cd', 'admin', '-'],
    ['longer@example.com', 'viewer', ''],
  ];
  expect(inColumns(rows).split('\n')).toEqual([
    'EMAIL               ROLE    SINCE',
    'a@b.cd              admin   -',
    'longer@example.com  viewer',
  ]);
});

test('no rows are no lines', () => {
  expect(inColumns([])).toBe('');
});
