// A database as it is after months of use, made in minutes: events, their keys and their rollups, as consistent as if each
// had come through the door.

import { makePartitions } from '@weir/db/partitions';
import type pg from 'pg';
import { DAILY_TABLES, INSERT_EVENTS, INSERT_KEYS } from './rows.ts';
import { firstIdAt } from '@weir/shared/ids';
import { daysBetween, monthsBetween } from './times.ts';

export interface Fill {
  /** How many; they are spread evenly over the days and customers, and about evenly over the meters. */
  events: number;
  customers: number;
  /** How many distinct users the events name; 5,000 where it is missing. */
  users?: number;
  /** How many of `meterIds` are used, from the first. */
  meters: number;
  /** The span of time that the events are of. */
  days: number;
  organizationId: string;
  meterIds: readonly string[];
  /** When the last day ends: the same time makes the same rows. The last full hour where it is missing. */
  until?: Date;
  /** Told what is being done and how much of it is done, from 0 to 1. */
  onProgress?: (what: string, share: number) => void;
}

/** Small enough to tell of progress every few seconds, large enough that a statement costs nothing by itself. */
const CHUNK_EVENTS = 250_000;

const USERS = 5_000;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Writes events into an organization that has none of its own yet, with their keys and rollups; nothing else may write to the
 * database meanwhile. Then brings Postgres's statistics up to date and its changes to disk. Throws for a span in which there
 * is no room, and what Postgres says.
 */
export async function fillEvents(client: pg.Client, fill: Fill): Promise<void> {
  const { events, customers, meters, days, organizationId, onProgress } = fill;
  const meterIds = fill.meterIds.slice(0, meters);
  if (meters < 1 || meterIds.length < meters)
    throw new Error(`${meters} meters are to be filled, and ${fill.meterIds.length} are named`);
  const end = fill.until?.getTime() ?? Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const start = end - days * DAY_MS;

  for (const month of monthsBetween(start, end)) await makePartitions(client, month);
  // The sorts of the keys and of a day; what a statement sorts in memory is not written to disk and read again.
  await client.query(`SET work_mem = '256MB'`);
  try {
    for (let first = 0; first < events; first += CHUNK_EVENTS) {
      const next = Math.min(events, first + CHUNK_EVENTS);
      onProgress?.('events', first / events);
      const span = [first, next, events, end, days * DAY_MS];
      await client.query(INSERT_EVENTS, [organizationId, meterIds, customers, ...span, fill.users ?? USERS]);
    }
    onProgress?.('statistics', 0);
    await client.query('VACUUM ANALYZE events');
    onProgress?.('keys', 0);
    await client.query(INSERT_KEYS, [organizationId, meterIds]);
    const allDays = daysBetween(start, end);
    for (const { table, insert } of DAILY_TABLES) {
      for (const [index, day] of allDays.entries()) {
        onProgress?.(table, index / allDays.length);
        const [from, to] = [firstIdAt(day.getTime()), firstIdAt(day.getTime() + DAY_MS)];
        await client.query(insert, [organizationId, meterIds, from, to]);
      }
    }
  } finally {
    await client.query('RESET work_mem');
  }
  onProgress?.('statistics', 0.5);
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
}
