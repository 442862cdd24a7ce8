import type { BenchOptions } from './bench-options.ts';
import type { BillingResult } from './billing/measure-billing.ts';
import type { Machine } from './machine.ts';
import type { GrowthCase } from './measure-growth.ts';
import type { Throughput } from './measure-throughput.ts';
import type { ReadResult } from './read/measure-reading.ts';
import type { RedisSizing } from './redis-sizing.ts';

/** One run of one build on one machine. What was not measured is empty. */
export interface BenchResults extends Throughput {
  startedAt: Date;
  command: string;
  settings: Pick<BenchOptions, 'rounds' | 'seconds' | 'warmupSeconds' | 'connections' | 'apis'>;
  machine: Machine;
  /** The versions of Postgres and Redis. */
  services: Record<string, string>;
  /** One for each round. */
  redis: RedisSizing[];
  growth: GrowthCase[];
  /** One for each number of events. */
  reading: ReadResult[];
  /** Null where it was not measured. */
  billing: BillingResult | null;
}
