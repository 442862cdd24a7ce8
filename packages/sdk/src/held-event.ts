import type { BatchOutcome } from './answer.ts';
import type { WeirError } from './error.ts';
import type { EncodedEvent } from './event.ts';

/** An event from the call that queued it until it is settled. */
export interface HeldEvent extends EncodedEvent {
  /** Of its JSON, in UTF-8. */
  bytes: number;
  onSettled?: ((outcome: BatchOutcome) => void) | undefined;
  /** Told of a refusal of this event that may come from a proxy. With it the event is not kept to be sent again. */
  onDoubtful?: ((error: WeirError) => void) | undefined;
}

/** Where queued events lie: in memory, or in an outbox on disk. */
export interface EventStore<Event extends HeldEvent = HeldEvent> {
  /** Whether events outlive the process. */
  readonly isDurable: boolean;
  /** Events that can be taken; Infinity when an earlier process left some, which nobody has counted. */
  readonly waiting: number;
  /** Of JSON, those under way included. */
  readonly bytes: number;
  /** Whether nothing is held at all. */
  readonly isEmpty: boolean;
  /** The number of the event that was added last: they are counted from 1. */
  readonly last: number;
  /** Whether all events are settled up to the one with this number, and what other processes left before. */
  isSettledTo(last: number): boolean;
  /** Whether an event of this size may be added now. */
  hasRoom(bytes: number): boolean;
  /** Resolves when the event is held as promised. Rejects when it is not held. */
  add(event: HeldEvent): Promise<void>;
  /** Takes the oldest events out, to be settled or given back. */
  take(eventsMax: number, bytesMax: number): Promise<Event[]>;
  /** Puts events back that were taken, before those that wait, or behind them. */
  giveBack(events: readonly Event[], place?: 'before' | 'behind'): void;
  /** Lets go of events that were taken. */
  settle(events: readonly Event[]): void;
  /** Gives back room that settled events take beside those that are not. Never rejects. */
  compact(): Promise<void>;
  /** Ends it, and returns what would be lost with it. */
  close(): Promise<HeldEvent[]>;
}
