import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode, startedAt } from './processes.ts';

interface Holder {
  pid: number;
  startedAt: string;
}

/**
 * Takes the home, a folder that exists, for this process, and returns what gives it back. Throws one clear line with
 * the pid when another process holds it. The lock of a process that died without giving it back is taken over.
 */
export async function lockHome(home: string): Promise<() => Promise<void>> {
  const path = join(home, 'lock');
  const mine: Holder = { pid: process.pid, startedAt: (await startedAt(process.pid)) ?? '' };
  const draft = join(home, `lock.${process.pid}`);
  try {
    await writeFile(draft, JSON.stringify(mine));
  } catch (error) {
    throw new Error(`${home} cannot be written to by this user: ${String(error)}`, {
      cause: error,
    });
  }
  try {
    for (;;) {
      // A link either appears with its whole content or fails: nobody ever reads half a lock.
      const held = await link(draft, path).then(
        () => false,
        (error: unknown) => isCode(error, 'EEXIST') || Promise.reject(error as Error),
      );
      if (!held) return () => unlink(path);
      await removeIfStale(path, draft);
    }
  } finally {
    await unlink(draft);
  }
}

async function removeIfStale(path: string, draft: string): Promise<void> {
  const holder = await readHolder(path);
  if (holder === undefined) return;
  if (await isAlive(holder)) throw busy(path, holder);
  const aside = `${draft}.stale`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return;
    throw error;
  }
  // Two may have seen the same stale lock; the slower one has then moved the lock of the faster one, and puts it back.
  const moved = await readHolder(aside);
  if (moved !== undefined && (await isAlive(moved))) {
    await rename(aside, path);
    throw busy(path, moved);
  }
  await unlink(aside);
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    // After a power cut the file may be empty. Nobody who is alive wrote that.
    if (error instanceof SyntaxError) return { pid: 0, startedAt: '' };
    throw error;
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  return (await startedAt(holder.pid)) === holder.startedAt;
}

function busy(path: string, holder: Holder): Error {
  return new Error(
    `Weir is already running from this home: process ${holder.pid} holds ${path}. Stop it, or set WEIR_HOME to another folder.`,
  );
}
