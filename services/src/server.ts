import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { type LogFile, openLogFile } from './log-file.ts';
import { type StopStep, stopProcess } from './processes.ts';
import type { User } from './run.ts';

const pollMilliseconds = 50;

/** Everything there is to know about starting, judging and stopping one child process that serves something. */
export interface ServerPlan {
  name: string;
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** The folder it runs in; the user it runs as may not be able to enter ours. */
  folder: string;
  user?: User | undefined;
  /** Where what it prints is appended. */
  logPath: string;
  startSeconds: number;
  stopSteps: StopStep[];
  /** Opens an IPC channel, which tells the child when we are gone, and takes what the child sends. */
  onMessage?: (message: unknown) => void;
  /** False while it is still starting; throws what waiting longer cannot cure. */
  isReady: () => Promise<boolean>;
  /** Called at once with the process that was launched, which may end before it is ready. */
  onLaunch?: (server: Server) => void;
  /** Aborted: the start is given up. */
  signal?: AbortSignal | undefined;
}

/** A child process that serves. */
export interface Server {
  /** 0 when it could not be launched. */
  pid: number;
  /** Settles when the process has ended, whoever ended it, with how it ended. */
  ended: Promise<string>;
  /** Ends it in order, by force when it does not; resolves when the process is gone. */
  stop(): Promise<void>;
}

/**
 * Starts a server and waits until it is ready. When it ends before that, or takes too long, it is stopped and the
 * error holds the last lines of its log.
 */
export async function startServer(plan: ServerPlan, log: (line: string) => void): Promise<Server> {
  const output = await openLogFile(plan.logPath);
  try {
    const child = launch(plan, output);
    const server = watch(plan, child, log);
    plan.onLaunch?.(server);
    try {
      await waitUntilReady(plan, server.ended);
      return server;
    } catch (error) {
      await server.stop();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${reason}. The end of ${plan.logPath}:${await tellTail(output)}`, { cause: error });
    }
  } finally {
    await output.close();
  }
}

/**
 * Detached, in a process group of its own: Ctrl-C in a terminal reaches every process of the group, and would end a
 * database before those that still write to it.
 */
function launch(plan: ServerPlan, { fd }: LogFile): ChildProcess {
  const child = spawn(plan.program, plan.args, {
    cwd: plan.folder,
    env: plan.env,
    stdio: ['ignore', fd, fd, ...(plan.onMessage ? (['ipc'] as const) : [])],
    detached: true,
    ...plan.user,
  });
  if (plan.onMessage) child.on('message', plan.onMessage);
  return child;
}

function watch(plan: ServerPlan, child: ChildProcess, log: (line: string) => void): Server {
  let isGone = false;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      isGone = true;
      resolve(signal ?? `exit code ${code}`);
    });
  });
  const stop = async (): Promise<void> => {
    if (child.pid === undefined || isGone) return;
    const signal = await stopProcess(child.pid, plan.stopSteps);
    if (signal !== undefined && signal !== plan.stopSteps[0]?.[0]) {
      log(`${plan.name} did not stop in time; it was ended with ${signal}. Its log: ${plan.logPath}`);
    }
    await ended;
  };
  return { pid: child.pid ?? 0, ended, stop };
}

async function waitUntilReady(plan: ServerPlan, ended: Promise<string>): Promise<void> {
  let how: string | undefined;
  void ended.then((text) => (how = text));
  const deadline = Date.now() + plan.startSeconds * 1000;
  while (how === undefined) {
    if (await plan.isReady()) return;
    if (plan.signal?.aborted) throw new Error(`${plan.name} was not waited for`);
    if (Date.now() > deadline) throw new Error(`${plan.name} was not ready within ${plan.startSeconds} s`);
    await delay(pollMilliseconds);
  }
  throw new Error(`${plan.name} ended while it started (${how})`);
}

/** Lines for people, when there are any among lines of JSON. */
async function tellTail(output: LogFile): Promise<string> {
  const lines = await output.tail();
  const plain = lines.filter((line) => !line.startsWith('{'));
  const told = plain.length > 0 ? plain : lines;
  return told.length === 0 ? ' (empty)' : told.map((line) => `\n  ${line}`).join('');
}
