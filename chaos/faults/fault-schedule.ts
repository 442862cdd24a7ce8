// Which faults are made, in which order, for how long: drawn from the seed alone, so that a run can be made again. When
// each of them begins depends on the machine as well.

import { FAULT_KINDS } from './fault-kinds.ts';
import type { FaultKind, Lane } from './fault.ts';
import type { Random } from '../random.ts';

export interface PlannedFault {
  kind: FaultKind;
  target: string;
  seconds: number;
  /** Seconds of peace before the next one of this lane. */
  pauseSeconds: number;
  /** For what the kind leaves open. */
  random: Random;
}

/** A run that is shorter has only the quick kinds, and has them short. */
const SHORT_RUN_SECONDS = 180;

/** The kinds of a lane that a run makes whose faults are made for so long. */
export function kindsOf(lane: Lane, runSeconds: number): FaultKind[] {
  const isShort = runSeconds < SHORT_RUN_SECONDS;
  return FAULT_KINDS.filter((kind) => kind.lane === lane && (kind.isQuick || !isShort));
}

/**
 * The faults of one lane, without end: every kind before any comes again, and every target of a kind before any does. `names`: only
 * kinds of these names.
 */
export function* planLane(
  lane: Lane,
  runSeconds: number,
  random: Random,
  names?: readonly string[],
): Generator<PlannedFault, void> {
  const isShort = runSeconds < SHORT_RUN_SECONDS;
  const kinds = kindsOf(lane, runSeconds).filter(({ name }) => names?.includes(name) ?? true);
  if (kinds.length === 0) return;
  const decks = new Map<FaultKind, string[]>();
  for (let round = 0; round === 0 || kinds.some(({ shareOfRun }) => shareOfRun === undefined); round += 1) {
    for (const kind of random.shuffle(kinds)) {
      if (kind.shareOfRun !== undefined && round > 0) continue;
      const deck = decks.get(kind) ?? [];
      if (deck.length === 0) deck.push(...random.shuffle(kind.targets));
      const target = deck.pop() ?? '';
      decks.set(kind, deck);
      yield {
        kind,
        target,
        seconds: secondsOf(kind, runSeconds, isShort, random),
        pauseSeconds: random.int(1_000, isShort ? 2_000 : 3_000) / 1_000,
        random: random.fork(),
      };
    }
  }
}

function secondsOf(kind: FaultKind, runSeconds: number, isShort: boolean, random: Random): number {
  const [min, max] = kind.seconds;
  if (kind.shareOfRun !== undefined) return Math.max(min, Math.min(max, Math.round(kind.shareOfRun * runSeconds)));
  return random.int(min * 1_000, Math.min(max, isShort ? min + 1 : max) * 1_000) / 1_000;
}
