// Gathers the events of many requests into flushes, so that they share one round trip and one fsync of Redis.
// There is no timer: a lone request leaves with the next turn of the event loop, and a crowd gathers by itself while
// two flushes are under way. Nobody waits here for longer than a client would: what cannot leave is refused, untouched.
// Next: batches.ts.

import { Refusal } from '@weir/shared/errors';
import type { Admission, Candidate } from './admit.ts';
import { WaitingEvents, type Waiting } from './waiting.ts';

/**
 * One flush: enough events to share an fsync well, and not so many that Redis, which takes some 5 µs for each and a few
 * milliseconds for a megabyte, keeps others waiting.
 */
const FLUSH_MAX = { events: 1_000, characters: 1_048_576 };

/** One flush is on the wire while Redis works on the other; a third would only wait there instead of gathering here. */
const FLUSHES_IN_FLIGHT_MAX = 2;

/**
 * What may wait; beyond it the door is shut until there is room. One organization alone may have half of it waiting: 50 requests
 * of 1,000 events, or 32 MB.
 */
const WAITING_MAX = { events: 100_000, characters: 67_108_864 };

/** An event that has waited for longer is refused instead of sent: its flush would be answered too late for its client. */
const WAIT_MS_MAX = 1_000;

/** What became of an event that was handed in. `failed`: its flush was not answered, or it was not sent; the error says which. */
export type Settled = Admission | { outcome: 'failed'; error: unknown };

export class FlushBuffer {
  readonly #admit: (candidates: Candidate[]) => Promise<Admission[]>;
  readonly #now: () => number;
  readonly #waiting = new WaitingEvents(WAITING_MAX);
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
    return this.#waiting.count;
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
    if (this.#waiting.add({ candidate, since: this.#now(), settle })) this.#schedule();
    else settle({ outcome: 'failed', error: tooMuch() });
  }

  /** Takes no more events, and waits until every one that was handed in is answered. */
  async drain(): Promise<void> {
    this.#isClosed = true;
    if (this.#waiting.count === 0 && this.#inFlight === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= FLUSHES_IN_FLIGHT_MAX || this.#waiting.count === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#flush();
      this.#schedule();
    });
  }

  async #flush(): Promise<void> {
    const late = this.#waiting.takeLate(this.#now() - WAIT_MS_MAX);
    if (late.length > 0) failAll(late, tooMuch());
    const flushed = this.#waiting.take(FLUSH_MAX);
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
      if (error instanceof Refusal) failAll(this.#waiting.takeAll(), notSent());
    } finally {
      this.#inFlight -= 1;
      this.#schedule();
      this.#settleIdle();
    }
  }

  #settleIdle(): void {
    if (this.#inFlight === 0 && this.#waiting.count === 0) for (const done of this.#onIdle.splice(0)) done();
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
