// Writes down which commit this is built from, for packages/shared/src/build.ts. Plain JavaScript, as install.mjs. It acts when
// it is run or imported. The image has no history, and is told: the last lines of the Dockerfile.

import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = `${root}packages/shared/dist/revision`;

// The history of this folder and of none around it: a copy without one may lie in a clone of something else.
const git = spawnSync('git', ['--git-dir', `${root}.git`, 'rev-parse', '--verify', 'HEAD'], { encoding: 'utf8' });
if (git.status === 0) writeFileSync(file, git.stdout);
else rmSync(file, { force: true });
