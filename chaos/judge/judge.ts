// Judges a run from its history and from what Weir holds when it is over. What is compared with what is in the files beside
// this one, each check a function of what is known; here it is only gathered.

import type { SystemUnderTest } from '../environment/system.ts';
import { answersAreExpected, answersAreWellFormed, requestsAreSettled } from './answers.ts';
import { Questions } from './questions.ts';
import type { Check } from './check.ts';
import {
  acceptedIsCountedOnce,
  heldIsCountedOnce,
  lostTailIsAllThatIsGone,
  refusedLeavesNoTrace,
} from './counted-once.ts';
import { answersAreInTime, rollingRestartsDropNothing } from './deadlines.ts';
import { keyName, type Facts } from './history-facts.ts';
import { figuresOf, type Figures } from './figures.ts';
import { hostileIsCounted, readersAreServed, trackingStaysQuick } from './hostile-checks.ts';
import { organizationsAreApart } from './isolation.ts';
import { processesAreSound, readLogs } from './logs.ts';
import { connectionsAreLetGo, noSlotIsMissing, nothingElseIsMissing } from './missing.ts';
import { claimsAreHeld, recordedIsWhatWasSent } from './one-key.ts';
import { queueIsDrained, readQueue, untilDrained } from './drained-queue.ts';
import { readAcross, readReceipts, readUsage } from './readings.ts';
import { readHistory } from './read-history.ts';
import { readHostile } from './read-hostile.ts';
import { findStored, readState, readTotals, type ReadScope } from './read-stored-state.ts';
import { receiptsHold, receiptsTellTheState, replaysAreCounted } from './receipts.ts';
import { replayChangesNothing, sendAgain, type Replayed } from './replay-history.ts';
import { StateIndex } from './stored-state.ts';
import {
  keysBelongToTheirEvents,
  rollupsEqualAcknowledged,
  rollupsEqualEvents,
  uniqueValuesEqualEvents,
} from './sums.ts';
import { usageEqualsEvents, usageOnlyGrows } from './usage-answers.ts';

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
  const { databaseUrl } = system;
  const { organizations } = facts;
  const hostile = facts.hostile.accounts.map(({ id }) => id);
  const scope: ReadScope = { databaseUrl, organizations, hostile };
  const state = await readState(scope);
  const index = new StateIndex(state, (event) => keyName(event.organization, event));
  const questions = new Questions(system);
  try {
    const isKept = (id: string) => index.recorded.has(id) || index.rejected.has(id) || index.duplicates.has(id);
    const checks = [
      acceptedIsCountedOnce(facts, index),
      heldIsCountedOnce(facts, index),
      lostTailIsAllThatIsGone(facts, index),
      refusedLeavesNoTrace(facts, index),
      recordedIsWhatWasSent(facts, index),
      claimsAreHeld(facts),
      keysBelongToTheirEvents(facts, state, index),
      rollupsEqualEvents(state),
      rollupsEqualAcknowledged(facts, state, index),
      uniqueValuesEqualEvents(facts, state),
      usageEqualsEvents(facts, state, await readUsage(questions, facts.organizations)),
      usageOnlyGrows(facts, state),
      receiptsHold(facts),
      receiptsTellTheState(index, await readReceipts(questions, facts, isKept)),
      replaysAreCounted(facts, index),
      queueIsDrained(queue),
      organizationsAreApart(facts, index, await readAcross(questions, facts)),
      requestsAreSettled(facts),
      answersAreExpected(facts),
      answersAreWellFormed(facts),
      answersAreInTime(facts),
      rollingRestartsDropNothing(facts),
    ];
    checks.push(replayChangesNothing(facts, state, index, await replay(system, scope, questions, { facts, index })));
    checks.push(processesAreSound(system.processes, await readLogs(system)));
    if (hostile.length > 0) {
      checks.push(
        hostileIsCounted(facts, await readHostile(databaseUrl, hostile)),
        trackingStaysQuick(facts),
        readersAreServed(facts),
        connectionsAreLetGo(facts),
        noSlotIsMissing(facts),
        nothingElseIsMissing(facts),
      );
    }
    return { checks, figures: figuresOf(facts) };
  } finally {
    questions.close();
  }
}

async function replay(
  system: SystemUnderTest,
  scope: ReadScope,
  questions: Questions,
  { facts, index }: { facts: Facts; index: StateIndex },
): Promise<Replayed> {
  const answers = await sendAgain(questions, facts, index);
  await untilDrained(system, DRAIN_SECONDS_MAX);
  const accepted = answers.flatMap(({ status, id }) => (status === 201 && id !== undefined ? [id] : []));
  const stored = await findStored(scope, accepted);
  return { answers, ...stored, ...(await readTotals(scope)) };
}
