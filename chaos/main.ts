// npm run chaos: everything that can fail is made to fail under load, and then it is proved what became of each event.

import { outliveReaders } from '@weir/shared/progress-line';
import { Command } from 'commander';
import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseChaosOptions, type ChaosOptions } from './chaos-options.ts';
import { chaosReport, chaosReportText } from './chaos-report.ts';
import { runChaos } from './chaos-run.ts';
import { openReaper } from './environment/reaper.ts';

/** Progress goes beside the report, so that this can be kept in a file. */
const log = (line: string) => process.stderr.write(`${line}\n`);

class Interrupted extends Error {}

/** Returns whether every promise was kept. */
async function chaos(options: ChaosOptions, folder: string, signal: AbortSignal): Promise<boolean> {
  const reaper = openReaper(folder);
  if (options.keepsFolder) reaper.keepFolder();
  try {
    const report = chaosReport(options, await runChaos({ ...options, folder, reaper, log, signal }));
    const { violations } = report;
    if (violations > 0) reaper.keepFolder();
    console.log(`\n${chaosReportText(report)}\n`);
    if (violations > 0 || options.keepsFolder) log(`History, logs and data are in ${folder}.`);
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
    return violations === 0;
  } catch (error) {
    // Whatever broke the run off is told by its history and its logs.
    if (!(error instanceof Interrupted)) {
      reaper.keepFolder();
      log(`History, logs and data are in ${folder}.`);
    }
    throw error;
  } finally {
    await reaper.close();
  }
}

/** As root, Postgres runs as another user and has to get to its data in the folder. */
async function makeFolder(wanted: string | undefined): Promise<string> {
  const folder = wanted === undefined ? await mkdtemp(join(tmpdir(), 'weir-chaos-')) : resolve(wanted);
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) command.error(`error: --folder ${folder} is not empty; name a new one`);
  await chmod(folder, 0o711);
  return folder;
}

const command = new Command();
const options = parseChaosOptions(process.argv.slice(2), command, () => randomInt(0x7fff_ffff));
const stopping = new AbortController();
outliveReaders();
// Each wait listens to it.
setMaxListeners(0, stopping.signal);
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    log('Stopping …');
    stopping.abort(new Interrupted());
  });
}
try {
  if (!(await chaos(options, await makeFolder(options.folder), stopping.signal))) process.exitCode = 1;
} catch (error) {
  const isInterrupted = error instanceof Interrupted;
  if (!isInterrupted) log(String(error instanceof Error ? error.stack : error));
  // The clients of a run that was broken off are still at work.
  process.exit(isInterrupted ? 130 : 1);
}
