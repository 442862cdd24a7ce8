// What the tests of reconcile share: an organization with a meter of sums and one of distinct users, and ways to run it.

import type { Database } from '@weir/db/database';
import { newCommand } from '@weir/reconcile/connect';
import { balanceEvents } from '@weir/reconcile/events';
import { parseReconcileOptions, type ReconcileOptions } from '@weir/reconcile/reconcile-options';
import { reconcile, type Reconciliation } from '@weir/reconcile/reconcile';
import { describe } from '@weir/reconcile/reconcile-report';
import { expect } from 'vitest';
import { signUp, type Organization, type Weir } from './harness.ts';
import { runToEnd, type Ended } from './run-to-end.ts';

export interface Tenant extends Organization {
  sum: { id: string; token: string };
  users: { id: string; token: string };
  apiKey: string;
  /** Sends events, and answers the statuses of all. */
  track(...events: Record<string, unknown>[]): Promise<{ status: number; id: string }[]>;
}

export async function makeTenant(weir: Weir): Promise<Tenant> {
  const admin = await signUp(weir);
  const [sum, users, apiKey] = [
    await admin.createMeter('SUM'),
    await admin.createMeter('UNIQUE_COUNT'),
    await admin.createKey(),
  ];
  const track = async (...events: Record<string, unknown>[]) => {
    const body = {
      events: events.map((event) => ({
        meter_token: sum.token,
        customer_external_id: 'acme',
        quantity: 1,
        ...event,
      })),
    };
    const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body });
    return answer.body.data as { status: number; id: string }[];
  };
  return { ...admin, sum, users, apiKey, track };
}

/** The command, as a process of its own. */
export function runReconcile(weir: Weir, ...args: string[]): Promise<Ended> {
  const { DATABASE_URL = '', REDIS_URL = '', QUEUE_PREFIX = '' } = weir.env;
  return runToEnd('apps/reconcile/dist/main.js', { DATABASE_URL, REDIS_URL, QUEUE_PREFIX }, args);
}

/** Of everything, as the command takes it without arguments. */
const ALL = parseReconcileOptions([], newCommand());

/** The same within this process. */
export function reconcileHere(
  weir: Weir,
  database: Database,
  options: Partial<ReconcileOptions> = {},
): Promise<Reconciliation> {
  return reconcile({ database, queue: weir.queue, onPart: () => {} }, { ...ALL, ...options });
}

/** What the command writes of it. */
export async function reportHere(weir: Weir, database: Database, options: Partial<ReconcileOptions>): Promise<string> {
  return describe(await reconcileHere(weir, database, options), { ...ALL, ...options });
}

/** What is told of the events of an organization in the month that it is. */
export async function expectBalance(
  weir: Weir,
  database: Database,
  organizationId: string,
  expected: Record<'accepted' | 'recorded' | 'duplicate' | 'rejected' | 'queued', number>,
): Promise<void> {
  const { accepted, ...fates } = expected;
  const deps = { database, queue: weir.queue };
  const filter = { organizationId, month: undefined, archivedThrough: undefined };
  const balances = await balanceEvents(deps, filter, () => {});
  expect(balances).toEqual([
    {
      organizationId,
      month: expect.stringMatching(/^2\d{3}-\d\d$/),
      accepted,
      acceptedAtMost: accepted,
      fates,
      difference: 0,
    },
  ]);
}
