import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockHome } from './lock.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'weir-lock-'));
});
afterEach(() => rm(home, { recursive: true }));

/** The lock of a process that has ended, as a kill -9 leaves it. */
async function leaveLockBehind(): Promise<void> {
  const { pid } = spawnSync(process.execPath, ['--eval', '']);
  await writeFile(join(home, 'lock'), JSON.stringify({ pid, startedAt: 'once' }));
}

async function readHolder(): Promise<unknown> {
  return (JSON.parse(await readFile(join(home, 'lock'), 'utf8')) as { pid: unknown }).pid;
}

test('a home is held by one at a time, and free again when it was given back', async () => {
  const unlock = await lockHome(home);
  await expect(lockHome(home)).rejects.toThrow(`process ${process.pid} holds`);
  await unlock();
  expect(await readdir(home)).toEqual([]);
  await (
    await lockHome(home)
  )();
});

test('the lock of a dead process is taken over', async () => {
  await leaveLockBehind();
  const unlock = await lockHome(home);
  expect(await readHolder()).toBe(process.pid);
  await unlock();
});

test('a process that was given the number of the dead holder does not hold the home', async () => {
  await writeFile(join(home, 'lock'), JSON.stringify({ pid: process.pid, startedAt: 'long ago' }));
  const unlock = await lockHome(home);
  expect(await readHolder()).toBe(process.pid);
  await unlock();
});

test('a lock that a power cut left empty is taken over', async () => {
  await writeFile(join(home, 'lock'), '');
  const unlock = await lockHome(home);
  expect(await readHolder()).toBe(process.pid);
  await unlock();
});
