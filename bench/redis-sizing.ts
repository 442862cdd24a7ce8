// What Redis takes for a claim that is held and for an event that is staged, and so how much of it a rate needs.

import { withChildren } from './child.ts';
import { WrongCount, check, countTotals } from './counts.ts';
import type { BenchDeps } from './environment.ts';
import { runPlan } from './load/run-plan.ts';
import type { LoadPlan } from './load/plan.ts';
import { WEIR_SINGLE, startWorker } from './patterns.ts';
import { ONE_OF_EACH, drain } from './round.ts';
import { redisBytes } from './sizes.ts';
import { spreadOf } from './spread.ts';

export interface RedisSizing {
  /** Of the measurement. */
  events: number;
  claimBytes: number;
  /** On top of its claim. */
  stagedBytes: number;
}

/** Shares of `maxmemory` (apps/api/src/ingest/room.ts): up to which claims live as long as they may, and Redis takes events at all. */
export const USABLE_SHARES = { claims: 0.5, all: 0.75 };

/** Takes events while no worker runs, then lets one record them all, and looks at Redis before, between and after. */
export async function measureRedis(
  settings: { seconds: number; connections: number },
  { environment, signal }: BenchDeps,
): Promise<RedisSizing> {
  const database = await environment.clear();
  try {
    return await withChildren({ signal }, async (run) => {
      const deps = { environment, database, run };
      const target = await WEIR_SINGLE.start({ ...deps, apis: 1, workers: 0, callers: undefined });
      const plan: LoadPlan = {
        ...target,
        customers: ONE_OF_EACH.customers,
        eventsPerRequest: 1,
        connections: settings.connections,
        seconds: settings.seconds,
        requestsPerSecond: null,
      };
      const totalsBefore = await countTotals(database.client);
      const load = await run('bench/dist/load/load-main.js', {});
      const before = await redisBytes(environment.redis);
      const result = await runPlan(load, plan, {});
      const { accepted, unclear } = result;
      const between = await redisBytes(environment.redis);
      if (accepted === 0 || unclear > 0)
        throw new WrongCount(`of the events without a worker, ${accepted} were accepted, ${unclear} unclear`);
      await startWorker(deps);
      await drain(target);
      check('Weir without a worker', totalsBefore, await countTotals(database.client), [result]);
      const after = await redisBytes(environment.redis);
      return {
        events: accepted,
        claimBytes: (after - before) / accepted,
        stagedBytes: (between - after) / accepted,
      };
    });
  } finally {
    await database.drop();
  }
}

/** The median of several measurements, figure by figure; undefined without any. */
export function sizingOf(measured: readonly RedisSizing[]): RedisSizing | undefined {
  if (measured.length === 0) return undefined;
  const median = (of: (sizing: RedisSizing) => number) => spreadOf(measured.map(of)).median;
  return {
    events: median(({ events }) => events),
    claimBytes: median(({ claimBytes }) => claimBytes),
    stagedBytes: median(({ stagedBytes }) => stagedBytes),
  };
}

/** The `maxmemory` in bytes that a steady rate needs: all claims that live at once, and what is staged while Postgres is away. */
export function maxmemoryFor(
  { claimBytes, stagedBytes }: Pick<RedisSizing, 'claimBytes' | 'stagedBytes'>,
  need: { eventsPerSecond: number; claimSeconds: number; awaySeconds: number },
): number {
  const claims = need.eventsPerSecond * need.claimSeconds * claimBytes;
  const staged = need.eventsPerSecond * need.awaySeconds * stagedBytes;
  return Math.max(claims / USABLE_SHARES.claims, (claims + staged) / USABLE_SHARES.all);
}
