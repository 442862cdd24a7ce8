// One job of billing: a turn of one organization. What there is to do is decided in the transaction that does it (packages/db,
// billing/run/run-work.ts and billing/run/finalize.ts). So any job may come any number of times, at any time, and beside another like it.

import { findUnsettled, settleSubscription } from '@weir/db/billing/run/settlements';
import { cutByWeight } from '@weir/db/billing/invoices/cut-by-weight';
import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { markPastDue } from '@weir/db/billing/run/past-due';
import {
  findDueDrafts,
  findDueDraftsOf,
  findDueSubscriptions,
  findPastDue,
  leaveWaiting,
  openDueSubscriptions,
  postponeDraft,
  postponeLater,
  postponePastDue,
  postponeSettlement,
  postponeSubscription,
} from '@weir/db/billing/run/run-work';
import { findDaysToLookAt, lookAtDay, writeLook, type MeterDay } from '@weir/db/billing/usage/unbilled-usage';
import { InOtherHands, type Database } from '@weir/db/database';
import { MonthTakenOut } from '@weir/db/months-taken-out';
import { BILLING_CHUNK_MAX, type BegunChunk, type BillingJob, type BillingTask } from '@weir/queue/billing-jobs';
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

/** Metrics of billing. */
interface BillingCounts {
  finalizedInvoices: { inc(by: number): void };
  /** Subscriptions, invoices and days of meters that were left out, to be tried again later. */
  billingFailures: { inc(): void };
  /** Workers that began a chunk and did not come back from it. */
  billingDeaths: { inc(): void };
}

/** A turn ends after this, with the chunk that is under way: other organizations wait for it. */
const TURN_MS = 50;

/** After a worker died, a chunk is a part of that which it began; as well after one was stopped, which took longer than a stop may. */
const PARTS_AFTER_DEATH = 8;

/** A row is postponed once workers have died of it alone so often: the first time it may have been killed for another reason. */
const DEATHS_MAX = 2;

/** So many days of meters are found at once. */
const LOOKS_MAX = 100;

/** So many subscriptions are looked at at once for something to settle: of each, all of its dues may have to be read. */
const UNSETTLED_LOOKS_MAX = 100;

const DEADLY = 'a worker began this and did not come back from it: it may need more memory than there is';

/** One turn of an organization at a task. */
interface Turn {
  job: BillingJob;
  chunkMax: number;
  isOver(): boolean;
  /** Has the job remember what it is about to do, should the worker die of it. */
  begin(chunk: readonly string[]): Promise<void>;
  /**
   * The tasks that it leaves something of. Of what it has done whole there is no other turn: one that waits its rest out would hold up
   * what becomes due meanwhile, since a wake finds it waiting.
   */
  left: Set<BillingTask>;
  /** How much was done or put off: after a turn that did nothing, since others have it in hand, there is no use in another one. */
  done: number;
}

/**
 * Does a job, and returns those that are to follow. Throws while Postgres or Redis is away, and where the queue belongs to another
 * database.
 */
export async function performBillingJob(
  deps: BillingDeps,
  job: BillingJob,
  remember: (begun: BegunChunk) => Promise<void> = () => Promise.resolve(),
): Promise<BillingJob[]> {
  // The events that a finalization waits for are asked of this queue.
  await deps.ownership.check();
  const turn = openTurn(job, remember);
  const hasPostponed = await leaveDeadly(deps, job);
  let after: string | undefined;
  switch (job.task) {
    case 'open':
      await open(deps, turn);
      break;
    case 'finalize':
      await finalizeDue(deps, turn);
      break;
    case 'past_due':
      await pastDue(deps, turn);
      break;
    case 'settle':
      after = await settle(deps, turn, hasPostponed);
      return after === undefined ? [] : [{ ...nextOf(turn, 'settle'), after }];
    case 'unbilled':
      await lookAtDays(deps, turn);
      break;
  }
  if (turn.done === 0 && !hasPostponed) return [];
  return [...turn.left].map((task) => nextOf(turn, task));
}

function openTurn(job: BillingJob, remember: (begun: BegunChunk) => Promise<void>): Turn {
  const ends = performance.now() + TURN_MS;
  const { begun } = job;
  const deaths = begun?.isStopped === true ? 0 : 1;
  return {
    job,
    chunkMax: chunkMaxOf(job),
    isOver: () => performance.now() > ends,
    async begin(chunk) {
      const [first] = chunk;
      if (first === undefined) return;
      const isAgain = begun?.rows === 1 && begun.first === first && chunk.length === 1;
      await remember({ first, rows: chunk.length, deaths: isAgain ? begun.deaths + deaths : 0 });
    },
    left: new Set(),
    done: 0,
  };
}

function chunkMaxOf({ chunkMax = BILLING_CHUNK_MAX, begun }: BillingJob): number {
  if (begun === undefined) return chunkMax;
  return Math.max(1, Math.floor(Math.min(chunkMax, begun.rows) / PARTS_AFTER_DEATH));
}

/** After what went well, twice as much of it is taken at once. */
function nextOf({ job, chunkMax }: Turn, task: BillingTask): BillingJob {
  const { organizationId } = job;
  return {
    task,
    organizationId,
    ...(task === job.task && chunkMax < BILLING_CHUNK_MAX && { chunkMax: chunkMax * 2 }),
  };
}

/** Puts off for hours what workers died of alone, and counts all that they died of. */
async function leaveDeadly(deps: BillingDeps, { task, organizationId, begun }: BillingJob): Promise<boolean> {
  // Whoever stops a worker has not seen it die.
  if (begun === undefined || begun.isStopped === true) return false;
  const { first: id, rows, deaths } = begun;
  deps.metrics.billingDeaths.inc();
  // A worker may be killed for a reason of its own: what dies again is put off, and is an error then.
  deps.log.warn(
    { task, organization_id: organizationId, first: id, rows, deaths },
    'a worker died while it billed this',
  );
  if (rows > 1 || deaths + 1 < DEATHS_MAX) return false;
  tell(deps, new Error(DEADLY), { organization_id: organizationId, id });
  await postponeDeadly(deps.database, task, organizationId, id);
  return true;
}

async function postponeDeadly(
  { kysely }: Database,
  task: BillingTask,
  organizationId: string,
  id: string,
): Promise<void> {
  switch (task) {
    case 'open':
      await postponeSubscription(kysely, organizationId, id, DEADLY, { isForLong: true });
      // It may be one of the drafts that were made.
      await postponeDraft(kysely, organizationId, id, DEADLY, { isForLong: true });
      break;
    case 'finalize':
      await postponeDraft(kysely, organizationId, id, DEADLY, { isForLong: true });
      break;
    case 'past_due':
      await postponePastDue(kysely, organizationId, id, DEADLY, { isForLong: true });
      break;
    case 'settle':
      await postponeSettlement(kysely, organizationId, id, DEADLY);
      break;
    case 'unbilled':
      await writeLook(kysely, organizationId, dayOf(id), { hasFailed: true });
      break;
  }
}

/** A day of a meter, as a job remembers it. */
const keyOf = ({ meterId, day }: MeterDay): string => `${meterId} ${day}`;

function dayOf(key: string): MeterDay {
  const [meterId = '', day = ''] = key.split(' ');
  return { meterId, day };
}

/** Drafts of a boundary long ago may be due as soon as they are made. */
async function open(deps: BillingDeps, turn: Turn): Promise<void> {
  const { kysely } = deps.database;
  const { organizationId } = turn.job;
  const due = await findDueSubscriptions(kysely, organizationId, turn.chunkMax);
  if (due.length === 0) return;
  if (due.length === turn.chunkMax) turn.left.add('open');
  const found = due.filter(({ hasEnded }) => !hasEnded).map(({ id }) => id);
  await turn.begin(found);
  await doOrSplit(
    found,
    async (some) => {
      for (;;) {
        const { opened, isBehind } = await openDueSubscriptions(deps.database, organizationId, some);
        turn.done += opened;
        if (!isBehind) return;
        if (turn.isOver()) {
          turn.left.add('open');
          return;
        }
      }
    },
    async (id, error) => {
      turn.done += 1;
      tell(deps, error, { organization_id: organizationId, subscription_id: id });
      await postponeSubscription(kysely, organizationId, id, textOf(error));
    },
  );
  for (const { id } of due.filter(({ hasEnded }) => hasEnded)) await settlePutOff(deps, turn, id);
  if (turn.isOver()) {
    // The finalizing of what took a whole turn to open is a turn of its own.
    turn.left.add('finalize');
    return;
  }
  const drafts = await findDueDraftsOf(kysely, organizationId, found, turn.chunkMax);
  if (drafts.length === turn.chunkMax) turn.left.add('finalize');
  await finalize(deps, turn, await withoutWaiting(deps, organizationId, drafts));
}

async function finalizeDue(deps: BillingDeps, turn: Turn): Promise<void> {
  const { organizationId } = turn.job;
  const since = await findQueuedSinceAtMost(deps.queue, organizationId);
  const stagedSince = since === undefined ? null : new Date(since).toISOString();
  const limit = turn.chunkMax;
  const found = await findDueDrafts(deps.database.kysely, organizationId, { stagedSince, limit });
  if (found.length === limit) turn.left.add('finalize');
  await finalize(deps, turn, found);
}

/** The first chunk, and more while the turn is not over. */
async function finalize(deps: BillingDeps, turn: Turn, ready: readonly string[]): Promise<void> {
  const { organizationId } = turn.job;
  for (const [index, chunk] of (await cutByWeight(deps.database.kysely, organizationId, ready)).entries()) {
    if (index > 0 && turn.isOver()) {
      turn.left.add('finalize');
      return;
    }
    await turn.begin(chunk);
    turn.done += await finalizeChunk(deps, organizationId, chunk);
  }
}

async function pastDue(deps: BillingDeps, turn: Turn): Promise<void> {
  const { database } = deps;
  const { organizationId } = turn.job;
  const found = await findPastDue(database.kysely, organizationId, turn.chunkMax);
  if (found.length === turn.chunkMax) turn.left.add('past_due');
  await turn.begin(found);
  await doOrSplit(
    found,
    async (some) => {
      turn.done += await markPastDue(database, organizationId, some);
    },
    async (id, error) => {
      turn.done += 1;
      tell(deps, error, { organization_id: organizationId, invoice_id: id });
      await postponePastDue(database.kysely, organizationId, id, textOf(error));
    },
  );
}

/** Returns how many of them it did, or put off. */
async function finalizeChunk(deps: BillingDeps, organizationId: string, chunk: readonly string[]): Promise<number> {
  const { database, metrics } = deps;
  let done = 0;
  const leaveOut = async (id: string, error: unknown): Promise<void> => {
    if (error instanceof InOtherHands) {
      // Nothing is wrong with it: the next look finds it again.
      deps.log.warn(
        { err: error, organization_id: organizationId, invoice_id: id },
        'an invoice waits for the next look',
      );
      return;
    }
    done += 1;
    tell(deps, error, { organization_id: organizationId, invoice_id: id });
    // Somebody has to attach the month: until then each try would compute the same.
    const isForLong = error instanceof MonthTakenOut;
    await postponeDraft(database.kysely, organizationId, id, textOf(error), { isForLong });
  };
  await doOrSplit(
    chunk,
    async (some) => {
      const { finalized, deleted, earlierDraft, notComputed } = await finalizeInvoices(database, organizationId, some, {
        actor: 'weir',
      });
      metrics.finalizedInvoices.inc(finalized.length);
      done += finalized.length + deleted.length;
      for (const [id, error] of notComputed) await leaveOut(id, error);
      await postponeLater(database.kysely, organizationId, earlierDraft);
    },
    leaveOut,
  );
  return done;
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

/**
 * Settles those that have ended, until the turn is over. Returns the subscription behind which the next turn goes on, where there may be
 * more. After a death it goes on with the one that the worker died of: all before that one were done.
 */
async function settle(deps: BillingDeps, turn: Turn, hasPostponed: boolean): Promise<string | undefined> {
  const { organizationId, begun, after } = turn.job;
  const limit = Math.min(turn.chunkMax, UNSETTLED_LOOKS_MAX);
  if (begun !== undefined && !hasPostponed) await settleOne(deps, turn, begun.first);
  let last = begun?.first ?? after;
  do {
    const page = await findUnsettled(deps.database.kysely, organizationId, { after: last, limit });
    for (const [index, id] of page.ids.entries()) {
      if (index > 0 && turn.isOver()) return last;
      await settleOne(deps, turn, id);
      last = id;
    }
    last = page.last;
  } while (last !== undefined && !turn.isOver());
  return last;
}

async function settleOne(deps: BillingDeps, turn: Turn, id: string): Promise<void> {
  const { organizationId } = turn.job;
  await turn.begin([id]);
  await doOrSplit(
    [id],
    async () => {
      const { outcome } = await settleSubscription(deps.database, organizationId, id, { actor: 'weir' });
      if (outcome === 'settled') deps.metrics.finalizedInvoices.inc(1);
    },
    async (_, error) => {
      if (error instanceof InOtherHands) throw error;
      tell(deps, error, { organization_id: organizationId, subscription_id: id });
      if (error instanceof MonthTakenOut)
        await postponeSettlement(deps.database.kysely, organizationId, id, textOf(error));
    },
  );
}

/** It is told as left out until it is settled, or comes to nothing: were that ended first, an alarm would go out and ring again. */
async function settlePutOff(deps: BillingDeps, turn: Turn, id: string): Promise<void> {
  if (turn.isOver()) {
    turn.left.add('open');
    return;
  }
  await settleOne(deps, turn, id);
  // Where nobody has settled it or put it off anew, it is due no more.
  await openDueSubscriptions(deps.database, turn.job.organizationId, [id]);
  turn.done += 1;
}

/** Looks at days until the turn is over. One that fails does not hold up the others: it is left until tomorrow. */
async function lookAtDays(deps: BillingDeps, turn: Turn): Promise<void> {
  const { database } = deps;
  const { organizationId } = turn.job;
  const days = await findDaysToLookAt(database.kysely, organizationId, LOOKS_MAX);
  if (days.length === LOOKS_MAX) turn.left.add('unbilled');
  for (const [index, at] of days.entries()) {
    if (index > 0 && turn.isOver()) {
      turn.left.add('unbilled');
      return;
    }
    await turn.begin([keyOf(at)]);
    await doOrSplit(
      [at.day],
      async () => {
        await lookAtDay(database, organizationId, at);
        turn.done += 1;
      },
      async (day, error) => {
        turn.done += 1;
        tell(deps, error, { organization_id: organizationId, meter_id: at.meterId, day });
        await writeLook(database.kysely, organizationId, at, { hasFailed: true });
      },
    );
  }
}

function tell({ log, metrics }: BillingDeps, error: unknown, what: Record<string, string>): void {
  metrics.billingFailures.inc();
  log.error({ err: error, ...what }, 'this could not be billed; it is left out, and tried again later');
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
