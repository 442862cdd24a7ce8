// The faults of chaos in a run of the clients: networks and processes. What loses events that Weir had accepted, as a disk does that
// lies, is left out: no client can know of it.

import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../environment/stack.ts';
import { planLane } from '../faults/fault-schedule.ts';
import { Gate } from '../faults/gate.ts';
import type { Lane } from '../faults/fault.ts';
import type { Random } from '../random.ts';

const LANES: readonly Lane[] = ['clients', 'redis edges', 'postgres edges', 'processes'];
const LOOK_AGAIN_MS = 50;

/** Makes faults until the signal; returns how many, when each is undone. */
export async function makeFaults(stack: Stack, seconds: number, random: Random, over: AbortSignal): Promise<number> {
  const gate = new Gate();
  const hold = async (wait: number): Promise<void> => {
    if (over.aborted) return;
    await delay(wait * 1_000, undefined, { signal: over }).catch((error: unknown) => {
      if (!over.aborted) throw error;
    });
  };
  const until = async (isSo: () => Promise<boolean>, what: string, secondsMax: number): Promise<void> => {
    const deadline = performance.now() + secondsMax * 1_000;
    while (!(await isSo())) {
      if (performance.now() > deadline) throw new Error(`waited ${secondsMax} s in vain until ${what}`);
      await delay(LOOK_AGAIN_MS);
    }
  };
  let made = 0;
  const lanes = LANES.map(async (lane) => {
    for (const planned of planLane(lane, seconds, random.fork())) {
      await hold(planned.pauseSeconds);
      if (over.aborted) return;
      const make = async () => {
        if (over.aborted) return;
        await planned.kind.inflict(
          // Its producers are processes of their own.
          { stack, seconds: planned.seconds, random: planned.random, hold, until, race() {} },
          planned.target,
        );
        made += 1;
      };
      await (planned.kind.isExclusive === true ? gate.alone(make) : gate.together(make));
    }
  });
  await Promise.all(lanes);
  return made;
}
