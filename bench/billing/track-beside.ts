// Events that are tracked one by one, as fast as they are taken, for as long as something else goes on or for a time.

import { setTimeout as delay } from 'node:timers/promises';
import type { BenchDeps } from '../environment.ts';
import { startChild, type Child } from '../child.ts';
import { countEvents } from '../counts.ts';
import type { LoadPlan } from '../load/plan.ts';
import { runPlan } from '../load/run-plan.ts';
import { weirEnv } from '../patterns.ts';
import type { Given } from './prepare.ts';

const LOAD = { connections: 200, warmupSeconds: 10, pieceSeconds: 10 } as const;

/** What was recorded, and in how long. */
export interface Tracked {
  events: number;
  seconds: number;
}

export interface Tracking {
  /** Goes on until it is told to end. */
  begin(): void;
  /** Ends with the piece that is under way, which is in what it returns. */
  end(): Promise<Tracked>;
  close(): Promise<void>;
}

/** Warm when it is there. The caller runs the worker. */
export async function openTracking(api: Child, given: Given, { signal }: BenchDeps): Promise<Tracking> {
  const { database, caller, subscriptions } = given;
  const load = await startChild('bench/dist/load/load-main.js', { env: {}, signal });
  const plan = (seconds: number): LoadPlan => ({
    urls: [api.url],
    path: '/api/v1/sdk/track',
    callers: [caller],
    customers: subscriptions,
    eventsPerRequest: 1,
    connections: LOAD.connections,
    seconds,
    requestsPerSecond: null,
  });
  await runPlan(load, plan(LOAD.warmupSeconds), {});
  let isOver = false;
  let pieces: Promise<Tracked> | undefined;
  return {
    begin() {
      pieces = (async () => {
        const [from, before] = [performance.now(), await countEvents(database.client)];
        while (!isOver) await runPlan(load, plan(LOAD.pieceSeconds), {});
        const events = (await countEvents(database.client)) - before;
        return { events, seconds: (performance.now() - from) / 1_000 };
      })();
      pieces.catch(() => {});
    },
    async end() {
      isOver = true;
      if (pieces === undefined) throw new Error('tracking ended that had not begun');
      return await pieces;
    },
    async close() {
      isOver = true;
      await load.stop();
    },
  };
}

/** What is recorded in as long a time while the clock of billing stands still, so that no month ends. */
export async function trackAlone(seconds: number, given: Given, deps: BenchDeps): Promise<Tracked> {
  const { environment, signal, progress } = deps;
  const env = weirEnv({ environment, database: given.database });
  const api = await startChild('apps/api/dist/main.js', { env, signal });
  const worker = await startChild('apps/worker/dist/main.js', { env, signal });
  const tracking = await openTracking(api, given, deps);
  try {
    progress.show(() => `tracking for ${Math.round(seconds)} seconds while no month ends`);
    tracking.begin();
    await delay(seconds * 1_000, undefined, { signal });
    return await tracking.end();
  } finally {
    await tracking.close();
    await worker.stop();
    await api.stop();
  }
}
