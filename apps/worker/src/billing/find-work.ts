// What billing has to do is found in Postgres, again and again, and each organization that has something due gets a job for it. So
// they take turns, and one with a hundred thousand drafts has one chunk of them done before the next organization's turn.

import { listPricing } from '@weir/db/billing/checks/billed-events';
import { findDueOrganizations, findOrganizationsToSettle } from '@weir/db/billing/run/run-work';
import type { Database } from '@weir/db/database';
import type { BillingJobs } from '@weir/queue/billing-jobs';

/** Finds who has something due by now, and adds a job for each of them and each task. */
export async function addDueWork({ kysely }: Pick<Database, 'kysely'>, jobs: Pick<BillingJobs, 'add'>): Promise<void> {
  for (const task of ['open', 'finalize', 'past_due'] as const) {
    const organizations = await findDueOrganizations(kysely, task);
    await jobs.add(organizations.map((organizationId) => ({ task, organizationId })));
  }
}

/** Adds a job for each organization that may have something to settle of subscriptions that have ended. */
export async function addSettling({ kysely }: Pick<Database, 'kysely'>, jobs: Pick<BillingJobs, 'add'>): Promise<void> {
  const organizations = await findOrganizationsToSettle(kysely);
  await jobs.add(organizations.map((organizationId) => ({ task: 'settle', organizationId })));
}

/** Adds a job for each organization that prices usage: days that are over may have some that no charge bills. */
export async function addLooks(database: Database, jobs: Pick<BillingJobs, 'add'>): Promise<void> {
  const organizations = await listPricing(database, undefined);
  await jobs.add(organizations.map((organizationId) => ({ task: 'unbilled', organizationId })));
}
