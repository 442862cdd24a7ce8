// Months of `events` that were taken out of the database, and what cannot be told without them. Rollups have counted their events. What
// is to be read of single events of an hour is not known while others of that hour are in such a month, and is refused.
//
// Events are in a partition by when they came in. A month of before Weir was set up has none either, and no organization has events in it.

/** Usage cannot be told until a month is attached again. */
export class MonthTakenOut extends Error {
  /** `2026-01`. */
  readonly month: string;

  /** `what` begins a sentence: it cannot be told, or cannot be done. */
  constructor(what: string, month: string) {
    super(
      `${what} while events of it are in a month that was taken out of the database: attach ${tableOf(month)} first.`,
    );
    this.name = 'MonthTakenOut';
    this.month = month;
  }
}

/** The partition of a month (`2026-01`). */
export function tableOf(month: string): string {
  return `events_${month.replace('-', '_')}`;
}

/** SQL for how long before its own time an event may have come in: what was ever allowed. */
export const AHEAD = `(SELECT ahead_seconds_max FROM installation) * interval '1 second'`;

/** The month before which no event of `at` or later of an organization came in. */
function firstMonth(at: string, organization: string): string {
  return `date_trunc('month', greatest(${at} - ${AHEAD},
    (SELECT min(created_at) FROM organizations WHERE organizations.id ${organization})) AT TIME ZONE 'UTC')`;
}

/**
 * SQL for the time from which on no event is in a month of before this one in which nothing is: it may have taken the place of one that is
 * lost for good. Null where there is none.
 */
export function lostUntil(at: string, organization: string): string {
  return `(SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC' + ${AHEAD}
    FROM generate_series(${firstMonth(at, organization)}, clock_timestamp() AT TIME ZONE 'UTC' - interval '1 month', interval '1 month') AS month
    WHERE NOT EXISTS (SELECT FROM events WHERE id >= first_event_id(month AT TIME ZONE 'UTC')
      AND id < first_event_id((month + interval '1 month') AT TIME ZONE 'UTC') OFFSET 0))`;
}

/**
 * The months that may hold an event of `at` or later and that have no partition, as `month`. No event of an organization came in before
 * there was the organization. Whether a month has one is asked of what Postgres itself knows when it plans, also in a snapshot from before
 * the month was taken out.
 */
function missingSince(at: string, organization: string): string {
  return `generate_series(${firstMonth(at, organization)}, clock_timestamp() AT TIME ZONE 'UTC', interval '1 month') AS month
    WHERE NOT EXISTS (SELECT FROM pg_partition_ancestors(to_regclass(to_char(month, '"events_"YYYY_MM'))) AS ancestor (relid)
      WHERE relid = 'events'::regclass)`;
}

/**
 * SQL for the time from which on no event is in a month that was taken out; null where all that came in for `at` or later is there. In a
 * statement that also reads `events`, or in a transaction that has: no month is taken out while it lasts. `organization` says whose
 * events, as what its id has to be: `= $1`.
 */
export function completeFrom(at: string, organization: string): string {
  return `(SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC' + ${AHEAD} FROM ${missingSince(at, organization)})`;
}

/**
 * SQL for a month (`2026-01`) without a partition: one in which one of these events came in, which an hour has counted last, for one. Else
 * the first that may hold an event of `at`; null where there is none.
 */
export function monthToAttach(at: string, organization: string, eventIds: string): string {
  return `(SELECT to_char(month, 'YYYY-MM') FROM ${missingSince(at, organization)} ORDER BY NOT EXISTS (
    SELECT FROM unnest(${eventIds}) AS counted (id) WHERE counted.id >= first_event_id(month AT TIME ZONE 'UTC')
      AND counted.id < first_event_id((month + interval '1 month') AT TIME ZONE 'UTC')), month LIMIT 1)`;
}
