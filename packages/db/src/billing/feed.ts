// The feed of an organization: what happened in billing, numbered in the order of the commits, without a gap.
//
// Whoever appends holds the organization's row of billing_feeds until its commit. So the next number is given only when the
// one before can be read, and a transaction that is rolled back takes its numbers back with it.

import type { FeedEvent, FeedType, NewFeedEvent } from '@weir/billing/feed-events';
import { sql } from 'kysely';
import type { Queries } from '../database.ts';
import { awaitStandby } from '../standby.ts';

/**
 * Appends to the organization's feed, in the order given. Needs a transaction, and comes last in it: other transactions of
 * the organization that append wait for its end, and taking another lock after this one could deadlock with them.
 */
export async function appendFeed(
  transaction: Queries,
  organizationId: string,
  events: readonly NewFeedEvent[],
): Promise<void> {
  if (events.length === 0) return;
  // The time is taken once the row is held, and is not before that of the event before, also where the clock goes back: so it rises with
  // the numbers.
  await sql`
    WITH feed AS (
      INSERT INTO billing_feeds AS feeds (organization_id, last_sequence, last_at)
      VALUES (${organizationId}, ${events.length}, billing_clock())
      ON CONFLICT (organization_id) DO UPDATE SET last_sequence = feeds.last_sequence + excluded.last_sequence,
        last_at = greatest(feeds.last_at, billing_clock())
      RETURNING last_sequence, last_at AS created_at
    )
    INSERT INTO billing_events (organization_id, sequence, type, created_at, actor, data)
    SELECT ${organizationId}, feed.last_sequence - ${events.length} + entry.position, entry.event ->> 'type',
      feed.created_at, entry.event ->> 'actor', entry.event -> 'data'
    FROM feed, jsonb_array_elements(${JSON.stringify(events)}::jsonb) WITH ORDINALITY AS entry (event, position)
  `.execute(transaction);
}

/** At most `limit` events after a number, ascending. Nothing that comes later stands before what was read. */
export async function listFeed(
  db: Queries,
  organizationId: string,
  after: number,
  limit: number,
): Promise<FeedEvent[]> {
  const rows = await db
    .selectFrom('billing_events')
    .select(['sequence', 'type', 'created_at', 'actor', 'data'])
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', String(after))
    .orderBy('sequence')
    .limit(limit)
    .execute();
  // Whoever reads these goes on after them, and must not find their numbers given to others.
  if (rows.length > 0) await awaitStandby(db);
  return rows.map((row) => ({ ...row, type: row.type as FeedType, sequence: Number(row.sequence) }));
}
