import { v7 } from 'uuid';

/**
 * A new UUIDv7 (RFC 9562, section 5.7): its first 48 bits are milliseconds since 1970, so ids sort by the time they
 * were made. For an event this time *is* its time of receipt; nothing else stores it on the way to Postgres.
 */
export function newId(epochMs: number = Date.now()): string {
  return v7({ msecs: epochMs });
}

/** The milliseconds since 1970 that a UUIDv7 holds. */
export function epochMsOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
