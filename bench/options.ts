import { parseArgs } from 'node:util';
import { PATTERNS, type Pattern } from './patterns.ts';

export interface Options {
  rounds: number;
  /** Length of the measured part of a round. */
  seconds: number;
  /** Load before that, in each round, so that the processes are compiled and their pools are full. */
  warmupSeconds: number;
  connections: number;
  patterns: Pattern[];
  /** Where the results are written as JSON. */
  json: string | undefined;
  /** Where a CPU profile of each process is written; profiling costs some of the performance. */
  profileFolder: string | undefined;
}

export const USAGE = `npm run bench -- [options]
  --rounds N        rounds of every pattern, in turn (3)
  --seconds N       length of a round (8)
  --warmup N        seconds of load before each round (3)
  --connections N   connections that always have one request under way (100)
  --only NAMES      some of the patterns: ${PATTERNS.map(({ name }) => name).join(',')}
  --json FILE       write the results there as well
  --profile DIR     write a CPU profile of each process there, for Chrome's developer tools`;

/** Options that make no sense; the message says which. */
export class OptionsError extends Error {}

/** Undefined when only the usage is asked for. Throws an OptionsError. */
export function parseOptions(args: string[]): Options | undefined {
  const { values } = parse(args);
  if (values.help) return undefined;
  const names = values.only?.split(',') ?? PATTERNS.map(({ name }) => name);
  const patterns = names.map((name) => {
    const pattern = PATTERNS.find((each) => each.name === name);
    if (pattern === undefined) throw new OptionsError(`--only: there is no pattern ${name}`);
    return pattern;
  });
  return {
    rounds: wholeNumber('rounds', values.rounds, 1, 100),
    seconds: wholeNumber('seconds', values.seconds, 1, 600),
    warmupSeconds: wholeNumber('warmup', values.warmup, 1, 600),
    connections: wholeNumber('connections', values.connections, 1, 10_000),
    patterns,
    json: values.json,
    profileFolder: values.profile,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        rounds: { type: 'string', default: '3' },
        seconds: { type: 'string', default: '8' },
        warmup: { type: 'string', default: '3' },
        connections: { type: 'string', default: '100' },
        only: { type: 'string' },
        json: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
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
