// The direct way, flush by flush: what Redis does not take is recorded by Postgres at once (record-directly.ts of packages/db). What may
// wait, how many flushes are under way and for how long is bounded, and each organization has its share, as on the way through Redis.

import type { Candidate } from '@weir/queue/admit';
import type { DirectAnswer } from '@weir/db/record-directly';
import { Refusal } from '@weir/shared/errors';
import { refusalOfAdmission } from './refusals.ts';
import { WaitingEvents, type Waiting } from './waiting.ts';

/** Half a second of work for Postgres, and seldom more than a tenth: flushes gather while others are under way. */
const FLUSH_MAX = { events: 1_000, characters: 1_048_576 };

/** One is written while the other is on its way to the disk. Each has a connection. */
export const DIRECT_FLUSHES_MAX = 2;

const WAITING_MAX = { events: 50_000, characters: 33_554_432 };

/** Longer than in front of Redis: some have waited there already. With the 2.5 s that a flush takes at most, clients that wait for five seconds are answered. */
const WAIT_MS_MAX = 2_000;

/** After Postgres did not take a flush, others are refused at once for so long. */
const CLOSED_MS = 1_000;

export interface DirectDeps {
  /** Records a flush. The answers are in its order. */
  record(flush: readonly Candidate[], isPerhapsStaged: boolean): Promise<DirectAnswer[]>;
  /** Whether Postgres is known to be away, or to wait for its standby at each commit. */
  isPostgresAway(): boolean;
  /** Called with what became of the events, flush by flush. */
  onAnswered(answers: readonly DirectAnswer[]): void;
  /** Milliseconds. */
  now: () => number;
}

export class Direct {
  readonly #deps: DirectDeps;
  readonly #waiting = new WaitingEvents(WAITING_MAX);
  /** Flushes that were on their way to Redis. They stay as they are: only of them Redis may have something. */
  readonly #handedOver: { flush: Waiting[]; isPerhapsStaged: boolean }[] = [];
  readonly #onIdle: () => void;
  #inFlight = 0;
  #isScheduled = false;
  #closedUntil = -Infinity;

  /** `onIdle` is called whenever nothing is left to do. */
  constructor(deps: DirectDeps, onIdle: () => void) {
    this.#deps = deps;
    this.#onIdle = onIdle;
  }

  /** Whether Postgres takes events, as far as is known. Costs nothing to ask. */
  isOpen(): boolean {
    return !this.#deps.isPostgresAway() && this.#deps.now() >= this.#closedUntil;
  }

  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#waiting.count === 0 && this.#handedOver.length === 0;
  }

  get depth(): number {
    return this.#waiting.count;
  }

  /** Takes an event in, if there is room. */
  add(waiting: Waiting): boolean {
    if (!this.#waiting.add(waiting)) return false;
    this.#schedule();
    return true;
  }

  /** Takes over a flush that Redis did not take, or of which nobody knows. */
  takeOver(flush: Waiting[], isPerhapsStaged: boolean): void {
    this.#handedOver.push({ flush, isPerhapsStaged });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= DIRECT_FLUSHES_MAX) return;
    if (this.#waiting.count === 0 && this.#handedOver.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#flush();
      this.#schedule();
    });
  }

  async #flush(): Promise<void> {
    for (const { settle } of this.#waiting.takeLate(this.#deps.now() - WAIT_MS_MAX)) settle(tooMuch());
    const { flush, isPerhapsStaged } = this.#handedOver.shift() ?? {
      flush: this.#waiting.take(FLUSH_MAX),
      isPerhapsStaged: false,
    };
    if (flush.length === 0) {
      if (this.isIdle) this.#onIdle();
      return;
    }
    this.#inFlight += 1;
    try {
      const answers = await this.#deps.record(
        flush.map(({ candidate }) => candidate),
        isPerhapsStaged,
      );
      this.#deps.onAnswered(answers);
      if (answers.some(({ outcome }) => outcome === 'failed')) this.#refuseAll();
      flush.forEach(({ settle }, index) => settle(refusalOfAnswer(answers[index], isPerhapsStaged)));
    } catch (error) {
      // Whatever refuses all of it here, Redis may have it.
      for (const { settle } of flush) settle(isPerhapsStaged ? nobodyKnows(error) : error);
    } finally {
      this.#inFlight -= 1;
      this.#schedule();
      if (this.isIdle) this.#onIdle();
    }
  }

  /** Those who came after would wait for as long again, to hear the same. */
  #refuseAll(): void {
    this.#closedUntil = this.#deps.now() + CLOSED_MS;
    for (const { settle } of this.#waiting.takeAll()) settle(bothAway());
    for (const { flush, isPerhapsStaged } of this.#handedOver.splice(0))
      for (const { settle } of flush) settle(isPerhapsStaged ? nobodyKnows() : bothAway());
  }
}

function refusalOfAnswer(answer: DirectAnswer | undefined, isPerhapsStaged: boolean): unknown {
  switch (answer?.outcome) {
    case 'taken':
    case 'rejected':
      return undefined;
    case 'revoked':
      // Redis may have it from before the key was deleted.
      return isPerhapsStaged ? nobodyKnows() : refusalOfAdmission(answer);
    case 'held':
      // Redis may have it from after the key's claim had ended. Then it is kept as rejected, and to use another key would be to send it twice.
      return isPerhapsStaged && !answer.isSamePayload ? nobodyKnows() : refusalOfAdmission(answer);
    case 'locked':
      return isPerhapsStaged ? nobodyKnows(answer.error) : locked(answer.error);
    case 'failed':
      return isPerhapsStaged || answer.isPerhapsTaken ? nobodyKnows(answer.error) : bothAway(answer.error);
    case undefined:
      return new Error('a flush was answered for fewer events than it has');
  }
}

/** Neither Redis nor Postgres takes events. */
export function bothAway(cause?: unknown): Refusal {
  const detail =
    'Neither Redis nor Postgres can take events now, and nothing was kept: send the event again in a moment.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 }, cause);
}

function nobodyKnows(cause?: unknown): Refusal {
  const detail =
    'Neither Redis nor Postgres answered in time, so the event may have been taken or not: send it again with the same idempotency_key.';
  return new Refusal('unavailable', detail, { outcome: 'unknown', retryAfterSeconds: 1 }, cause);
}

function locked(cause: unknown): Refusal {
  const detail =
    'Others write usage that yours has to wait for, as corrections do, and nothing was kept: send the event again in a moment.';
  return new Refusal(
    'unavailable',
    detail,
    { outcome: 'not_accepted', retryAfterSeconds: 1, because: 'locked' },
    cause,
  );
}

function tooMuch(): Refusal {
  const detail = 'More events arrive than can be recorded, and nothing was kept: send the event again in a moment.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1, because: 'crowd' });
}
