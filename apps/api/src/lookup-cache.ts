import { Refusal } from '@weir/shared/errors';
import { SparseLog } from '@weir/shared/sparse-log';
import { withinMs } from '@weir/shared/within';
import type { FastifyBaseLogger } from 'fastify';

/** After a look-up that failed or took too long, Postgres is left alone for this long. */
const RETRY_MS = 1_000;

/** What is known already waits no longer than this for Postgres to say that it is still so. */
const WAIT_MS = 250;

/** How long it is remembered that there is no such thing. Who asked for it before it was made finds it so much later at most. */
const MISSING_MS = 1_000;
const MISSING_MAX = 10_000;

/** Names in one question: one request's of the largest. */
const NAMES_MAX = 1_000;

/** While one question is under way the next gathers; a second lets it begin at once, and strangers never take up a third connection. */
const QUESTIONS_MAX = 2;

/** Beyond this many names that wait for a question, which would be for seconds, no more are taken. */
const WAITING_MAX = 20_000;

export interface LookupCacheOptions<Value> {
  /** What is remembered, for the log: `API key`. */
  what: string;
  /** Asks Postgres for all of some names in one go; returns those that there are. */
  find(names: readonly string[]): Promise<ReadonlyMap<string, Value>>;
  /** Whether something in memory is known to be gone, without a question to Postgres. False where nobody can tell. */
  isMarkedGone?(value: Value): Promise<boolean>;
  /** After this it is looked up again before it is used. */
  freshMs: number;
  /** For no longer than this is it used from memory, even while Postgres is away. */
  usableMs: number;
  /** Beyond this many, those that were looked up first are forgotten first. */
  countMax: number;
  log: FastifyBaseLogger;
  /** Milliseconds that pass. By default they do also while the machine is suspended or the time of day is set back. */
  now?: () => number;
}

interface Entry<Value> {
  value: Value;
  lookedUpAt: number;
  lookUpAgainAt: number;
}

interface LookUp<Value> {
  /** Whether Postgres is being asked; until then the look-up waits for a question. */
  isAsked: boolean;
  promise: Promise<Value | undefined>;
  resolve: (value: Value | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Things that the track path needs at every request, kept in memory so that it asks Postgres only about those it has not
 * seen. Those that are asked for at the same time share a question, so that a thousand unknown names cost little more than one.
 * While Postgres is away, tracking goes on with those in use.
 */
export class LookupCache<Value> {
  readonly #options: LookupCacheOptions<Value>;
  readonly #now: () => number;
  readonly #sparseLog = new SparseLog();
  readonly #entries = new Map<string, Entry<Value>>();
  /** Names that nothing has, and until when that is taken for granted. */
  readonly #missing = new Map<string, number>();
  readonly #lookUps = new Map<string, LookUp<Value>>();
  /** Those of the look-ups that wait for a question. */
  #waiting: string[] = [];
  #questions = 0;
  /** Until then Postgres, which did not answer, is not asked whether something is gone. */
  #leftAloneUntil = -Infinity;
  #isScheduled = false;

  constructor(options: LookupCacheOptions<Value>) {
    this.#options = options;
    this.#now = options.now ?? openElapsed();
  }

  /**
   * At once where it is known, or known to be missing; a promise where Postgres has to be asked, which rejects when it
   * cannot be.
   */
  get(name: string): Value | undefined | Promise<Value | undefined> {
    const entry = this.#entries.get(name);
    const now = this.#now();
    if (entry === undefined || now - entry.lookedUpAt > this.#options.usableMs) {
      return now < (this.#missing.get(name) ?? -Infinity) ? undefined : this.#lookUp(name);
    }
    return now > entry.lookUpAgainAt ? this.#renew(entry, this.#lookUp(name)) : entry.value;
  }

  /**
   * Whether what was in memory under this name is gone: as it is marked, else by a question to Postgres that begins after this call. Those
   * who ask at the same time share the question, so that there is one at a time for each name. False for what is not marked while Postgres
   * does not answer, and for a name that is not in memory, about which nothing is asked.
   */
  async isGone(name: string): Promise<boolean> {
    const now = this.#now();
    const entry = this.#entries.get(name);
    if (entry === undefined) return now < (this.#missing.get(name) ?? -Infinity);
    const { isMarkedGone } = this.#options;
    if (isMarkedGone !== undefined && (await isMarkedGone(entry.value))) return true;
    if (now < this.#leftAloneUntil) return false;
    const underWay = this.#lookUps.get(name);
    const anew = () => this.#lookUp(name);
    // A question that is under way may have been answered before the name went.
    const lookUp = underWay?.isAsked === true ? underWay.promise.then(anew, anew) : anew();
    return (await this.#renew(entry, lookUp)) === undefined;
  }

  /** Has those that are meant looked up again before they are used next; used from memory all the same while Postgres is away. */
  lookUpAgain(isMeant: (value: Value) => boolean): void {
    for (const entry of this.#entries.values()) if (isMeant(entry.value)) entry.lookUpAgainAt = -Infinity;
  }

  /** What Postgres says now, or what is known if Postgres does not answer. */
  async #renew(entry: Entry<Value>, lookUp: Promise<Value | undefined>): Promise<Value | undefined> {
    try {
      return await withinMs(WAIT_MS, lookUp);
    } catch (error) {
      this.#leftAloneUntil = this.#now() + RETRY_MS;
      entry.lookUpAgainAt = Math.max(entry.lookUpAgainAt, this.#leftAloneUntil);
      // Every request comes here while Postgres is silent.
      const { log, what } = this.#options;
      this.#sparseLog.warn(log, what, { err: error }, `a cached ${what} could not be looked up again`);
      return entry.value;
    }
  }

  /** One look-up at a time for each name, however many requests wait for it. */
  #lookUp(name: string): Promise<Value | undefined> {
    const underWay = this.#lookUps.get(name);
    if (underWay !== undefined) return underWay.promise;
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(tooMany(this.#options.what));
    const lookUp = newLookUp<Value>();
    this.#lookUps.set(name, lookUp);
    // What is known comes before what strangers make up.
    if (this.#entries.has(name)) this.#waiting.unshift(name);
    else this.#waiting.push(name);
    this.#schedule();
    return lookUp.promise;
  }

  /** Not before this turn of the event loop is over: the items of a batch are all asked for in one. */
  #schedule(): void {
    if (this.#isScheduled || this.#questions >= QUESTIONS_MAX || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#ask(this.#waiting.splice(0, NAMES_MAX));
      this.#schedule();
    });
  }

  async #ask(names: readonly string[]): Promise<void> {
    this.#questions += 1;
    for (const name of names) {
      const lookUp = this.#lookUps.get(name);
      if (lookUp !== undefined) lookUp.isAsked = true;
    }
    // From before the question: an answer that took long is as old as what Postgres saw when it began.
    const lookedUpAt = this.#now();
    try {
      const found = await this.#options.find(names);
      for (const name of names) {
        this.#keep(name, found.get(name), lookedUpAt);
        this.#take(name)?.resolve(found.get(name));
      }
    } catch (error) {
      for (const name of names) this.#take(name)?.reject(error);
    } finally {
      this.#questions -= 1;
      this.#schedule();
    }
  }

  #take(name: string): LookUp<Value> | undefined {
    const lookUp = this.#lookUps.get(name);
    this.#lookUps.delete(name);
    return lookUp;
  }

  #keep(name: string, value: Value | undefined, lookedUpAt: number): void {
    this.#entries.delete(name);
    this.#missing.delete(name);
    if (value === undefined) {
      // All at once: to delete the first of a full map again and again is slow, since it leaves holes there to step over.
      if (this.#missing.size >= MISSING_MAX) this.#missing.clear();
      this.#missing.set(name, lookedUpAt + MISSING_MS);
    } else {
      for (const oldest of this.#entries.keys()) {
        if (this.#entries.size < this.#options.countMax) break;
        this.#entries.delete(oldest);
      }
      this.#entries.set(name, { value, lookedUpAt, lookUpAgainAt: lookedUpAt + this.#options.freshMs });
    }
  }
}

/** More than two clocks go apart between two readings, unless one of them was set or stood still. */
const JUMP_MS = 1_000;

/**
 * Returns a clock that never goes back. The time of day may be set back and would then keep something for longer; that of the process stands
 * still while its machine is suspended, and gets then what the time of day has gone on by.
 */
function openElapsed(): () => number {
  let suspended = 0;
  let apart = Date.now() - performance.now();
  return () => {
    const sinceStart = performance.now();
    const before = apart;
    apart = Date.now() - sinceStart;
    if (apart - before > JUMP_MS) suspended += apart - before;
    return sinceStart + suspended;
  };
}

function newLookUp<Value>(): LookUp<Value> {
  const settle: Partial<LookUp<Value>> = {};
  const promise = new Promise<Value | undefined>((resolve, reject) => Object.assign(settle, { resolve, reject }));
  // Whoever asked may have gone on without the answer.
  promise.catch(() => {});
  return Object.assign(settle, { promise, isAsked: false }) as LookUp<Value>;
}

function tooMany(what: string): Refusal {
  const detail = `Too many of one kind are looked up now (${what}), and nothing was kept: send the request again in a moment.`;
  return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 1, because: 'crowd' });
}
