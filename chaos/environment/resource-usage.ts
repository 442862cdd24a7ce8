// What a process of the system uses: memory after all garbage is collected, open files, and connections by who holds the
// other end.

import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** What a process writes when it is asked. */
export interface Count {
  pid: number;
  at: number;
  usedBytes: number;
  residentBytes: number;
}

export interface ResourceUsage extends Omit<Count, 'pid' | 'at'> {
  /** Where the system tells. */
  descriptors?: number;
}

/** A process that does not answer in this time is too busy, or gone. */
const ANSWER_SECONDS_MAX = 20;
const LOOK_AGAIN_MS = 20;

function fileOf(folder: string, name: string): string {
  return join(folder, `resource-usage-${name}.json`);
}

/** The module that a process of this name has to be started with. */
export function resourceUsageModule(folder: string, name: string): string {
  const url = new URL('./resource-usage-main.js', import.meta.url);
  url.searchParams.set('file', fileOf(folder, name));
  return url.href;
}

/** Throws when the process does not answer. */
export async function readResourceUsage(folder: string, name: string, pid: number): Promise<ResourceUsage> {
  const file = fileOf(folder, name);
  await rm(file, { force: true });
  process.kill(pid, 'SIGWINCH');
  const deadline = performance.now() + ANSWER_SECONDS_MAX * 1_000;
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) {
      const { usedBytes, residentBytes } = JSON.parse(text) as Count;
      const descriptors = await readdir(`/proc/${pid}/fd`).then(
        (files) => files.length,
        () => undefined,
      );
      return { usedBytes, residentBytes, ...(descriptors !== undefined && { descriptors }) };
    }
    if (performance.now() > deadline) throw new Error(`${name} did not say what it uses`);
    await delay(LOOK_AGAIN_MS);
  }
}

/** 0A in the table of the kernel: a socket that listens. */
const LISTENS = '0A';

/**
 * How many connections with a client at 127.0.7.x the process that listens on this port holds; undefined where the system does
 * not tell. One that is left to the system to end (it has no inode any more) is not held.
 */
export async function countHostileConnections(port: number): Promise<number | undefined> {
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => undefined);
  return table === undefined ? undefined : hostileConnectionsIn(table, port);
}

export function hostileConnectionsIn(table: string, port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').filter((line) => {
    const [, local = '', remote = '', state, , , , , , inode] = line.trim().split(/\s+/);
    // Addresses stand there with their last byte first: 127.0.7.x is xx07007F.
    const isHostile = remote.slice(2, 8) === '07007F';
    return local.endsWith(suffix) && isHostile && state !== LISTENS && inode !== '0';
  }).length;
}
