// What billing has to do is found in Postgres, again and again, and named in jobs. Nothing else adds jobs but the making of a
// subscription, and nothing is lost with one.

import {
  findDueDrafts,
  findDueSubscriptions,
  findOrganizationsWithLateEvents,
  findPastDue,
  type DueWork,
} from '@weir/db/billing/run-work';
import type { Database } from '@weir/db/database';
import type { BillingJobs, BillingTask } from '@weir/queue/billing-jobs';

/** Finds what is due by now and adds jobs for it; while many jobs wait, does neither. */
export async function addDueWork({ kysely }: Pick<Database, 'kysely'>, jobs: BillingJobs): Promise<void> {
  if (await jobs.isFull()) return;
  await addAll(jobs, 'open', await findDueSubscriptions(kysely));
  await addAll(jobs, 'finalize', await findDueDrafts(kysely));
  await addAll(jobs, 'past_due', await findPastDue(kysely));
}

/** Adds a job for each organization that may have late changes of subscriptions that have ended. */
export async function addSettling({ kysely }: Pick<Database, 'kysely'>, jobs: BillingJobs): Promise<void> {
  for (const id of await findOrganizationsWithLateEvents(kysely)) await jobs.add('settle', id, []);
}

async function addAll(jobs: BillingJobs, task: BillingTask, work: readonly DueWork[]): Promise<void> {
  for (const { organization_id, ids } of work) await jobs.add(task, organization_id, ids);
}
