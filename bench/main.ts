// npm run bench: the same load on Weir and on what else could have been built, in turn, on one machine.

import { outliveReaders, ProgressLine } from '@weir/shared/progress-line';
import { setMaxListeners } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { parseBenchOptions, type BenchOptions, type Measurement } from './bench-options.ts';
import type { BenchResults } from './bench-results.ts';
import { openEnvironment, type BenchDeps } from './environment.ts';
import { describeMachine, isTemporaryFolderInMemory } from './machine.ts';
import { measureBilling } from './billing/measure-billing.ts';
import { measureGrowth } from './measure-growth.ts';
import { measureThroughput } from './measure-throughput.ts';
import { performancePage, resultSections, whyNoPage } from './performance-page.ts';
import { measureReading } from './read/measure-reading.ts';
import { measureRedis } from './redis-sizing.ts';

/** Events to read among, where nobody says how many. */
const READ_ROWS = [1_000_000];

class Interrupted extends Error {}

/** Measures one thing after the other, and keeps what there is after each: a run takes an hour, and may end before its end. */
async function measure(options: BenchOptions, deps: BenchDeps): Promise<BenchResults> {
  const { rounds, seconds, warmupSeconds, connections, apis, rows = READ_ROWS } = options;
  const isAsked = (name: Measurement) => options.measurements.includes(name);
  const startedAt = new Date();
  const results: BenchResults = {
    startedAt,
    // Where somebody keeps the results is not for the page.
    command: ['npm run bench', ...process.argv.slice(2)]
      .join(' ')
      .replace('bench ', 'bench -- ')
      .replace(/ --json[ =]\S+/, ''),
    settings: { rounds, seconds, warmupSeconds, connections, apis },
    machine: describeMachine(),
    services: deps.environment.versions,
    throughput: [],
    rates: [],
    redis: [],
    growth: [],
    reading: [],
    billing: null,
  };
  const keep = async () => {
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
  };
  await measureThroughput(options, deps, async (soFar) => {
    Object.assign(results, soFar);
    await keep();
  });
  if (isAsked('growth')) results.growth = await measureGrowth(options, deps);
  await keep();
  for (let round = 1; isAsked('redis') && round <= rounds; round += 1) {
    deps.progress.log(`round ${round} of ${rounds}, Redis without a worker …`);
    results.redis.push(await measureRedis(options, deps));
    await keep();
  }
  for (const events of isAsked('read') ? rows.filter((count) => count > 0) : []) {
    results.reading.push(await measureReading(deps.environment, events, deps.progress, deps.signal));
    await keep();
  }
  if (isAsked('billing')) results.billing = await measureBilling(options.subscriptions, deps);
  await keep();
  return results;
}

const options = parseBenchOptions(process.argv.slice(2));
// Beside the results, so that these can be kept in a file.
const progress = new ProgressLine(process.stderr);
const stopping = new AbortController();
outliveReaders();
// Each wait of each round listens to it.
setMaxListeners(0, stopping.signal);
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    progress.log('Stopping …');
    stopping.abort(new Interrupted());
  });
}
if (process.env['DATABASE_URL'] === undefined && (await isTemporaryFolderInMemory())) {
  progress.log('Temporary folders lie in memory here, so fsync costs nothing: set TMPDIR to a folder on a disk.');
}
const environment = await openEnvironment((line) => progress.log(line));
try {
  const results = await measure(options, { environment, progress, signal: stopping.signal });
  progress.clear();
  console.log(`\n${resultSections(results).join('\n\n')}`);
  if (options.write !== undefined) {
    const refusal = whyNoPage(results);
    if (refusal === undefined) await writeFile(options.write, performancePage(results));
    else {
      console.error(refusal);
      process.exitCode = 1;
    }
  }
} catch (error) {
  progress.clear();
  if (!(error instanceof Interrupted)) throw error;
  process.exitCode = 130;
} finally {
  await environment.close();
}
