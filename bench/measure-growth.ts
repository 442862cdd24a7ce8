// Weir as its work grows: tables that are full already, more workers, one customer that has everything, many organizations.

import { insertCallers } from './fill/callers.ts';
import { fillEvents } from './fill/fill-events.ts';
import type { BenchOptions, GrowthKind } from './bench-options.ts';
import type { BenchDeps } from './environment.ts';
import { WEIR_BATCH, WEIR_SINGLE, type Pattern } from './patterns.ts';
import { ONE_OF_EACH, runRound, type PreparedDatabase, type RoundResult } from './round.ts';
import { whole } from './spread.ts';

/** A year of a service that is used all day, however many rows that is. */
const FILL_DAYS = 365;
const FILL_CUSTOMERS = 1_000;

const ROWS = [0, 5_000_000, 20_000_000];
const WORKERS = [1, 2, 4];
const ORGANIZATIONS = 1_000;

/** What is measured, and what came of it. */
export interface GrowthCase {
  kind: GrowthKind;
  title: string;
  pattern: Pattern;
  rows: number;
  workers: number;
  customers: number;
  organizations: number;
  rounds: RoundResult[];
}

/** The cases that the options ask for, without rounds yet. What two kinds have in common is in both, and measured twice. */
export function growthCasesOf(options: Pick<BenchOptions, 'growthKinds' | 'rows' | 'patterns'>): GrowthCase[] {
  const plain = { rows: 0, workers: 1, customers: ONE_OF_EACH.customers, organizations: 1 };
  const casesOf = (kind: GrowthKind): Omit<GrowthCase, 'pattern' | 'rounds'>[] => {
    switch (kind) {
      case 'rows':
        return (options.rows ?? ROWS).map((rows) => ({
          ...plain,
          kind,
          rows,
          title: `${whole(rows)} rows there already`,
        }));
      case 'workers':
        return WORKERS.map((workers) => ({ ...plain, kind, workers, title: `workers: ${workers}` }));
      case 'customer':
        return [{ ...plain, kind, customers: 1, title: 'one customer has everything' }];
      case 'organizations':
        return [{ ...plain, kind, organizations: ORGANIZATIONS, title: `${whole(ORGANIZATIONS)} organizations` }];
    }
  };
  const patterns = [WEIR_SINGLE, WEIR_BATCH].filter((pattern) => options.patterns.includes(pattern));
  return options.growthKinds
    .flatMap(casesOf)
    .flatMap((each) =>
      patterns.map((pattern) => ({ ...each, title: `${each.title}, ${pattern.name}`, pattern, rounds: [] })),
    );
}

/** Every case once, then every case again. Full databases are made once and kept for all rounds. */
export async function measureGrowth(options: BenchOptions, deps: BenchDeps): Promise<GrowthCase[]> {
  const cases = growthCasesOf(options);
  const full = new Map<number, PreparedDatabase>();
  try {
    for (const rows of new Set(cases.map((each) => each.rows))) {
      if (rows > 0) full.set(rows, await fullDatabase(rows, deps));
    }
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const { pattern, title, rows, workers, customers, organizations, rounds } of cases) {
        const label = `round ${round} of ${options.rounds}, ${title}`;
        const prepared = full.get(rows) ?? (await emptyDatabase(organizations, deps));
        try {
          const settings = { ...ONE_OF_EACH, ...options, workers, customers, label, prepared };
          rounds.push(await runRound(pattern, settings, deps));
        } finally {
          if (!full.has(rows)) await prepared.database.drop();
        }
      }
    }
    return cases;
  } finally {
    for (const { database } of full.values()) await database.drop();
  }
}

async function emptyDatabase(organizations: number, { environment }: BenchDeps): Promise<PreparedDatabase> {
  const database = await environment.clear();
  return { database, callers: await insertCallers(database.client, organizations) };
}

async function fullDatabase(rows: number, { environment, progress, signal }: BenchDeps): Promise<PreparedDatabase> {
  const database = await environment.clear();
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
      progress.show(() => `making ${whole(rows)} rows: ${what}, ${whole(share * 100)} %`);
    },
  });
  return { database, callers };
}
