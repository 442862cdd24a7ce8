// Corrections as they are read. One is made by correct-events.ts.

import { sql, type SqlBool } from 'kysely';
import type { Queries } from '../database.ts';
import { NEWEST_FIRST } from '../order.ts';
import { selectPage, type Page, type PageOf } from '../page.ts';

/** What made an event void, as its receipt names it. */
export interface EventCorrection {
  id: string;
  reason: string;
  /** The event that counts in its place. */
  amended_by: string | null;
  /** Who made it: `user:` or `service_account:`, and an id. */
  actor: string;
  /** ISO 8601 UTC, to the microsecond. */
  created_at: string;
}

/** The same with the event that it made void. */
export interface Correction extends EventCorrection {
  event_id: string;
}

/** SQL for what made a row of `events` void, as JSON; null where it counts. */
export const CORRECTION_JSON = `(SELECT json_build_object('id', corrections.id, 'reason', reason, 'amended_by', amended_by, 'actor', actor,
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
  FROM corrections WHERE corrections.organization_id = events.organization_id AND corrections.event_id = events.id)`;

/** SQL for the event in whose place a row of `events` counts, in a form that the primary key does not fit. */
export const AMENDS = `(SELECT corrections.event_id FROM corrections
  WHERE corrections.amended_by = events.id AND (corrections.organization_id = events.organization_id) IS TRUE)`;

/** In one condition, since of two Postgres concludes that next to none is left, and sorts all of the organization for a page. */
const ofBytes = (organizationId: string) =>
  sql<SqlBool>`uuid_send(organization_id) = uuid_send(${organizationId}::uuid)`;

/** The corrections of an organization, newest first. */
export async function listCorrections(db: Queries, organizationId: string, page: Page): Promise<PageOf<Correction>> {
  const query = db
    .selectFrom('corrections')
    .select(['id', 'event_id', 'reason', 'amended_by', 'actor', 'created_at'])
    .where(ofBytes(organizationId));
  return await selectPage(query, NEWEST_FIRST, page);
}

/** Which of these events are void, each with the id of its correction. */
export async function findVoided(
  db: Queries,
  organizationId: string,
  eventIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ event_id: string; id: string }>`
    SELECT event_id, id FROM corrections
    WHERE organization_id = ${organizationId}::uuid AND event_id = ANY (${eventIds}::uuid[])`.execute(db);
  return new Map(rows.map(({ event_id, id }) => [event_id, id]));
}
