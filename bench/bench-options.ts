import { problemOfFile } from '@weir/services/file-to-write';
import { Command, InvalidArgumentError, Option } from 'commander';
import { PATTERNS, type Pattern } from './patterns.ts';

/**
 * throughput: every pattern, as fast as it can. rates: Weir at fixed rates, which are shares of its top rate. redis: what Redis
 * takes for an event. growth: Weir on full tables, and what else may grow. read: every reading endpoint, on full tables.
 * billing: one midnight of many subscriptions.
 */
const MEASUREMENTS = ['throughput', 'rates', 'redis', 'growth', 'read', 'billing'] as const;
export type Measurement = (typeof MEASUREMENTS)[number];

export const GROWTH_KINDS = ['rows', 'workers', 'customer', 'organizations'] as const;
export type GrowthKind = (typeof GROWTH_KINDS)[number];

export interface BenchOptions {
  measurements: Measurement[];
  growthKinds: GrowthKind[];
  patterns: Pattern[];
  rounds: number;
  /** Length of the measured part of a round. */
  seconds: number;
  /** Load before that, in each round, so that the processes are compiled and their pools are full. */
  warmupSeconds: number;
  connections: number;
  /** How many processes take requests, of each pattern that does not say how many itself. */
  apis: number;
  /** Of the top rate, in percent. */
  shares: number[];
  /** Rows that are there already, in rising order; undefined: what each measurement has by itself. */
  rows: number[] | undefined;
  /** How many subscriptions end at once. */
  subscriptions: number;
  /** Where the page is written. */
  write: string | undefined;
  /** Where the results are written as JSON. */
  json: string | undefined;
  /** Where a CPU profile of each process is written; profiling costs some of the performance. */
  profileFolder: string | undefined;
}

/** As commander has them; parsers have run, and defaults are filled in. */
type Values = Omit<BenchOptions, 'measurements' | 'growthKinds' | 'patterns' | 'warmupSeconds' | 'profileFolder'> &
  Partial<Record<'throughput' | 'rates' | 'redis' | 'read' | 'billing', true>> & {
    growth?: true | GrowthKind[];
    only?: Pattern[];
    warmup: number;
    profile?: string;
  };

/** Ends the process after the help, and with a message on options that make no sense; unless the command was told to throw. */
export function parseBenchOptions(args: readonly string[], command = new Command()): BenchOptions {
  const names = PATTERNS.map(({ name }) => name).join(', ');
  command
    .name('npm run bench --')
    .description('Measures Weir and what else could have been built, in turn, on this machine.')
    .option('--throughput', 'every pattern, as fast as it can')
    .option('--rates', 'Weir at fixed rates, one event a request')
    .option('--redis', 'what Redis takes for an event')
    .option('--growth [kinds]', `Weir as its work grows: ${GROWTH_KINDS.join(',')}`, growthKinds)
    .option('--read', 'every reading endpoint, one request after another')
    .option('--billing', 'one midnight that ends the month of many subscriptions')
    .option('--only <names>', `some patterns, by name or how names begin: ${names}`, patternsOf)
    .addOption(number('--rounds <n>', 'rounds of everything, in turn', 1, 100).default(3))
    .addOption(number('--seconds <n>', 'length of a round', 1, 600).default(8))
    .addOption(number('--warmup <n>', 'seconds of load before each round', 1, 600).default(8))
    .addOption(number('--connections <n>', 'connections of the load', 1, 10_000).default(200))
    .addOption(number('--apis <n>', 'processes that take requests', 1, 64).default(1))
    .option('--shares <list>', 'for --rates: percent of the top rate', percents, [10, 25, 50, 75, 90, 100, 110])
    .option('--rows <list>', 'for --growth (0,5m,20m) and --read (1m): rows that are there already', rowCounts)
    .addOption(number('--subscriptions <n>', 'for --billing', 10, 1_000_000).default(100_000))
    .option('--write <file>', 'write the page of performance there, if the machine was at rest', fileToWrite)
    .option('--json <file>', 'write every round there, while it runs', fileToWrite)
    .option('--profile <folder>', "write a CPU profile of each process there, for Chrome's developer tools")
    .addHelpText('after', '\nWithout any of the first six: --throughput --rates --redis; with --only: --throughput.')
    .parse(args, { from: 'user' });
  const { only, growth, warmup, profile, ...values } = command.opts<Values>();
  const { throughput, rates, redis, read, billing, ...others } = values;
  const asked = { throughput, rates, redis, growth, read, billing };
  const measurements = MEASUREMENTS.filter((name) => asked[name] !== undefined);
  const usual: Measurement[] = only === undefined ? ['throughput', 'rates', 'redis'] : ['throughput'];
  return {
    ...others,
    measurements: measurements.length > 0 ? measurements : usual,
    growthKinds: Array.isArray(growth) ? growth : [...GROWTH_KINDS],
    patterns: only ?? [...PATTERNS],
    rows: values.rows,
    write: values.write,
    json: values.json,
    warmupSeconds: warmup,
    profileFolder: profile,
  };
}

function number(flags: string, description: string, min: number, max: number): Option {
  return new Option(flags, description).argParser((text) => wholeNumber(text, min, max));
}

function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  }
  return value;
}

function growthKinds(text: string): GrowthKind[] {
  const names = text.split(',');
  const unknown = names.find((name) => !GROWTH_KINDS.some((kind) => kind === name));
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no kind ${unknown}.`);
  return GROWTH_KINDS.filter((kind) => names.includes(kind));
}

function patternsOf(text: string): Pattern[] {
  const chosen = text.split(',').flatMap((name) => {
    // A whole name is that pattern alone, also where others begin like it.
    const whole = PATTERNS.filter((pattern) => pattern.name === name);
    const found = whole.length > 0 || name === '' ? whole : PATTERNS.filter((each) => each.name.startsWith(name));
    if (found.length === 0) throw new InvalidArgumentError(`There is no pattern ${name}.`);
    return found;
  });
  return PATTERNS.filter((pattern) => chosen.includes(pattern));
}

const percents = (text: string): number[] => inOrder(text.split(',').map((each) => wholeNumber(each, 1, 1_000)));
const rowCounts = (text: string): number[] => inOrder(text.split(',').map(rowCount));

function inOrder(values: number[]): number[] {
  if (new Set(values).size < values.length) throw new InvalidArgumentError('It names a number twice.');
  return values.toSorted((a, b) => a - b);
}

const ROWS = /^(\d{1,6})(k|m)?$/;
const ROWS_MAX = 1_000_000_000;

/** `20m` is twenty million, `500k` half a million. */
function rowCount(text: string): number {
  const [, digits, unit] = ROWS.exec(text) ?? [];
  const rows = Number(digits) * (unit === 'm' ? 1_000_000 : unit === 'k' ? 1_000 : 1);
  if (digits === undefined || rows > ROWS_MAX)
    throw new InvalidArgumentError('It takes numbers such as 0,500k,20m, to 1000m.');
  return rows;
}

function fileToWrite(path: string): string {
  const problem = problemOfFile(path);
  if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`);
  return path;
}
