// npm run bench: the same load on Weir and on what else could have been built, in turn, on one machine.

import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { compare } from './measure-throughput.ts';
import { openGround, type Ground } from './environment.ts';
import { growthTable, measureGrowth } from './measure-growth.ts';
import { describeMachine, isTemporaryFolderInMemory, type Machine } from './machine.ts';
import { openLoopTable, plotPointsOf } from './fixed-rates.ts';
import { OptionsError, USAGE, parseOptions, type Options } from './bench-options.ts';
import { Progress } from './progress.ts';
import { readTable } from './read/read-table.ts';
import { measureReading, type ReadResult } from './read/measure-reading.ts';
import { sizingOf, sizingText } from './redis-sizing.ts';
import { cpuTable, noiseSentence, rateTable, ratiosOf, sentencesOf, spaceTable, summarize } from './throughput-tables.ts';
import { latencyPlot } from './svg.ts';
import { growthTargetsOf, targetText, targetsOf } from './aims.ts';

/** Progress goes beside the results, so that these can be kept in a file. */
const progress = new Progress(process.stderr);

class Interrupted extends Error {}

/** What a run has found: text to read, and everything in it for the JSON. */
interface Findings {
  sections: string[];
  figures: Record<string, unknown>;
}

async function bench(options: Options, signal: AbortSignal): Promise<void> {
  const startedAt = new Date();
  if (process.env['DATABASE_URL'] === undefined && (await isTemporaryFolderInMemory())) {
    progress.log('Temporary folders lie in memory here, so fsync costs nothing: set TMPDIR to a folder on a disk.');
  }
  const ground = await openGround((line) => progress.log(line));
  try {
    const machine = describeMachine();
    const place = describePlace(machine, ground);
    const { sections, figures } = await run(options, ground, place, signal);
    console.log(`\n${[...sections, place].filter((section) => section !== '').join('\n\n')}`);
    if (options.json === undefined) return;
    const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`.trim();
    const settings = {
      ...options,
      patterns: options.patterns.map(({ name }) => name),
      svg: undefined,
      json: undefined,
      profileFolder: undefined,
    };
    const report = { startedAt, command, settings, machine, services: ground.versions, ...figures };
    await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
    progress.log(`Written to ${options.json}.`);
  } finally {
    await ground.close();
  }
}

function run(options: Options, ground: Ground, place: string, signal: AbortSignal): Promise<Findings> {
  switch (options.mode) {
    case 'compare':
    case 'open-loop':
      return runComparison(options, ground, place, signal);
    case 'growth':
      return runGrowth(options, ground, signal);
    case 'read':
      return runReading(options, ground, signal);
  }
}

function describePlace(machine: Machine, { versions }: Ground): string {
  return (
    `${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB; ` +
    `Node ${machine.node}, Postgres ${versions['postgres']}, Redis ${versions['redis']}, Weir ${machine.commit}.`
  );
}

function lengthSentence({ rounds, seconds, connections, apis }: Options): string {
  return (
    `Medians of ${rounds} rounds of ${seconds} s (lowest–highest), ${connections} connections, ` +
    `processes that take requests, where it is not said how many: ${apis}.`
  );
}

async function runComparison(options: Options, ground: Ground, place: string, signal: AbortSignal): Promise<Findings> {
  const { rounds, openLoop } = await compare(options, ground, progress, signal);
  const summaries = options.patterns.map((pattern) => summarize(pattern, rounds.get(pattern.name) ?? []));
  const targets = targetsOf(rounds, openLoop);
  const ratios = ratiosOf(rounds);
  const all = [...rounds.values(), ...openLoop.map((point) => point.rounds)].flat();
  if (options.svg !== undefined) {
    await writeFile(options.svg, latencyPlot(plotPointsOf(openLoop), place));
    progress.log(`Drawn in ${options.svg}.`);
  }
  return {
    sections: [
      rateTable(summaries),
      cpuTable(summaries),
      spaceTable(summaries),
      openLoop.length > 0 ? openLoopTable(openLoop) : '',
      targetText(targets),
      [...sentencesOf(ratios), noiseSentence(all)].join('\n'),
      lengthSentence(options),
    ],
    figures: { targets, ratios, summaries, rounds: Object.fromEntries(rounds), openLoop },
  };
}

async function runGrowth(options: Options, ground: Ground, signal: AbortSignal): Promise<Findings> {
  const { cases, redis } = await measureGrowth(options, ground, progress, signal);
  const targets = growthTargetsOf(cases.filter(({ part }) => part === 'rows'));
  const sizing = sizingOf(redis);
  return {
    sections: [
      cases.length > 0 ? growthTable(cases) : '',
      sizing === undefined ? '' : sizingText(sizing),
      targetText(targets),
      noiseSentence(cases.flatMap(({ rounds }) => rounds)),
      lengthSentence(options),
    ],
    figures: { targets, cases, redis },
  };
}

async function runReading(options: Options, ground: Ground, signal: AbortSignal): Promise<Findings> {
  const results: ReadResult[] = [];
  for (const events of options.rows) results.push(await measureReading(ground, events, progress, signal));
  const explanation =
    'Milliseconds of a request, one after another. "Restarted" is the first of its kind after Postgres was restarted, with its ' +
    'files still in the memory of the system.';
  return { sections: [readTable(results), explanation], figures: { results } };
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === undefined) console.log(USAGE);
  else {
    const stopping = new AbortController();
    // Each wait of each round listens to it.
    setMaxListeners(0, stopping.signal);
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.once(name, () => {
        progress.log('Stopping …');
        stopping.abort(new Interrupted());
      });
    }
    await bench(options, stopping.signal);
  }
} catch (error) {
  if (error instanceof Interrupted) process.exitCode = 130;
  else {
    progress.log(
      error instanceof OptionsError
        ? `${error.message}\n${USAGE}`
        : String(error instanceof Error ? error.stack : error),
    );
    process.exitCode = 1;
  }
}
