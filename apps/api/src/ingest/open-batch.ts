// Gathers flushes into batches. A flush is answered by itself and at once; only the job that has it recorded waits until some
// more have joined, so that a job, its transaction and their fsyncs are shared by hundreds of events instead of a handful.
// A batch whose process dies before its job was added is found by the sweeper of a worker.

import type { Candidate } from '@weir/queue/admit';
import { BATCH_CHARACTERS_MAX, BATCH_EVENTS_MAX } from '@weir/queue/record-jobs';
import { newId } from '@weir/shared/ids';

/** How long a batch takes flushes: what an event is recorded later by, at most, and no client waits for. */
const OPEN_MS = 200;

export interface Batch {
  readonly id: string;
  /** Events that were sent to it, whatever Redis said of them. */
  events: number;
  /** Characters of their texts. */
  characters: number;
  /** Flushes that have not been answered yet. */
  underWay: number;
  /** False while it is certain that nothing of it is staged. */
  mayHoldEvents: boolean;
  isOpen: boolean;
}

export class Batches {
  readonly #enqueue: (batch: string) => void;
  #open: Batch | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `enqueue` asks the workers to record a batch; it is called once for each that may hold events. */
  constructor(enqueue: (batch: string) => void) {
    this.#enqueue = enqueue;
  }

  /** The batch that a flush goes to. Each flush leaves it once it was answered. */
  join(flush: readonly Pick<Candidate, 'event'>[]): Batch {
    const batch = this.#open ?? this.#openNew();
    batch.events += flush.length;
    for (const { event } of flush) batch.characters += event.length;
    batch.underWay += 1;
    if (batch.events >= BATCH_EVENTS_MAX || batch.characters >= BATCH_CHARACTERS_MAX) this.#shut();
    return batch;
  }

  /** `mayHoldEvents`: whether anything of the flush is staged, as far as anybody knows. */
  leave(batch: Batch, mayHoldEvents: boolean): void {
    batch.underWay -= 1;
    batch.mayHoldEvents ||= mayHoldEvents;
    this.#enqueueWhenDone(batch);
  }

  /** Has the open batch recorded, once every flush is answered. */
  close(): void {
    this.#shut();
  }

  #openNew(): Batch {
    const batch: Batch = { id: newId(), events: 0, characters: 0, underWay: 0, mayHoldEvents: false, isOpen: true };
    this.#open = batch;
    this.#timer = setTimeout(() => this.#shut(), OPEN_MS);
    return batch;
  }

  #shut(): void {
    clearTimeout(this.#timer);
    const batch = this.#open;
    if (batch === undefined) return;
    this.#open = undefined;
    batch.isOpen = false;
    this.#enqueueWhenDone(batch);
  }

  /** Not before the last flush is answered: a job that comes before its events finds nothing. */
  #enqueueWhenDone(batch: Batch): void {
    if (batch.isOpen || batch.underWay > 0 || !batch.mayHoldEvents) return;
    batch.mayHoldEvents = false;
    this.#enqueue(batch.id);
  }
}
