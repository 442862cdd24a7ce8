// No answer comes later than it may from a process that nothing was done to.

import type { FaultLine, Operation } from '../history.ts';
import { Check } from './check.ts';
import { isRedisInTrouble, type Attempt, type Facts } from './history-facts.ts';
import { isTracking, TurnsOfReaders, WAIT_MS_MAX } from './turns-of-readers.ts';

/**
 * Tracking answers from memory and Redis, and gives Redis 900 ms (REDIS_COMMAND_TIMEOUT_MS) at most twice: when the script
 * has to be sent again. While Redis is away it answers from Postgres, which is quicker. The rest is room for a machine that is busy with all of this.
 */
const TRACK_MS_MAX = 2_500;

/** While both are in trouble each takes its time, one after the other; clients wait for so long. */
const TRACK_MS_MAX_WITHOUT_BOTH = 5_000;

/** What must ask Postgres, while Postgres and the way to it are whole. */
const READ_MS_MAX = 5_000;

/**
 * While they are not, and for a change of billing, which waits for the worker that has the same rows in hand, also for one that was
 * paused: 5 s for a connection, and 9 s for an answer
 * over one (the statement time-out of 7 s, and 2 s).
 */
const READ_MS_MAX_IN_FAULT = 16_000;

/** They lock rows, so that somebody else's trouble may hold them up; what only reads waits for nobody. */
const CHANGES: ReadonlySet<Operation> = new Set([
  'replay',
  'correct',
  'create-key',
  'delete-key',
  'create-customer',
  'delete-customer',
]);

const ROLLING_RESTART = 'rolling restart';

/** A system that was hit is caught up with what waited meanwhile. */
const RECOVERY_MS = 1_000;

export function answersAreInTime(facts: Facts): Check {
  const check = new Check(
    'deadlines',
    `An API that nothing was done to answers tracking within ${TRACK_MS_MAX / 1_000} s (${TRACK_MS_MAX_WITHOUT_BOTH / 1_000} s while Redis and Postgres are both in trouble), and reads within ${READ_MS_MAX / 1_000} s (${READ_MS_MAX_IN_FAULT / 1_000} s while Postgres, or the way to it, is in trouble), and later by as much as they may have waited for their turn, which is at most ${WAIT_MS_MAX / 1_000} s.`,
  );
  const windows = new FaultWindows(facts);
  const turns = new TurnsOfReaders(facts);
  for (const attempt of facts.attempts) {
    const took = attempt.at - attempt.sentAt;
    // Most are quick by any bound, and need no look at the faults.
    if (attempt.status > 0 && took <= TRACK_MS_MAX) {
      check.examine();
      continue;
    }
    if (windows.isDisturbed(attempt)) continue;
    check.examine();
    const isRead = attempt.asksPostgres || !isTracking(attempt);
    const bound = isRead ? boundOfRead(windows, attempt) : boundOfTracking(windows, attempt);
    // Before it is begun, and so in none of these.
    const waited = took > bound ? turns.waitedMs(attempt) : 0;
    const stalled = windows.stalledMs(attempt);
    const { why = `status ${attempt.status}` } = attempt;
    if (took > bound + waited + stalled) {
      check.violate(
        `request ${attempt.request} (${attempt.operation}) to api-${attempt.api} at ${attempt.sentAt} ms took ${Math.round(took)} ms: ${why}`,
      );
    } else if (attempt.status === 0 && why !== 'timeout') {
      check.violate(
        `request ${attempt.request} (${attempt.operation}) to api-${attempt.api} at ${attempt.sentAt} ms had no answer: ${why}, on a connection that was ${attempt.connection}`,
      );
    }
  }
  return check;
}

function boundOfTracking(windows: FaultWindows, attempt: Attempt): number {
  return windows.isPostgresInTrouble(attempt) && windows.isRedisInTrouble(attempt)
    ? TRACK_MS_MAX_WITHOUT_BOTH
    : TRACK_MS_MAX;
}

function boundOfRead(windows: FaultWindows, attempt: Attempt): number {
  if (attempt.operation === 'billing') return READ_MS_MAX_IN_FAULT;
  const isInTrouble = CHANGES.has(attempt.operation)
    ? windows.isHeldUpAtPostgres(attempt)
    : windows.isPostgresInTrouble(attempt);
  return isInTrouble ? READ_MS_MAX_IN_FAULT : READ_MS_MAX;
}

/** While every process is replaced in turn, whoever is sends a request is answered. */
export function rollingRestartsDropNothing(facts: Facts): Check {
  const check = new Check(
    'rolling restarts',
    'During a rolling restart no request is dropped or answered with a server error.',
  );
  const restarts = facts.faults.filter(({ kind }) => kind === ROLLING_RESTART);
  const others = facts.faults.filter(({ kind }) => kind !== ROLLING_RESTART);
  for (const attempt of facts.attempts) {
    if (!restarts.some(({ at, until }) => attempt.sentAt >= at && attempt.sentAt <= until)) continue;
    // The next fault may begin while the last requests of a restart are under way.
    if (others.some((fault) => overlaps(attempt, fault, 0))) continue;
    check.examine();
    if (attempt.status > 0 && attempt.status < 500) continue;
    check.violate(
      `request ${attempt.request} (${attempt.operation}) to api-${attempt.api} at ${attempt.sentAt} ms: ${attempt.why ?? attempt.status}, on a connection that was ${attempt.connection ?? 'open'}`,
    );
  }
  return check;
}

/** What was done to the system while an attempt was under way. */
class FaultWindows {
  readonly #facts: Facts;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** Whether anything was done to the process or to the way to it while the attempt was under way. */
  isDisturbed(attempt: Attempt): boolean {
    const api = `api-${attempt.api}`;
    return this.#facts.faults.some((fault) => {
      return isAmong(fault, [api, `client>${api}`]) && overlaps(attempt, fault, RECOVERY_MS);
    });
  }

  isPostgresInTrouble(attempt: Attempt): boolean {
    const edge = `api-${attempt.api}>postgres`;
    // Connections that went dead meanwhile are noticed by their time-outs only.
    return this.#facts.faults.some(
      (fault) => isAmong(fault, ['postgres', edge]) && overlaps(attempt, fault, READ_MS_MAX_IN_FAULT),
    );
  }

  /** Whether events may go directly to Postgres. */
  isRedisInTrouble({ api, sentAt, at }: Attempt): boolean {
    return isRedisInTrouble(this.#facts, sentAt, at, `api-${api}`);
  }

  /**
   * Whether others may have held the attempt up at Postgres: who is cut off in the midst of a transaction has what it locked until
   * Postgres hears of it, and who is slow has it for longer.
   */
  isHeldUpAtPostgres(attempt: Attempt): boolean {
    return this.#facts.faults.some(
      (fault) =>
        fault.target.split(',').some((each) => each === 'postgres' || each.endsWith('>postgres')) &&
        overlaps(attempt, fault, READ_MS_MAX_IN_FAULT),
    );
  }

  stalledMs({ sentAt, at }: Attempt): number {
    return this.#facts.stalls.reduce(
      (sum, stall) => (stall.at > sentAt && stall.at - stall.ms < at ? sum + stall.ms : sum),
      0,
    );
  }
}

function isAmong({ target }: FaultLine, targets: string[]): boolean {
  return target.split(',').some((each) => targets.includes(each));
}

function overlaps({ sentAt, at }: Attempt, fault: FaultLine, afterMs: number): boolean {
  return at >= fault.at && sentAt <= fault.until + afterMs;
}
