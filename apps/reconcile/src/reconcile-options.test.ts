import { Command } from 'commander';
import { expect, test } from 'vitest';
import { parseReconcileOptions } from './reconcile-options.ts';

const organization = '0198c0de-0000-7000-8000-00000000000a';

function parse(args: string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  return parseReconcileOptions(args, command);
}

test('without options everything is compared, and nothing is changed', () => {
  expect(parse([])).toEqual({
    organizationId: undefined,
    month: undefined,
    archivedThrough: undefined,
    repair: false,
    invoices: false,
    json: false,
  });
});

test('an organization and a month narrow what is compared', () => {
  expect(parse(['--organization', organization.toUpperCase(), '--month', '2026-11', '--json'])).toMatchObject({
    organizationId: organization,
    month: '2026-11',
    json: true,
  });
  expect(parse(['--invoices'])).toMatchObject({ invoices: true, repair: false });
  expect(parse(['--repair', '--archived-through=2025-12'])).toMatchObject({
    repair: true,
    archivedThrough: '2025-12',
  });
});

test.each([
  [['--organization', 'acme'], "'--organization <id>' argument 'acme'"],
  [['--month', '2026-13'], "argument '2026-13'"],
  [['--month', '11/2026'], '--month'],
  [['--archived-through', 'all'], '--archived-through'],
  [['--repair', '--month', '2026-11'], '--month'],
  [['--fix'], '--fix'],
  [['everything'], 'too many arguments'],
])('%j is refused with a line that names the option', (argv, named) => {
  expect(() => parse(argv)).toThrow(named);
});
