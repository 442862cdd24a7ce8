// Whether the process that a folder of an outbox belongs to is gone. The folder's name tells which process it was, when that began,
// and where. Where it cannot be looked for, in another container, its folder tells: it is touched while the process lives.

import { createHash } from 'node:crypto';
import { readFile, readlink, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';

const NAME = /^(\d+)-(\d+)-[0-9a-f]{12}(?:-([0-9a-f]{8}))?$/;

/** How often a process looks for folders whose process is gone, and touches its own. */
export const LOOK_MS = 5_000;

/**
 * A folder that was not touched for so long belongs to nobody any more. Some looks long, since a busy process may come late. The same
 * holds of one whose time lies as far ahead: the clock was set back since, and whoever lives touches anew.
 */
const UNTOUCHED_MS = 60_000;

interface Owner {
  pid: number;
  /** When it began, as Linux counts it; 0 where that was not known. */
  start: string;
  /** Undefined in a name of before there was a place in it: that means here. */
  place: string | undefined;
}

/** What a folder of this process begins with, and ends with. */
export async function ownName(): Promise<{ head: string; tail: string }> {
  const { start = '0' } = (await processOf(process.pid)) ?? {};
  return { head: `${process.pid}-${start}`, tail: await (place ??= findPlace()) };
}

/** Tells others that the process of this folder lives. Resolves to false where it is missing. */
export async function touch(folder: string): Promise<boolean> {
  const now = new Date();
  return await utimes(folder, now, now).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return false;
    },
  );
}

/** Whether this is the folder of a process that is gone. One that lives here is never taken for gone. */
export async function isOfGone(folder: string, name: string): Promise<boolean> {
  const owner = readName(name);
  if (owner === undefined) return false;
  return (await hasEnded(owner)) ?? (await isUntouched(folder));
}

function readName(name: string): Owner | undefined {
  const [, pid, start = '0', place] = NAME.exec(name) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), start, place };
}

/** Undefined where that cannot be seen from here. */
async function hasEnded(owner: Owner): Promise<boolean | undefined> {
  if (owner.place !== undefined && owner.place !== (await (place ??= findPlace()))) return undefined;
  const found = await processOf(owner.pid);
  if (found === undefined) return isNobody(owner.pid) ? true : undefined;
  // One that ended and that its parent has not asked about yet still has its number.
  if (found.isZombie) return true;
  if (owner.start === '0') return undefined;
  // The number may belong to another process by now.
  if (found.start !== owner.start) return true;
  // This process itself: the folder is that of another thread, which may have ended.
  return owner.pid === process.pid ? undefined : false;
}

function isNobody(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // Others than ESRCH say that there is one.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** What Linux tells of a process; undefined where it tells nothing. */
async function processOf(pid: number): Promise<{ isZombie: boolean; start: string } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program, in brackets, may hold anything; after it stand state, parent and so on to the 22nd field.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', start] = [fields[0], fields[19]];
  return start === undefined ? undefined : { isZombie: /[ZX]/i.test(state), start };
}

let place: Promise<string> | undefined;

/** Where numbers of processes mean the same: a container since the machine was started, else the machine by its name. */
async function findPlace(): Promise<string> {
  const parts = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    readlink('/proc/self/ns/pid'),
  ]).catch(() => [hostname()]);
  return createHash('sha256')
    .update(parts.map((part) => part.trim()).join('\n'))
    .digest('hex')
    .slice(0, 8);
}

async function isUntouched(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) > UNTOUCHED_MS;
}
