import type { FaultKind, Lane } from './fault.ts';

/** Stopped for longer than the 5 s that the lock of a job lives, and then going on as if nothing had been. */
export function pauseIn(lane: Lane, targets: readonly string[]): FaultKind {
  return {
    name: 'pause',
    lane,
    targets,
    seconds: [7, 9],
    isQuick: false,
    async inflict({ stack, seconds, hold }, target) {
      const child = stack.child(target);
      child.send('SIGSTOP');
      await hold(seconds);
      child.send('SIGCONT');
      return {};
    },
  };
}
