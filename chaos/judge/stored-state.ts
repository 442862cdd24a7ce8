// What Weir made of the run: every row that Postgres holds of it.

import type { SentEvent } from '../history.ts';

/** An event as it was recorded or rejected; organizations and meters by their index in the history, -1 where there is none. */
export interface StoredEvent extends SentEvent {
  id: string;
  organization: number;
  /** In UTC, to the microsecond. */
  timestamp: string;
}

/** What a rollup says, or what events add up to. */
export interface Rollup {
  count: bigint;
  sum: string;
  min: string;
  max: string;
  lastId: string;
  lastQuantity: string;
}

export interface State {
  events: StoredEvent[];
  rejected: StoredEvent[];
  duplicates: { id: string; organization: number; duplicateOf: string }[];
  /** By organization, meter, customer and hour; see rollupName. */
  rollups: Map<string, Rollup>;
  /** By organization, meter, customer and day. */
  days: Map<string, Rollup>;
  /** By organization, meter and quarter of an hour, all parts added up. */
  quarters: Map<string, Rollup>;
  /** The distinct values of UNIQUE_COUNT meters, by the hour and by the day: rollupName and the hash in hexadecimal. */
  uniqueValues: Set<string>;
  /** Those of whole meters by the day: the name, and for each quarter of an hour a 1 if an event in it has the value, else a 0. */
  meterValueDays: Map<string, string>;
  /** The same by the quarter: when the first event with the value was. */
  meterValueQuarters: Map<string, string>;
  /** Which event holds which idempotency key in Postgres: hash of organization and key in hexadecimal → event. */
  keys: Map<string, string>;
}

/** The name of a whole meter where that of a customer would stand; no customer has it. */
export const ALL_CUSTOMERS = '';

/** `time` is the beginning of the rollup, down to what its size needs: `2026-11-20T10` for an hour. */
export function rollupName(organization: number, meter: number, customer: string, time: string): string {
  return `${organization} ${meter} ${time} ${customer}`;
}

export function emptyState(): State {
  return {
    events: [],
    rejected: [],
    duplicates: [],
    rollups: new Map(),
    days: new Map(),
    quarters: new Map(),
    uniqueValues: new Set(),
    meterValueDays: new Map(),
    meterValueQuarters: new Map(),
    keys: new Map(),
  };
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

  constructor(state: State, nameOf: (event: StoredEvent) => string) {
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
