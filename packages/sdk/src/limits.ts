// Made of packages/shared/src/limits.ts: change that, and `npx vitest run limits-written-down -u`.

/** The most events in one `POST /sdk/track/batch`. */
export const BATCH_EVENTS_MAX = 1_000;
