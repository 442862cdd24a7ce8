// The course of a run: the system up, clients at work, faults, everything healed, what was accepted recorded, and then the
// judgement.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTraffic } from './clients/traffic.ts';
import { injectFaults } from './faults/inject.ts';
import type { Variant } from './ground/child.ts';
import type { Keeper } from './ground/keeper.ts';
import { openStack } from './ground/stack.ts';
import { History } from './history.ts';
import { judge, type Judgement } from './judge/judge.ts';
import { untilDrained } from './judge/queue.ts';
import type { BrokenBuild, Options } from './options.ts';
import { Random } from './random.ts';

const REPOSITORY_HOME = fileURLToPath(new URL('../../.weir', import.meta.url));

const PROGRESS_MS = 10_000;

/** After the last fault the sweeper needs some seconds, and a schedule that Redis has lost half a minute. */
const DRAIN_SECONDS_MAX = 120;

/** A system that is whole and does not record an event within this time does not recover by itself. */
const RECOVERY_SECONDS_MAX = 90;

export interface RunOptions extends Pick<Options, 'seconds' | 'seed' | 'requestsPerSecond' | 'broken'> {
  folder: string;
  keeper: Keeper;
  log: (line: string) => void;
  /** Ends the run in order. */
  signal: AbortSignal;
}

export async function run(options: RunOptions): Promise<Judgement> {
  const { seconds, seed, requestsPerSecond, folder, keeper, log, signal } = options;
  const random = new Random(seed);
  log(`Bringing up Postgres, Redis, two APIs and two workers in ${folder} …`);
  const programs = process.env['WEIR_HOME'] || REPOSITORY_HOME;
  const apiVariant = variantOf(options.broken);
  const stack = await openStack({ folder, programs, apiVariant, keeper, log, signal });
  try {
    const history = new History(join(folder, 'history.jsonl'));
    log(`Seed ${seed}: ${seconds} s of faults under ${requestsPerSecond} requests/s.`);
    const phase = (name: 'load' | 'heal' | 'drain' | 'judge') =>
      history.write({ type: 'phase', at: history.now(), phase: name });
    phase('load');
    const traffic = await openTraffic(stack, { requestsPerSecond, random: random.fork(), history });
    const injection = injectFaults({
      stack,
      history,
      random: random.fork(),
      seconds,
      probe: (until) => traffic.probe(until),
      calmMs: () => traffic.calmMs(),
      signal,
    });
    const progress = setInterval(
      () => log(`${Math.round(history.now() / 1_000)} s: ${injection.count()} faults`),
      PROGRESS_MS,
    );
    try {
      await injection.done;
    } finally {
      clearInterval(progress);
    }
    signal.throwIfAborted();

    log(`${injection.count()} faults were made. Waiting until everything is answered and recorded …`);
    phase('heal');
    await stack.heal('reset');
    await injection.recovered(RECOVERY_SECONDS_MAX);
    await traffic.stop();
    phase('drain');
    await untilDrained(stack, DRAIN_SECONDS_MAX);
    phase('judge');
    await history.close();
    return await judge(stack, history.path);
  } finally {
    await stack.close();
  }
}

function variantOf(broken: BrokenBuild | undefined): Variant {
  if (broken === undefined) return {};
  return { imports: [new URL(`./broken/${broken}-main.js`, import.meta.url).href] };
}
