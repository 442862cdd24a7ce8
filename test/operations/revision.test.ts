// Which commit a build is of: what `npm run build`, `npm start` and the image write down, and what a build of it then says.

import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What of a built Weir has to do with its commit. */
const PARTS = ['package.json', 'services/write-revision.mjs', 'packages/shared/dist/build.js'];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-revision-'));
});
afterEach(() => rm(folder, { recursive: true }));

function run(cwd: string, command: string, env: Record<string, string> = {}): string {
  const ended = spawnSync('sh', ['-c', command], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  });
  expect([command, ended.status, ended.stderr]).toEqual([command, 0, '']);
  return ended.stdout.trim();
}

async function build(at: string): Promise<void> {
  for (const part of PARTS) await cp(join(root, part), join(at, part));
}

function commit(at: string): string {
  const author = '-c user.name=Ada -c user.email=ada@example.com';
  run(at, `git init -q && git ${author} commit -q --allow-empty -m Begin`);
  return run(at, 'git rev-parse HEAD');
}

const write = (at: string) => run(at, 'node services/write-revision.mjs');
/** As a user to whom the permissions of files apply, which they do not to root; returns what it told. */
const writeAsOther = (at: string) => {
  const user = process.getuid?.() === 0 ? 'setpriv --reuid=65534 --regid=65534 --clear-groups ' : '';
  const trusted = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
  return run(at, `${user}node services/write-revision.mjs 2>&1`, trusted);
};
const said = (at: string) =>
  run(
    at,
    `node -e 'import("./packages/shared/dist/build.js").then(({ readBuild }) => console.log(readBuild().revision))'`,
  );

test('a build of a clone says its commit, and goes on to say it when another one is checked out', async () => {
  const first = commit(folder);
  await build(folder);
  expect(said(folder)).toBe('unknown');
  write(folder);
  expect(said(folder)).toBe(first);
  const second = commit(folder);
  expect(said(folder)).toBe(first);
  write(folder);
  expect(said(folder)).toBe(second);
});

test('a copy without its history says no commit, neither that of a clone around it nor an earlier one', async () => {
  commit(folder);
  const copy = join(folder, 'weir');
  await mkdir(copy);
  await build(copy);
  commit(copy);
  write(copy);
  await rm(join(copy, '.git'), { recursive: true });
  write(copy);
  expect(said(copy)).toBe('unknown');
});

test('who cannot write into a clone that is built can start from it', async () => {
  const first = commit(folder);
  await build(folder);
  write(folder);
  const dist = join(folder, 'packages/shared/dist');
  await chmod(folder, 0o755);
  await chmod(dist, 0o555);
  await chmod(join(dist, 'revision'), 0o444);
  writeAsOther(folder);
  commit(folder);
  expect(writeAsOther(folder)).toContain('could not be written down');
  await rm(join(folder, '.git'), { recursive: true });
  expect(writeAsOther(folder)).toContain('could not be written down');
  expect(said(folder)).toBe(first);
  await chmod(dist, 0o755);
});

test('npm run build and npm start write it down', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(scripts['build']).toMatch(/ && node services\/write-revision\.mjs$/);
  expect(await readFile(join(root, 'services/start.mjs'), 'utf8')).toContain("import('./write-revision.mjs')");
});

test('the image says what it is told, and unknown where it is told nothing', async () => {
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
  const [, command = ''] = /^RUN (.*\$REVISION.*)$/m.exec(dockerfile) ?? [];
  expect(command).not.toBe('');
  await build(folder);
  run(folder, command, { REVISION: '' });
  expect(said(folder)).toBe('unknown');
  run(folder, command, { REVISION: '79c2f0e' });
  expect(said(folder)).toBe('79c2f0e');
});
