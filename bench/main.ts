// npm run bench: the same load on Weir and on what else could have been built, in turn, on one machine.

import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { openGround, type Ground } from './ground.ts';
import { describeMachine, isTemporaryFolderInMemory } from './machine.ts';
import { OptionsError, USAGE, parseOptions, type Options } from './options.ts';
import { cpuTableOf, ratiosOf, sentencesOf, summarize, tableOf } from './report.ts';
import { runRound, type RoundResult } from './round.ts';

/** Progress goes beside the results, so that these can be kept in a file. */
const log = (line: string) => process.stderr.write(`${line}\n`);

class Interrupted extends Error {}

async function bench(options: Options, signal: AbortSignal): Promise<void> {
  const startedAt = new Date();
  if (process.env['DATABASE_URL'] === undefined && (await isTemporaryFolderInMemory())) {
    log('Temporary folders lie in memory here, so fsync costs nothing: set TMPDIR to a folder on a disk.');
  }
  const ground = await openGround(log);
  try {
    const results = await runRounds(options, ground, signal);
    const summaries = options.patterns.map((pattern) => summarize(pattern, results.get(pattern.name) ?? []));
    const ratios = ratiosOf(summaries);
    const machine = describeMachine();
    const settings = {
      ...options,
      patterns: options.patterns.map(({ name }) => name),
      json: undefined,
      profileFolder: undefined,
    };
    console.log(`\n${tableOf(summaries)}\n\n${cpuTableOf(summaries)}\n\n${sentencesOf(ratios, summaries)}\n`);
    console.log(
      `Medians of ${options.rounds} rounds of ${options.seconds} s (lowest–highest), ${options.connections} connections. ` +
        `${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB; ` +
        `Node ${machine.node}, Postgres ${ground.versions['postgres']}, Redis ${ground.versions['redis']}, Weir ${machine.commit}.`,
    );
    if (options.json === undefined) return;
    const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`.trim();
    const report = {
      startedAt,
      command,
      settings,
      machine,
      services: ground.versions,
      ratios,
      summaries,
      rounds: Object.fromEntries(results),
    };
    await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
    log(`Written to ${options.json}.`);
  } finally {
    await ground.close();
  }
}

/** Every pattern once, then every pattern again: what the machine does beside all this meets each of them. */
async function runRounds(options: Options, ground: Ground, signal: AbortSignal): Promise<Map<string, RoundResult[]>> {
  const results = new Map<string, RoundResult[]>(options.patterns.map(({ name }) => [name, []]));
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const pattern of options.patterns) {
      log(`round ${round} of ${options.rounds}: ${pattern.name} …`);
      const result = await runRound(pattern, ground, options, signal);
      results.get(pattern.name)?.push(result);
      log(lineOf(result));
    }
  }
  return results;
}

function lineOf({
  requestsPerSecond,
  recordedPerSecond,
  backlog,
  latencyMs,
  errors,
  firstError,
  cpuPerEvent,
}: RoundResult): string {
  const recorded =
    recordedPerSecond === null ? '' : `, ${Math.round(recordedPerSecond)} events/s recorded, backlog ${backlog}`;
  const line = `  ${Math.round(requestsPerSecond)} requests/s${recorded}, p99 ${latencyMs.p99.toFixed(1)} ms, CPU ${Math.round(cpuPerEvent?.['all'] ?? 0)} µs an event`;
  return Object.keys(errors).length === 0 ? line : `${line}, errors ${JSON.stringify(errors)} ${firstError ?? ''}`;
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
        log('Stopping …');
        stopping.abort(new Interrupted());
      });
    }
    await bench(options, stopping.signal);
  }
} catch (error) {
  if (error instanceof Interrupted) process.exitCode = 130;
  else {
    log(
      error instanceof OptionsError
        ? `${error.message}\n${USAGE}`
        : String(error instanceof Error ? error.stack : error),
    );
    process.exitCode = 1;
  }
}
