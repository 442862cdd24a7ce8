// The append-only file of Redis: a list of commands, of which those between MULTI and EXEC count together or not at all.

import { readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';

/** A command, or a transaction of several. */
interface Unit {
  /** Offset behind its last byte. */
  end: number;
  commands: string[][];
}

const STAR = 0x2a;
const DOLLAR = 0x24;
const CARRIAGE_RETURN = 0x0d;

/**
 * Cuts at least so many bytes off the file that a Redis has appended to, which must not run, and returns the commands that
 * are lost. A transaction goes as a whole: Redis 7 leaves one open that was cut in two, and then counts the commands that
 * are left of it together with those of the next one.
 */
export async function cutTail(redisFolder: string, bytes: number): Promise<string[][]> {
  const path = await currentLog(join(redisFolder, 'appendonlydir'));
  const log = await readFile(path);
  const units = readUnits(log);
  const kept = units.filter(({ end }) => end <= log.length - bytes);
  await truncate(path, kept.at(-1)?.end ?? 0);
  return units.slice(kept.length).flatMap(({ commands }) => commands);
}

/** Its manifest names the file that is written to last. */
async function currentLog(folder: string): Promise<string> {
  const manifest = await readFile(join(folder, 'appendonly.aof.manifest'), 'utf8');
  const [, name] = [...manifest.matchAll(/^file (\S+) seq \d+ type i$/gm)].at(-1) ?? [];
  if (name === undefined) throw new Error(`the manifest in ${folder} names no file that Redis appends to`);
  return join(folder, name);
}

/** Reads a log up to its end, or to the command that is not whole. */
export function readUnits(log: Buffer): Unit[] {
  const units: Unit[] = [];
  let offset = 0;
  let open: string[][] | undefined;
  while (offset < log.length) {
    const read = readCommand(log, offset);
    if (read === undefined) break;
    offset = read.end;
    const name = read.command[0]?.toUpperCase();
    if (name === 'MULTI') open = [];
    else if (name === 'EXEC') {
      units.push({ end: offset, commands: open ?? [] });
      open = undefined;
    } else if (open === undefined) units.push({ end: offset, commands: [read.command] });
    else open.push(read.command);
  }
  return units;
}

/** Undefined when it is not whole. */
function readCommand(log: Buffer, start: number): { command: string[]; end: number } | undefined {
  const head = readCount(log, start, STAR);
  if (head === undefined) return undefined;
  const command: string[] = [];
  let { end } = head;
  for (let index = 0; index < head.count; index += 1) {
    const length = readCount(log, end, DOLLAR);
    if (length === undefined || length.end + length.count + 2 > log.length) return undefined;
    command.push(log.toString('utf8', length.end, length.end + length.count));
    end = length.end + length.count + 2;
  }
  return { command, end };
}

/** A line such as `*3` or `$12`. */
function readCount(log: Buffer, start: number, type: number): { count: number; end: number } | undefined {
  const end = log.indexOf(CARRIAGE_RETURN, start);
  if (end === -1 || end + 1 >= log.length) return undefined;
  const count = Number(log.toString('latin1', start + 1, end));
  if (log[start] !== type || !Number.isSafeInteger(count)) {
    throw new Error(`the log of Redis holds something at byte ${start} that is no command`);
  }
  return { count, end: end + 2 };
}
