// The folders of an outbox: each process writes in one of its own, and takes over the files of those that are gone.
//
// Whether a process is gone is a guess: in another container it cannot be seen. So a wrong guess must cost nothing. A file is taken
// over by renaming it before it is read, and a process looks after each write whether its file still has its name (outbox.ts).
// Both may then send an event, which is counted once by its key.

import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The folders of this process, in which it is at work: its number alone says nothing in a container, where it is always 1. */
const registry = Symbol.for('@weir/sdk/outboxes');
const shared = globalThis as { [registry]?: Set<string> };
const ownFolders = (shared[registry] ??= new Set());

const NAME = /^(\d+)-(\d+)-[0-9a-f]{12}$/;
const SEGMENT = /^\d{8}\.ndjson$/;

/** Makes a new folder for this process in `base`; on disk when it resolves. */
export async function makeOwnFolder(base: string): Promise<string> {
  await mkdir(base, { recursive: true, mode: 0o700 });
  const name = `${process.pid}-${await startOf(process.pid)}-${randomBytes(6).toString('hex')}`;
  const folder = join(base, name);
  ownFolders.add(folder);
  await mkdir(folder, { mode: 0o700 });
  await syncFolder(base);
  return folder;
}

/** Gives a folder up: whoever comes next may take over what is left in it. An empty one is removed. */
export async function leaveFolder(folder: string): Promise<void> {
  ownFolders.delete(folder);
  await rmdir(folder).catch(unless('ENOTEMPTY', 'EEXIST', 'ENOENT'));
}

/** Moves the segments of processes that are gone to names that `newPath` gives; resolves to their paths, oldest first. */
export async function takeOver(base: string, newPath: () => Promise<string>): Promise<string[]> {
  const taken: string[] = [];
  const names = await readdir(base).catch(unless('ENOENT'));
  for (const name of names ?? []) {
    const folder = join(base, name);
    if (!(await isLeft(folder, name))) continue;
    const files = (await readdir(folder).catch(unless('ENOENT'))) ?? [];
    for (const file of files.filter((each) => SEGMENT.test(each)).sort()) {
      const path = await newPath();
      // Another process may take the same file: one rename finds it.
      const isMoved = await rename(join(folder, file), path).then(() => true, unless('ENOENT'));
      if (isMoved === true) taken.push(path);
    }
    await rmdir(folder).catch(unless('ENOTEMPTY', 'EEXIST', 'ENOENT'));
  }
  return taken;
}

/** Whether this is the folder of a process that is gone, as far as can be seen. */
async function isLeft(folder: string, name: string): Promise<boolean> {
  const [, pidText, start] = NAME.exec(name) ?? [];
  if (pidText === undefined || ownFolders.has(folder)) return false;
  const pid = Number(pidText);
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  // Its number may belong to another process by now.
  return start !== '0' && start !== (await startOf(pid));
}

/** When a process began, as Linux counts it; 0 where that cannot be known. */
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program, in brackets, may hold anything; after it stand state, parent and so on to the 22nd field.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0';
}

/** Brings the names in a folder to disk. Windows does so by itself, and does not open folders. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Turns errors with these codes into undefined. */
function unless(...codes: string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error;
    return undefined;
  };
}
