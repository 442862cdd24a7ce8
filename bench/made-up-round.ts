import type { RoundResult } from './round.ts';

/** A round for tests of what is made of rounds, with the figures that matter to them. */
export function madeUpRound(figures: Partial<RoundResult> = {}): RoundResult {
  return {
    requestsPerSecond: 1_000,
    acceptedPerSecond: 1_000,
    recordedPerSecond: 1_000,
    backlog: 0,
    duePerSecond: null,
    unsent: null,
    latencyMs: { p50: 1, p99: 2, p999: 3 },
    errors: {},
    cpuPerEvent: null,
    memoryBytes: null,
    postgresBytesPerEvent: 300,
    redisBytesPerEvent: 150,
    busyElsewhere: 0,
    ...figures,
  };
}
