import { expect, test } from 'vitest';
import { parseOptions } from './reconcile-options.ts';

const organization = '0198c0de-0000-7000-8000-00000000000a';

test('without options everything is compared, and nothing is changed', () => {
  expect(parseOptions([])).toEqual({
    organizationId: undefined,
    month: undefined,
    archivedThrough: undefined,
    repair: false,
    json: false,
  });
});

test('an organization and a month narrow what is compared', () => {
  expect(parseOptions(['--organization', organization.toUpperCase(), '--month', '2026-11', '--json'])).toMatchObject({
    organizationId: organization,
    month: '2026-11',
    json: true,
  });
  expect(parseOptions(['--repair', '--archived-through=2025-12'])).toMatchObject({
    repair: true,
    archivedThrough: '2025-12',
  });
  expect(parseOptions(['--help'])).toBeUndefined();
});

test.each([
  [['--organization', 'acme'], '--organization acme'],
  [['--month', '2026-13'], '--month 2026-13'],
  [['--month', '11/2026'], '--month 11/2026'],
  [['--archived-through', 'all'], '--archived-through all'],
  [['--repair', '--month', '2026-11'], '--month'],
  [['--fix'], '--fix'],
  [['everything'], 'everything'],
])('%j is refused with a line that names the option', (argv, named) => {
  expect(() => parseOptions(argv)).toThrow(named);
});
