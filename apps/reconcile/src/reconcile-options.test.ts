import { Command } from 'commander';
import { expect, test } from 'vitest';
import { parseReconcileOptions } from './reconcile-options.ts';

const organization = '0198c0de-0000-7000-8000-00000000000a';

function parse(args: string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  return parseReconcileOptions(args, command, new Date('2026-11-27T12:00:00Z'));
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
  expect(parse(['--month', '2026-12', '--archived-through', '2026-10'])).toMatchObject({ month: '2026-12' });
  expect(parse(['--month', '2027-11'])).toMatchObject({ month: '2027-11' });
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
  [['--archived-through', '2026-11'], '--archived-through 2026-11: that month has not ended'],
  [['--archived-through', '2027-01'], '--archived-through 2027-01: that month has not ended'],
  [['--month', '2027-12'], '--month 2027-12: no event may be so far ahead'],
  [['--month', '2062-11'], 'there is nothing to compare'],
  [['--month', '2026-01', '--archived-through', '2026-03'], '--archived-through 2026-03 leaves out --month 2026-01'],
  [['--month', '2026-03', '--archived-through', '2026-03'], 'nothing would be compared'],
  [['--fix'], '--fix'],
  [['everything'], 'too many arguments'],
])('%j is refused with a line that names the option', (argv, named) => {
  expect(() => parse(argv)).toThrow(named);
});
