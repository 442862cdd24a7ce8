// Gathers the events of many requests into flushes, so that they share one round trip and one fsync of Redis.
// There is no timer: a lone request leaves with the next turn of the event loop, and a crowd gathers by itself while
// two flushes are under way. Nobody waits here for longer than a client would: what cannot leave is refused, untouched.
// Next: batches.ts.

import { Refusal } from '@weir/shared/errors';
import type { Admission, Candidate } from './admit.ts';

/** Events in one flush: enough to share an fsync well, and not so many that Redis, which takes some 5 µs for each, keeps others waiting. */
const FLUSH_EVENTS_MAX = 1_000;

/** One flush is on the wire while Redis works on the other; a third would only wait there instead of gathering here. */
const FLUSHES_IN_FLIGHT_MAX = 2;

/** Beyond this many events the door is shut until there is room: 50 requests of 1,000, some 50 MB. */
const WAITING_MAX = 50_000;

/** An event that has waited for longer is refused instead of sent: its flush would be answered too late for its client. */
const WAIT_MS_MAX = 1_000;

/** What became of an event that was handed in. `failed`: its flush was not answered, or it was not sent; the error says which. */
export type Settled = Admission | { outcome: 'failed'; error: unknown };

interface Waiting {
  candidate: Candidate;
  since: number;
  settle: (settled: Settled) => void;
}

export class FlushBuffer {
  readonly #admit: (candidates: Candidate[]) => Promise<Admission[]>;
  readonly #now: () => number;
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #isScheduled = false;
  #isClosed = false;
  #onIdle: (() => void)[] = [];

  /** `admit` admits the candidates of one flush and answers in their order. `now` is in milliseconds. */
  constructor(admit: (candidates: Candidate[]) => Promise<Admission[]>, now: () => number = () => performance.now()) {
    this.#admit = admit;
    this.#now = now;
  }

  /** Events that wait for a flush. */
  get depth(): number {
    return this.#waiting.length;
  }

  /**
   * Hands in one event. `settle` is called once, when its flush has been answered, or when it is sure that it will not be sent.
   * It is no promise, so that the events of a batch can share one.
   */
  submit(candidate: Candidate, settle: (settled: Settled) => void): void {
    if (this.#isClosed) {
      const detail = 'This process is shutting down, and nothing was kept: send the event again.';
      const error = new Refusal('shutting_down', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 });
      settle({ outcome: 'failed', error });
      return;
    }
    if (this.#waiting.length >= WAITING_MAX) {
      settle({ outcome: 'failed', error: tooMuch() });
      return;
    }
    this.#waiting.push({ candidate, since: this.#now(), settle });
    this.#schedule();
  }

  /** Takes no more events, and waits until every one that was handed in is answered. */
  async drain(): Promise<void> {
    this.#isClosed = true;
    if (this.#waiting.length === 0 && this.#inFlight === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= FLUSHES_IN_FLIGHT_MAX || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#flush();
      this.#schedule();
    });
  }

  async #flush(): Promise<void> {
    this.#refuseLate();
    const flushed = this.#waiting.splice(0, FLUSH_EVENTS_MAX);
    if (flushed.length === 0) {
      this.#settleIdle();
      return;
    }
    this.#inFlight += 1;
    try {
      const admissions = await this.#admit(flushed.map(({ candidate }) => candidate));
      flushed.forEach(({ settle }, index) => {
        settle(admissions[index] ?? noAnswer());
      });
    } catch (error) {
      failAll(flushed, error);
      // Redis does not answer. Those who came after would wait for as long again, one flush after the other, to hear the same.
      if (error instanceof Refusal) failAll(this.#waiting.splice(0), notSent());
    } finally {
      this.#inFlight -= 1;
      this.#schedule();
      this.#settleIdle();
    }
  }

  /** They wait in the order they came, so the late ones stand first. */
  #refuseLate(): void {
    const latest = this.#now() - WAIT_MS_MAX;
    const inTime = this.#waiting.findIndex(({ since }) => since >= latest);
    const late = this.#waiting.splice(0, inTime === -1 ? this.#waiting.length : inTime);
    if (late.length > 0) failAll(late, tooMuch());
  }

  #settleIdle(): void {
    if (this.#inFlight === 0 && this.#waiting.length === 0) for (const done of this.#onIdle.splice(0)) done();
  }
}

function noAnswer(): Settled {
  return { outcome: 'failed', error: new Error('the admit script answered for fewer events than it was given') };
}

function failAll(waiting: readonly Waiting[], error: unknown): void {
  for (const { settle } of waiting) settle({ outcome: 'failed', error });
}

function tooMuch(): Refusal {
  const detail = 'More events arrive than the queue can take, and nothing was kept: send the event again in a moment.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 });
}

function notSent(): Refusal {
  const detail = 'The queue cannot take events now, and nothing was kept: send the event again in a moment.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 });
}
