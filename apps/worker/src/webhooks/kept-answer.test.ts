import { expect, test } from 'vitest';
import { keptAnswer } from './kept-answer.ts';

const jsonBytes = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

test('a kibibyte of text is kept as it is, with its quotes', () => {
  const text = '{"error": "no such \\"thing\\" — at all"}\r\n'.repeat(40);
  const kept = Buffer.from(text).subarray(0, 1_024).toString();
  expect(keptAnswer(Buffer.from(text))).toBe(kept);
});

test.each([
  ['control characters', '\u0001'],
  ['zeros, for which Postgres has no place', '\0'],
  ['what is no UTF-8', '\xff'],
  ['quotes', '"'],
])('what is kept of %s is short in a list, too', (_what, character) => {
  const kept = keptAnswer(Buffer.from(character.repeat(4_000), 'latin1'));
  expect(kept.length).toBeGreaterThan(300);
  expect(jsonBytes(kept)).toBeLessThanOrEqual(2_048);
});
