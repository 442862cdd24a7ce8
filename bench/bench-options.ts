import { parseArgs } from 'node:util';
import { WEIR_BATCH, WEIR_SINGLE, patternsOf, type Pattern } from './patterns.ts';

/**
 * compare: all patterns, then Weir at fixed rates. open-loop: only the latter, with the round that finds its top rate.
 * growth: Weir on tables that are full, with more workers, with one customer, with many organizations. read: every reading
 * endpoint, on tables that are full.
 */
type Mode = 'compare' | 'open-loop' | 'growth' | 'read';

export const GROWTH_PARTS = ['rows', 'workers', 'customer', 'organizations', 'redis'] as const;
export type GrowthPart = (typeof GROWTH_PARTS)[number];

export interface Options {
  mode: Mode;
  rounds: number;
  /** Length of the measured part of a round. */
  seconds: number;
  /** Load before that, in each round, so that the processes are compiled and their pools are full. */
  warmupSeconds: number;
  connections: number;
  /** How many processes take requests, of each pattern that does not say how many itself. */
  apis: number;
  patterns: Pattern[];
  /** Rates in percent of the top rate; none when no fixed rates are measured. */
  shares: number[];
  growthParts: GrowthPart[];
  /** Rows that are there already, in rising order; when reading, events to read among, one database after the other. */
  rows: number[];
  /** Numbers of worker processes. */
  workers: number[];
  /** Where the plot of latency against load is written. */
  svg: string | undefined;
  /** Where the results are written as JSON. */
  json: string | undefined;
  /** Where a CPU profile of each process is written; profiling costs some of the performance. */
  profileFolder: string | undefined;
}

export const USAGE = `npm run bench -- [options]
  --rounds N        rounds of everything, in turn (3)
  --seconds N       length of a round (8)
  --warmup N        seconds of load before each round (8)
  --connections N   connections of the load (200); each always has one request under way, but where there is a rate
  --apis N          processes that take requests, of each pattern that does not say how many (1)
  --only NAMES      some of the patterns, by name or how names begin, and no fixed rates:
                    ${patternsOf([4])
                      .map(({ name }) => name)
                      .join(',')}
  --ceiling-connections LIST
                    connections of raw-postgres; several are run one after another, the best counts (4)
  --shares LIST     Weir at fixed rates: percent of its own top rate (10,25,50,75,90,100,110)
  --open-loop       only Weir, one event a request: its top rate, then the fixed rates
  --svg FILE        write a plot of latency at the fixed rates there
  --growth          only Weir, as its work grows:
    --rows LIST       rows that are there already, such as 0,500k,20m (0,5m,20m)
    --workers LIST    worker processes (1,2,4)
    --parts LIST      some of ${GROWTH_PARTS.join(',')} (all)
  --read            only reading: every reading endpoint, one request after another
    --rows LIST       events to read among, one database after the other (1m)
  --json FILE       write the results there as well
  --profile DIR     write a CPU profile of each process there, for Chrome's developer tools
  --help            this`;

/** As `parseArgs` takes them. */
export const FLAGS = {
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '8' },
  warmup: { type: 'string', default: '8' },
  connections: { type: 'string', default: '200' },
  apis: { type: 'string', default: '1' },
  only: { type: 'string' },
  'ceiling-connections': { type: 'string', default: '4' },
  shares: { type: 'string', default: '10,25,50,75,90,100,110' },
  'open-loop': { type: 'boolean', default: false },
  svg: { type: 'string' },
  growth: { type: 'boolean', default: false },
  read: { type: 'boolean', default: false },
  rows: { type: 'string' },
  workers: { type: 'string', default: '1,2,4' },
  parts: { type: 'string' },
  json: { type: 'string' },
  profile: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Options that make no sense; the message says which. */
export class OptionsError extends Error {}

/** Undefined when only the usage is asked for. Throws an OptionsError. */
export function parseOptions(args: string[]): Options | undefined {
  const { values } = parse(args);
  if (values.help) return undefined;
  const mode = modeOf(values);
  const patterns = chosenPatterns(
    mode,
    values.only,
    listOf('ceiling-connections', values['ceiling-connections'], 1, 90),
  );
  const shares = listOf('shares', values.shares, 1, 1_000);
  const parts = growthPartsOf(values.parts);
  const hasShares = mode === 'open-loop' || (mode === 'compare' && values.only === undefined);
  if (values.svg !== undefined && !hasShares) {
    throw new OptionsError('--svg is a plot of the fixed rates, which --only, --growth and --read leave out');
  }
  return {
    mode,
    rounds: wholeNumber('rounds', values.rounds, 1, 100),
    seconds: wholeNumber('seconds', values.seconds, 1, 600),
    warmupSeconds: wholeNumber('warmup', values.warmup, 1, 600),
    connections: wholeNumber('connections', values.connections, 1, 10_000),
    apis: wholeNumber('apis', values.apis, 1, 64),
    patterns,
    shares: hasShares ? shares : [],
    growthParts: mode === 'growth' ? parts : [],
    rows: rowsOf(mode, values.rows),
    workers: listOf('workers', values.workers, 1, 64),
    svg: values.svg,
    json: values.json,
    profileFolder: values.profile,
  };
}

function modeOf(values: Record<'open-loop' | 'growth' | 'read', boolean>): Mode {
  const [mode, other] = (['open-loop', 'growth', 'read'] as const).filter((name) => values[name]);
  if (other !== undefined) throw new OptionsError(`--${mode} and --${other} are two runs`);
  return mode ?? 'compare';
}

function hasPattern(mode: Mode, { name }: Pattern): boolean {
  switch (mode) {
    case 'compare':
      return true;
    case 'open-loop':
      return name === WEIR_SINGLE.name;
    case 'growth':
      return name === WEIR_SINGLE.name || name === WEIR_BATCH.name;
    case 'read':
      return false;
  }
}

function chosenPatterns(mode: Mode, only: string | undefined, ceilingConnections: number[]): Pattern[] {
  const all = patternsOf(ceilingConnections).filter((pattern) => hasPattern(mode, pattern));
  if (only === undefined) return all;
  const chosen = only.split(',').flatMap((name) => {
    // A whole name is that pattern alone, also where others begin like it.
    const whole = all.filter((pattern) => pattern.name === name);
    const found = whole.length > 0 || name === '' ? whole : all.filter((pattern) => pattern.name.startsWith(name));
    if (found.length === 0) throw new OptionsError(`--only: there is no pattern ${name}`);
    return found;
  });
  return all.filter((pattern) => chosen.includes(pattern));
}

function growthPartsOf(text: string | undefined): GrowthPart[] {
  if (text === undefined) return [...GROWTH_PARTS];
  const names = text.split(',');
  const unknown = names.find((name) => !GROWTH_PARTS.some((part) => part === name));
  if (unknown !== undefined) throw new OptionsError(`--parts: there is no part ${unknown}`);
  return GROWTH_PARTS.filter((part) => names.includes(part));
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: FLAGS,
    });
  } catch (error) {
    throw new OptionsError(error instanceof Error ? error.message : String(error));
  }
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new OptionsError(`--${name} must be a whole number from ${min} to ${max}`);
  }
  return value;
}

/** Numbers in rising order, each of them once. */
function listOf(name: string, text: string, min: number, max: number): number[] {
  return inOrder(
    name,
    text.split(',').map((each) => wholeNumber(name, each, min, max)),
  );
}

function inOrder(name: string, values: number[]): number[] {
  if (new Set(values).size < values.length) throw new OptionsError(`--${name} names a number twice`);
  return values.toSorted((a, b) => a - b);
}

const ROWS = /^(\d{1,6})(k|m)?$/;

function rowsOf(mode: Mode, text: string | undefined): number[] {
  const rows = (text ?? (mode === 'read' ? '1m' : '0,5m,20m')).split(',').map(countOf);
  if (mode === 'read' && rows.includes(0))
    throw new OptionsError('--read needs events to read among: --rows without 0');
  return inOrder('rows', rows);
}

/** `20m` is twenty million, `500k` half a million. */
function countOf(text: string): number {
  const [, digits, unit] = ROWS.exec(text) ?? [];
  if (digits === undefined) throw new OptionsError('--rows takes numbers such as 0,500k,20m');
  const rows = Number(digits) * (unit === 'm' ? 1_000_000 : unit === 'k' ? 1_000 : 1);
  if (rows > 1_000_000_000) throw new OptionsError('--rows takes at most 1000m');
  return rows;
}
