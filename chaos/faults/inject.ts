// Makes the faults of every lane in their order, and writes each into the history once the system was seen to serve again.

import { once, setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../environment/stack.ts';
import type { FaultLine, History } from '../history.ts';
import type { Random } from '../random.ts';
import { planLane, type PlannedFault } from './fault-schedule.ts';
import { lanesOf } from './fault.ts';
import { Gate } from './gate.ts';

export interface InjectOptions {
  stack: Stack;
  history: History;
  random: Random;
  /** How long faults are made. */
  seconds: number;
  /** Names of the kinds that are made; undefined: all. */
  kinds: readonly string[] | undefined;
  /** Seconds of peace before each fault; undefined: as it is planned. */
  pauseSeconds: number | undefined;
  /** Resolves when the system was seen to accept an event and to record it. */
  probe(signal: AbortSignal): Promise<void>;
  /** Has clients send some events to this API, and a moment later to the others. */
  race(api: number): void;
  /** Milliseconds since a client was last refused for now, or left without an answer. */
  calmMs(): number;
  log(line: string): void;
  /** Aborted: those under way are undone, and no more are made. */
  signal: AbortSignal;
}

export interface Injection {
  /** Resolves when the time is up and every fault is undone; rejects when a fault could not be made or undone. */
  done: Promise<void>;
  /** Faults that are over. */
  count(): number;
  /** Waits so long for the recoveries that have not been seen yet; those that do not come are written down without. */
  recovered(secondsMax: number): Promise<void>;
}

const LOOK_AGAIN_MS = 50;

/**
 * What an earlier fault left behind, such as a crowd of retries, is over when nobody was refused for so long. A system with more to do
 * than it can is never calm, and what is refused then is no sign of the fault: that is not made.
 */
const CALM_MS = 2_000;
const CALM_WAIT_SECONDS_MAX = 60;

export function injectFaults(options: InjectOptions): Injection {
  const { stack, history, random, seconds, probe, signal } = options;
  const gate = new Gate();
  const recoveries = new Set<Promise<void>>();
  const givenUp = new AbortController();
  /** No more faults begin; those under way last as long as was planned. */
  const over = new AbortController();
  /** Those under way are undone at once, since the run was ended or a fault could not be made. */
  const stopped = new AbortController();
  const stop = (reason: unknown) => {
    stopped.abort(reason);
    over.abort(reason);
  };
  const onSignal = () => stop(signal.reason);
  signal.addEventListener('abort', onSignal, { once: true });
  const timeUp = setTimeout(() => over.abort(), seconds * 1_000);
  for (const each of [over.signal, stopped.signal, givenUp.signal]) setMaxListeners(0, each);
  let made = 0;

  const wait = async (waitSeconds: number, until: AbortSignal): Promise<void> => {
    if (until.aborted) return;
    await delay(waitSeconds * 1_000, undefined, { signal: until }).catch((error: unknown) => {
      if (!until.aborted) throw error;
    });
  };
  const until = async (isSo: () => Promise<boolean>, what: string, untilSeconds: number): Promise<void> => {
    const deadline = performance.now() + untilSeconds * 1_000;
    while (!(await isSo())) {
      stopped.signal.throwIfAborted();
      if (performance.now() > deadline) throw new Error(`waited ${untilSeconds} s in vain until ${what}`);
      await delay(LOOK_AGAIN_MS);
    }
  };
  const recover = async (line: FaultLine): Promise<void> => {
    try {
      await probe(givenUp.signal);
      line.recoveredAfter = Math.round(history.now() - line.until);
    } catch (error) {
      if (!givenUp.signal.aborted) throw error;
    } finally {
      history.write(line);
    }
  };
  const make = async (planned: PlannedFault): Promise<void> => {
    const { kind, target } = planned;
    if (kind.isExclusive === true) {
      await probe(stopped.signal);
      const deadline = performance.now() + CALM_WAIT_SECONDS_MAX * 1_000;
      while (options.calmMs() < CALM_MS && performance.now() < deadline && !stopped.signal.aborted)
        await delay(LOOK_AGAIN_MS);
      if (stopped.signal.aborted) return;
      if (options.calmMs() < CALM_MS) {
        options.log(`${kind.name} was left out: the system was not calm for ${CALM_WAIT_SECONDS_MAX} s`);
        return;
      }
    }
    const at = history.now();
    const outcome = await kind.inflict(
      {
        stack,
        seconds: planned.seconds,
        random: planned.random,
        hold: (held) => wait(held, stopped.signal),
        until,
        race: options.race,
      },
      target,
    );
    made += 1;
    const recovery = recover({ type: 'fault', at, until: history.now(), kind: kind.name, target, ...outcome });
    recoveries.add(recovery);
    // Who waits for the recoveries is told.
    recovery.catch(() => {});
  };
  const runLane = async (plan: Iterable<PlannedFault>): Promise<void> => {
    for (const planned of plan) {
      await wait(options.pauseSeconds ?? planned.pauseSeconds, over.signal);
      if (over.signal.aborted) return;
      const makeOne = async () => (over.signal.aborted ? undefined : make(planned));
      await (planned.kind.isExclusive === true ? gate.alone(makeOne) : gate.together(makeOne));
    }
  };
  const runLanes = async (): Promise<void> => {
    const lanes = lanesOf(stack.machines !== undefined).map((lane) =>
      runLane(planLane(lane, seconds, random.fork(), options.kinds)),
    );
    // When one lane breaks, the others undo what they have made before anyone is told.
    for (const lane of lanes) lane.catch(stop);
    await Promise.allSettled(lanes);
    // Where no more faults come, there is load for as long as was asked for.
    if (!over.signal.aborted) await once(over.signal, 'abort');
    clearTimeout(timeUp);
    signal.removeEventListener('abort', onSignal);
    stopped.signal.throwIfAborted();
  };

  return {
    done: runLanes(),
    count: () => made,
    async recovered(secondsMax) {
      const timer = setTimeout(() => givenUp.abort(), secondsMax * 1_000);
      await Promise.all(recoveries);
      clearTimeout(timer);
    },
  };
}
