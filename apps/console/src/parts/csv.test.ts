import { expect, test } from 'vitest';
import { toCsv } from './csv.ts';

test('fields that hold a comma, a quote or a line break are quoted', () => {
  expect(toCsv([['a', 'b,c', 'say "x"', 'two\nlines', null, 3]])).toBe('a,"b,c","say ""x""","two\nlines",,3\r\n');
});

test('a field cannot become a formula in a spreadsheet, and a negative number stays one', () => {
  expect(toCsv([['=1+1', '@x', '-cmd', '-12.5']])).toBe("'=1+1,'@x,'-cmd,-12.5\r\n");
});
