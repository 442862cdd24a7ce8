// The numbers of advisory locks: here, so that no two things take the same one. They stay what they are, since processes of the release
// before run beside new ones. The order in which locks are taken, these and rows: docs/decisions/0094-the-order-of-locks.md.

/** Held while a database is migrated. By a session, as a migration may be outside of any transaction. */
export const MIGRATION_LOCK = 7_339_221_551;

/** Held by whoever makes a month of `events`. */
export const PARTITION_LOCK = 7_339_221_552;

/** Held by whoever signs up where only the first may. */
export const FIRST_SIGNUP_LOCK = 7_339_221_553;

/** Held by whoever drains accepted counts, or looks at them while none are to be drained. */
export const DRAIN_LOCK = 7_339_221_554;

/** Held by a session that repairs what `npm run reconcile` has found. */
export const REPAIR_LOCK = 7_339_221_555;

// Those below have a second number, which says of what.

/**
 * Of a slot of organizations (`closing_slot`). Record statements share it (`closings_of`): who holds it alone holds recording off, and comes
 * once what is being recorded has committed.
 */
export const RECORDING_LOCK = 20_002;

/** Of a meter (`uuid_hash`): held by whoever keeps another combination of its metadata by itself (`keep_combinations`). */
export const COMBINATIONS_LOCK = 20_005;

/** Of a request's key: held while the request is under way. Nobody waits for it. */
export const REQUEST_KEY_LOCK = 20_015;

/** Of an organization (`uuid_hash`): held by whoever finalizes invoices, from before open invoices are paid by others. */
export const FINALIZING_LOCK = 20_042;

/** Of an organization and an external id: held so that no record gets it, and shared by whoever gives it to one. */
export const EXTERNAL_ID_LOCK = 20_055;

/**
 * Of an organization (`uuid_hash`): shared by whoever opens a period, from before it asks for alerts; held alone by the first look of an alert,
 * which comes once those have committed who did not see it.
 */
export const OPENING_LOCK = 20_084;
