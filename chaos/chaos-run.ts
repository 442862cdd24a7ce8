// The course of a run: the system up, clients at work, honest and hostile, faults, everything healed, what was accepted
// recorded, and then the judgement.

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openTraffic, type Traffic } from './clients/traffic.ts';
import { injectFaults } from './faults/inject.ts';
import { BillingTime } from './environment/billing-time.ts';
import type { Reaper } from './environment/reaper.ts';
import { openStack, type Stack } from './environment/stack.ts';
import type { Variants } from './environment/family.ts';
import { openMachineStack } from './machines/machine-stack.ts';
import { writeDirectWays } from './environment/direct-ways.ts';
import { History, type ResourceUsageLine, type Phase } from './history.ts';
import { countAfter, countBefore, SLOTS, trySlots, watchLettingGo } from './hostile/aftermath.ts';
import { openHostileLane, type HostileLane } from './hostile/lane.ts';
import { judge, type Judgement } from './judge/judge.ts';
import { untilBilled, untilDelivered, untilLooked } from './judge/read-billing-state.ts';
import { untilDrained } from './judge/drained-queue.ts';
import { BROKEN_BUILDS, type BrokenBuild, type ChaosOptions } from './chaos-options.ts';
import { CALM_SHARE, HOSTILE_SHARE, secondsOfFaults } from './parts-of-run.ts';
import { Random } from './random.ts';

const REPOSITORY_HOME = fileURLToPath(new URL('../../.weir', import.meta.url));

const PROGRESS_MS = 10_000;

/** After the last fault the sweeper needs some seconds, and a schedule that Redis has lost half a minute. */
const DRAIN_SECONDS_MAX = 120;

/** A system that is whole and does not record an event within this time does not recover by itself. */
const RECOVERY_SECONDS_MAX = 90;

/** A build that breaks the promise may have lost the very event that is waited for. */
const BROKEN_RECOVERY_SECONDS_MAX = 5;

/** A process that has just begun, or that was at rest, is slower than it will be. So long it is not measured. */
const WARM_UP_SECONDS_MAX = 10;

/** Of the requests of the honest, so many measure how long tracking takes. */
const MEASURED_SHARE = 0.2;

/** Where no fault holds anything back, a request or an answer that takes longer than this is not an honest client's. */
const TIMEOUT_MS = 5_000;

export interface RunOptions extends Pick<
  ChaosOptions,
  | 'seconds'
  | 'seed'
  | 'requestsPerSecond'
  | 'isHostile'
  | 'makesFaults'
  | 'faultKinds'
  | 'pauseSeconds'
  | 'hasMachines'
  | 'broken'
> {
  folder: string;
  reaper: Reaper;
  log: (line: string) => void;
  /** Ends the run in order. */
  signal: AbortSignal;
}

/** What one part of a run hands to the next. */
interface Course extends RunOptions {
  stack: Stack;
  traffic: Traffic;
  history: History;
  random: Random;
}

export async function runChaos(options: RunOptions): Promise<Judgement> {
  const { seconds, seed, requestsPerSecond, isHostile, makesFaults, hasMachines, folder, reaper, log, signal } =
    options;
  const random = new Random(seed);
  const where = hasMachines ? ' on three machines' : '';
  log(`Bringing up Postgres, Redis, two APIs and two workers${where} in ${folder} …`);
  const programs = process.env['WEIR_HOME'] || REPOSITORY_HOME;
  const stackOptions = {
    folder,
    programs,
    variants: variantsOf(options.broken),
    apiEnv: envOf(options),
    measuresResources: isHostile,
    reaper,
    log,
    signal,
  };
  const stack = hasMachines
    ? await openMachineStack({ ...stackOptions, random: random.fork() })
    : await openStack(stackOptions);
  let hostile: HostileLane | undefined;
  try {
    const history = new History(join(folder, 'history.jsonl'));
    for (const receiver of stack.receivers) receiver.writeTo(history);
    log(`Seed ${seed}: ${seconds} s ${makesFaults ? 'of faults ' : ''}under ${requestsPerSecond} scenarios/s.`);
    const phase = (name: Phase) => history.write({ type: 'phase', at: history.now(), time: Date.now(), phase: name });
    phase('load');
    const measuredPerSecond = isHostile ? Math.ceil(requestsPerSecond * MEASURED_SHARE) : 0;
    const billingTime = await BillingTime.begin(stack, seconds);
    history.write(billingTime.line(history.now()));
    const traffic = await openTraffic(stack, {
      requestsPerSecond,
      measuredPerSecond,
      random: random.fork(),
      history,
      billingTime,
    });
    const course: Course = { ...options, stack, traffic, history, random };
    let before: ResourceUsageLine[] = [];
    if (isHostile) {
      hostile = await openHostileLane({
        seed,
        ports: stack.apis.map(({ name }) => stack.port(name)),
        seconds,
        history,
        reaper,
      });
      before = await compare(course, hostile, phase);
    }
    if (makesFaults) await makeFaults(course);
    else if (!isHostile) await wait(seconds, signal);

    phase('heal');
    await hostile?.stop();
    await traffic.stop();
    phase('drain');
    await untilDrained(stack, DRAIN_SECONDS_MAX);
    const stop = billingTime.line(history.now());
    history.write(stop);
    await billingTime.stop(stop.instant);
    await untilBilled(stack, DRAIN_SECONDS_MAX);
    await untilLooked(stack, DRAIN_SECONDS_MAX);
    history.write({ type: 'looked', at: history.now() });
    // What is looked for in a broken build is not there: it is not waited for what killed workers have in hand.
    const sequences = await untilDelivered(stack, options.broken.length > 0 ? 0 : DRAIN_SECONDS_MAX);
    history.write({ type: 'delivered', at: history.now(), sequences });
    if (hostile !== undefined) {
      log('Looking for what is missing …');
      await watchLettingGo(stack, history);
      await hostile.close();
      const sessions = traffic.organizations.map(({ session }) => session);
      const shut = await trySlots(stack, history, sessions);
      await countAfter(stack, history, before);
      // What was found is written down; the judge has more to ask than an API would serve that has lost its slots.
      for (const name of shut) await restart(stack, name);
    }
    await writeDirectWays(stack, history);
    phase('judge');
    await history.close();
    return await judge(stack, history.path);
  } finally {
    await hostile?.close();
    await stack.close();
  }
}

/** Load without hostile clients, a pause in which it is seen what everything uses, and load beside them. */
async function compare(
  { seconds, makesFaults, stack, traffic, history, log, signal }: Course,
  hostile: HostileLane,
  phase: (name: Phase) => void,
): Promise<ResourceUsageLine[]> {
  const calmSeconds = seconds * CALM_SHARE;
  const warmUpSeconds = Math.min(WARM_UP_SECONDS_MAX, calmSeconds);
  log(`${Math.round(calmSeconds)} s without hostile clients …`);
  await wait(warmUpSeconds, signal);
  phase('calm');
  await wait(calmSeconds, signal);
  phase('load');
  await traffic.pause();
  await untilDrained(stack, DRAIN_SECONDS_MAX);
  const before = await countBefore(stack, history);
  traffic.resume();
  await wait(warmUpSeconds, signal);
  const hostileSeconds = seconds * (makesFaults ? HOSTILE_SHARE : 1 - CALM_SHARE);
  log(`${Math.round(hostileSeconds)} s beside hostile clients …`);
  phase('hostile');
  hostile.begin();
  await wait(hostileSeconds, signal);
  phase('load');
  return before;
}

async function restart(stack: Stack, name: string): Promise<void> {
  const child = stack.child(name);
  await child.end('SIGKILL');
  await child.start(stack.variantOf(name));
}

async function wait(seconds: number, signal: AbortSignal): Promise<void> {
  await delay(seconds * 1_000, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}

/** Faults in every lane, until each is undone and the system was seen to recover. */
async function makeFaults(course: Course): Promise<void> {
  const { stack, traffic, history, random, faultKinds, pauseSeconds, broken, log, signal } = course;
  const injection = injectFaults({
    stack,
    history,
    random: random.fork(),
    seconds: secondsOfFaults(course),
    kinds: faultKinds,
    pauseSeconds,
    probe: (until) => traffic.probe(until),
    race: (api) => traffic.race(api),
    calmMs: () => traffic.calmMs(),
    log,
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
  await stack.heal('reset');
  await injection.recovered(broken.length > 0 ? BROKEN_RECOVERY_SECONDS_MAX : RECOVERY_SECONDS_MAX);
}

/** Settings of the APIs that differ from the defaults. */
function envOf({ isHostile, makesFaults }: RunOptions): Record<string, string> {
  return {
    ...(isHostile && { REQUESTS_IN_FLIGHT_MAX: String(SLOTS) }),
    ...(isHostile && !makesFaults && { REQUEST_TIMEOUT_MS: String(TIMEOUT_MS), ANSWER_TIMEOUT_MS: String(TIMEOUT_MS) }),
    // A slow disk under a busy machine is no outage. Events that went directly to Postgres for it would keep from the judge what only
    // workers do wrong.
    ...(!makesFaults && { REDIS_COMMAND_TIMEOUT_MS: '10000' }),
  };
}

function variantsOf(broken: readonly BrokenBuild[]): Variants {
  const variantOf = (app: 'api' | 'worker') => ({
    imports: broken
      .filter((build) => BROKEN_BUILDS[build].some((each) => each === app))
      .map((build) => new URL(`./broken/${build}-main.js`, import.meta.url).href),
  });
  return { api: variantOf('api'), worker: variantOf('worker') };
}
