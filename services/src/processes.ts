import { readFile, readdir } from 'node:fs/promises';
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
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    const fields = statusFields(stat);
    // A zombie has ended; only its parent has not taken note yet.
    return fields[0] === 'Z' ? undefined : `${boot.trim()} ${fields[19]}`;
  } catch {
    return undefined;
  }
}

/** The words of `/proc/<pid>/stat` from the third on: the second is the program's name, which may hold anything. */
export function statusFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * The pids of the running programs with one of these names that have this text, for example the path of a folder and
 * the slash behind it, on their command line. So a pid that was given to something else is never mistaken for a
 * server.
 */
export async function findProcesses(programs: string[], text: string): Promise<number[]> {
  const all = process.platform === 'linux' ? await listLinux() : await listWithPs();
  return all
    .filter(({ program, command }) => programs.includes(basename(program)) && command.includes(text))
    .map(({ pid }) => pid);
}

interface Running {
  pid: number;
  program: string;
  command: string;
}

async function listLinux(): Promise<Running[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const all = await Promise.all(
    pids.map(async (pid) => {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      return { pid, program: words[0] ?? '', command: words.join(' ') };
    }),
  );
  return all.filter(({ program }) => program !== '');
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
 * Ends a process: sends each signal in turn until it is gone. Answers the signal that did it, or `undefined` when the
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
  throw new Error(`Process ${pid} is still there after ${steps.map(([signal]) => signal).join(', ')}.`);
}

/** Whether an error of the system bears this code, for example `ENOENT`. */
export function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
