// Gathers flushes into batches. A flush is answered by itself and at once; only the job that has it recorded waits until some
// more have joined, so that a job, its transaction and their fsyncs are shared by hundreds of events instead of a handful.
// A batch whose process dies before its job was added is found by the sweeper of a worker. Next: enqueue.ts.

import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { BATCH_CHARACTERS_MAX, BATCH_EVENTS_MAX } from '@weir/shared/queue';
import type { Admission } from './admit.ts';
import type { Bounds } from './waiting.ts';

/** How long a batch takes flushes: what an event is recorded later by, at most, and no client waits for. */
const OPEN_MS = 200;

interface Batch {
  id: string;
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
  #onIdle: (() => void)[] = [];
  #underWay = 0;

  /** `enqueue` asks the workers to record a batch; it is called once for each that may hold events. */
  constructor(enqueue: (batch: string) => void) {
    this.#enqueue = enqueue;
  }

  /** Admits one flush into the open batch, and returns what `admitTo` does. */
  async stage({ events, characters }: Bounds, admitTo: (batch: string) => Promise<Admission[]>): Promise<Admission[]> {
    const batch = this.#open ?? this.#openNew();
    batch.events += events;
    batch.characters += characters;
    batch.underWay += 1;
    this.#underWay += 1;
    if (batch.events >= BATCH_EVENTS_MAX || batch.characters >= BATCH_CHARACTERS_MAX) this.#shut();
    try {
      const admissions = await admitTo(batch.id);
      batch.mayHoldEvents ||= admissions.some(({ outcome }) => outcome === 'staged');
      return admissions;
    } catch (error) {
      batch.mayHoldEvents ||= !(error instanceof Refusal && error.fields.outcome === 'not_accepted');
      throw error;
    } finally {
      batch.underWay -= 1;
      this.#underWay -= 1;
      this.#enqueueWhenDone(batch);
      if (this.#underWay === 0) for (const done of this.#onIdle.splice(0)) done();
    }
  }

  /** Has the open batch recorded now, once every flush is answered. Nothing may be staged any more. */
  async close(): Promise<void> {
    this.#shut();
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
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
