// The console writes CSV by itself, since it is a client and imports nothing of Weir: by the same rule as the API.

import { toCsv as ofConsole } from '@weir/console/csv';
import { toCsv } from '@weir/shared/csv';
import fc from 'fast-check';
import { test, expect } from 'vitest';

test('the console and the API write the same CSV, and neither lets a spreadsheet see a formula or a date', () => {
  const special = fc.constantFrom(
    '=',
    '+',
    '-',
    '@',
    '＝',
    '＋',
    '－',
    '＠',
    '\t',
    '\r',
    '\n',
    ';',
    ' ',
    '"',
    ',',
    '1',
    '/',
    '.',
    'a',
    "'",
  );
  const field = fc.oneof(
    fc.string(),
    fc.array(special, { maxLength: 6 }).map((parts) => parts.join('')),
    fc.stringMatching(/^-?\d{1,4}(\/\d{1,4}){0,2}$/),
    fc.integer(),
    fc.constant(null),
  );
  fc.assert(
    fc.property(fc.array(fc.array(field, { minLength: 1 })), (rows) => {
      expect(toCsv(rows)).toBe(ofConsole(rows));
      const fields = rows.flat().map((text) =>
        toCsv([[text]])
          .trimEnd()
          .replace(/^"/, ''),
      );
      expect(fields.filter((text) => /^[=+@＝＋－＠\t\r\n]/.test(text))).toEqual([]);
      expect(fields.filter((text) => /[;\t\r\n][\s"]*[=+\-@＝＋－＠]/.test(text))).toEqual([]);
      expect(fields.filter((text) => /^-?\d+(\/\d+)+"?$/.test(text))).toEqual([]);
      expect(fields.filter((text) => text.startsWith('-') && !/^-\d+(\.\d+)?"?$/.test(text))).toEqual([]);
    }),
  );
});
