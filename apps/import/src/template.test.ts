import { expect, test } from 'vitest';
import { OptionError } from './errors.ts';
import type { ReadableRow } from './read-rows.ts';
import { compileSpec } from './template.ts';

const row: ReadableRow = {
  row: 41,
  line: 43,
  endByte: 0,
  values: { user: 'ann', tokens: 5, empty: '', none: null, tags: ['x'] },
};

function read(spec: string) {
  return compileSpec(spec, (name) => {
    if (name === 'missing') throw new OptionError('no such column');
    return (values) => (values as Record<string, never>)[name];
  })(row);
}

test('a name is a column and keeps its type', () => {
  expect([read('user'), read('tokens'), read('none'), read('tags')]).toEqual(['ann', 5, null, ['x']]);
});

test('text after an equals sign is that text, whatever it holds', () => {
  expect([read('=acme'), read('='), read('={user}'), read('==')]).toEqual(['acme', '', '{user}', '=']);
});

test('a template puts columns, the row, the line and remainders into a text', () => {
  expect(read('cust-{row%20}')).toBe('cust-1');
  expect(read('{row}/{line}/{line%10}')).toBe('41/43/3');
  expect(read('{user}:{tokens}')).toBe('ann:5');
  expect(read('{{{user}}}')).toBe('{ann}');
});

test('a template with a column that has no value has none', () => {
  expect([read('x-{empty}'), read('x-{none}'), read('x-{tags}'), read('x-{other}')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('a brace that stands alone and an unknown column are refused', () => {
  for (const spec of ['{', 'a}', '{}', '{user', 'missing', '{missing}']) expect(() => read(spec)).toThrow(OptionError);
});
