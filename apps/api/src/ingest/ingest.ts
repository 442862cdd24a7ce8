// The way of an event into the queue, from top to bottom: gather → admit → answer → enqueue. The events of many requests share
// a flush, and so one round trip and one fsync of Redis. There is no timer: a lone request leaves with the next turn of the
// event loop, and a crowd gathers by itself while two flushes are under way. Nobody waits here for longer than a client
// would: what cannot leave is refused, untouched. What is enqueued goes on in apps/worker/src/consume.ts.

import type { Admission, Candidate } from '@weir/queue/admit';
import { FLUSHES_IN_FLIGHT_MAX } from '@weir/queue/connection';
import { NotCopied } from '@weir/queue/redis-away';
import { Refusal } from '@weir/shared/errors';
import { bothAway, Direct, type DirectDeps } from './direct.ts';
import { Batches } from './open-batch.ts';
import { refusalOfAdmission } from './refusals.ts';
import { WaitingEvents, type Settle, type Waiting } from './waiting.ts';

/**
 * One flush: enough events to share an fsync well, and not so many that Redis, which takes some 5 µs for each and a few
 * milliseconds for a megabyte, keeps others waiting.
 */
const FLUSH_MAX = { events: 1_000, characters: 1_048_576 };

/**
 * What may wait; beyond it the door is shut until there is room. One organization alone may have half of it waiting: 50 requests
 * of 1,000 events, or 32 MB.
 */
const WAITING_MAX = { events: 100_000, characters: 67_108_864 };

/** An event that has waited for longer is refused instead of sent: its flush would be answered too late for its client. */
const WAIT_MS_MAX = 1_000;

export interface IngestDeps {
  /** Why no events may be taken at all, neither way; undefined when they may. */
  refusal(): Refusal | undefined;
  /** Whether Redis is to be left alone: it does not answer, or takes none of this organization (null: replayed ones) now. */
  isDirect(organizationId: string | null): boolean;
  /** Why Redis does not take events of an organization, where it answers; for who hears that Postgres cannot, either. */
  refusalOfRedis(organizationId: string | null): Refusal | undefined;
  /** Redis did not take a flush, or did not answer: what comes next is not sent there. */
  leaveRedis(error: Refusal): void;
  direct: Omit<DirectDeps, 'now'>;
  /** Admits one flush into a batch; the answers are in its order. */
  admit(batch: string, candidates: readonly Candidate[]): Promise<Admission[]>;
  /** Asks the workers to record a batch. */
  enqueue(batch: string): void;
  /** Called with what the admit script said, flush by flush. */
  onAdmitted(admissions: readonly Admission[]): void;
  /**
   * Called when Redis has another epoch than these, which senders of a flush were looked up in, so that it cannot say whether their API keys
   * were deleted. `isDirect`: their events go directly now.
   */
  onUnsure(epochs: ReadonlySet<string>, isDirect: boolean): void;
  /** Milliseconds. */
  now?: () => number;
}

/** The way into the queue. */
export class Ingest {
  readonly #deps: IngestDeps;
  readonly #now: () => number;
  readonly #waiting = new WaitingEvents(WAITING_MAX);
  readonly #batches: Batches;
  readonly #direct: Direct;
  #inFlight = 0;
  #isScheduled = false;
  #isClosed = false;
  #onIdle: (() => void)[] = [];

  constructor(deps: IngestDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    this.#batches = new Batches(deps.enqueue);
    this.#direct = new Direct({ ...deps.direct, now: this.#now }, () => this.#settleIdle());
  }

  /** Resolves when Redis or Postgres has the event on disk. Throws the Refusal that says why it was not taken. */
  submit(candidate: Candidate): Promise<void> {
    const organizationId = candidate.sender?.organizationId ?? null;
    const refusal = this.#deps.refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const isDirect = this.#deps.isDirect(organizationId);
    if (isDirect && !this.#direct.isOpen()) return Promise.reject(this.#refusalOfBoth(organizationId));
    return new Promise((resolve, reject) => {
      this.#gather(candidate, isDirect, (error) => (error === undefined ? resolve() : reject(error)));
    });
  }

  /** Submits the events of one request. Resolves to why each was not taken, in their order; undefined for one that was. */
  submitAll(candidates: readonly Candidate[]): Promise<unknown[]> {
    // They are of one sender.
    const organizationId = candidates[0]?.sender?.organizationId ?? null;
    const isDirect = this.#deps.isDirect(organizationId);
    const isShut = isDirect && !this.#direct.isOpen();
    const refusal = this.#deps.refusal() ?? (isShut ? this.#refusalOfBoth(organizationId) : undefined);
    if (refusal !== undefined || candidates.length === 0) return Promise.resolve(candidates.map(() => refusal));
    return new Promise((resolve) => {
      const errors: unknown[] = [];
      let open = candidates.length;
      candidates.forEach((candidate, index) => {
        this.#gather(candidate, isDirect, (error) => {
          errors[index] = error;
          open -= 1;
          if (open === 0) resolve(errors);
        });
      });
    });
  }

  /** Why events are not taken now; undefined while they are. */
  refusal(): Refusal | undefined {
    const refusal = this.#deps.refusal();
    if (refusal !== undefined || !this.isDirect() || this.#direct.isOpen()) return refusal;
    return this.#refusalOfBoth(null);
  }

  /** Whether Postgres takes events, as far as is known. */
  isPostgresOpen(): boolean {
    return this.#direct.isOpen();
  }

  /** Whether events go directly to Postgres now. */
  isDirect(): boolean {
    return this.#deps.isDirect(null);
  }

  #refusalOfBoth(organizationId: string | null): Refusal {
    return this.#deps.refusalOfRedis(organizationId) ?? bothAway();
  }

  /** Events that wait for a flush. */
  get depth(): number {
    return this.#waiting.count + this.#direct.depth;
  }

  /** Takes no more events, waits until all that were handed in are answered, and has the open batch recorded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (!this.#isIdle) await new Promise<void>((done) => this.#onIdle.push(done));
    this.#batches.close();
  }

  /** `settle` is no promise, so that the events of a batch can share one. */
  #gather(candidate: Candidate, isDirect: boolean, settle: Settle): void {
    if (this.#isClosed) settle(shuttingDown());
    else if (isDirect) this.#goDirectly({ candidate, since: this.#now(), settle });
    else if (this.#waiting.add({ candidate, since: this.#now(), settle })) this.#schedule();
    else settle(tooMuch());
  }

  #goDirectly(waiting: Waiting): void {
    if (!this.#direct.add(waiting)) waiting.settle(tooMuch());
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
    // Gather: what has come in since the last flush.
    settleAll(this.#waiting.takeLate(this.#now() - WAIT_MS_MAX), tooMuch);
    const flush = this.#waiting.take(FLUSH_MAX);
    if (flush.length === 0) return this.#settleIdle();
    const candidates = flush.map(({ candidate }) => candidate);
    this.#inFlight += 1;
    const batch = this.#batches.join(candidates);
    let mayHoldEvents = true;
    try {
      // Admit: from here on each event is on disk together with its claim, or was not taken.
      const admissions = await this.#deps.admit(batch.id, candidates);
      this.#deps.onAdmitted(admissions);
      mayHoldEvents = admissions.some(({ outcome }) => outcome === 'staged');

      // Answer: what the script said, and that alone.
      const unsure: Waiting[] = [];
      flush.forEach((waiting, index) => {
        const admission = admissions[index];
        if (admission?.outcome === 'unsure') unsure.push(waiting);
        else waiting.settle(admission === undefined ? noAnswer() : refusalOfAdmission(admission));
      });
      if (unsure.length > 0) this.#goAsUnsure(unsure);
    } catch (error) {
      mayHoldEvents = !(error instanceof Refusal && error.fields.outcome === 'not_accepted');
      if (error instanceof Refusal) this.#leaveRedis(flush, mayHoldEvents, error);
      else settleAll(flush, () => error);
    } finally {
      // Enqueue: the job that names the batch is added once the batch is shut and all its flushes are answered.
      this.#batches.leave(batch, mayHoldEvents);
      this.#inFlight -= 1;
      this.#schedule();
      this.#settleIdle();
    }
  }

  /** Redis does not take this flush, or nobody knows. It goes the other way under its own ids, with those who came after. */
  #leaveRedis(flush: Waiting[], mayHoldEvents: boolean, error: Refusal): void {
    const isOpen = this.#direct.isOpen();
    // Without a replica each flush is staged on the primary, and nobody is told that it is taken: one is enough to know.
    if (isOpen || error.cause instanceof NotCopied) this.#deps.leaveRedis(error);
    if (isOpen) {
      this.#direct.takeOver(flush, mayHoldEvents);
      for (const waiting of this.#waiting.takeAll()) this.#goDirectly(waiting);
      return;
    }
    settleAll(flush, () => error);
    // Those who came after would wait for as long again, one flush after the other, to hear the same.
    settleAll(this.#waiting.takeAll(), () => notSent(error));
  }

  /** Redis does not know whether their API key was deleted; Postgres does. */
  #goAsUnsure(unsure: Waiting[]): void {
    const isDirect = this.#direct.isOpen();
    this.#deps.onUnsure(new Set(unsure.flatMap(({ candidate }) => candidate.sender?.epoch ?? [])), isDirect);
    if (isDirect) this.#direct.takeOver(unsure, false);
    else settleAll(unsure, () => refusalOfAdmission({ outcome: 'unsure' }));
  }

  get #isIdle(): boolean {
    return this.#inFlight === 0 && this.#waiting.count === 0 && this.#direct.isIdle;
  }

  #settleIdle(): void {
    if (this.#isIdle) for (const done of this.#onIdle.splice(0)) done();
  }
}

function settleAll(waiting: readonly Waiting[], why: () => unknown): void {
  for (const { settle } of waiting) settle(why());
}

function noAnswer(): Error {
  return new Error('the admit script answered for fewer events than it was given');
}

function shuttingDown(): Refusal {
  const detail = 'This process is shutting down, and nothing was kept: send the event again.';
  return new Refusal('shutting_down', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 });
}

function tooMuch(): Refusal {
  const detail = 'More events arrive than the queue can take, and nothing was kept: send the event again in a moment.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1, because: 'crowd' });
}

function notSent(cause: Refusal): Refusal {
  const detail = 'The queue cannot take events now, and nothing was kept: send the event again in a moment.';
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1 }, cause);
}
