// The API and worker processes: the built programs, with the settings of production.

import { NODE_OPTIONS } from '@weir/services/node-options';
import { startServer, type Server } from '@weir/services/server';
import { fileURLToPath } from 'node:url';
import type { Variant } from './child.ts';
import { REDIS_AWAY_SECONDS_MAX } from '../parts-of-run.ts';

/** The root of the repository, from `chaos/dist/environment`. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export interface AppPlan {
  name: string;
  app: 'api' | 'worker';
  env: Record<string, string>;
  /** Modules that are loaded before it at every start. */
  imports: string[];
  logPath: string;
  log: (line: string) => void;
  signal: AbortSignal;
}

/** Starts an app and resolves when it has told over its channel that it listens. */
export function launchApp(plan: AppPlan, variant: Variant, onLaunch: (server: Server) => void): Promise<Server> {
  let isReady = false;
  return startServer(
    {
      name: plan.name,
      program: process.execPath,
      args: [
        ...NODE_OPTIONS,
        ...[...plan.imports, ...(variant.imports ?? [])].flatMap((module) => ['--import', module]),
        `${ROOT}apps/${plan.app}/dist/main.js`,
      ],
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...plan.env, ...variant.env },
      folder: ROOT,
      logPath: plan.logPath,
      // A worker waits for Redis, and one that is away comes back first.
      startSeconds: REDIS_AWAY_SECONDS_MAX + 60,
      // The drain of an app ends by itself after ten seconds.
      stopSteps: [
        ['SIGTERM', 20],
        ['SIGKILL', 10],
      ],
      onMessage: () => (isReady = true),
      isReady: () => Promise.resolve(isReady),
      onLaunch,
      signal: plan.signal,
    },
    plan.log,
  );
}
