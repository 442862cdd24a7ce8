// Builds the console (apps/console) when something of it is newer than its last build. Plain JavaScript, as install.mjs. It
// acts when it is run or imported; when there is nothing to do it only looks at times.

import { spawnSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'apps', 'console');

if (!isBuilt()) build();

function isBuilt() {
  const page = statSync(join(folder, 'dist', 'index.html'), { throwIfNoEntry: false });
  return page !== undefined && sources().every((path) => statSync(path).mtimeMs <= page.mtimeMs);
}

/** Folders too: their time tells that a file is gone. */
function sources() {
  const src = join(folder, 'src');
  const inSrc = readdirSync(src, { recursive: true }).map((name) => join(src, name));
  const beside = ['index.html', 'package.json', 'vite.config.ts'].map((name) => join(folder, name));
  return [src, ...inSrc, ...beside, join(root, 'package-lock.json')];
}

/** Beside its place, and moved there when it is whole: what was cut off is not taken for a console. */
function build() {
  console.log('Building the console …');
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const result = spawnSync(process.execPath, [vite, 'build', '--outDir', 'dist.new', '--logLevel', 'warn'], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (result.status !== 0) {
    console.error('The console could not be built; what built it says above why.');
    process.exit(1);
  }
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  renameSync(join(folder, 'dist.new'), join(folder, 'dist'));
}
