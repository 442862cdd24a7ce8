import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { settlePostgresFolder } from './postgres-folder.ts';

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'weir-folder-')));
  await chmod(root, 0o711);
});
afterEach(() => rm(root, { recursive: true }));

const folderOf = async (home: string) => (await settlePostgresFolder(home, () => {})).folder;

test('data outside of the home goes with a home that is moved, and a copy of the home is refused', async () => {
  const [home, copy, moved, outside] = ['home', 'copy', 'moved', 'outside'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  await mkdir(home);
  await writeFile(join(home, 'postgres-folder'), `${outside}\n`);
  expect(await folderOf(home)).toBe(outside);
  await cp(home, copy, { recursive: true });
  await expect(folderOf(copy)).rejects.toThrow(`${copy} is a copy of ${home}, whose data of Postgres is in ${outside}`);
  expect(await folderOf(home)).toBe(outside);
  await rename(home, moved);
  expect(await folderOf(moved)).toBe(outside);
  await expect(folderOf(copy)).rejects.toThrow(`is a copy of ${moved}`);
  await symlink(moved, home);
  expect(await folderOf(moved)).toBe(outside);
});

test('a copy of a home of 1.0.0 is refused while a Postgres runs on the data of the home', async () => {
  const [copy, outside] = ['copy', 'outside'].map((name) => join(root, name)) as [string, string];
  await mkdir(copy);
  await mkdir(outside);
  await writeFile(join(copy, 'postgres-folder'), `${outside}\n`);
  // What has its name and its folder on the command line is taken for it.
  const waits = ['-e', 'setInterval(() => {}, 1_000)', `${outside}/data`];
  const running = spawn(process.execPath, waits, { argv0: 'postgres', stdio: 'ignore' });
  await once(running, 'spawn');
  await expect(folderOf(copy)).rejects.toThrow(`A Postgres runs on ${outside}`);
  expect(await readdir(outside)).toEqual([]);
  running.kill();
  await once(running, 'exit');
  expect(await folderOf(copy)).toBe(outside);
});
