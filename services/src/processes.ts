import { readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from './run.ts';

/** How often a process that is to end is looked at; short beside the tenth of a second that a server takes to stop. */
const pollMilliseconds = 25;

/**
 * A signal to send, and how long to wait for the process to be gone before the next one; 0 sends nothing and only
 * waits.
 */
export type StopStep = [signal: NodeJS.Signals | 0, seconds: number];

/**
 * When a process began, in words that only serve to be compared; `undefined` when there is no such process any more.
 * The pid and this together name a process for good, the pid alone does not: the system gives it to others later.
 */
export async function startedAt(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') {
    const { ok, output } = await run('ps', ['-o', 'lstart=', '-p', String(pid)], { seconds: 10 });
    return ok && output !== '' ? output : undefined;
  }
  const stat = readStat(pid);
  // A zombie has ended; only its parent has not taken note yet.
  if (stat === undefined || stat.state === 'Z') return undefined;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${stat.startedAt}`;
}

/** A process as `/proc/<pid>/stat` shows it. */
export interface ProcessStat {
  pid: number;
  parent: number;
  name: string;
  state: string;
  cpuSeconds: number;
  /** Tells it from another process of this boot that was given the same number. */
  startedAt: string;
}

/** Linux counts CPU time in these, whatever its own clock does. */
const TICKS_PER_SECOND = 100;

/** The numbers of all processes; `undefined` where the system has no /proc. */
export function listPids(): number[] | undefined {
  return unlessGone(() => readdirSync('/proc').map(Number).filter(Number.isInteger));
}

/** `undefined` for a process that has ended. */
export function readStat(pid: number): ProcessStat | undefined {
  const stat = readProc(pid, 'stat');
  return stat === undefined ? undefined : parseStat(pid, stat);
}

/** The content of a file in `/proc/<pid>`; `undefined` for a process that has ended. Waits for nobody: /proc is memory. */
export function readProc(pid: number, file: string): string | undefined {
  return unlessGone(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'));
}

export function parseStat(pid: number, stat: string): ProcessStat {
  // The name stands in brackets, and may hold brackets and spaces itself.
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  return {
    pid,
    parent: Number(fields[1]),
    name: stat.slice(stat.indexOf('(') + 1, nameEnd),
    state: fields[0] ?? '',
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    startedAt: fields[19] ?? '',
  };
}

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

/**
 * The pids of the running programs with one of these names that have this text, for example the path of a folder and
 * the slash behind it, on their command line, where an argument begins or behind its `=`. So a pid that was given to
 * something else is never mistaken for a server, nor `/srv/weir/` for `/weir/`.
 */
export async function findProcesses(programs: string[], text: string): Promise<number[]> {
  const pids = listPids();
  const all = pids === undefined ? await listWithPs() : listFromProc(pids);
  return all
    .filter(
      ({ program, command }) =>
        programs.includes(basename(program)) && [' ', '='].some((before) => ` ${command}`.includes(before + text)),
    )
    .map(({ pid }) => pid);
}

interface Running {
  pid: number;
  program: string;
  command: string;
}

function listFromProc(pids: number[]): Running[] {
  return pids
    .map((pid) => {
      const words = (readProc(pid, 'cmdline') ?? '').split('\0');
      return { pid, program: words[0] ?? '', command: words.join(' ') };
    })
    .filter(({ program }) => program !== '');
}

async function listWithPs(): Promise<Running[]> {
  const [programs, commands] = await Promise.all(
    ['comm', 'command'].map(async (column) => {
      const { output } = await run('ps', ['-axww', '-o', `pid=,${column}=`], { seconds: 10 });
      return new Map(
        output.split('\n').map((line): [number, string] => {
          const [, pid, rest] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
          return [Number(pid), rest ?? ''];
        }),
      );
    }),
  );
  return [...(programs ?? [])].map(([pid, program]) => ({
    pid,
    program,
    command: commands?.get(pid) ?? '',
  }));
}

/**
 * Ends a process: sends each signal in turn until it is gone. Returns the signal that did it, or `undefined` when the
 * process had ended already. Throws when the process outlives the last one, or belongs to another user.
 */
export async function stopProcess(pid: number, steps: StopStep[]): Promise<StopStep[0] | undefined> {
  const born = await startedAt(pid);
  if (born === undefined) return undefined;
  for (const [signal, seconds] of steps) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (isCode(error, 'ESRCH')) return signal;
      throw new Error(`Process ${pid} cannot be stopped from here; it may belong to another user.`, { cause: error });
    }
    const deadline = Date.now() + seconds * 1000;
    while (Date.now() < deadline) {
      if ((await startedAt(pid)) !== born) return signal;
      await delay(pollMilliseconds);
    }
  }
  const sent = new Set(steps.map(([signal]) => signal));
  throw new Error(`Process ${pid} is still there after ${[...sent].join(', ')}.`);
}

/** Whether an error of the system bears this code, for example `ENOENT`. */
export function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
