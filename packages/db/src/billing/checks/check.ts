import type { RawBuilder } from 'kysely';

/** Given to a check beside the rows. */
export interface CheckScope {
  /** A condition in SQL on the organization of a table, by the name that the statement gives it. */
  of(table: string): RawBuilder<unknown>;
  /** A table of `currency` and `scale`: how many minor units one of it has. */
  scales: RawBuilder<unknown>;
  /** A condition in SQL on the id of an event: whether the event is to be here still. */
  isKept(eventId: string): RawBuilder<unknown>;
}

/** One promise, and the statement that finds what breaks it. */
export interface BillingCheck {
  /** Unique; a program knows the check by it. */
  name: string;
  /** Holds where nothing is found. */
  promise: string;
  /** Selects `organization_id`, `subject` and `said` of all that breaks it. */
  faults(scope: CheckScope): RawBuilder<unknown>;
}
