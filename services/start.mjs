// npm start: installs what is missing, builds, and hands over to src/start.ts.

import './install.mjs';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = `${root}node_modules/typescript/bin/tsc`;

const build = spawnSync(process.execPath, [compiler, '-b', 'services', 'apps/api', 'apps/worker'], {
  cwd: root,
  stdio: 'inherit',
});
if (build.status !== 0) {
  console.error('Weir could not be built; the compiler says above why.');
  process.exit(1);
}
await import('./build-console.mjs');
await import('./write-revision.mjs');
await import('./dist/start.js');
