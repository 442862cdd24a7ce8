// Sends queued events in the background: in batches, a few at once, again and again until each is settled. It holds what it has in
// a store, which is bounded: who queues faster than Weir takes is made to wait, or refused.

import type { BatchOutcome } from './answer.ts';
import { deliver, isSettled, type SendBatch } from './deliver.ts';
import { WeirError, withKeys } from './error.ts';
import { decodeEvent, type KeyedEvent } from './event.ts';
import { callAtExit } from './exit.ts';
import type { EventStore, HeldEvent } from './held-event.ts';
import { BATCH_EVENTS_MAX } from './limits.ts';
import { MemoryStore } from './memory-store.ts';
import { atLeast, readMs, TIMER_MAX_MS, wholeNumber } from './numbers.ts';
import { Outbox, type OutboxOptions } from './outbox.ts';
import { Warnings, type WarningKind } from './warnings.ts';

export interface QueueOptions {
  /** Events that are held in memory; default 10,000. */
  eventsMax?: number;
  /** Bytes of JSON that are held in memory; default 16 MiB. */
  bytesMax?: number;
  /** When no more can be held: `wait` (default) holds the call of `queue` back, `reject` rejects it with `queue_full`. */
  whenFull?: 'wait' | 'reject';
  /** Events in one request, 1 to {@link BATCH_EVENTS_MAX}; default 500. As soon as so many wait they are sent. */
  batchEventsMax?: number;
  /** The longest that an event waits for others, in milliseconds; default 1000. */
  intervalMs?: number;
  /** Requests at a time; default 2. */
  concurrency?: number;
  /**
   * Told of each event that is refused for good, which is not sent again and kept nowhere: write it down. Default: a warning, at once
   * of the first and once a minute of how many. What it throws is an uncaught exception.
   */
  onRefused?: (error: WeirError, event: KeyedEvent) => void;
  /**
   * Told of what a person should know: that an outbox cannot be read, or cannot be sent. Many alike are told as one, and counted;
   * `kind` says which. Default: a warning of the process.
   */
  onWarning?: (message: string, kind: WarningKind) => void;
  /** Keeps events on disk until they are settled, so that they outlive the process. */
  outbox?: OutboxOptions;
  /** How long a process that is about to end waits for what is queued, in milliseconds; default 10,000. */
  exitTimeoutMs?: number;
  /** Whether SIGTERM closes the queue, and then ends the process unless it has other listeners. Default: false. */
  closeOnSigterm?: boolean;
}

export interface QueueCallOptions {
  /** Ends the wait for room with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Told what became of this event. Not with an outbox, whose events may be settled by another process. */
  onSettled?: ((outcome: BatchOutcome) => void) | undefined;
}

export interface CloseResult {
  /** Whether every event was settled. */
  isDone: boolean;
  /** Events that were held in memory and have no answer. They are yours now, with the keys that they were sent with. */
  unsent: KeyedEvent[];
}

interface Waiter {
  event: HeldEvent;
  enter: () => void;
  refuse: (reason: Error) => void;
}

type OnRetry = (error: WeirError, delayMs: number) => void;
type AbortableSendBatch = (...args: [...Parameters<SendBatch>, AbortSignal]) => ReturnType<SendBatch>;

/** So much of a request's limit of 10 MB that other limits on the way are kept too. */
const BATCH_BYTES_MAX = 1024 * 1024;

/** Events are not thrown away because their request was refused, nor an outbox because a key was wrong. After so long it is tried again. */
const REFUSED_PAUSE_MS = 60_000;

/** After so many attempts of one batch, some seconds, an outage is told of. */
const FAILURES_MAX = 6;

export class EventQueue {
  readonly #store: EventStore;
  readonly #sendBatch: AbortableSendBatch;
  readonly #onRetry: OnRetry | undefined;
  readonly #options: QueueOptions;
  readonly #limits: ReturnType<typeof readLimits>;
  readonly #halt = new AbortController();
  readonly #stopCallAtExit: () => void;
  /** Those who wait for room. */
  readonly #waiters = new Set<Waiter>();
  /** Called after each change; each takes itself out when it has seen what it waits for. */
  readonly #watchers = new Set<() => void>();
  readonly #warnings = new Warnings((message, kind) => this.#warn(message, kind));
  #keepAlive: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** What is kept although it was refused, held out of the way until it is tried again. */
  #aside: HeldEvent[] = [];
  /** Until then. */
  #rest: NodeJS.Timeout | undefined;
  /** Nothing at all is sent during the rest. */
  #isPaused = false;
  /** Whether Weir took something since an event was last refused doubtfully: then not everything is refused. */
  #isHeard = false;
  /** Whether it was said that something is kept; the last try of a close does not say it again. */
  #isTold = false;
  /** What waits is sent although it fills no batch. */
  #isDue = false;
  #inFlight = 0;
  #closing: Promise<CloseResult> | undefined;
  /** What is said to those who wait for a flush once the queue was closed with something left. */
  #end: WeirError | undefined;

  constructor(sendBatch: AbortableSendBatch, onRetry: OnRetry | undefined, options: QueueOptions) {
    this.#sendBatch = sendBatch;
    this.#onRetry = onRetry && ((error, delayMs) => shield(() => onRetry(error, delayMs)));
    this.#options = options;
    this.#limits = readLimits(options);
    const { eventsMax, bytesMax } = this.#limits;
    this.#store =
      options.outbox === undefined
        ? new MemoryStore(eventsMax, bytesMax)
        : new Outbox(options.outbox, eventsMax, {
            onProblem: (kind, message) => this.#warnings.warn(kind, message),
            onFound: () => this.#sendAll(),
          });
    this.#stopCallAtExit = callAtExit(() => this.#closeAtExit(), options.closeOnSigterm ?? false);
    // An earlier process may have left some.
    if (this.#store.isDurable) this.#sendAll();
  }

  /** Bytes of JSON that are held, those under way included. */
  get bytes(): number {
    return this.#store.bytes;
  }

  /** Resolves when the event is held. */
  async add(event: HeldEvent, signal?: AbortSignal): Promise<void> {
    if (event.onSettled !== undefined && this.#store.isDurable) {
      throw new TypeError('onSettled cannot be used with an outbox: another process may settle the event');
    }
    signal?.throwIfAborted();
    if (this.#closing !== undefined) throw closedTo(event);
    // Behind those who wait already, also where it would fit before them.
    if (this.#waiters.size === 0 && this.#store.hasRoom(event.bytes)) return await this.#put(event);
    this.#sendAll();
    if (this.#options.whenFull === 'reject') throw full(event);
    await this.#wait(event, signal);
  }

  /**
   * Sends what waits now. Resolves when everything that was queued before is settled, whatever is queued meanwhile. Rejects with
   * `queue_closed` when the queue was closed before that.
   */
  async flush(signal?: AbortSignal): Promise<void> {
    const { last } = this.#store;
    this.#sendAll();
    await this.#until(() => this.#isIdle || this.#store.isSettledTo(last), signal);
  }

  /** Takes no more events, and resolves when all are settled, or after `timeoutMs`. Of several calls the shortest time counts. */
  close(timeoutMs: number): Promise<CloseResult> {
    this.#closing ??= this.#close();
    if (timeoutMs <= 0) this.#stop();
    else setTimeout(() => this.#stop(), timeoutMs).unref();
    return this.#closing;
  }

  get #isIdle(): boolean {
    return this.#inFlight === 0 && this.#store.isEmpty;
  }

  async #close(): Promise<CloseResult> {
    // Not before #closing is set, which those who wait for room look at.
    await Promise.resolve();
    this.#tellWatchers();
    // What was refused is tried once more: a proxy may have said so while Weir was started anew.
    this.#endRest();
    await this.#until(() => this.#isIdle || (this.#halt.signal.aborted && this.#inFlight === 0));
    this.#stop();
    this.#store.giveBack(this.#aside.splice(0));
    const isDone = this.#store.isEmpty;
    // Before the store is closed: what it gives back is held no more, and yet not settled.
    if (!isDone) {
      this.#end = closed('The client was closed before all that was queued was settled');
      this.#tellWatchers();
    }
    const left = await this.#store.close();
    this.#stopCallAtExit();
    this.#warnings.flush();
    return { isDone, unsent: left.map(({ json }) => decodeEvent(json)) };
  }

  #stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#rest);
    this.#halt.abort();
    this.#tellWatchers();
  }

  async #closeAtExit(): Promise<void> {
    const { unsent } = await this.close(this.#limits.exitTimeoutMs);
    if (unsent.length > 0) this.#warn(`The process ends with ${unsent.length} events that were not sent.`, 'unsent');
  }

  async #put(event: HeldEvent): Promise<void> {
    try {
      await this.#store.add(event);
    } finally {
      // On its way to the disk it took room, too, which comes back also when it could not be written.
      this.#tellWatchers();
    }
    // Those who wait, for room or for this event, wait for no interval.
    if (this.#waiters.size + this.#watchers.size > 0) this.#sendAll();
    else this.#arm();
  }

  /** Sends at once what fills a batch, and the rest after the interval. */
  #arm(): void {
    this.#pump();
    if (this.#timer !== undefined || this.#store.waiting === 0 || this.#halt.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#sendAll();
    }, this.#limits.intervalMs).unref();
  }

  /** Sends what waits, although it may fill no batch. */
  #sendAll(): void {
    this.#isDue = true;
    this.#pump();
  }

  #pump(): void {
    if (this.#halt.signal.aborted || this.#isPaused) return;
    const { batchEventsMax, concurrency } = this.#limits;
    if (this.#store.waiting === 0) this.#isDue = false;
    for (let waiting = this.#store.waiting; this.#inFlight < concurrency; waiting -= batchEventsMax) {
      if (waiting <= 0 || (!this.#isDue && waiting < batchEventsMax)) return;
      this.#inFlight += 1;
      void this.#sendAndGoOn();
    }
  }

  async #sendAndGoOn(): Promise<void> {
    const hasTaken = await this.#sendOne();
    this.#inFlight -= 1;
    // Else another took what was there, and goes on when it is done.
    if (hasTaken) this.#arm();
    // What is left was tried once while closing. What is under way goes on, whatever was refused beside it.
    const isTried = this.#isPaused || (this.#aside.length > 0 && this.#store.waiting === 0);
    if (this.#closing !== undefined && this.#inFlight === 0 && isTried) this.#stop();
    this.#tellWatchers();
  }

  /** Resolves to whether there was something to send. */
  async #sendOne(): Promise<boolean> {
    const events = await this.#store.take(this.#limits.batchEventsMax, BATCH_BYTES_MAX);
    if (events.length === 0) return false;
    let failures = 0;
    const onRetry: OnRetry = (error, delayMs) => {
      failures += 1;
      if (failures >= FAILURES_MAX) this.#warnings.warn('away', `What is queued waits: ${error.message}`);
      this.#onRetry?.(error, delayMs);
    };
    const { outcomes, doubtful, failure } = await deliver(
      events,
      (body, keys) => this.#sendBatch(body, keys, this.#halt.signal),
      {
        retries: Infinity,
        onRetry,
        signal: this.#halt.signal,
        isBackground: true,
      },
    );
    // Aborted by a close, this is no WeirError, and what has no answer goes back.
    const refusal = failure instanceof WeirError ? failure : undefined;
    const settled: HeldEvent[] = [];
    const left: HeldEvent[] = [];
    let aboutClient: WeirError | undefined;
    let aboutEvent: WeirError | undefined;
    for (const [index, event] of events.entries()) {
      const outcome = isSettled(outcomes[index]) ? outcomes[index] : refusal && { error: refusal };
      const error = doubtful.get(index) ?? (outcome !== undefined && 'error' in outcome ? outcome.error : undefined);
      // Only what Weir says of an event settles it. A wrong key does so in memory, which would fill up; an outbox outlives it.
      const isKept =
        error !== undefined && (isAboutKey(error) ? this.#store.isDurable : error === refusal || doubtful.has(index));
      const { onDoubtful } = event;
      if (isKept && doubtful.has(index) && onDoubtful !== undefined) {
        settled.push(event);
        shield(() => onDoubtful(error));
      } else if (isKept) {
        if (doubtful.has(index)) aboutEvent ??= error;
        else aboutClient = error;
        this.#aside.push(event);
      } else if (outcome === undefined) left.push(event);
      else {
        settled.push(event);
        this.#tell(event, outcome);
      }
    }
    this.#store.giveBack(left);
    // They were due. Another batch, which found nothing left to send, may have taken that back.
    this.#isDue ||= left.length > 0;
    this.#store.settle(settled);
    this.#isHeard ||= settled.length > 0;
    if (aboutClient !== undefined) this.#restFor(aboutClient, true);
    if (aboutEvent !== undefined) {
      this.#restFor(aboutEvent, !this.#isHeard);
      this.#isHeard = false;
    }
    // Before those who wait for room are told.
    await this.#store.compact();
    return true;
  }

  /** Tries again after a while what was put aside. Nothing else is sent until then when everything seems to be refused. */
  #restFor(error: WeirError, isPause: boolean): void {
    // Of several requests under way the first one says it.
    if (!this.#isTold && !this.#halt.signal.aborted) {
      this.#isTold = true;
      const who = error.isFromWeir ? 'Weir' : 'What answers in place of Weir, such as a proxy,';
      const what = isPause ? 'what is sent' : `some of what is sent, such as the event ${error.idempotencyKeys[0]}`;
      this.#warn(`${who} refuses ${what}, and the client keeps it: ${error.message}`, 'kept');
    }
    this.#isPaused ||= isPause;
    this.#rest ??= setTimeout(() => {
      this.#isTold = false;
      this.#endRest();
    }, REFUSED_PAUSE_MS).unref();
  }

  #endRest(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    this.#isPaused = false;
    // Behind the others, which may be taken.
    this.#store.giveBack(this.#aside.splice(0), 'behind');
    this.#sendAll();
  }

  #tell({ json, key, onSettled }: HeldEvent, outcome: BatchOutcome): void {
    const { onRefused } = this.#options;
    // One error may be about all events of a request: each is told of its own key.
    const error = 'error' in outcome ? withKeys(outcome.error, [key]) : undefined;
    if (onSettled !== undefined) shield(() => onSettled(error === undefined ? outcome : { error }));
    if (error === undefined) return;
    if (onRefused !== undefined) shield(() => onRefused(error, decodeEvent(json)));
    else if (onSettled === undefined) this.#warnings.warn('refused', refusedForGood(key, error));
  }

  #warn(message: string, kind: WarningKind): void {
    const { onWarning } = this.#options;
    if (onWarning !== undefined) shield(() => onWarning(message, kind));
    else process.emitWarning(message, 'WeirWarning');
  }

  /** Resolves when it is so. Rejects with the reason of the signal, or of the end of the queue. */
  #until(isSo: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const isDone = this.#end === undefined && isSo();
        if (!isDone && this.#end === undefined && signal?.aborted !== true) return;
        this.#watchers.delete(look);
        signal?.removeEventListener('abort', look);
        this.#stayAlive();
        if (isDone) resolve();
        else reject(this.#end ?? (signal?.reason as Error));
      };
      this.#watchers.add(look);
      this.#stayAlive();
      signal?.addEventListener('abort', look);
      look();
    });
  }

  /** Resolves when there was room for the event and it is held. */
  #wait(event: HeldEvent, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', abort);
        this.#stayAlive();
      };
      const waiter: Waiter = {
        event,
        enter: () => {
          leave();
          resolve(this.#put(event));
        },
        refuse: (reason) => {
          leave();
          reject(reason);
        },
      };
      const abort = () => {
        waiter.refuse(signal?.reason as Error);
        // The next one may be smaller.
        this.#letIn();
      };
      this.#waiters.add(waiter);
      this.#stayAlive();
      signal?.addEventListener('abort', abort);
    });
  }

  /** Lets in as many of those who wait as there is room for, in their order; when the queue is closed, none. */
  #letIn(): void {
    for (const waiter of this.#waiters) {
      if (this.#closing !== undefined) waiter.refuse(closedTo(waiter.event));
      else if (this.#store.hasRoom(waiter.event.bytes)) waiter.enter();
      else return;
    }
  }

  /** Keeps the process alive while someone waits. */
  #stayAlive(): void {
    if (this.#watchers.size + this.#waiters.size > 0) {
      this.#keepAlive ??= setInterval(() => {}, TIMER_MAX_MS);
      return;
    }
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
  }

  #tellWatchers(): void {
    for (const look of this.#watchers) look();
    this.#letIn();
  }
}

/** What a callback of the caller throws is the caller's, and must not stop the queue. */
function shield(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function refusedForGood(key: string, { message }: WeirError): string {
  return `Weir refused the event ${key} for good, and no onRefused keeps it: ${message}`;
}

/** Whether Weir says it of the key. */
function isAboutKey({ status, isFromWeir }: WeirError): boolean {
  return isFromWeir && (status === 401 || status === 403);
}

function full({ key }: HeldEvent): WeirError {
  const detail = 'The queue holds as much as it may: queue the event again later, or set whenFull to wait';
  return new WeirError({ status: 0, code: 'queue_full', detail, idempotencyKeys: [key] });
}

function closedTo({ key }: HeldEvent): WeirError {
  return closed('The client was closed: make another one', [key]);
}

function closed(detail: string, idempotencyKeys: readonly string[] = []): WeirError {
  return new WeirError({ status: 0, code: 'queue_closed', detail, transient: false, idempotencyKeys });
}

/** Throws a RangeError for an option that makes no sense. */
export function readLimits(options: QueueOptions) {
  const whenFull: string = options.whenFull ?? 'wait';
  if (!['wait', 'reject'].includes(whenFull))
    throw new RangeError(`whenFull must be 'wait' or 'reject', and not ${whenFull}`);
  atLeast(1, 'outbox.bytesMax', options.outbox?.bytesMax ?? Infinity);
  return {
    batchEventsMax: wholeNumber('batchEventsMax', options.batchEventsMax ?? 500, BATCH_EVENTS_MAX),
    concurrency: wholeNumber('concurrency', options.concurrency ?? 2, 1000),
    eventsMax: wholeNumber('eventsMax', options.eventsMax ?? 10_000),
    bytesMax: wholeNumber('bytesMax', options.bytesMax ?? 16 * 1024 * 1024),
    intervalMs: readMs('intervalMs', options.intervalMs ?? 1000),
    exitTimeoutMs: readMs('exitTimeoutMs', options.exitTimeoutMs ?? 10_000),
  };
}
