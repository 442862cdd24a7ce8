import { expect, test } from 'vitest';
import { FLAGS, OptionsError, USAGE, parseOptions } from './bench-options.ts';

const namesOf = (...args: string[]) => parseOptions(args)?.patterns.map(({ name }) => name);

test('without options every pattern is compared, and Weir is measured at fixed rates', () => {
  const options = parseOptions([]);
  expect(options).toMatchObject({ mode: 'compare', rounds: 3, seconds: 8, apis: 1 });
  expect(options?.shares).toEqual([10, 25, 50, 75, 90, 100, 110]);
  expect(namesOf()).toEqual([
    'floor',
    'floor-2',
    'weir-single',
    'weir-single-2',
    'weir-batch',
    'raw-postgres',
    'job-per-request',
    'insert-per-request',
  ]);
});

test('some patterns are chosen by their name, else by how names begin', () => {
  expect(namesOf('--only', 'weir,floor')).toEqual(['floor', 'weir-single', 'weir-single-2', 'weir-batch']);
  expect(parseOptions(['--only', 'weir-single'])?.shares).toEqual([]);
  expect(() => parseOptions(['--only', 'weir-single,none'])).toThrow(OptionsError);
  expect(() => parseOptions(['--only', 'floor,'])).toThrow(OptionsError);
});

test('the ceiling may be run with several numbers of connections', () => {
  expect(namesOf('--only', 'raw-postgres', '--ceiling-connections', '8,2,4')).toEqual([
    'raw-postgres-2',
    'raw-postgres-4',
    'raw-postgres-8',
  ]);
});

test('the fixed rates may be measured alone', () => {
  const options = parseOptions(['--open-loop', '--shares', '110,50', '--svg', 'latency.svg']);
  expect(options).toMatchObject({ mode: 'open-loop', shares: [50, 110], svg: 'latency.svg' });
  expect(namesOf('--open-loop')).toEqual(['weir-single']);
});

test('growth has rows, workers and parts of its own', () => {
  const options = parseOptions(['--growth', '--rows', '20m,0,500k', '--workers', '1,2', '--parts', 'workers,rows']);
  expect(options).toMatchObject({ mode: 'growth', rows: [0, 500_000, 20_000_000], workers: [1, 2], shares: [] });
  expect(options?.growthParts).toEqual(['rows', 'workers']);
  expect(namesOf('--growth')).toEqual(['weir-single', 'weir-batch']);
});

test('reading has rows of its own, and no patterns', () => {
  expect(parseOptions(['--read'])).toMatchObject({ mode: 'read', rows: [1_000_000], patterns: [], shares: [] });
  expect(parseOptions(['--read', '--rows', '20m,100k'])?.rows).toEqual([100_000, 20_000_000]);
  expect(parseOptions(['--growth'])?.rows).toEqual([0, 5_000_000, 20_000_000]);
});

test.each([
  [['--rounds', '0']],
  [['--seconds', '1.5']],
  [['--apis', 'two']],
  [['--shares', '50,50']],
  [['--shares', '']],
  [['--rows', '5g']],
  [['--rows', '5000m']],
  [['--workers', '0']],
  [['--parts', 'all']],
  [['--growth', '--open-loop']],
  [['--growth', '--read']],
  [['--read', '--open-loop']],
  [['--read', '--rows', '0,1m']],
  [['--read', '--only', 'weir-single']],
  [['--growth', '--only', 'weir-single-2']],
  [['--growth', '--svg', 'file']],
  [['--read', '--svg', 'file']],
  [['--only', 'floor', '--svg', 'file']],
  [['--no-such-thing']],
])('%j is refused', (args) => {
  expect(() => parseOptions(args)).toThrow(OptionsError);
});

test('the usage names every option', () => {
  expect(parseOptions(['--help'])).toBeUndefined();
  for (const name of Object.keys(FLAGS)) expect(USAGE).toContain(`--${name} `);
});
