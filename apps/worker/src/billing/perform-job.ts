// One job of billing. It says which rows to look at; what there is to do is decided in the transaction that does it (packages/db,
// billing/run-work.ts and billing/finalize.ts). So any job may come any number of times, at any time, and beside another like it.

import { findUnsettled, settleSubscription } from '@weir/db/billing/adjustments';
import { cutByWeight } from '@weir/db/billing/chunk-weight';
import { finalizeInvoices } from '@weir/db/billing/finalize';
import { markPastDue } from '@weir/db/billing/past-due';
import {
  findDueDraftsOf,
  leaveWaiting,
  openDueSubscriptions,
  postponeDraft,
  postponeLater,
  postponeSubscription,
} from '@weir/db/billing/run-work';
import type { Database } from '@weir/db/database';
import { BILLING_CHUNK_MAX, type BillingJob } from '@weir/queue/billing-jobs';
import type { QueueConnection } from '@weir/queue/connection';
import type { Ownership } from '@weir/queue/ownership';
import { findQueuedSinceAtMost } from '@weir/queue/oldest-staged';
import type { Logger } from '@weir/shared/log';
import { doOrSplit } from './do-or-split.ts';

export interface BillingDeps {
  /** With few connections of its own, so that a long run leaves those of recording alone. */
  database: Database;
  queue: QueueConnection;
  ownership: Pick<Ownership, 'check'>;
  log: Logger;
  metrics: BillingCounts;
}

/** What is counted of billing. */
interface BillingCounts {
  finalizedInvoices: { inc(by: number): void };
  /** Subscriptions and drafts that were left out, to be tried again later. */
  billingFailures: { inc(): void };
}

/** Does a job. Throws while Postgres or Redis is away, and where the queue belongs to another database. */
export async function performBillingJob(deps: BillingDeps, job: BillingJob): Promise<void> {
  const { organizationId, ids } = job;
  // The events that a finalization waits for are asked of this queue.
  await deps.ownership.check();
  switch (job.task) {
    case 'open':
      await open(deps, organizationId, ids);
      return;
    case 'finalize':
      await finalize(deps, organizationId, ids);
      return;
    case 'past_due':
      await markPastDue(deps.database, organizationId, ids);
      return;
    case 'settle':
      await settleAll(deps, organizationId);
  }
}

/** Drafts of a boundary long ago are due as soon as they are made. */
async function open(deps: BillingDeps, organizationId: string, subscriptionIds: readonly string[]): Promise<void> {
  const { database } = deps;
  await doOrSplit(
    subscriptionIds,
    async (some) => {
      while (await openDueSubscriptions(database, organizationId, some));
    },
    async (id, error) => {
      tell(deps, error, { organization_id: organizationId, subscription_id: id });
      await postponeSubscription(database.kysely, organizationId, id, textOf(error));
    },
  );
  await finalize(deps, organizationId, await findDueDraftsOf(database.kysely, organizationId, subscriptionIds));
}

async function finalize(deps: BillingDeps, organizationId: string, invoiceIds: readonly string[]): Promise<void> {
  for (let at = 0; at < invoiceIds.length; at += BILLING_CHUNK_MAX) {
    const ready = await withoutWaiting(deps, organizationId, invoiceIds.slice(at, at + BILLING_CHUNK_MAX));
    for (const chunk of await cutByWeight(deps.database.kysely, organizationId, ready))
      await finalizeChunk(deps, organizationId, chunk);
  }
}

async function finalizeChunk(deps: BillingDeps, organizationId: string, chunk: readonly string[]): Promise<void> {
  const { database, metrics } = deps;
  await doOrSplit(
    chunk,
    async (some) => {
      const { finalized, earlierDraft } = await finalizeInvoices(database, organizationId, some, { actor: 'weir' });
      metrics.finalizedInvoices.inc(finalized.length);
      await postponeLater(database.kysely, organizationId, earlierDraft);
    },
    async (id, error) => {
      tell(deps, error, { organization_id: organizationId, invoice_id: id });
      await postponeDraft(database.kysely, organizationId, id, textOf(error));
    },
  );
}

/** Without those of whose periods events may still be staged: these would be on the next invoice, as late. */
async function withoutWaiting(
  { database, queue }: BillingDeps,
  organizationId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const since = await findQueuedSinceAtMost(queue, organizationId);
  if (since === undefined) return ids;
  return await leaveWaiting(database.kysely, organizationId, ids, new Date(since).toISOString());
}

async function settleAll(deps: BillingDeps, organizationId: string): Promise<void> {
  const { database } = deps;
  for (let after: string | undefined; ;) {
    const page = await findUnsettled(database.kysely, organizationId, { after, limit: BILLING_CHUNK_MAX });
    for (const id of page) {
      await doOrSplit(
        [id],
        () => settleSubscription(database, organizationId, id, { actor: 'weir' }),
        async (_, error) => tell(deps, error, { organization_id: organizationId, subscription_id: id }),
      );
    }
    after = page.at(-1);
    if (after === undefined) return;
  }
}

function tell({ log, metrics }: BillingDeps, error: unknown, what: Record<string, string>): void {
  metrics.billingFailures.inc();
  log.error({ err: error, ...what }, 'this could not be billed; it is left out, and tried again later');
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
