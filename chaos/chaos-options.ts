import { problemOfFile } from '@weir/services/file-to-write';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { lanesOf } from './faults/fault.ts';
import { FAULT_KINDS } from './faults/fault-kinds.ts';
import { kindsOf } from './faults/fault-schedule.ts';
import { secondsOfFaults } from './parts-of-run.ts';

/** Builds that break the promise on purpose, which the judge has to catch, and of which apps they are. */
export const BROKEN_BUILDS = {
  'claim-first': ['api'],
  'leaking-slots': ['api'],
  'stale-closing': ['worker'],
  'no-wait': ['api', 'worker'],
  'held-unwritten': ['api'],
  'no-barrier': ['api', 'worker'],
  'direct-new-ids': ['api'],
  'direct-uncounted': ['api'],
} as const;
export type BrokenBuild = keyof typeof BROKEN_BUILDS;

/** What shows that they are broken, of those that not every run shows. */
const BROKEN_SHOWN_BY: Partial<Record<BrokenBuild, '--hostile' | '--machines'>> = {
  'leaking-slots': '--hostile',
  'no-wait': '--machines',
  'held-unwritten': '--machines',
  'no-barrier': '--machines',
  'direct-new-ids': '--machines',
  'direct-uncounted': '--machines',
};

export interface ChaosOptions {
  /** How long there is load; faults are made as long, or for a part of it beside hostile clients. */
  seconds: number;
  /** The same seed makes the same faults in the same order. */
  seed: number;
  /** What clients begin in a second: most often one request. */
  requestsPerSecond: number;
  /** Whether hostile clients are at work beside the honest. */
  isHostile: boolean;
  makesFaults: boolean;
  /** Names of the kinds of faults that are made; undefined: all. */
  faultKinds: readonly string[] | undefined;
  /** Seconds of peace before each fault of a lane; undefined: few, drawn by lot. */
  pauseSeconds: number | undefined;
  /** Whether the processes are on three machines, which fail as such. */
  hasMachines: boolean;
  /** Undefined: a new folder under the system's temporary one. */
  folder: string | undefined;
  /** Leaves the folder when everything was found to be right, too. */
  keepsFolder: boolean;
  broken: readonly BrokenBuild[];
  /** Where the report is written as JSON. */
  json: string | undefined;
}

interface Values {
  minutes: number;
  seed?: number;
  rate: number;
  hostile?: true;
  faults: string[];
  pause?: number;
  machines?: number;
  folder?: string;
  keep?: true;
  broken?: BrokenBuild[];
  json?: string;
}

const SEED_MAX = 0x7fff_ffff;

/** What two cores carry beside all that is run on them: ten minutes of it were clean again and again. */
const RATE = 150;

/** Ends the process after the help, and with a message on options that make no sense. */
export function parseChaosOptions(args: readonly string[], command: Command, drawSeed: () => number): ChaosOptions {
  const { minutes, seed, rate, hostile, faults, pause, machines, folder, keep, broken, json } = command
    .name('npm run chaos --')
    .description('Makes everything fail that can, under load, and proves what became of each event.')
    .option(
      '--minutes <n>',
      'length of the load; with --hostile faults are made in its last three fifths',
      minutesOf,
      10,
    )
    .option('--seed <n>', 'the same one makes the same faults in the same order (default: drawn by lot)', seedOf)
    .option('--rate <n>', 'what clients begin in a second', (text) => wholeNumber(text, 1, 10_000), RATE)
    .option('--hostile', 'hostile clients beside the honest, from a fifth of the time on')
    .addOption(
      new Option('--faults <kinds...>', 'what fails: all, none, or kinds by the names that the report has').default(
        ['all'],
        'all',
      ),
    )
    .option('--pause <seconds>', 'peace before each fault (default: 1 to 3 s, drawn by lot)', (text) =>
      wholeNumber(text, 0, 3_600),
    )
    .addOption(
      new Option('--machines <n>', 'on three machines, with two copies of everything; machines fail').argParser(
        (text) => wholeNumber(text, 3, 3),
      ),
    )
    .option('--folder <dir>', 'an empty folder for data, logs and history, which is kept (default: a temporary one)')
    .option('--keep', 'keep the temporary folder, also when nothing was found')
    .addOption(
      new Option('--broken <builds...>', 'run builds that break the promise, which must be found').choices(
        Object.keys(BROKEN_BUILDS),
      ),
    )
    .option('--json <file>', 'write the report there as well', fileToWrite)
    .parse(args, { from: 'user' })
    .opts<Values>();
  if (machines !== undefined && hostile === true) command.error('error: --machines is not made with --hostile');
  const isAll = faults.includes('all');
  const unknown = faults.find(
    (name) => !['all', 'none'].includes(name) && !FAULT_KINDS.some((kind) => kind.name === name),
  );
  if (unknown !== undefined) command.error(`error: there is no fault '${unknown}'; docs/chaos.md has the names`);
  const isHostile = hostile === true;
  const hasMachines = machines !== undefined;
  const faultSeconds = secondsOfFaults({ seconds: minutes * 60, isHostile });
  const made = lanesOf(hasMachines).flatMap((lane) => kindsOf(lane, faultSeconds));
  const unmade = faults.find((name) => !['all', 'none'].includes(name) && !made.some((kind) => kind.name === name));
  if (unmade !== undefined)
    command.error(
      `error: this run does not make '${unmade}': it ${FAULT_KINDS.some(({ name, lane }) => name === unmade && lanesOf(hasMachines).includes(lane)) ? 'needs at least three minutes of faults' : hasMachines ? 'is not made with --machines' : 'needs --machines 3'}`,
    );
  const unseen = broken?.find((build) => {
    const by = BROKEN_SHOWN_BY[build];
    return (by === '--hostile' && !isHostile) || (by === '--machines' && !hasMachines);
  });
  if (unseen !== undefined)
    command.error(`error: nothing of this run shows that '${unseen}' is broken; give ${BROKEN_SHOWN_BY[unseen]}, too`);
  return {
    seconds: minutes * 60,
    seed: seed ?? drawSeed(),
    requestsPerSecond: rate,
    isHostile,
    makesFaults: !faults.includes('none'),
    faultKinds: isAll ? undefined : faults,
    pauseSeconds: pause,
    hasMachines,
    folder,
    keepsFolder: keep === true || folder !== undefined,
    broken: broken ?? [],
    json,
  };
}

function minutesOf(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= 0.1 && value <= 1_440) return value;
  throw new InvalidArgumentError('It must be a number from 0.1 to 1440.');
}

function seedOf(text: string): number {
  return wholeNumber(text, 0, SEED_MAX);
}

function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
}

function fileToWrite(path: string): string {
  const problem = problemOfFile(path);
  if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`);
  return path;
}
