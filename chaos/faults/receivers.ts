// Faults of those who receive webhooks.

import type { Mood } from '../environment/receiver.ts';
import { RECEIVERS } from '../environment/stack.ts';
import type { FaultKind } from './fault.ts';

/** Nobody listens there, for longer than the first attempt and the one after it. */
const away: FaultKind = {
  name: 'receiver away',
  lane: 'receivers',
  targets: RECEIVERS,
  seconds: [1, 12],
  isQuick: true,
  async inflict({ stack, seconds, hold }, target) {
    const receiver = stack.receiver(target);
    await receiver.close();
    await hold(seconds);
    await receiver.open();
    return {};
  },
};

/** It reads what comes, and does not take it. */
const moody = (name: string, mood: Mood, seconds: readonly [number, number]): FaultKind => ({
  name,
  lane: 'receivers',
  targets: RECEIVERS,
  seconds,
  isQuick: true,
  async inflict(context, target) {
    const receiver = context.stack.receiver(target);
    receiver.mood = mood;
    await context.hold(context.seconds);
    receiver.mood = 'well';
    return {};
  },
});

export const receiverFaults: FaultKind[] = [
  away,
  moody('receiver failing', 'failing', [1, 12]),
  moody('receiver breaking', 'breaking', [1, 8]),
  // Longer than an attempt waits for its answer.
  moody('receiver silent', 'silent', [2, 20]),
];
