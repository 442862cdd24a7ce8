import { createHash } from 'node:crypto';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
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
  await mkdir(outside);
  await writeFile(join(outside, 'home'), home);
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

test('data that 1.0.0 made for a home at another path is taken once somebody says that this is the home', async () => {
  const [home, outside] = ['home', 'outside'].map((name) => join(root, name)) as [string, string];
  await mkdir(home);
  await mkdir(outside);
  await writeFile(join(home, 'postgres-folder'), `${outside}\n`);
  const said = `If that one was moved to ${home}: echo '${home}' > ${outside}/home.`;
  await expect(folderOf(home)).rejects.toThrow(said);
  expect(await readdir(outside)).toEqual([]);
  await writeFile(join(outside, 'home'), `${home}\n`);
  expect(await folderOf(home)).toBe(outside);
});

test('data that 1.0.0 made for this home is taken', async () => {
  const home = join(root, 'home');
  const outside = join(root, createHash('sha256').update(home).digest('hex').slice(0, 16));
  await mkdir(home);
  await writeFile(join(home, 'postgres-folder'), `${outside}\n`);
  expect(await folderOf(home)).toBe(outside);
  expect(await readFile(join(outside, 'home'), 'utf8')).toBe(home);
});
