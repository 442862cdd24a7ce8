// Writes down which commit this is built from, for packages/shared/src/build.ts. Plain JavaScript, as install.mjs. It acts when
// it is run or imported. The image has no history, and is told: the last lines of the Dockerfile.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = `${root}packages/shared/dist/revision`;

// The history of this folder and of none around it: a copy without one may lie in a clone of something else.
const git = spawnSync('git', ['--git-dir', `${root}.git`, 'rev-parse', '--verify', 'HEAD'], { encoding: 'utf8' });
const revision = git.status === 0 ? git.stdout : undefined;

// Written only where it differs: whoever starts a Weir that somebody else built may not be able to write here.
if (revision !== readRevision()) {
  try {
    if (revision === undefined) rmSync(file);
    else writeFileSync(file, revision);
  } catch (error) {
    console.error(`The commit of this build could not be written down: ${error.message}`);
  }
}

function readRevision() {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
