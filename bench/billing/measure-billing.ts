// One midnight that ends the month of many subscriptions: how long a real worker takes until each has its draft, and, once the
// grace is over, its invoice. Alone, beside events that are tracked as fast as they are taken, and with workers that are killed.

import type { BenchDeps } from '../environment.ts';
import { oneDigit, whole } from '../spread.ts';
import { prepareBilling, type Given } from './prepare.ts';
import { runMidnight, type Midnight, type MidnightKind } from './run-midnight.ts';
import { trackAlone, type Tracked } from './track-beside.ts';

export interface BillingResult {
  subscriptions: number;
  /** Of the month that ends. */
  events: number;
  midnights: Midnight[];
  /**
   * What is tracked in as long a time as the midnight took that was tracked beside, from the same start, while no month ends. It
   * slows down by itself as tables and their log grow: its first seconds are no measure.
   */
  trackedAlone: Tracked | null;
}

const KINDS: readonly MidnightKind[] = ['alone', 'tracking', 'kills'];

/** Throws where the invoices of one midnight are not those of the others, or a number is missing. */
export async function measureBilling(subscriptions: number, deps: BenchDeps): Promise<BillingResult> {
  const { environment, progress } = deps;
  const prepared = await prepareBilling(subscriptions, deps);
  const onCopy = async <Result>(work: (given: Given) => Promise<Result>): Promise<Result> => {
    const database = await environment.copy(prepared.database);
    try {
      return await work({ ...prepared, database, subscriptions });
    } finally {
      await database.drop();
    }
  };
  const midnights: Midnight[] = [];
  let trackedAlone: Tracked | null = null;
  try {
    for (const kind of KINDS) {
      progress.log(`${whole(subscriptions)} subscriptions, one midnight, ${kind} …`);
      const midnight = await onCopy((given) => runMidnight(kind, given, deps));
      progress.log(lineOf(midnight));
      midnights.push(midnight);
      const { tracked } = midnight;
      if (tracked === null) continue;
      progress.log(`the same tracking for ${whole(tracked.seconds)} s, and no midnight …`);
      trackedAlone = await onCopy((given) => trackAlone(tracked.seconds, given, deps));
      progress.log(`  tracked ${rateText(trackedAlone)}`);
    }
  } finally {
    await prepared.database.drop();
  }
  const different = midnights.find(({ fingerprint }) => fingerprint !== midnights[0]?.fingerprint);
  if (different !== undefined) {
    const counts = midnights.map(({ kind, invoices }) => `${kind} ${invoices}`).join(', ');
    throw new Error(`the invoices of the midnight "${different.kind}" are other ones (${counts})`);
  }
  return { subscriptions, events: prepared.events, midnights, trackedAlone };
}

/** Events recorded in each second beside a midnight, of those without one; null where it was not measured. */
export function trackedShare({ tracked }: Midnight, { trackedAlone }: BillingResult): number | null {
  return tracked === null || trackedAlone === null ? null : perSecond(tracked) / perSecond(trackedAlone);
}

function perSecond({ events, seconds }: Tracked): number {
  return events / seconds;
}

function rateText(tracked: Tracked): string {
  return `${whole(perSecond(tracked))} events a second`;
}

function lineOf({ draftsSeconds, finalizedSeconds, tracked, kills, workerBytes }: Midnight): string {
  const figures = [
    `drafts after ${oneDigit(draftsSeconds)} s`,
    `finalized ${oneDigit(finalizedSeconds)} s after the grace`,
    workerBytes && `worker ${whole(workerBytes.early / 1e6)} MB early, ${whole(workerBytes.most / 1e6)} MB at most`,
    tracked && `tracked ${rateText(tracked)}`,
    kills > 0 && `${kills} workers killed`,
  ];
  return `  ${figures.filter((figure) => typeof figure === 'string').join(', ')}`;
}
