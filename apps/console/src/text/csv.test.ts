import { expect, test } from 'vitest';
import { toCsv } from './csv.ts';

test('fields that hold a comma, a quote or a line break are quoted', () => {
  expect(toCsv([['a', 'b,c', 'say "x"', 'two\nlines', null, 3]])).toBe('a,"b,c","say ""x""","two\nlines",,3\r\n');
});

test('a field cannot become a formula in a spreadsheet, and a negative number stays one', () => {
  expect(toCsv([['=1+1', '@x', '-cmd', '-12.5']])).toBe("'=1+1,'@x,'-cmd,-12.5\r\n");
});

test('nor one that begins as a number, with a full-width sign or with a line feed', () => {
  const formulas = ['-2+3', '-1-cmd|x', '-1e5', '＝1+1', '＋1', '－1', '＠SUM(A1)'];
  expect(toCsv([formulas])).toBe(`${formulas.map((text) => `'${text}`).join(',')}\r\n`);
  expect(toCsv([['\n=1', '\t=1', '\r=1']])).toBe(`"'\n'=1",'\t'=1,"'\r'=1"\r\n`);
  expect(toCsv([['-0.000001', '-7', 'a=1']])).toBe('-0.000001,-7,a=1\r\n');
});

test('nor one behind a semicolon, a tab or a line break, where some spreadsheets begin a cell', () => {
  expect(toCsv([['x;=1+1', 'a;b;\t @x', 'x;-5']])).toBe("x;'=1+1,a;b;\t '@x,x;'-5\r\n");
  expect(toCsv([['x;"=1+1"', 'a\n=1+1;', 'a\r\n"＝1']])).toBe(`"x;""'=1+1""","a\n'=1+1;","a\r\n""'＝1"\r\n`);
  expect(toCsv([['a; b\n\nc\t1', 'a=1;b=2']])).toBe('"a; b\n\nc\t1",a=1;b=2\r\n');
});

test('a fraction cannot become a date in a spreadsheet, and a date and a number stay what they are', () => {
  expect(toCsv([['11/30', '10/3', '-1/3', '22/31']])).toBe("'11/30,'10/3,'-1/3,'22/31\r\n");
  expect(toCsv([['1/2/2026', '2026-11-01', '-5.20', '11/30 days']])).toBe("'1/2/2026,2026-11-01,-5.20,11/30 days\r\n");
});
