// Judges a run from its history and from what Weir holds when it is over. What is compared with what is in the files beside
// this one, each check a function of what is known; here it is only gathered.

import type { SystemUnderTest } from '../environment/system.ts';
import { acknowledgedEvents } from './acknowledged.ts';
import { reachedBy, thresholdsAreToldInTime, thresholdsAreToldOnce, waitsOf } from './alerts.ts';
import { answersAreExpected, answersAreWellFormed, requestsAreSettled } from './answers.ts';
import { linesBillWhatWasSent, SentUsage } from './billed-usage.ts';
import { paymentsAreKept } from './payments-kept.ts';
import { webhooksAreDelivered, webhooksAreInOrder } from './webhooks.ts';
import { changesOfBillingAreKept, pagesOfTheFeedAreKept } from './billing-kept.ts';
import { nothingIsDue, periodsEndAtMidnights } from './billing-schedule.ts';
import type { Check } from './check.ts';
import { correctionsAreKept, withAmended } from './corrections.ts';
import { acceptedIsCountedOnce, heldIsCountedOnce, refusedLeavesNoTrace } from './counted-once.ts';
import { answersAreInTime, rollingRestartsDropNothing } from './deadlines.ts';
import { queueIsDrained, readQueue, untilDrained } from './drained-queue.ts';
import { figuresOf, type Figures } from './figures.ts';
import { keyName, type Facts } from './history-facts.ts';
import { hostileIsCounted, readersAreServed, trackingStaysQuick } from './hostile-checks.ts';
import { organizationsAreApart } from './isolation.ts';
import { processesAreSound, readLogs } from './logs.ts';
import { connectionsAreLetGo, noSlotIsMissing, nothingElseIsMissing } from './missing.ts';
import { claimsAreHeld, keysBelongToTheirEvents, recordedIsWhatWasSent } from './one-key.ts';
import { Questions } from './questions.ts';
import { readBillingState, readOpenDues } from './read-billing-state.ts';
import { readHistory } from './read-history.ts';
import { StateReader } from './read-stored-state.ts';
import { readAcross, readReceipts, readUsage } from './readings.ts';
import { receiptsHold, receiptsTellTheState, replaysAreCounted } from './receipts.ts';
import { invoicesComputeAgain, reconcileFindsAllBilled, reconcileFindsAllEqual, runReconcile } from './reconciled.ts';
import { replayChangesNothing, sendAgain, type Replayed } from './replay-history.ts';
import { StateIndex, type StoredEvent, type StoredState } from './stored-state.ts';
import { usageEqualsAcknowledged, usageOnlyGrows } from './usage-answers.ts';

/** Replayed events that were lost with Redis are recorded in some seconds. */
const DRAIN_SECONDS_MAX = 120;

export interface Judgement {
  checks: Check[];
  figures: Figures;
}

/** Judges a run whose system is whole again, with both APIs and workers up. */
export async function judge(system: SystemUnderTest, historyPath: string): Promise<Judgement> {
  const facts = await readHistory(historyPath);
  const queue = await readQueue(system);
  const { organizations } = facts;
  const hostile = facts.hostile.accounts.map(({ id }) => id);
  const reader = await StateReader.open(system.databaseUrl, organizations, hostile);
  const questions = new Questions(system);
  try {
    const state = await reader.readAll();
    const index = new StateIndex(state, (event) => keyName(event.organization, event));
    const acknowledged = withAmended(facts, state, acknowledgedEvents(facts, index));
    const counted = acknowledged.filter(({ id }) => !state.corrections.has(id));
    const isKept = (id: string) => index.recorded.has(id) || index.rejected.has(id) || index.duplicates.has(id);
    const billing = await judgeBilling(system, questions, facts, acknowledged, state);
    const checks = [
      acceptedIsCountedOnce(facts, index),
      heldIsCountedOnce(facts, index),
      refusedLeavesNoTrace(facts, index),
      recordedIsWhatWasSent(facts, index),
      claimsAreHeld(facts, index),
      keysBelongToTheirEvents(facts, state, index),
      usageEqualsAcknowledged(facts, counted, await readUsage(questions, organizations, acknowledged)),
      usageOnlyGrows(facts, state),
      receiptsHold(facts),
      receiptsTellTheState(index, state, await readReceipts(questions, facts, isKept)),
      replaysAreCounted(facts, index),
      correctionsAreKept(facts, state, index),
      queueIsDrained(queue),
      organizationsAreApart(facts, index, await readAcross(questions, facts)),
      requestsAreSettled(facts),
      answersAreExpected(facts),
      answersAreWellFormed(facts),
      answersAreInTime(facts),
      rollingRestartsDropNothing(facts),
      ...billing.checks,
    ];
    const replayed = await replay(system, reader, questions, { facts, index });
    const reconciled = await runReconcile(system);
    checks.push(
      replayChangesNothing(facts, state, index, replayed),
      reconcileFindsAllEqual(facts, reconciled),
      reconcileFindsAllBilled(reconciled),
      invoicesComputeAgain(facts, reconciled),
      processesAreSound(facts, system.processes, await readLogs(system)),
    );
    if (hostile.length > 0) {
      checks.push(
        hostileIsCounted(facts, await reader.countHostile()),
        trackingStaysQuick(facts),
        readersAreServed(facts),
        connectionsAreLetGo(facts),
        noSlotIsMissing(facts),
        nothingElseIsMissing(facts),
      );
    }
    return { checks, figures: figuresOf(facts, billing.waitsMs) };
  } finally {
    questions.close();
    await reader.close();
  }
}

/** What was billed, before the replay brings what was lost with Redis. The time of billing stands still. */
async function judgeBilling(
  system: SystemUnderTest,
  questions: Questions,
  facts: Facts,
  acknowledged: StoredEvent[],
  { corrections }: StoredState,
): Promise<{ checks: Check[]; waitsMs: number[] }> {
  const { organizations } = facts;
  const stored = await readBillingState(system, organizations);
  const state = { ...stored, open: await readOpenDues(questions, organizations, stored) };
  const sent = new SentUsage(facts, acknowledged, state, corrections);
  const reached = reachedBy(state, facts, sent);
  const checks = [
    linesBillWhatWasSent(state, sent),
    nothingIsDue(state),
    periodsEndAtMidnights(state),
    pagesOfTheFeedAreKept(state, facts),
    changesOfBillingAreKept(state, facts),
    paymentsAreKept(state, facts),
    webhooksAreDelivered(state, facts),
    webhooksAreInOrder(state, facts),
    thresholdsAreToldOnce(state, facts, sent, reached),
    thresholdsAreToldInTime(state, facts, reached),
  ];
  return { checks, waitsMs: waitsOf(state, facts, reached) };
}

async function replay(
  system: SystemUnderTest,
  reader: StateReader,
  questions: Questions,
  { facts, index }: { facts: Facts; index: StateIndex },
): Promise<Replayed> {
  const answers = await sendAgain(questions, facts, index);
  await untilDrained(system, DRAIN_SECONDS_MAX);
  // An id that a 409 names may be of this replay, too: of an attempt whose own answer said nothing of it.
  const told = new Set(answers.flatMap(({ id }) => (id === undefined ? [] : [id])));
  const isKnown = (id: string) => index.recorded.has(id) || index.rejected.has(id) || index.duplicates.has(id);
  const found = await reader.find([...told].filter((id) => !isKnown(id)));
  return { answers, ...found, events: await reader.countEvents() };
}
