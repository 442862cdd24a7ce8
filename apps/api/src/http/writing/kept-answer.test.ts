import { LIMITS } from '@weir/shared/limits';
import { expect, test } from 'vitest';
import { isToCompute, keptOf, keptOfComputed } from './kept-answer.ts';

const longList = Array.from({ length: 2_000 }, (_, at) => ({ id: at, text: 'ü'.repeat(20) }));

test('an answer is kept to the letter', () => {
  const body = { id: 'x', lines: [1, 2], note: '\u0000 "ü"' };
  expect(keptOf({ status: 201, body })).toEqual({ status: 201, answer: JSON.stringify(body), withheld: [] });
  expect(keptOf({ status: 204, body: null })).toEqual({ status: 204, answer: null, withheld: [] });
});

test('a secret is null in what is kept, and named', () => {
  const { answer, withheld } = keptOf({ status: 201, body: { id: 'x', key: 'org_live_secret' }, secrets: ['key'] });
  expect([answer, withheld]).toEqual(['{"id":"x","key":null}', ['key']]);
});

test('of an answer that is too large all is kept but its long lists, which are named', () => {
  const body = { key: 's', invoice: { id: 'x', lines: longList, days: [1, 2] }, total: '1.00' };
  const { answer, withheld } = keptOf({ status: 200, body, secrets: ['key'] });
  expect(JSON.parse(answer ?? '')).toEqual({ key: null, invoice: { id: 'x', lines: [], days: [1, 2] }, total: '1.00' });
  expect(withheld).toEqual(['key', 'invoice.lines']);
});

test('what is too large without a list is kept by its names alone, and never above the bound', () => {
  const { answer, withheld } = keptOf({ status: 200, body: { id: 'x', text: 'ü'.repeat(LIMITS.keptAnswerBytes / 2) } });
  expect([answer, withheld]).toEqual(['{}', ['id', 'text']]);
});

test('what was only computed is kept to the letter or not at all, and no change is computed anew', () => {
  const small = { status: 200, body: { lines: [1] } } as const;
  const large = { status: 200, body: { id: 'x', lines: longList } } as const;
  expect(keptOfComputed(small)).toEqual(keptOf(small));
  expect(keptOfComputed(large)).toEqual({ status: 200, answer: null, withheld: ['lines'] });
  const gone = keptOf({ status: 204, body: null });
  const secret = keptOf({ status: 201, body: { key: 'x' }, secrets: ['key'] });
  const kept = [keptOfComputed(large), keptOfComputed(small), keptOf(large), gone, secret];
  expect(kept.map(isToCompute)).toEqual([true, false, false, false, false]);
});
