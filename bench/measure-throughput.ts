// Rounds of all patterns in turn, and beside them Weir at fixed rates.

import type { BenchOptions } from './bench-options.ts';
import type { BenchDeps } from './environment.ts';
import { PATTERNS, WEIR_SINGLE, type Pattern } from './patterns.ts';
import { ONE_OF_EACH, runRound, type RoundResult, type RoundSettings } from './round.ts';

interface PatternRounds {
  name: string;
  title: string;
  rounds: RoundResult[];
}

/** The rounds at one share of the top rate, which each round has of its own. */
export interface FixedRate {
  sharePercent: number;
  rounds: RoundResult[];
}

export interface Throughput {
  /** Of rounds with the same number, all were run beside each other. */
  throughput: PatternRounds[];
  rates: FixedRate[];
}

/**
 * Every pattern once, then every rate once, then all of it again: what the machine does beside all this meets each of them. What comes
 * after another one may be slower by it, so each second round goes from the last pattern to the first.
 * The rates of a round are shares of what Weir reached in that round. What all rounds so far have come to is told after each.
 */
export async function measureThroughput(
  options: BenchOptions,
  deps: BenchDeps,
  onRound: (soFar: Throughput) => Promise<void>,
): Promise<Throughput> {
  const hasRates = options.measurements.includes('rates');
  const chosen = options.measurements.includes('throughput') ? options.patterns : [];
  const wanted = PATTERNS.filter((pattern) => chosen.includes(pattern) || (hasRates && pattern === WEIR_SINGLE));
  const canRun = ({ secondCopyOf: store }: Pattern) => store === undefined || deps.environment.isOwn(store);
  const patterns = wanted.filter(canRun);
  for (const { name, secondCopyOf } of wanted.filter((pattern) => !canRun(pattern)))
    deps.progress.log(`${name} is left out: a ${secondCopyOf} that is given gets no second copy.`);
  const throughput: PatternRounds[] = patterns.map(({ name, title }) => ({ name, title, rounds: [] }));
  const rates: FixedRate[] = (hasRates ? options.shares : []).map((sharePercent) => ({ sharePercent, rounds: [] }));
  for (let round = 1; round <= options.rounds; round += 1) {
    const settingsOf = (what: string): RoundSettings => {
      return { ...ONE_OF_EACH, ...options, label: `round ${round} of ${options.rounds}, ${what}` };
    };
    let topRate = 0;
    for (const pattern of inTurn(patterns, round)) {
      const result = await runRound(pattern, settingsOf(pattern.name), deps);
      throughput[patterns.indexOf(pattern)]?.rounds.push(result);
      if (pattern === WEIR_SINGLE) topRate = result.requestsPerSecond ?? 0;
    }
    for (const { sharePercent, rounds } of rates) {
      const requestsPerSecond = rateOf(topRate, sharePercent);
      const settings = settingsOf(`${WEIR_SINGLE.name} at ${requestsPerSecond}/s (${sharePercent} %)`);
      rounds.push(await runRound(WEIR_SINGLE, { ...settings, requestsPerSecond }, deps));
    }
    await onRound({ throughput, rates });
  }
  return { throughput, rates };
}

/** The order of a round, of which the first is 1. */
export function inTurn<T>(patterns: readonly T[], round: number): readonly T[] {
  return round % 2 === 1 ? patterns : patterns.toReversed();
}

/** The rate of a share, to the request; at least 1. */
export function rateOf(topRate: number, sharePercent: number): number {
  return Math.max(1, Math.round((topRate * sharePercent) / 100));
}
