// Faults of Redis and Postgres themselves.

import type { FaultKind } from './fault.ts';
import { pauseIn } from './pause.ts';

/** Killed with everything in its memory. */
const kill: FaultKind = {
  name: 'kill',
  lane: 'stores',
  targets: ['redis', 'postgres'],
  seconds: [0, 3],
  isQuick: true,
  async inflict({ stack, seconds, hold }, target) {
    const child = stack.child(target);
    await child.end('SIGKILL');
    await hold(seconds);
    await child.start();
    return {};
  },
};

/** Nothing is refused: everything waits. */
const pause = pauseIn('stores', ['redis']);

/** Stopped in order. */
const restart: FaultKind = {
  name: 'restart',
  lane: 'stores',
  targets: ['redis'],
  seconds: [0, 2],
  isQuick: true,
  async inflict({ stack, seconds, hold }, target) {
    const child = stack.child(target);
    await child.end('SIGTERM');
    await hold(seconds);
    await child.start();
    return {};
  },
};

/** Every connection ends in the middle of what it does, and the next start replays the log. */
const stopImmediately: FaultKind = {
  name: 'immediate stop',
  lane: 'stores',
  targets: ['postgres'],
  seconds: [0, 3],
  isQuick: true,
  async inflict({ stack, seconds, hold }, target) {
    const child = stack.child(target);
    await child.end('SIGQUIT');
    await hold(seconds);
    await child.start();
    return {};
  },
};

/** Up to a minute without Postgres, which is a tenth of a run of ten: tracking goes on, and everything waits in Redis. */
const away: FaultKind = {
  name: 'away',
  lane: 'stores',
  targets: ['postgres'],
  seconds: [3, 60],
  isQuick: true,
  shareOfRun: 0.1,
  async inflict({ stack, seconds, hold }, target) {
    const child = stack.child(target);
    await child.end('SIGINT');
    await hold(seconds);
    await child.start();
    return {};
  },
};

export const storeFaults: FaultKind[] = [kill, pause, restart, stopImmediately, away];
