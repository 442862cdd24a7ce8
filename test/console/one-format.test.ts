// Dates of the console are written by one file, so that they look the same wherever they stand.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('../../apps/console/src', import.meta.url));

test('only text/instants.ts writes a date or a time', () => {
  const writing = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts'))
    .filter((name) =>
      /DateTimeFormat|toLocale\w*String|toDateString|toUTCString/.test(readFileSync(join(folder, name), 'utf8')),
    );
  expect(writing).toEqual(['text/instants.ts']);
});
