import { Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { parseBenchOptions } from './bench-options.ts';

const parse = (...args: string[]) =>
  parseBenchOptions(args, new Command().exitOverride().configureOutput({ writeErr() {} }));
const namesOf = (...args: string[]) => parse(...args).patterns.map(({ name }) => name);

test('without options every pattern is compared, and Weir is measured at fixed rates and in Redis', () => {
  expect(parse()).toMatchObject({
    rounds: 3,
    seconds: 8,
    warmupSeconds: 8,
    connections: 200,
    apis: 1,
    rows: undefined,
  });
  expect(parse().measurements).toEqual(['throughput', 'rates', 'redis']);
  expect(parse().shares).toEqual([10, 25, 50, 75, 90, 100, 110]);
  expect(namesOf()).toEqual([
    'floor',
    'floor-2',
    'weir-single',
    'weir-single-2',
    'weir-single-consoles',
    'weir-single-webhooks',
    'weir-single-replica',
    'weir-single-standby',
    'weir-single-direct',
    'weir-batch',
    'raw-postgres',
    'job-per-request',
    'insert-per-request',
  ]);
});

test('some patterns are chosen by their name, else by how names begin', () => {
  expect(namesOf('--only', 'weir,floor')).toEqual([
    'floor',
    'weir-single',
    'weir-single-2',
    'weir-single-consoles',
    'weir-single-webhooks',
    'weir-single-replica',
    'weir-single-standby',
    'weir-single-direct',
    'weir-batch',
  ]);
  expect(namesOf('--only', 'weir-single')).toEqual(['weir-single']);
  expect(parse('--only', 'weir-single').measurements).toEqual(['throughput']);
});

test('what is named is measured, and nothing else', () => {
  expect(parse('--read').measurements).toEqual(['read']);
  expect(parse('--billing', '--subscriptions', '1000')).toMatchObject({
    measurements: ['billing'],
    subscriptions: 1_000,
  });
  expect(parse('--read', '--rates', '--shares', '110,50')).toMatchObject({
    measurements: ['rates', 'read'],
    shares: [50, 110],
  });
});

test('growth is of every kind, or of those that are named', () => {
  expect(parse('--growth').growthKinds).toEqual(['rows', 'workers', 'customer', 'organizations']);
  expect(parse('--growth', 'workers,rows')).toMatchObject({
    measurements: ['growth'],
    growthKinds: ['rows', 'workers'],
  });
});

test('rows are numbers with a unit, in rising order', () => {
  expect(parse('--rows', '20m,0,500k').rows).toEqual([0, 500_000, 20_000_000]);
});

test.each([
  [['--rounds', '0']],
  [['--seconds', '1.5']],
  [['--apis', 'two']],
  [['--shares', '50,50']],
  [['--shares', '']],
  [['--rows', '5g']],
  [['--rows', '5000m']],
  [['--growth', 'all']],
  [['--subscriptions', '0']],
  [['--only', 'weir-single,none']],
  [['--only', 'floor,']],
  [['--no-such-thing']],
  [['something']],
])('%j is refused', (args) => {
  expect(() => parse(...args)).toThrow(CommanderError);
});

test('results that could not be written are refused before anything is measured', () => {
  for (const option of ['--json', '--write'])
    expect(() => parse(option, '/nowhere/results')).toThrow(/It cannot be written: ENOENT/);
  expect(parse('--json', 'results.json').json).toBe('results.json');
});
