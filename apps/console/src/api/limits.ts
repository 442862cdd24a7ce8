// Made of packages/shared/src/limits.ts: change that, and `npx vitest run limits-written-down -u`.

/** The most things of one page. */
export const PAGE_SIZE_MAX = 100;

/** The most entries of the feed of billing, and lines of all invoices, in one page. */
export const LONG_PAGE_SIZE_MAX = 1_000;

/** The most metadata keys that the usage of a meter is grouped by, and filters of a read. */
export const METER_KEYS_MAX = 5;

/** The most periods of all groups together. */
export const GROUP_BUCKETS_MAX = 50_000;

/** The most events in one `POST /corrections`, and in its preview. */
export const CORRECTIONS_MAX = 1_000;

/** The most days that an endpoint fails before it is turned off. */
export const FAILING_DAYS_MAX = 3;

/** The most hours that the secret before signs beside a new one. */
export const ROTATION_HOURS_MAX = 24;

/** The most hours of a link for a new password. */
export const PASSWORD_RESET_HOURS_MAX = 24;
