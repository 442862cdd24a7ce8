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
  /** Undefined where nobody bills anything. */
  billing?: ReconciledBilling;
}

interface ReconciledBilling {
  events: { meter_id: string; month: string; recorded: number; difference: number }[];
  dues: { compared: number; miscounted: number; examples: object[] };
  checks: { made: number; broken: { name: string; promise: string; found: number; faults: object[] }[] };
  invoices: {
    from: string[];
    computed: number;
    differing: number;
    examples: { invoice_id: string; from: string; said: string }[];
  };
}

/** Every finalized invoice is computed again as well. Rejects when it could not find out. */
export async function runReconcile({ databaseUrl, redisUrl, queuePrefix }: SystemUnderTest): Promise<Reconciled> {
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: queuePrefix };
  const options = { env, maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)(process.execPath, [RECONCILE, '--json', '--invoices'], options).catch(
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
  const mayHaveLostCounts = facts.dataLosses.some(({ keepsCounts }) => keepsCounts !== true);
  for (const { organization_id, month, difference } of events) {
    // Redis loses its counts together with its claims, where it has no second copy of them.
    if (difference < 0 && !mayHaveLostCounts)
      check.violate(`${-difference} events of ${organization_id} in ${month} were not counted when they were accepted`);
  }
  return check;
}

/** Each recorded event of a priced meter is billed, late, open or unbilled for a reason, and the rows of billing hold together. */
export function reconcileFindsAllBilled({ billing }: Reconciled): Check {
  const check = new Check(
    'billed',
    'npm run reconcile finds recorded = billed + late + open + unbilled for each meter and month, and every promise about the rows of billing kept.',
  );
  if (billing === undefined) return check;
  const { events, dues, checks } = billing;
  check.examine(events.reduce((sum, { recorded }) => sum + recorded, 0) + dues.compared + checks.made);
  for (const { meter_id, month, difference } of events)
    if (difference !== 0)
      check.violate(`${difference} events of meter ${meter_id} in ${month} are in no due, for no reason`);
  for (const example of dues.examples) check.violate(`a due is billed for other events: ${JSON.stringify(example)}`);
  for (const { name, promise, found, faults } of checks.broken)
    check.violate(`${name}, ${found} times not so (${promise}), such as ${JSON.stringify(faults[0])}`);
  return check;
}

/** Every finalized invoice comes to the same when it is computed again: at the end, and while the run was on. */
export function invoicesComputeAgain({ billing: facts }: Facts, { billing }: Reconciled): Check {
  const check = new Check(
    'recompute',
    'Every finalized invoice, computed again, is identical to the last digit: under faults as at the end, from rollups and from events.',
  );
  for (const { operation, subject, status, body, at } of facts) {
    if (operation !== 'recompute' || status !== 200) continue;
    check.examine();
    const { identical } = body as { identical: boolean };
    if (!identical)
      check.violate(`invoice ${subject} was not identical at ${at} ms: ${JSON.stringify(body).slice(0, 400)}`);
  }
  if (billing === undefined) return check;
  const { computed, from, differing, examples } = billing.invoices;
  check.examine(computed * from.length);
  for (const { invoice_id, from: source, said } of examples)
    check.violate(`invoice ${invoice_id}, from ${source}: ${said}`);
  if (differing > 0 && examples.length === 0) check.violate(`${differing} invoices are not identical`);
  return check;
}
