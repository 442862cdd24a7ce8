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

// The last month that was asked for: that of the next event is almost always the same.
const last = { from: 0, to: 0, month: '' };

/** The month (UTC, `2026-11`) of a time in milliseconds since 1970. */
export function monthOf(epochMs: number): string {
  if (epochMs < last.from || epochMs >= last.to) {
    const time = new Date(epochMs);
    last.from = Date.UTC(time.getUTCFullYear(), time.getUTCMonth());
    last.to = Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
    last.month = time.toISOString().slice(0, 7);
  }
  return last.month;
}
