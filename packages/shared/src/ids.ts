import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

// Asking the system for random bytes costs 4 µs however few they are, which is more than all the rest of an id.
const POOL_BYTES = 16 * 1024;
const RANDOM_BYTES = 16;
const pool = new Uint8Array(POOL_BYTES);
const poolView = new DataView(pool.buffer);
let used = POOL_BYTES;

function randomBytes(): Uint8Array {
  if (used === POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += RANDOM_BYTES;
  return pool.subarray(used - RANDOM_BYTES, used);
}

let lastMs = -1;
let counter = 0;

/**
 * A new UUIDv7 (RFC 9562, section 5.7): its first 48 bits are milliseconds since 1970, so ids sort by the time they
 * were made. Those that a process makes within one millisecond sort by their order too: behind the time stands a counter
 * that begins anywhere in each millisecond (section 6.2, method 1). For an event this time *is* its time of receipt; nothing
 * else stores it on the way to Postgres.
 */
export function newId(epochMs: number = Date.now()): string {
  const random = randomBytes();
  // It begins with 31 of its 32 bits, so that it does not overflow within the millisecond.
  counter = epochMs === lastMs ? counter + 1 : poolView.getUint32(random.byteOffset) >>> 1;
  lastMs = epochMs;
  return v7({ msecs: epochMs, random, seq: counter });
}

/** The milliseconds since 1970 that a UUIDv7 holds. */
export function epochMsOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The smallest UUIDv7 of a millisecond: ids that were made before it are smaller, the others are not. Before 1970 none was made. */
export function firstIdAt(epochMs: number): string {
  const hex = Math.max(0, epochMs).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
