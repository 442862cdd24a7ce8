import { loadGiven } from '@weir/shared/settings';
import { basename } from 'node:path';
import { type KeptServer, keepRunning } from './keep-running.ts';
import { NODE_OPTIONS } from './node-options.ts';
import { type StopStep, findProcesses, stopProcess } from './processes.ts';
import { type Server, type ServerPlan, startServer } from './server.ts';

/** How long an app with these settings may take to stop: it drains, and ends by itself when that takes too long. */
export function drainSeconds(env: NodeJS.ProcessEnv): number {
  const { DRAIN_DELAY_MS = '5000', DRAIN_TIMEOUT_MS = '10000' } = loadGiven(env, [
    'DRAIN_DELAY_MS',
    'DRAIN_TIMEOUT_MS',
  ]);
  return (Number(DRAIN_DELAY_MS) + Number(DRAIN_TIMEOUT_MS)) / 1000 + 5;
}

/** An app drains at SIGTERM: what it has begun is finished. */
const stopSteps = (seconds: number): StopStep[] => [
  ['SIGTERM', seconds],
  ['SIGKILL', 5],
];

/** One of the two processes Weir consists of. */
export interface AppPlan {
  name: string;
  /** The built main file. */
  script: string;
  env: NodeJS.ProcessEnv;
  logPath: string;
  /** Its process is marked with it, so that the next run finds one that is left behind. */
  home: string;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** An app that is ready, and is started again when it dies. */
export interface App extends KeptServer {
  /** Where it listens. */
  url: string;
}

/**
 * Starts an app and resolves when its `/readyz` says that it can serve. Rejects with the end of its log when it ends
 * before that.
 */
export async function openApp(plan: AppPlan): Promise<App> {
  let url = '';
  const start = (): Promise<Server> => {
    url = '';
    const server: ServerPlan = {
      name: plan.name,
      program: process.execPath,
      args: [...NODE_OPTIONS, plan.script, markOf(plan.home)],
      env: plan.env,
      folder: process.cwd(),
      logPath: plan.logPath,
      startSeconds: 60,
      stopSteps: stopSteps(drainSeconds(plan.env)),
      onMessage: (message) => (url = urlIn(message) ?? url),
      isReady: async () => url !== '' && isReady(url),
      signal: plan.signal,
    };
    return startServer(server, plan.log);
  };
  const kept = await keepRunning(plan.name, start, plan.log);
  return { ...kept, url };
}

/**
 * Waits for the apps that an earlier run of this home left behind. An app whose launcher is gone drains without being told; another
 * signal would only cut that short.
 */
export async function stopFormerApps(home: string, seconds: number, log: (line: string) => void): Promise<void> {
  const pids = await findProcesses([basename(process.execPath)], markOf(home));
  if (pids.length === 0) return;
  log(`Waiting for what an earlier run left behind to finish (process ${pids.join(' and ')}).`);
  await Promise.all(pids.map((pid) => stopProcess(pid, [[0, seconds], ...stopSteps(seconds)])));
}

/** An argument that the app ignores; it is there to be found in the list of processes. */
function markOf(home: string): string {
  return `--weir-home=${home}/`;
}

/** An app sends its address as soon as it listens: `{ url }`. */
function urlIn(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null || !('url' in message)) return undefined;
  return typeof message.url === 'string' ? message.url : undefined;
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(5000) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}
