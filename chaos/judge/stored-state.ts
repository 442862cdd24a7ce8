// What Weir made of the run: every event that Postgres holds of it. Rollups are not read here: that they are what the events
// give is proved by `npm run reconcile`, and that they are what was sent by what the usage API answers.

import type { SentEvent } from '../history.ts';

/** An event as it was recorded or rejected; organizations and meters by their index in the history, -1 where there is none. */
export interface StoredEvent extends SentEvent {
  id: string;
  organization: number;
  /** In UTC, to the microsecond. */
  timestamp: string;
}

export interface StoredState {
  events: StoredEvent[];
  /** Those that count in the place of others; they are not among the events. */
  amended: StoredEvent[];
  /** What made an event void, by its id. */
  corrections: Map<string, { id: string; amendedBy: string | null }>;
  rejected: StoredEvent[];
  duplicates: { id: string; organization: number; duplicateOf: string }[];
  /** Which event holds which idempotency key in Postgres: hash of organization and key in hexadecimal → event. */
  keys: Map<string, string>;
}

export function emptyState(): StoredState {
  return { events: [], amended: [], corrections: new Map(), rejected: [], duplicates: [], keys: new Map() };
}

/** Ways into a state that the checks have in common. */
export class StateIndex {
  readonly recorded = new Map<string, StoredEvent>();
  readonly rejected = new Map<string, StoredEvent>();
  /** The id of a duplicate → the event that it is a duplicate of. */
  readonly duplicates = new Map<string, string>();
  readonly recordedByName = new Map<string, StoredEvent[]>();
  /** Ids that stand in the table of events more than once. */
  readonly repeated: string[] = [];

  constructor(state: StoredState, nameOf: (event: StoredEvent) => string) {
    for (const event of state.events) {
      if (this.recorded.has(event.id)) this.repeated.push(event.id);
      this.recorded.set(event.id, event);
      const name = nameOf(event);
      const namesakes = this.recordedByName.get(name);
      if (namesakes === undefined) this.recordedByName.set(name, [event]);
      else namesakes.push(event);
    }
    for (const event of state.rejected) this.rejected.set(event.id, event);
    for (const { id, duplicateOf } of state.duplicates) this.duplicates.set(id, duplicateOf);
  }
}
