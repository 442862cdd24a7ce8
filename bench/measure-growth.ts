// Weir as its work grows: tables that are full already, more workers, one customer that has everything, many organizations.

import { insertCallers } from './fill/callers.ts';
import { fillEvents } from './fill/fill-events.ts';
import type { Ground } from './environment.ts';
import { markdownTable } from './markdown-table.ts';
import type { GrowthPart, Options } from './bench-options.ts';
import type { Progress } from './progress.ts';
import { measureRedis, type RedisSizing } from './redis-sizing.ts';
import { roundLine } from './throughput-tables.ts';
import { ONE_OF_EACH, runRound, type Place, type RoundResult, type RoundSettings } from './round.ts';
import { oneDigit, spreadOf, spreadOfAll, spreadText, whole } from './spread.ts';

/** A year of a service that is used all day, however many rows that is. */
const FILL_DAYS = 365;
const FILL_CUSTOMERS = 1_000;

const ORGANIZATIONS = 1_000;

/** What is measured, with every pattern, and what came of it. */
export interface GrowthCase {
  part: GrowthPart;
  title: string;
  pattern: string;
  rows: number;
  workers: number;
  customers: number;
  organizations: number;
  rounds: RoundResult[];
}

export interface Growth {
  cases: GrowthCase[];
  /** One for each round. */
  redis: RedisSizing[];
}

/** The cases that the options ask for, without rounds yet. What two parts have in common is in both, and measured twice. */
export function growthCasesOf(options: Pick<Options, 'growthParts' | 'rows' | 'workers' | 'patterns'>): GrowthCase[] {
  const plain = { rows: 0, workers: 1, customers: 1_000, organizations: 1 };
  const ofPart = (part: GrowthPart): Omit<GrowthCase, 'pattern' | 'rounds'>[] => {
    switch (part) {
      case 'rows':
        return options.rows.map((rows) => ({ ...plain, part, rows, title: `${whole(rows)} rows there already` }));
      case 'workers':
        return options.workers.map((workers) => ({ ...plain, part, workers, title: `workers: ${workers}` }));
      case 'customer':
        return [{ ...plain, part, customers: 1, title: 'one customer has everything' }];
      case 'organizations':
        return [{ ...plain, part, organizations: ORGANIZATIONS, title: `${whole(ORGANIZATIONS)} organizations` }];
      case 'redis':
        return [];
    }
  };
  return options.growthParts
    .flatMap(ofPart)
    .flatMap((each) => options.patterns.map(({ name }) => ({ ...each, pattern: name, rounds: [] })));
}

/** Every case once, then every case again. Full databases are made once and kept for all rounds. */
export async function measureGrowth(
  options: Options,
  ground: Ground,
  progress: Progress,
  signal: AbortSignal,
): Promise<Growth> {
  const growth: Growth = { cases: growthCasesOf(options), redis: [] };
  const full = new Map<number, Place>();
  try {
    for (const rows of new Set(growth.cases.map((each) => each.rows))) {
      if (rows > 0) full.set(rows, await fullPlace(rows, ground, progress, signal));
    }
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const each of growth.cases) {
        const label = `round ${round} of ${options.rounds}, ${each.pattern}, ${each.title}`;
        progress.log(`${label} …`);
        const { workers, customers } = each;
        const settings = { ...ONE_OF_EACH, ...options, workers, customers, label, progress };
        const result = await runCase(each, full.get(each.rows), ground, settings, signal);
        each.rounds.push(result);
        progress.log(roundLine(result));
      }
      if (!options.growthParts.includes('redis')) continue;
      progress.log(`round ${round} of ${options.rounds}, Redis without a worker …`);
      growth.redis.push(await measureRedis(ground, options, signal));
    }
    return growth;
  } finally {
    for (const { database } of full.values()) await database.drop();
  }

  async function runCase(
    { pattern: name, organizations }: GrowthCase,
    kept: Place | undefined,
    ground: Ground,
    settings: RoundSettings,
    signal: AbortSignal,
  ): Promise<RoundResult> {
    const pattern = options.patterns.find((each) => each.name === name);
    if (pattern === undefined) throw new Error(`there is no pattern ${name}`);
    if (kept !== undefined) return runRound(pattern, ground, { ...settings, place: kept }, signal);
    const place = await emptyPlace(organizations, ground);
    try {
      return await runRound(pattern, ground, { ...settings, place }, signal);
    } finally {
      await place.database.drop();
    }
  }
}

async function emptyPlace(organizations: number, ground: Ground): Promise<Place> {
  const database = await ground.clear();
  return { database, callers: await insertCallers(database.client, organizations) };
}

async function fullPlace(rows: number, ground: Ground, progress: Progress, signal: AbortSignal): Promise<Place> {
  const database = await ground.clear();
  const callers = await insertCallers(database.client, 1);
  const [caller] = callers;
  if (caller === undefined) throw new Error('no organization was made');
  progress.log(`making ${whole(rows)} rows …`);
  await fillEvents(database.client, {
    events: rows,
    customers: FILL_CUSTOMERS,
    meters: 1,
    days: FILL_DAYS,
    organizationId: caller.organizationId,
    meterIds: [caller.meterId],
    onProgress(what, share) {
      signal.throwIfAborted();
      progress.show(`making ${whole(rows)} rows: ${what}, ${whole(share * 100)} %`);
    },
  });
  return { database, callers };
}

export function growthTable(cases: readonly GrowthCase[]): string {
  const head = [
    'what there is',
    'pattern',
    'requests/s',
    'events/s accepted',
    'events/s recorded',
    'backlog',
    'p99 ms',
    'CPU s a million',
    'bytes in Postgres an event',
  ];
  return markdownTable(
    head,
    cases.map(({ title, pattern, rounds }) => [
      title,
      pattern,
      spreadText(spreadOf(rounds.map(({ requestsPerSecond }) => requestsPerSecond)), whole),
      spreadText(spreadOf(rounds.map(({ acceptedPerSecond }) => acceptedPerSecond)), whole),
      spreadText(
        spreadOfAll(rounds, ({ recordedPerSecond }) => recordedPerSecond),
        whole,
      ),
      spreadText(
        spreadOfAll(rounds, ({ backlog }) => backlog),
        whole,
      ),
      spreadText(spreadOf(rounds.map(({ latencyMs }) => latencyMs.p99)), oneDigit),
      spreadText(
        spreadOfAll(rounds, ({ cpuPerEvent }) => cpuPerEvent?.['all']),
        whole,
      ),
      spreadText(
        spreadOfAll(rounds, ({ postgresBytesPerEvent }) => postgresBytesPerEvent),
        whole,
      ),
    ]),
  );
}
