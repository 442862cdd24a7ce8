import { NODE_OPTIONS } from '@weir/services/node-options';
import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The root of the repository, from `bench/dist`. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Longer than the drain of any process that is started here. */
const STOP_SECONDS_MAX = 20;

/** A process that is ready. It also ends by itself when this one does. */
export interface Child {
  url: string;
  process: ChildProcess;
  /** Rejects when the process ends before it was asked to. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

interface ChildOptions {
  env: Record<string, string>;
  signal: AbortSignal;
  /** Where a profile of its CPU time is written when it ends. */
  profileFolder?: string | undefined;
}

/** Starts a program that is stopped when the work is done. */
export type RunProgram = (program: string, env: Record<string, string>) => Promise<Child>;

/** Does some work with programs that are stopped after it. Rejects when one of them ends by itself, and on the signal. */
export async function withChildren<T>(
  options: Omit<ChildOptions, 'env'>,
  work: (run: RunProgram) => Promise<T>,
): Promise<T> {
  const children: Child[] = [];
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_resolve, reject) => (fail = reject));
  const run: RunProgram = async (program, env) => {
    const child = await startChild(program, { ...options, env });
    children.push(child);
    child.failed.catch(fail);
    return child;
  };
  try {
    return await Promise.race([work(run), failed, rejectOnAbort(options.signal)]);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

/** Starts a program of the repository as in production, and waits until it has told over IPC where it listens. */
export async function startChild(program: string, options: ChildOptions): Promise<Child> {
  const { env, signal, profileFolder } = options;
  signal.throwIfAborted();
  const child = fork(program, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    // Only what goes wrong is logged; it must not come between the results.
    stdio: ['ignore', 2, 2, 'ipc'],
    // The other patterns too, the bare route included: what it saves in collecting garbage is no merit of one of them.
    execArgv: [
      ...NODE_OPTIONS,
      // Weir's processes set this one by themselves.
      '--heap-growing-percent=300',
      ...(profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]),
    ],
    // In a group of its own: Ctrl-C reaches this process only, which then stops the others in order.
    detached: true,
  });
  let isStopping = false;
  const gone = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, endedBy) => resolve(endedBy ?? `exit code ${code}`));
  });
  const failed = gone.then((how): Promise<never> => {
    if (isStopping) return new Promise(() => {});
    throw new Error(`${program} ended by itself (${how})`);
  });
  // It may fail while nobody waits for it; who does next is told.
  failed.catch(() => {});
  const stop = async () => {
    isStopping = true;
    child.kill('SIGTERM');
    const isGone = await Promise.race([gone.then(() => true), delay(STOP_SECONDS_MAX * 1_000, false, { ref: false })]);
    if (!isGone) child.kill('SIGKILL');
    await gone;
  };
  try {
    const ready = new Promise<{ url: string }>((resolve) =>
      child.once('message', (message) => resolve(message as { url: string })),
    );
    const { url } = await Promise.race([ready, failed, rejectOnAbort(signal)]);
    return { url, process: child, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Rejects when the signal does, and never resolves. */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  aborted.catch(() => {});
  return aborted;
}
