// Gathers the events of many requests into flushes, so that they share one round trip and one fsync of Redis.
// There is no timer: a lone request leaves with the next turn of the event loop, and a crowd gathers by itself while
// two flushes are under way. Next: admit.ts.

import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import type { Admission, Candidate } from './admit.ts';

/** Events in one flush, and so in one batch: large enough to share an fsync well, small enough to stay one screen of SQL. */
const FLUSH_EVENTS_MAX = 500;

/** One flush is on the wire while Redis works on the other; a third would only wait there instead of gathering here. */
const FLUSHES_IN_FLIGHT_MAX = 2;

interface Waiting {
  candidate: Candidate;
  resolve: (admission: Admission) => void;
  reject: (error: unknown) => void;
}

export class FlushBuffer {
  readonly #flushBatch: (batch: string, candidates: Candidate[]) => Promise<Admission[]>;
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #isScheduled = false;
  #isClosed = false;
  #onIdle: (() => void)[] = [];

  /** `flushBatch` admits the candidates of one batch and answers in their order. */
  constructor(flushBatch: (batch: string, candidates: Candidate[]) => Promise<Admission[]>) {
    this.#flushBatch = flushBatch;
  }

  /** Events that wait for a flush. */
  get depth(): number {
    return this.#waiting.length;
  }

  /** Hands in one event; settles when its flush has been answered. */
  submit(candidate: Candidate): Promise<Admission> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        const detail = 'This process is shutting down, and nothing was kept: send the event again.';
        reject(new Refusal('shutting_down', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 }));
        return;
      }
      this.#waiting.push({ candidate, resolve, reject });
      this.#schedule();
    });
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
    const flushed = this.#waiting.splice(0, FLUSH_EVENTS_MAX);
    this.#inFlight += 1;
    try {
      const admissions = await this.#flushBatch(
        newId(),
        flushed.map(({ candidate }) => candidate),
      );
      flushed.forEach(({ resolve, reject }, index) => {
        const admission = admissions[index];
        if (admission === undefined) reject(new Error('the admit script answered for fewer events than it was given'));
        else resolve(admission);
      });
    } catch (error) {
      for (const { reject } of flushed) reject(error);
    } finally {
      this.#inFlight -= 1;
      this.#schedule();
      if (this.#inFlight === 0 && this.#waiting.length === 0) for (const done of this.#onIdle.splice(0)) done();
    }
  }
}
