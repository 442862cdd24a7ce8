import { expect, test } from 'vitest';
import { periodWords } from './period-words.ts';

test('of an hour that comes twice each says which of the two it is', () => {
  const grouped_data = [
    '2026-10-24T23:00:00Z',
    '2026-10-25T00:00:00Z',
    '2026-10-25T01:00:00Z',
    '2026-10-25T02:00:00Z',
  ].map((period_start) => ({ period_start }));
  const usage = { grouped_data, period_start: '2026-10-24T23:00:00Z', period_end: '2026-10-25T03:00:00Z' };
  expect(periodWords(usage, 'Europe/Berlin', 'hour')).toEqual([
    '25 Oct 2026, 01:00',
    '25 Oct 2026, 02:00 GMT+2',
    '25 Oct 2026, 02:00 GMT+1',
    '25 Oct 2026, 03:00',
  ]);
});
