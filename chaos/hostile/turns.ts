// Which kinds of hostile clients are at work when: drawn from the seed alone.

import type { Random } from '../random.ts';
import type { AttackKind } from './attack.ts';
import { ATTACK_KINDS } from './attack-kinds.ts';

export interface Turn {
  kind: AttackKind;
  seconds: number;
  /** Seconds until the next one of this lane begins. */
  pauseSeconds: number;
}

/** Kinds at work at the same time. More would be a test of the machine, on which all of this runs. */
export const TURN_LANES = 3;

/** So that even a short run has every kind. */
const SHORT_RUN_SECONDS = 120;

/** The turns of each lane, without end. Every kind has its turn before any has another, and no two lanes have the same. */
export function planTurns(runSeconds: number, random: Random): Iterator<Turn>[] {
  const shuffled = random.shuffle(ATTACK_KINDS);
  const isShort = runSeconds < SHORT_RUN_SECONDS;
  return Array.from({ length: TURN_LANES }, (_, lane) => {
    const kinds = shuffled.filter((_kind, index) => index % TURN_LANES === lane);
    return planLane(kinds, isShort, random.fork());
  });
}

function* planLane(kinds: readonly AttackKind[], isShort: boolean, random: Random): Generator<Turn, never> {
  for (;;) {
    for (const kind of random.shuffle(kinds)) {
      yield {
        kind,
        seconds: random.int(isShort ? 1_000 : 3_000, isShort ? 1_500 : 6_000) / 1_000,
        pauseSeconds: random.int(0, isShort ? 200 : 1_000) / 1_000,
      };
    }
  }
}
