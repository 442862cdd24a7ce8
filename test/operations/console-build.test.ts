// When the console is built, and what counts as built.

import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Writes the page first and the compressed copies last, as vite does, and may end in between. */
const VITE = `
import { mkdirSync, writeFileSync } from 'node:fs';
const at = process.argv.indexOf('--outDir');
const folder = at < 0 ? 'dist' : process.argv[at + 1];
mkdirSync(folder, { recursive: true });
writeFileSync(folder + '/index.html', 'page');
if (process.env.DISK_IS_FULL) process.exit(1);
writeFileSync(folder + '/index.html.br', 'compressed');
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-console-'));
  await mkdir(join(folder, 'apps/console/src'), { recursive: true });
  const files = ['index.html', 'package.json', 'vite.config.ts'].map((name) => join('apps/console', name));
  for (const file of [...files, 'package-lock.json']) await writeFile(join(folder, file), '');
  const vite = join(folder, 'node_modules/vite/bin/vite.js');
  await mkdir(dirname(vite), { recursive: true });
  await writeFile(vite, VITE);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'node_modules/vite/package.json'), '{"type":"module"}');
  await cp(join(root, 'services/build-console.mjs'), join(folder, 'services/build-console.mjs'));
});
afterEach(() => rm(folder, { recursive: true }));

function build(env: Record<string, string> = {}): { status: number | null; stdout: string } {
  return spawnSync(process.execPath, ['services/build-console.mjs'], { cwd: folder, env, encoding: 'utf8' });
}

test('a console whose build broke off is built again, and one that is whole is not', async () => {
  expect(build({ DISK_IS_FULL: '1' })).toMatchObject({ status: 1 });
  expect(build()).toMatchObject({ status: 0, stdout: expect.stringContaining('Building') as string });
  expect(await readFile(join(folder, 'apps/console/dist/index.html.br'), 'utf8')).toBe('compressed');
  expect(build()).toMatchObject({ status: 0, stdout: '' });
});
