import type { EventStore, HeldEvent } from './held-event.ts';

/** Holds so many events and bytes in memory; they end with the process. */
export class MemoryStore implements EventStore {
  readonly isDurable = false;
  readonly #eventsMax: number;
  readonly #bytesMax: number;
  #waiting: HeldEvent[] = [];
  /** Those that are not settled, oldest first, with their numbers. */
  readonly #held = new Map<HeldEvent, number>();
  #last = 0;
  #bytes = 0;

  constructor(eventsMax: number, bytesMax: number) {
    this.#eventsMax = eventsMax;
    this.#bytesMax = bytesMax;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#held.size === 0;
  }

  get last(): number {
    return this.#last;
  }

  isSettledTo(last: number): boolean {
    const [oldest = Infinity] = this.#held.values();
    return oldest > last;
  }

  hasRoom(bytes: number): boolean {
    return this.isEmpty || (this.#held.size < this.#eventsMax && this.#bytes + bytes <= this.#bytesMax);
  }

  add(event: HeldEvent): Promise<void> {
    this.#waiting.push(event);
    this.#last += 1;
    this.#held.set(event, this.#last);
    this.#bytes += event.bytes;
    return Promise.resolve();
  }

  take(eventsMax: number, bytesMax: number): Promise<HeldEvent[]> {
    return Promise.resolve(takeFirst(this.#waiting, eventsMax, bytesMax));
  }

  giveBack(events: readonly HeldEvent[], place: 'before' | 'behind' = 'before'): void {
    this.#waiting = place === 'before' ? [...events, ...this.#waiting] : [...this.#waiting, ...events];
  }

  settle(events: readonly HeldEvent[]): void {
    for (const event of events) {
      this.#held.delete(event);
      this.#bytes -= event.bytes;
    }
  }

  compact(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<HeldEvent[]> {
    const left = this.#waiting;
    this.settle(left);
    this.#waiting = [];
    return Promise.resolve(left);
  }
}

/** Takes at most so many events, and bytes of them, from the front of a list; at least one where there is one. */
export function takeFirst<Event extends HeldEvent>(list: Event[], eventsMax: number, bytesMax: number): Event[] {
  let count = 0;
  for (let bytes = 0; count < Math.min(list.length, eventsMax); count += 1) {
    bytes += list[count]!.bytes;
    if (count > 0 && bytes > bytesMax) break;
  }
  return list.splice(0, count);
}
