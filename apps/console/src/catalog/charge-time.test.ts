import { expect, test } from 'vitest';
import { isPresent, timeWords } from './charge-time.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
/** Its new year begins nine hours before that of UTC. */
const ZONE = 'Asia/Tokyo';
const [BEFORE, LATER] = ['2026-01-01T12:00:00.000Z', '2026-12-31T15:00:00.000Z'];

test.each([
  ['that just holds', 'ACTIVE', BEFORE, null, null, undefined, true],
  ['that another one will replace', 'ACTIVE', BEFORE, LATER, null, 'until 31 Dec 2026', true],
  ['that will replace another one', 'ACTIVE', LATER, null, 'a', 'from 1 Jan 2027', false],
  ['that is announced, with none before it', 'ACTIVE', LATER, null, null, 'from 1 Jan 2027', true],
  ['that took the place of another one', 'ACTIVE', BEFORE, null, 'a', undefined, true],
  ['that is archived', 'INACTIVE', BEFORE, BEFORE, null, undefined, false],
] as const)('a price %s', (_, status, effective_from, ended_at, replaces, words, isNow) => {
  const charge = { status, effective_from, ended_at, replaces };
  expect([timeWords(charge, ZONE, NOW), isPresent(charge, NOW)]).toEqual([words, isNow]);
});
