// Why whoever does not track may have had to wait, or was asked to come back: more was asked for as one caller than a caller may. Known
// from what the clients asked themselves, whatever faults there were.

import type { FaultLine, Operation } from '../history.ts';
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

/** What READ_BUCKETS_PER_CALLER gives in a millisecond, and what of it is saved up. */
const EARNED_BUCKETS_PER_MS = 20;
const SAVED_BUCKETS = 50_000;

/** Who owes five seconds of it is refused at once: less by the millisecond that they are rounded up by. */
const OWED_BUCKETS_MAX = WAIT_MS_MAX * EARNED_BUCKETS_PER_MS - EARNED_BUCKETS_PER_MS;

/** The most of a request with the months of a chart, and of one whose answer may be long: a page of the feed, or of subscriptions. */
const REQUEST_BUCKETS = 300;
const LONG_ANSWER_BUCKETS = 4_000;

/** Of a change that stops recording: at once, and for each millisecond. It takes less than its client waits. */
const STOP_BUCKETS = 5_300;
const STOP_BUCKETS_PER_MS = 50;

/** Whatever a caller may owe is paid off by then. */
const OWED_MS = 60_000;

/** No client waits for longer, and less than that again for its own process. */
const ANSWER_MS_MAX = 60_000;

const LONG_ANSWERS: ReadonlySet<Operation> = new Set(['feed', 'list', 'billing-read', 'recompute']);

const ROLLING_RESTART = 'rolling restart';

export function isTracking({ operation }: Pick<Attempt, 'operation'>): boolean {
  return operation === 'track' || operation === 'batch' || operation === 'refusal';
}

export class TurnsOfReaders {
  readonly #restarts: readonly FaultLine[];
  /** In the order of their ends. */
  readonly #byOrganization = new Map<number, Attempt[]>();

  constructor(facts: Facts) {
    this.#restarts = facts.faults.filter(({ kind }) => kind === ROLLING_RESTART);
    for (const attempt of facts.attempts) {
      if (isTracking(attempt)) continue;
      const attempts = this.#byOrganization.get(attempt.organization);
      if (attempts === undefined) this.#byOrganization.set(attempt.organization, [attempt]);
      else attempts.push(attempt);
    }
  }

  /** For how long an attempt may have waited for its turn, in milliseconds: at most that long. */
  waitedMs(attempt: Attempt): number {
    return isTracking(attempt) ? 0 : this.#turnOf(attempt).waitedMs;
  }

  /** Whether an answer of 429 was right. No limit of the run refuses tracking. */
  mayBeRefused(attempt: Attempt): boolean {
    if (isTracking(attempt)) return false;
    const { waitedMs, besideMax, creditMin } = this.#turnOf(attempt);
    if (waitedMs >= WAITED_MS || besideMax >= WAITING_MAX) return true;
    return (attempt.retryAfterSeconds ?? 0) * 1_000 > WAIT_MS_MAX && creditMin < -OWED_BUCKETS_MAX;
  }

  /** What an attempt met at its API, as it was at worst: what others were under way, and what their organization owed. */
  #turnOf(attempt: Attempt): { waitedMs: number; besideMax: number; creditMin: number } {
    const moments = this.#othersOf(attempt, attempt.at - OWED_MS)
      .flatMap((other) => [
        { at: other.sentAt, other, isEnd: false },
        { at: endOf(other), other, isEnd: true },
      ])
      .filter(({ at }) => at <= attempt.at)
      .toSorted((one, next) => one.at - next.at || Number(one.isEnd) - Number(next.isEnd));
    const atWork = new Set<Attempt>();
    let [waitedMs, beside, besideMax, creditMin] = [0, 0, 0, SAVED_BUCKETS];
    let [saved, savedAt] = [SAVED_BUCKETS, attempt.at - OWED_MS];
    const savedBy = (at: number) => Math.min(SAVED_BUCKETS, saved + EARNED_BUCKETS_PER_MS * Math.max(0, at - savedAt));
    // What one costs is paid at its end at the latest, which is when the least is earned of it by then.
    const creditAt = (at: number) => [...atWork].reduce((credit, other) => credit - bucketsOf(other, at), savedBy(at));
    const goOnTo = (at: number) => {
      if (at < attempt.sentAt) return;
      const from = Math.max(savedAt, attempt.sentAt);
      const fullAt = savedAt + (SAVED_BUCKETS - saved) / EARNED_BUCKETS_PER_MS;
      const between = Math.min(Math.max(from, fullAt), at);
      const [first, then, last] = [creditAt(from), creditAt(between), creditAt(at)];
      const inDebt = (between - from) * shareInDebt(first, then) + (at - between) * shareInDebt(then, last);
      waitedMs += atWork.size >= UNDER_WAY_MAX ? at - from : inDebt;
      besideMax = Math.max(besideMax, beside);
      creditMin = Math.min(creditMin, first, then, last);
    };
    for (const { at, other, isEnd } of moments) {
      goOnTo(at);
      saved = savedBy(at);
      savedAt = Math.max(savedAt, at);
      beside += isEnd ? -1 : 1;
      // Who was refused never had a place, and paid for nothing.
      if (other.status === 429) continue;
      if (isEnd) {
        saved -= bucketsOf(other, at);
        atWork.delete(other);
      } else atWork.add(other);
    }
    goOnTo(attempt.at);
    return { waitedMs: Math.min(WAIT_MS_MAX, waitedMs), besideMax, creditMin };
  }

  /** Those that the API had at any time from then until the end of the attempt. */
  #othersOf(attempt: Attempt, from: number): Attempt[] {
    const isOneForAll = this.#isBesideRollingRestart(attempt);
    const attempts = this.#byOrganization.get(attempt.organization) ?? [];
    const others: Attempt[] = [];
    for (let index = firstOf(attempts, from - UNHEARD_MS); index < attempts.length; index += 1) {
      const other = attempts[index];
      if (other === undefined || other.at > attempt.at + ANSWER_MS_MAX) break;
      if (other === attempt || (other.api !== attempt.api && !isOneForAll && !this.#isBesideRollingRestart(other)))
        continue;
      if (other.sentAt <= attempt.at && endOf(other) >= from) others.push(other);
    }
    return others;
  }

  /** Then the requests of all go to the one that is up. */
  #isBesideRollingRestart({ sentAt, at }: Attempt): boolean {
    return this.#restarts.some((restart) => at >= restart.at && sentAt <= restart.until + UNHEARD_MS);
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

/** What an attempt may have cost by then. */
function bucketsOf(attempt: Attempt, until: number): number {
  const { operation, sentAt } = attempt;
  if (operation === 'correct') return STOP_BUCKETS + STOP_BUCKETS_PER_MS * (Math.min(endOf(attempt), until) - sentAt);
  // A new alert stops recording for a moment.
  if (operation === 'billing') return STOP_BUCKETS;
  return LONG_ANSWERS.has(operation) ? LONG_ANSWER_BUCKETS : REQUEST_BUCKETS;
}

/** How much of a time is spent without credit, which goes evenly from the one to the other in it. */
function shareInDebt(before: number, after: number): number {
  const [low, high] = [Math.min(before, after), Math.max(before, after)];
  if (low > 0) return 0;
  return high <= 0 ? 1 : -low / (high - low);
}
