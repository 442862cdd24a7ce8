/** How many events of an organization were received in one month (UTC, `2026-11`). */
export interface MonthCount {
  organizationId: string;
  month: string;
  events: number;
}

/** Events that the door accepted between two drains. */
export interface AcceptedCounts {
  /** A UUIDv7, and as such different from that of all others. */
  id: string;
  counts: MonthCount[];
  /** The counts that were drained last, as Redis has it; undefined where it does not say. */
  drainedLast?: string | undefined;
}

/** Events that Postgres has counted in one month, and how much of it came with the counts that were drained. */
export interface DrainedCount extends MonthCount {
  added: number;
}
