// The events that wait for a flush, in one queue for each organization: a crowd of one makes nobody else wait, and takes up
// nobody else's room. Where all are of one organization, as they mostly are, that is one queue.

import type { Candidate } from '@weir/queue/admit';

/** Called once: with nothing when the event was taken, else with why it was not. */
export type Settle = (error?: unknown) => void;

/** One event that waits, since when, and who is to hear what became of it. */
export interface Waiting {
  candidate: Candidate;
  since: number;
  settle: Settle;
}

/** How much there may be of something: of what waits, or of one flush. */
export interface Bounds {
  events: number;
  /** Characters of the texts of the events: a byte each, or up to three outside of Latin-1. */
  characters: number;
}

/** In the order they came. */
interface Queue {
  events: Waiting[];
  characters: number;
}

export class WaitingEvents {
  readonly #room: Bounds;
  /** Those whose turn is next stand first. None is empty. */
  readonly #queues = new Map<string, Queue>();
  #events = 0;
  #characters = 0;

  constructor(room: Bounds) {
    this.#room = room;
  }

  get count(): number {
    return this.#events;
  }

  /**
   * Adds an event, if there is room. An organization may have as much waiting as there is room left: alone it takes up half of
   * it, two take up a third each, and however many there are, there is room for another one.
   */
  add(waiting: Waiting): boolean {
    const organization = waiting.candidate.sender?.organizationId ?? '';
    const characters = waiting.candidate.event.length;
    let queue = this.#queues.get(organization);
    if ((queue?.events.length ?? 0) >= this.#room.events - this.#events) return false;
    if ((queue?.characters ?? 0) + characters > this.#room.characters - this.#characters) return false;
    if (queue === undefined) this.#queues.set(organization, (queue = { events: [], characters: 0 }));
    queue.events.push(waiting);
    queue.characters += characters;
    this.#events += 1;
    this.#characters += characters;
    return true;
  }

  /**
   * Takes what fills a flush, of each organization in the order it came and of all of them the same share, as long as they have
   * that much. A flush has one event at least, however large that is.
   */
  take({ events, characters }: Bounds): Waiting[] {
    const taken: Waiting[] = [];
    const served = new Set<string>();
    let left = characters;
    for (let before = -1; taken.length > before && taken.length < events;) {
      before = taken.length;
      const share = {
        events: Math.ceil((events - taken.length) / this.#queues.size),
        characters: left / this.#queues.size,
      };
      for (const [organization, queue] of this.#queues) {
        const most = Math.min(share.events, events - taken.length);
        const count = countWithin(
          queue,
          { events: most, characters: share.characters },
          taken.length === 0 ? Infinity : left,
        );
        if (count === 0) continue;
        for (const each of this.#remove(organization, queue, count)) {
          left -= each.candidate.event.length;
          taken.push(each);
        }
        served.add(organization);
      }
    }
    // Those that came off worst come first the next time.
    if (this.#queues.size > 1) for (const organization of served) this.#moveBack(organization);
    return taken;
  }

  /** Takes those that have waited since before `latest`, who stand first in their queues. */
  takeLate(latest: number): Waiting[] {
    const late: Waiting[] = [];
    for (const [organization, queue] of this.#queues) {
      const inTime = queue.events.findIndex(({ since }) => since >= latest);
      const count = inTime === -1 ? queue.events.length : inTime;
      if (count > 0) for (const each of this.#remove(organization, queue, count)) late.push(each);
    }
    return late;
  }

  takeAll(): Waiting[] {
    return this.takeLate(Infinity);
  }

  #remove(organization: string, queue: Queue, count: number): Waiting[] {
    const removed = queue.events.splice(0, count);
    let characters = 0;
    for (const { candidate } of removed) characters += candidate.event.length;
    queue.characters -= characters;
    this.#characters -= characters;
    this.#events -= removed.length;
    if (queue.events.length === 0) this.#queues.delete(organization);
    return removed;
  }

  #moveBack(organization: string): void {
    const queue = this.#queues.get(organization);
    if (queue === undefined) return;
    this.#queues.delete(organization);
    this.#queues.set(organization, queue);
  }
}

/** How many of a queue are within its share: one at least, if that one is not beyond what is left for all. */
function countWithin({ events }: Queue, share: Bounds, left: number): number {
  let characters = 0;
  let count = 0;
  while (count < events.length && count < share.events) {
    characters += events[count]?.candidate.event.length ?? 0;
    if (characters > (count === 0 ? left : Math.min(share.characters, left))) break;
    count += 1;
  }
  return count;
}
