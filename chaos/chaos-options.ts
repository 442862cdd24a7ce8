import { parseArgs } from 'node:util';

/** Builds that break the promise on purpose, which the judge has to catch. */
const BROKEN_BUILDS = ['claim-first', 'leaking-slots'] as const;
export type BrokenBuild = (typeof BROKEN_BUILDS)[number];

export interface Options {
  /** How long there is load; faults are made as long, or for a part of it beside hostile clients. */
  seconds: number;
  /** The same seed makes the same faults in the same order. */
  seed: number;
  requestsPerSecond: number;
  /** Whether hostile clients are at work beside the honest. */
  isHostile: boolean;
  makesFaults: boolean;
  /** Undefined: a new folder under the system's temporary one. */
  folder: string | undefined;
  /** Leaves the folder when everything was found to be right, too. */
  keepsFolder: boolean;
  broken: BrokenBuild | undefined;
  /** Where the report is written as JSON. */
  json: string | undefined;
}

export const USAGE = `npm run chaos -- [options]
  --minutes N       how long faults are made, such as 10 or 0.5 (10); with --hostile for the last three fifths of it
  --seed N          a whole number; the same one makes the same faults in the same order (drawn by lot)
  --rate N          requests a second (1000)
  --hostile         hostile clients beside the honest, from a fifth of the time on
  --faults WHICH    all or none (all)
  --folder DIR      an empty folder for data, logs and history; it is kept (a temporary one)
  --keep            keep the temporary folder, also when nothing was found
  --broken NAME     run a build that breaks the promise, which must be found: ${BROKEN_BUILDS.join(', ')}
  --json FILE       write the report there as well`;

/** Options that make no sense; the message says which. */
export class OptionsError extends Error {}

/** Undefined when only the usage is asked for. Throws an OptionsError. */
export function parseOptions(args: string[], drawSeed: () => number): Options | undefined {
  const { values } = parse(args);
  if (values.help) return undefined;
  const broken = BROKEN_BUILDS.find((name) => name === values.broken);
  if (values.broken !== undefined && broken === undefined) {
    throw new OptionsError(`--broken: there is no build ${values.broken}, only ${BROKEN_BUILDS.join(', ')}`);
  }
  if (values.faults !== 'all' && values.faults !== 'none') throw new OptionsError('--faults must be all or none');
  return {
    seconds: number('minutes', values.minutes, 0.1, 1_440) * 60,
    seed: values.seed === undefined ? drawSeed() : wholeNumber('seed', values.seed, 0, 0x7fff_ffff),
    requestsPerSecond: wholeNumber('rate', values.rate, 1, 10_000),
    isHostile: values.hostile,
    makesFaults: values.faults === 'all',
    folder: values.folder,
    keepsFolder: values.keep || values.folder !== undefined,
    broken,
    json: values.json,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        minutes: { type: 'string', default: '10' },
        seed: { type: 'string' },
        rate: { type: 'string', default: '1000' },
        hostile: { type: 'boolean', default: false },
        faults: { type: 'string', default: 'all' },
        folder: { type: 'string' },
        keep: { type: 'boolean', default: false },
        broken: { type: 'string' },
        json: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new OptionsError(error instanceof Error ? error.message : String(error));
  }
}

function number(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > max) {
    throw new OptionsError(`--${name} must be a number from ${min} to ${max}`);
  }
  return value;
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new OptionsError(`--${name} must be a whole number from ${min} to ${max}`);
  }
  return value;
}
