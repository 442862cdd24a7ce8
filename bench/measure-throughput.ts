// Rounds of all patterns in turn, and beside them Weir at fixed rates.

import type { Ground } from './environment.ts';
import type { OpenLoopPoint } from './fixed-rates.ts';
import { rateOf } from './fixed-rates.ts';
import type { Options } from './bench-options.ts';
import { WEIR_SINGLE } from './patterns.ts';
import type { Progress } from './progress.ts';
import { roundLine } from './throughput-tables.ts';
import { ONE_OF_EACH, runRound, type RoundResult, type RoundSettings } from './round.ts';

export interface Comparison {
  rounds: Map<string, RoundResult[]>;
  openLoop: OpenLoopPoint[];
}

/**
 * Every pattern once, then every rate once, then all of it again: what the machine does beside all this meets each of them.
 * The rates of a round are shares of what Weir reached in that round.
 */
export async function compare(
  options: Options,
  ground: Ground,
  progress: Progress,
  signal: AbortSignal,
): Promise<Comparison> {
  const rounds = new Map<string, RoundResult[]>(options.patterns.map(({ name }) => [name, []]));
  const openLoop: OpenLoopPoint[] = options.shares.map((sharePercent) => ({ sharePercent, rounds: [] }));
  for (let round = 1; round <= options.rounds; round += 1) {
    const settingsOf = (what: string): RoundSettings => ({
      ...ONE_OF_EACH,
      ...options,
      workers: 1,
      label: `round ${round} of ${options.rounds}, ${what}`,
      progress,
    });
    for (const pattern of options.patterns) {
      const settings = settingsOf(pattern.name);
      progress.log(`${settings.label} …`);
      const result = await runRound(pattern, ground, settings, signal);
      rounds.get(pattern.name)?.push(result);
      progress.log(roundLine(result));
    }
    const topRate = rounds.get(WEIR_SINGLE.name)?.at(-1)?.requestsPerSecond ?? 0;
    for (const point of openLoop) {
      const requestsPerSecond = rateOf(topRate, point.sharePercent);
      const settings = settingsOf(`${WEIR_SINGLE.name} at ${requestsPerSecond}/s (${point.sharePercent} %)`);
      progress.log(`${settings.label} …`);
      const result = await runRound(WEIR_SINGLE, ground, { ...settings, requestsPerSecond }, signal);
      point.rounds.push(result);
      progress.log(roundLine(result));
    }
  }
  return { rounds, openLoop };
}
