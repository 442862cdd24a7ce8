// One midnight that ends the month of many subscriptions: how long a real worker takes until each has its draft, and, once the
// grace is over, its invoice. Alone, beside events that are tracked as fast as they are taken, and with workers that are killed.

import type { BenchDeps } from '../environment.ts';
import { oneDigit, whole } from '../spread.ts';
import { prepareBilling } from './prepare.ts';
import { runMidnight, type Midnight, type MidnightKind } from './run-midnight.ts';

export interface BillingResult {
  subscriptions: number;
  /** Of the month that ends. */
  events: number;
  midnights: Midnight[];
}

const KINDS: readonly MidnightKind[] = ['alone', 'tracking', 'kills'];

/** Throws where the invoices of one midnight are not those of the others, or a number is missing. */
export async function measureBilling(subscriptions: number, deps: BenchDeps): Promise<BillingResult> {
  const { environment, progress } = deps;
  const prepared = await prepareBilling(subscriptions, deps);
  const midnights: Midnight[] = [];
  try {
    for (const kind of KINDS) {
      progress.log(`${whole(subscriptions)} subscriptions, one midnight, ${kind} …`);
      const database = await environment.copy(prepared.database);
      try {
        const midnight = await runMidnight(kind, { ...prepared, database, subscriptions }, deps);
        progress.log(lineOf(midnight));
        midnights.push(midnight);
      } finally {
        await database.drop();
      }
    }
  } finally {
    await prepared.database.drop();
  }
  const different = midnights.find(({ fingerprint }) => fingerprint !== midnights[0]?.fingerprint);
  if (different !== undefined) {
    const counts = midnights.map(({ kind, invoices }) => `${kind} ${invoices}`).join(', ');
    throw new Error(`the invoices of the midnight "${different.kind}" are other ones (${counts})`);
  }
  return { subscriptions, events: prepared.events, midnights };
}

function lineOf({ draftsSeconds, finalizedSeconds, trackedShare, kills, workerBytes }: Midnight): string {
  const figures = [
    `drafts after ${oneDigit(draftsSeconds)} s`,
    `finalized ${oneDigit(finalizedSeconds)} s after the grace`,
    workerBytes && `worker ${whole(workerBytes.early / 1e6)} MB early, ${whole(workerBytes.most / 1e6)} MB at most`,
    trackedShare !== null && `tracking at ${oneDigit(trackedShare * 100)} % of its rate`,
    kills > 0 && `${kills} workers killed`,
  ];
  return `  ${figures.filter((figure) => typeof figure === 'string').join(', ')}`;
}
