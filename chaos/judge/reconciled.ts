// What `npm run reconcile` says of the run. The judge takes its word that the rollups are what the events give.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { SystemUnderTest } from '../environment/system.ts';
import { Check } from './check.ts';
import { lostEventsOf, type Facts } from './history-facts.ts';

const RECONCILE = fileURLToPath(new URL('../../../apps/reconcile/dist/main.js', import.meta.url));

/** It prints a line for each organization, month and difference. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Of what it prints, what the judge looks at. */
export interface Reconciled {
  events: { organization_id: string; month: string; difference: number }[];
  rollups: { compared: number; differing: object[] };
}

/** Rejects when it could not find out. */
export async function runReconcile({ databaseUrl, redisUrl, queuePrefix }: SystemUnderTest): Promise<Reconciled> {
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: queuePrefix };
  const options = { env, maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)(process.execPath, [RECONCILE, '--json'], options).catch(
    (error: Error & { code?: unknown; stdout: string }) => {
      // Exit status 1 says that something differs.
      if (error.code === 1) return error;
      throw error;
    },
  );
  return JSON.parse(stdout) as Reconciled;
}

/** Rollups equal their events, and no accepted event is missing but those that were lost with Redis. */
export function reconcileFindsAllEqual(facts: Facts, { events, rollups }: Reconciled): Check {
  const check = new Check(
    'reconcile',
    'npm run reconcile finds every rollup equal to its events, and as many events as were accepted, but for what was lost with Redis.',
  );
  check.examine(rollups.compared + events.length);
  for (const difference of rollups.differing) check.violate(`a rollup differs: ${JSON.stringify(difference)}`);
  const missing = events.reduce((sum, { difference }) => sum + Math.max(0, difference), 0);
  const lost = lostEventsOf(facts).size;
  if (missing > lost) check.violate(`${missing} accepted events are missing, and ${lost} were lost with Redis`);
  for (const { organization_id, month, difference } of events) {
    // Redis loses its counts together with its claims.
    if (difference < 0 && facts.dataLosses.length === 0)
      check.violate(`${-difference} events of ${organization_id} in ${month} were not counted when they were accepted`);
  }
  return check;
}
