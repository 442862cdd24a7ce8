// npm run chaos: everything that can fail is made to fail under load, and then it is proved what became of each event.

import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openReaper } from './environment/reaper.ts';
import { OptionsError, USAGE, parseOptions, type Options } from './chaos-options.ts';
import { reportOf, textOf } from './chaos-report.ts';
import { run } from './chaos-run.ts';

/** Progress goes beside the report, so that this can be kept in a file. */
const log = (line: string) => process.stderr.write(`${line}\n`);

class Interrupted extends Error {}

/** Answers whether every promise was kept. */
async function chaos(options: Options, signal: AbortSignal): Promise<boolean> {
  const folder = await makeFolder(options.folder);
  const reaper = openReaper(folder);
  if (options.keepsFolder) reaper.keepFolder();
  try {
    const report = reportOf(options, await run({ ...options, folder, reaper, log, signal }));
    console.log(`\n${textOf(report)}\n`);
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
    const { violations } = report;
    if (violations > 0) reaper.keepFolder();
    if (violations > 0 || options.keepsFolder) log(`History, logs and data are in ${folder}.`);
    return violations === 0;
  } finally {
    await reaper.close();
  }
}

/** As root, Postgres runs as another user and has to get to its data in the folder. */
async function makeFolder(wanted: string | undefined): Promise<string> {
  if (wanted === undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'weir-chaos-'));
    await chmod(folder, 0o711);
    return folder;
  }
  const folder = resolve(wanted);
  const made = await mkdir(folder, { recursive: true });
  if (made === undefined && (await readdir(folder)).length > 0) {
    throw new OptionsError(`--folder: ${folder} is not empty; name a new one`);
  }
  await chmod(folder, 0o711);
  return folder;
}

try {
  const options = parseOptions(process.argv.slice(2), () => randomInt(0x7fff_ffff));
  if (options === undefined) console.log(USAGE);
  else {
    const stopping = new AbortController();
    // Each wait listens to it.
    setMaxListeners(0, stopping.signal);
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.once(name, () => {
        log('Stopping …');
        stopping.abort(new Interrupted());
      });
    }
    if (!(await chaos(options, stopping.signal))) process.exitCode = 1;
  }
} catch (error) {
  if (!(error instanceof Interrupted)) {
    log(
      error instanceof OptionsError
        ? `${error.message}\n${USAGE}`
        : String(error instanceof Error ? error.stack : error),
    );
  }
  // The clients of a run that was broken off are still at work.
  process.exit(error instanceof Interrupted ? 130 : 1);
}
