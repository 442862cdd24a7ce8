import type { BenchResults } from './bench-results.ts';
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
    stolen: 0,
    ...figures,
  };
}

/** A run in which nothing was measured but what is given. */
export function madeUpResults(measured: Partial<BenchResults> = {}): BenchResults {
  return {
    startedAt: new Date('2026-11-22T10:00:00Z'),
    command: 'npm run bench',
    settings: { rounds: 3, seconds: 8, warmupSeconds: 8, connections: 200, apis: 1 },
    machine: { cores: 2, cpu: 'Some CPU', memoryGb: 24, system: 'linux 6.1', node: 'v20.20.2', commit: 'abc1234' },
    services: { postgres: '18.4', redis: '7.0' },
    throughput: [],
    rates: [],
    redis: [],
    growth: [],
    reading: [],
    billing: null,
    ...measured,
  };
}
