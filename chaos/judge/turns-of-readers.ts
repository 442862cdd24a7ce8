// Why whoever does not track may have had to wait, or was asked to come back: more was asked for as one caller than a caller may. Known
// from what the clients asked themselves, whatever faults there were.

import type { Attempt, Facts } from './history-facts.ts';

/** Of one organization, at one API: READS_IN_FLIGHT_PER_CALLER, and twenty times as many that wait. */
const UNDER_WAY_MAX = 2;
const WAITING_MAX = 20 * UNDER_WAY_MAX;

/** So long one waits for its turn at most, in milliseconds. */
export const WAIT_MS_MAX = 5_000;

/** Less than that by as much as clocks may differ. */
const WAITED_MS = WAIT_MS_MAX - 10;

/** An API works on for a client that heard nothing more from it: until Postgres gives up, or it finds that nobody is there. */
const UNHEARD_MS = 16_000;

/** What READ_BUCKETS_PER_CALLER saves up, and five seconds of it: who owes more than these is refused at once. */
const SAVED_BUCKETS = 50_000;
const OWED_BUCKETS_MAX = 100_000;

/** Of a request, and of a change that stops recording: at once, and for each millisecond. It takes less than its client waits. */
const REQUEST_BUCKETS = 100;
const STOP_BUCKETS = 5_000;
const STOP_BUCKETS_PER_MS = 50;

/** Whatever a caller may owe is paid off by then. */
const OWED_MS = 60_000;

/** No client waits for longer, and less than that again for its own process. */
const ANSWER_MS_MAX = 60_000;

const ROLLING_RESTART = 'rolling restart';

export function isTracking({ operation }: Pick<Attempt, 'operation'>): boolean {
  return operation === 'track' || operation === 'batch' || operation === 'refusal';
}

export class TurnsOfReaders {
  readonly #facts: Facts;
  /** In the order of their ends. */
  readonly #byOrganization = new Map<number, Attempt[]>();

  constructor(facts: Facts) {
    this.#facts = facts;
    for (const attempt of facts.attempts) {
      if (isTracking(attempt)) continue;
      const attempts = this.#byOrganization.get(attempt.organization);
      if (attempts === undefined) this.#byOrganization.set(attempt.organization, [attempt]);
      else attempts.push(attempt);
    }
  }

  /** Whether an attempt may have waited for its turn. */
  mayHaveWaited(attempt: Attempt): boolean {
    if (isTracking(attempt)) return false;
    return this.#beside(attempt) >= UNDER_WAY_MAX || this.#spentBy(attempt) >= SAVED_BUCKETS;
  }

  /** Whether an answer of 429 was right. No limit of the run refuses tracking. */
  mayBeRefused(attempt: Attempt): boolean {
    if (isTracking(attempt)) return false;
    if (attempt.at - attempt.sentAt >= WAITED_MS && this.mayHaveWaited(attempt)) return true;
    if (this.#beside(attempt) >= WAITING_MAX) return true;
    return (attempt.retryAfterSeconds ?? 0) * 1_000 > WAIT_MS_MAX && this.#spentBy(attempt) >= OWED_BUCKETS_MAX;
  }

  /** How many others of its organization the API had at any time of the attempt. */
  #beside(attempt: Attempt): number {
    return this.#othersOf(attempt, attempt.sentAt).length;
  }

  /** What the organization may have spent there in the time before. */
  #spentBy(attempt: Attempt): number {
    return this.#othersOf(attempt, attempt.at - OWED_MS).reduce((sum, other) => sum + bucketsOf(other, attempt.at), 0);
  }

  /** Those that the API had at any time from then until the end of the attempt. */
  #othersOf(attempt: Attempt, from: number): Attempt[] {
    const isOneForAll = this.#isBesideRollingRestart(attempt);
    const attempts = this.#byOrganization.get(attempt.organization) ?? [];
    const others: Attempt[] = [];
    for (let index = firstOf(attempts, from - UNHEARD_MS); index < attempts.length; index += 1) {
      const other = attempts[index];
      if (other === undefined || other.at > attempt.at + ANSWER_MS_MAX) break;
      if (other === attempt || (other.api !== attempt.api && !isOneForAll)) continue;
      if (other.sentAt <= attempt.at && endOf(other) >= from) others.push(other);
    }
    return others;
  }

  /** Then the requests of all go to the one that is up. */
  #isBesideRollingRestart({ sentAt, at }: Attempt): boolean {
    return this.#facts.faults.some(
      (fault) => fault.kind === ROLLING_RESTART && at >= fault.at && sentAt <= fault.until + UNHEARD_MS,
    );
  }
}

/** The first that did not end before this. */
function firstOf(attempts: readonly Attempt[], endedAt: number): number {
  let [low, high] = [0, attempts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((attempts[middle]?.at ?? Infinity) < endedAt) low = middle + 1;
    else high = middle;
  }
  return low;
}

function endOf({ status, sentAt, at }: Attempt): number {
  return status > 0 ? at : Math.max(at, sentAt + UNHEARD_MS);
}

function bucketsOf(attempt: Attempt, until: number): number {
  const { operation, sentAt } = attempt;
  // A new alert stops recording for a moment.
  if (operation === 'billing') return STOP_BUCKETS;
  if (operation !== 'correct') return REQUEST_BUCKETS;
  return STOP_BUCKETS + STOP_BUCKETS_PER_MS * (Math.min(endOf(attempt), until) - sentAt);
}
