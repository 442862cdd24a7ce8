// Takes the jobs of billing beside recording, with connections of its own.

import { isDatabaseAway, isTimedOut, isUnavailable, openDatabase, type Database } from '@weir/db/database';
import { countDueDrafts, readRunState } from '@weir/db/billing/run/run-work';
import { countUnbilledMeters } from '@weir/db/billing/usage/unbilled-usage';
import {
  openBillingWorker,
  type BillingJob,
  type BillingJobs,
  type BillingTask,
  type BillingWorker,
  type BillingWorkerOptions,
} from '@weir/queue/billing-jobs';
import { disconnect, openWorker, type QueueAddress, type QueueConnection } from '@weir/queue/connection';
import { NotOurQueue, type Ownership } from '@weir/queue/ownership';
import { findQueuedSinceAtMost } from '@weir/queue/oldest-staged';
import { isRedisAway, isRefusedByRedis } from '@weir/queue/redis-away';
import type { Logger } from '@weir/shared/log';
import { watchOldest } from '../watch-oldest.ts';
import type { WorkerMetrics } from '../worker-metrics.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { performBillingJob } from './perform-job.ts';
import { Rest } from './rest.ts';

export interface BillingOptions {
  address: QueueAddress;
  databaseUrl: string;
  ownership: Pick<Ownership, 'check'>;
  /** Jobs at the same time, each on a connection of its own. 0: it leaves them to other workers. */
  concurrency: number;
  statementTimeoutMs: number;
  jobs: Pick<BillingJobs, 'add'>;
  log: Logger;
  metrics: WorkerMetrics;
}

/** How often it is looked what waits, for the metrics. */
const STATE_INTERVAL_MS = 10_000;

/** What no metric tells the wait of: when it is due stands nowhere, and the next look for it is an hour away. */
const UNTOLD: ReadonlySet<BillingTask> = new Set(['settle', 'unbilled']);

/** What Postgres has refused is tried again after this, since the lock that somebody held may be gone. Where it is not, that is a failure. */
const REFUSED_AGAIN_MS = 60_000;

/** Takes jobs at once: it is told not to where the queue belongs to another database. */
export function openBilling(options: BillingOptions): BillingWorker {
  const { log, metrics, ownership } = options;
  const database = openDatabase(options.databaseUrl, {
    // One for each job in hand, and one for the metrics.
    connectionsMax: options.concurrency + 1,
    statementTimeoutMs: options.statementTimeoutMs,
    onConnectionError: (error) => log.warn({ err: error }, 'an idle connection of billing to Postgres was lost'),
  });
  const queue = openWorker(options.address, (error) =>
    log.warn({ err: error }, 'billing lost its connection to Redis'),
  );
  const deps = { database, queue, ownership, log, metrics };
  const closing = new AbortController();
  const rest = new Rest(options.concurrency);
  const goOn = (next: readonly BillingJob[], delayMs: number): void => {
    options.jobs.add(next, delayMs).catch((error: unknown) => {
      log.warn({ err: error }, 'billing could not go on at once; it will be found again');
    });
  };
  const worker = openTaker(queue, {
    concurrency: options.concurrency,
    async perform(job, begin) {
      await delay(rest.beforeTurnMs, undefined, { signal: closing.signal }).catch(() => {});
      const began = performance.now();
      try {
        return await performBillingJob(deps, job, begin);
      } finally {
        rest.owe(job.task, performance.now() - began);
      }
    },
    onDone: (next) => goOn(next, rest.owedMs),
    onFailed(error, job) {
      const line = { err: error, task: job?.task, organization_id: job?.organizationId };
      const message = 'billing could not be done; it will be found again';
      const isUntold = job !== undefined && UNTOLD.has(job.task) && isRefused(error);
      if (isUntold) goOn([afterRefusal(job)], REFUSED_AGAIN_MS);
      if (isOfAPart(error) && !(isUntold && job.wasRefused === true)) {
        log.warn(line, message);
        return;
      }
      metrics.billingFailures.inc();
      log.error(line, message);
    },
    onError: (error) => log.warn({ err: error }, 'billing met an error outside any job'),
  });
  const endWatch = watchOldest(metrics.billingOldestSeconds, {
    intervalMs: STATE_INTERVAL_MS,
    look: () => showState(database, queue, metrics),
    onFailed: (error) => log.warn({ err: error }, 'what waits to be billed could not be read'),
  });
  return {
    take: (isOn) => worker?.take(isOn),
    async close(uncaught) {
      endWatch();
      closing.abort();
      await worker?.close(uncaught);
      disconnect(queue);
      await database.close();
    },
  };
}

/** Whether a part was away, refused it, or is not ours: nothing is wrong with what is billed. */
function isOfAPart(error: Error): boolean {
  if (isTimedOut(error)) return false;
  return isUnavailable(error) || isRedisAway(error) || isRefusedByRedis(error) || error instanceof NotOurQueue;
}

/** Whether Postgres is there, and does not do this now: somebody holds a lock, or it has no room. */
function isRefused(error: Error): boolean {
  return isUnavailable(error) && !isDatabaseAway(error) && !isTimedOut(error);
}

/** It begins where the one that was refused did. What that one began, no worker died of. */
function afterRefusal({ task, organizationId, after }: BillingJob): BillingJob {
  return { task, organizationId, ...(after !== undefined && { after }), wasRefused: true };
}

/** Returns how long the oldest has been due. */
async function showState(database: Database, queue: QueueConnection, metrics: WorkerMetrics): Promise<number> {
  const { draftsDue, oldestSeconds, leftOut } = await readRunState(database.kysely);
  metrics.draftsDue.set(draftsDue);
  metrics.billingLeftOut.set(leftOut);
  metrics.unbilledUsageMeters.set(await countUnbilledMeters(database.kysely));
  metrics.draftsWaitingForEvents.set(draftsDue === 0 ? 0 : await countWaiting(database, queue));
  return oldestSeconds;
}

async function countWaiting(database: Database, queue: QueueConnection): Promise<number> {
  const since = new Map<string, number>();
  let waiting = 0;
  for (const { organization_id: id, period_end, drafts } of await countDueDrafts(database.kysely)) {
    if (!since.has(id)) since.set(id, (await findQueuedSinceAtMost(queue, id)) ?? Infinity);
    if (Date.parse(period_end) > (since.get(id) ?? Infinity)) waiting += drafts;
  }
  return waiting;
}

function openTaker(queue: QueueConnection, options: BillingWorkerOptions): BillingWorker | undefined {
  return options.concurrency === 0 ? undefined : openBillingWorker(queue, options);
}
