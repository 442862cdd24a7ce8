import pg from 'pg';
import type { Stack } from '../environment/stack.ts';
import type { Random } from '../random.ts';

export const LANES = [
  'clients',
  'redis edges',
  'postgres edges',
  'processes',
  'stores',
  'receivers',
  'machines',
] as const;

/** Faults of one lane are made one after another, those of different lanes at the same time. */
export type Lane = (typeof LANES)[number];

/** Of a run on machines, of which one fails at a time; and of any other run. */
export function lanesOf(hasMachines: boolean): readonly Lane[] {
  return LANES.filter((lane) => (lane === 'machines') === hasMachines);
}

/** The system that a fault is made on, and what it is made with. */
export interface FaultContext {
  stack: Stack;
  /** How long it lasts, in seconds. */
  seconds: number;
  /** For what the kind leaves open. */
  random: Random;
  /** Waits so many seconds; at once when the run is stopped, so that the fault is undone. */
  hold(seconds: number): Promise<void>;
  /** Asks again and again until it is so; throws after so many seconds. */
  until(isSo: () => Promise<boolean>, what: string, seconds: number): Promise<void>;
  /** Has clients send some events to this API, and a moment later to the others. */
  race(api: number): void;
}

/** What is known of a fault when it is over; as in the history. */
export interface Outcome {
  /** What it befell, where that turned out only when it was made. */
  target?: string;
  detail?: string;
  losesClaims?: boolean;
  keepsCounts?: boolean;
  lostEvents?: string[];
}

/** One way in which the world fails. */
export interface FaultKind {
  /** As in the history and the report. */
  name: string;
  lane: Lane;
  /** The processes or edges that it can befall. */
  targets: readonly string[];
  /** From how many to how many seconds it lasts; a kind that ends by itself takes about as long. */
  seconds: readonly [number, number];
  /** Made in runs that are shorter than a few minutes as well. */
  isQuick: boolean;
  /** Made once in a run, for this share of it. */
  shareOfRun?: number;
  /** No other fault is made while it lasts, and it begins on a system that serves. */
  isExclusive?: boolean;
  /** Makes the fault, lets it last, and undoes it, also when it fails on the way. */
  inflict(context: FaultContext, target: string): Promise<Outcome>;
}

/** A connection to Postgres, past every proxy; undefined where none can be had. */
export async function tryPostgres({ databaseUrl }: Stack): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}
