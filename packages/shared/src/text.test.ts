import { describe, expect, test } from 'vitest';
import { isStorable, slug, text } from './text.ts';

test('a text is storable unless it holds a NUL character or half of a surrogate pair', () => {
  for (const good of ['', 'a', 'ä', '👋', '\u0001', '\ufeff', '\u{10ffff}']) expect(isStorable(good)).toBe(true);
  for (const bad of ['\0', 'a\0b', '\ud800', 'a\udfff', '\udc00\ud800']) expect(isStorable(bad)).toBe(false);
});

describe('a text of 1 to 5 characters', () => {
  const schema = text(1, 5);
  test.each(['a', 'abcde', '👋👋👋👋👋', '     ', 'ééééé'])('%j is one', (value) => {
    expect(schema.safeParse(value).success).toBe(true);
  });
  test.each(['', 'abcdef', '👋👋👋👋👋👋', 'a\0', '\ud83d', 5, null, ['a'], undefined])('%j is none', (value) => {
    expect(schema.safeParse(value).success).toBe(false);
  });
  test('is told its limits once, and not that it also cannot be stored', () => {
    const result = schema.safeParse(`${'x'.repeat(10)}\0`);
    expect(result.error?.issues.map((issue) => issue.message)).toEqual(['must have 1 to 5 characters']);
  });
});

describe('a slug', () => {
  test.each(['a', '0', 'api-calls', 'api_calls', 'a'.repeat(64)])('can be %j', (value) => {
    expect(slug.safeParse(value).success).toBe(true);
  });
  test.each(['', 'A', '-a', '_a', 'a b', 'a.b', 'ä', 'a\n', 'a'.repeat(65)])('cannot be %j', (value) => {
    expect(slug.safeParse(value).success).toBe(false);
  });
});
