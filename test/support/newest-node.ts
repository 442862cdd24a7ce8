// The newest LTS of Node, for the test that runs Weir on it beside the oldest one that is promised. NEWEST_NODE names one; else the one
// that runs the tests is taken, if it is as new; else npm brings it into the folder of programs, once. Where none of it works, the test
// fails and says why.

import { run } from '@weir/services/run';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PROGRAMS } from './programs-folder.ts';

/** Pinned, as all that tests run on. */
const VERSION = '26.10.0';

/** Returns the path of its program. */
export async function findNewestNode(): Promise<string> {
  const chosen = process.env['NEWEST_NODE'];
  if (chosen !== undefined && chosen !== '') return chosen;
  if (majorOf(process.versions.node) >= majorOf(VERSION)) return process.execPath;
  const kept = join(PROGRAMS, `node-${VERSION}-${process.arch}`);
  if (await exists(kept)) return kept;
  await mkdir(PROGRAMS, { recursive: true });
  const folder = await mkdtemp(join(PROGRAMS, 'node-'));
  try {
    // What the package `node` brings, without the script that would choose it.
    const name = `node-${process.platform}-${process.arch}`;
    const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    const { ok, output } = await run('npm', [...args, `${name}@${VERSION}`], { seconds: 240, cwd: folder });
    if (!ok)
      throw new Error(`Node ${VERSION} cannot be fetched: set NEWEST_NODE to the path of one, or ask why.\n${output}`);
    // Of all that is in it only the program is needed. Moved in one step: another run may be at it.
    await rename(join(folder, 'node_modules', name, 'bin', 'node'), kept);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return kept;
}

function majorOf(version: string): number {
  return Number(version.split('.')[0]);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
