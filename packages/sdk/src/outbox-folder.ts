// The folders of an outbox: each process writes in one of its own, and takes over the files of those that are gone.
//
// Whether a process is gone may be a guess (outbox-owner.ts). So a wrong guess must cost nothing. A file is taken over by renaming
// it before it is read, and a process looks after each write whether its file still has its name (outbox.ts). Both may then send
// an event, which is counted once by its key.

import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isOfGone, ownName } from './outbox-owner.ts';

/** The folders of this thread: those in which it is at work, and those that it has left, which anybody may take over. */
const registry = Symbol.for('@weir/sdk/outbox-folders');
const shared = globalThis as { [registry]?: Map<string, 'own' | 'left'> };
const folders = (shared[registry] ??= new Map());

const SEGMENT = /^\d{8}\.ndjson$/;

/**
 * Makes a new folder for this process in `base`; on disk when it resolves. Where that cannot be made, since the disk is full, `left`
 * becomes it: the folder of a process that is gone, with the files in it. To send what is there needs no room, and makes some.
 */
export async function makeOwnFolder(base: string, left?: string): Promise<{ folder: string; files: string[] }> {
  await mkdir(base, { recursive: true, mode: 0o700 });
  const { head, tail } = await ownName();
  const folder = join(base, `${head}-${randomBytes(6).toString('hex')}-${tail}`);
  folders.set(folder, 'own');
  try {
    await makeFolder(folder).catch(async (error: unknown) => {
      if (left === undefined) throw error;
      // As of a file: of several who come for it one rename finds it.
      await rename(left, folder).catch(() => Promise.reject(error as Error));
      folders.delete(left);
    });
    return { folder, files: await segmentsIn(folder) };
  } catch (error) {
    // It may be there, and the next try makes another one.
    await leaveFolder(folder);
    throw error;
  }
}

/** Makes a folder, and brings its name to disk. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await syncFolder(join(folder, '..'));
}

/** Gives a folder up: whoever comes next may take over what is left in it. An empty one is removed. */
export async function leaveFolder(folder: string): Promise<void> {
  folders.set(folder, 'left');
  await removeEmpty(folder);
}

/**
 * Moves the segments of processes that are gone to names that `newPath` gives, and calls `taken` with each, oldest first. It tells
 * `newPath` the folder that they are in, which may become this process's own. Rejects when a folder cannot be taken over, after all
 * others were.
 */
export async function takeOver(
  base: string,
  newPath: (left: string) => Promise<string>,
  taken: (path: string) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const name of (await readdir(base).catch(unless('ENOENT'))) ?? []) {
    const folder = join(base, name);
    const known = folders.get(folder);
    if (known === 'own' || (known !== 'left' && !(await isOfGone(folder, name)))) continue;
    try {
      for (const file of await segmentsIn(folder)) {
        const path = await newPath(folder);
        // Another process may take the same file: one rename finds it. None does where the whole folder is this process's own by now.
        const isMoved = await rename(join(folder, file), path).then(() => true, unless('ENOENT'));
        if (isMoved === true) await taken(path);
      }
      await removeEmpty(folder);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Oldest first. */
async function segmentsIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder).catch(unless('ENOENT'))) ?? [];
  return files.filter((file) => SEGMENT.test(file)).sort();
}

async function removeEmpty(folder: string): Promise<void> {
  const isGone = await rmdir(folder)
    .catch(unless('ENOENT'))
    .then(() => true, unless('ENOTEMPTY', 'EEXIST'));
  if (isGone === true) folders.delete(folder);
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
