// Moves of usage to another external id, as they are asked for and read: an erased customer's to one that leads back to nobody, or
// all of one id to another. move-slice.ts does it, and perform-moves.ts says in which order.

import { sql } from 'kysely';
import type { Queries } from '../database.ts';
import { hashed } from '../of-organization.ts';
import { NEWEST_FIRST } from '../order.ts';
import { mapPage, selectPage, type Page, type PageOf } from '../page.ts';
import { BEGINNING, ROLLUPS } from '../rollups.ts';

export type MoveKind = 'ERASE' | 'MOVE';

/** The outcome of a request to move usage. */
export interface UsageMove {
  id: string;
  kind: MoveKind;
  /** RUNNING until all that was accepted before the request is moved. */
  status: 'RUNNING' | 'DONE';
  /** The record that is erased, if there was one. */
  customer_id: string | null;
  /** Null where a customer is erased. */
  from_external_id: string | null;
  to_external_id: string;
  /** How many events were moved so far. */
  events: number;
  /** The meter whose usage is grouped by what names the erased customer, and waits until it is no more. */
  grouped_meter_id: string | null;
  created_at: string;
  finished_at: string | null;
}

/** In place of what named somebody. */
export const ERASED = '[erased]';

/** A move that is not done, as the worker sees it. */
export interface RunningMove {
  organization_id: string;
  id: string;
  kind: MoveKind;
  customer_id: string | null;
  from_external_id: string;
  to_external_id: string;
  copies_issued_before: string | null;
  /** The alerts that were deleted with the customer. */
  alert_ids: string[];
  created_at: string;
  moved_at: string | null;
  /** Which walk over what is left it has come to; null before the first. */
  stage: string | null;
  /** Behind which place it is. Before the first walk: the hour that is moved in parts, since all of its events were there. */
  stage_after: string;
}

/**
 * A page of a walk over what is left of a move once its events are moved: what is behind a place, '' at the beginning. Returns the place
 * where it goes on, and nothing at its end. Whoever is cut off in a page does it again, and so may all of the walk be done.
 */
export type Walk = (db: Queries, move: RunningMove, after: string) => Promise<string | undefined>;

/** Where a walk over ids begins. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

interface MoveRow {
  id: string;
  kind: MoveKind;
  customer_id: string | null;
  from_external_id: string | null;
  to_external_id: string;
  events: string;
  grouped_meter_id: string | null;
  created_at: string;
  finished_at: string | null;
}

const columns = [
  'id',
  'kind',
  'customer_id',
  'from_external_id',
  'to_external_id',
  'events',
  'grouped_meter_id',
  'created_at',
  'finished_at',
] as const;

export async function findUsageMove(db: Queries, organizationId: string, id: string): Promise<UsageMove | undefined> {
  const row = await db
    .selectFrom('usage_moves')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && moveOf(row);
}

/** Those of one kind, newest first. */
export async function listUsageMoves(
  db: Queries,
  organizationId: string,
  kind: MoveKind,
  page: Page,
): Promise<PageOf<UsageMove>> {
  const query = db
    .selectFrom('usage_moves')
    .select(columns)
    .where(() => hashed(organizationId, 0))
    .where('kind', '=', kind);
  return mapPage(await selectPage(query, NEWEST_FIRST, page), moveOf);
}

/** Who erased is, is said by nobody: not while it runs either. */
function moveOf({ events, ...row }: MoveRow): UsageMove {
  return {
    ...row,
    from_external_id: row.kind === 'ERASE' ? null : row.from_external_id,
    status: row.finished_at === null ? 'RUNNING' : 'DONE',
    // A worker of 1.0.0 leaves it there when it ends an erasure.
    grouped_meter_id: row.finished_at === null ? row.grouped_meter_id : null,
    events: Number(events),
  };
}

/** So many are gone on with in one look. */
const LOOKED_AT_MAX = 500;

/**
 * Moves that are not done, some of them: one of each organization, then a second one of each, and so on, however many one of them has. Which
 * ones is by lot: one that takes long, or cannot go on, is not always the first.
 */
export async function listRunningMoves(db: Queries): Promise<RunningMove[]> {
  const { rows } = await sql<RunningMove>`
    SELECT organization_id, id, kind, customer_id, from_external_id, to_external_id, copies_issued_before::text,
      coalesce(alert_ids, '{}') AS alert_ids, created_at, moved_at, stage, stage_after
    FROM (
      SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY random()) AS turn
      FROM usage_moves WHERE finished_at IS NULL
    ) AS running
    ORDER BY turn, random() LIMIT ${LOOKED_AT_MAX}`.execute(db);
  return rows;
}

/**
 * How long ago the oldest erasure or move was asked for that is not done, in seconds; 0 where none is. Without those that wait for an admin
 * to take a key out of a meter: nobody else can end them, and they would hide the others.
 */
export async function readMovesOldestSeconds(db: Queries): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    SELECT extract(epoch FROM now() - min(created_at))::float8 AS seconds FROM usage_moves
    WHERE finished_at IS NULL AND grouped_meter_id IS NULL`.execute(db);
  return Math.max(0, rows[0]?.seconds ?? 0);
}

/**
 * The id of a move that has taken only a part of the usage of these away, or has brought only a part of an erased customer's: reading it
 * would tell half of it. What is brought to a living customer is read as far as it is there.
 */
export async function findMoveInTheWay(
  db: Queries,
  organizationId: string,
  ...externalIds: readonly string[]
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM usage_moves
    WHERE organization_id = ${organizationId}::uuid AND from_external_id = ANY (${externalIds}::text[]) AND finished_at IS NULL
    UNION ALL
    SELECT id FROM usage_moves
    WHERE organization_id = ${organizationId}::uuid AND to_external_id = ANY (${externalIds}::text[]) AND finished_at IS NULL AND kind = 'ERASE'
    LIMIT 1`.execute(db);
  return rows[0]?.id;
}

/**
 * The id of a move that brings usage to the customer of one of these events, and has not brought all of its hour: what is left of that may
 * tell of events that have come already. Whether any have is not known.
 */
export async function findMoveOfHours(
  db: Queries,
  organizationId: string,
  events: readonly { meter_id: string; customer_external_id: string; timestamp: string }[],
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    WITH asked AS MATERIALIZED (
      SELECT DISTINCT meter_id, customer, ${sql.raw(BEGINNING.hour('"timestamp"'))} AS hour
      FROM unnest(${events.map(({ meter_id }) => meter_id)}::uuid[], ${events.map((event) => event.customer_external_id)}::text[],
        ${events.map(({ timestamp }) => timestamp)}::timestamptz[]) AS t (meter_id, customer, "timestamp")
    ), moves AS MATERIALIZED (
      SELECT id, from_external_id, to_external_id FROM usage_moves
      WHERE organization_id = ${organizationId}::uuid AND to_external_id IN (SELECT customer FROM asked) AND finished_at IS NULL
    )
    SELECT moves.id FROM moves JOIN asked ON customer = to_external_id CROSS JOIN LATERAL (
      SELECT FROM ${sql.table(ROLLUPS.customerUsageHours.table)} AS hours
      WHERE hours.organization_id = ${organizationId}::uuid AND hours.meter_id = asked.meter_id
        AND hours.customer_external_id = from_external_id AND hours.hour = asked.hour OFFSET 0) AS left_behind
    LIMIT 1`.execute(db);
  return rows[0]?.id;
}

/** The same of the usage that an invoice bills. */
export async function findMoveOfInvoice(
  db: Queries,
  organizationId: string,
  invoiceId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ customer_external_id: string }>`
    SELECT customer_external_id FROM subscriptions
    WHERE organization_id = ${organizationId}::uuid AND id = (
      SELECT subscription_id FROM invoices WHERE organization_id = ${organizationId}::uuid AND id = ${invoiceId}::uuid)`.execute(
    db,
  );
  const [row] = rows;
  return row === undefined ? undefined : await findMoveInTheWay(db, organizationId, row.customer_external_id);
}

/**
 * Those of some external ids that an erasure takes usage from, or brings it to. None of these erasures ends before the transaction does:
 * at their end alerts are told to look at both ids again.
 */
export async function holdErased(
  transaction: Queries,
  organizationId: string,
  externalIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ from_external_id: string; to_external_id: string }>`
    SELECT from_external_id, to_external_id FROM usage_moves
    WHERE organization_id = ${organizationId}::uuid AND finished_at IS NULL AND kind = 'ERASE'
      AND (from_external_id = ANY (${externalIds}::text[]) OR to_external_id = ANY (${externalIds}::text[]))
    ORDER BY id FOR KEY SHARE`.execute(transaction);
  return new Set(rows.flatMap(({ from_external_id, to_external_id }) => [from_external_id, to_external_id]));
}

/** SQL that says whether the usage of a row of `subscriptions` is just being moved away. */
export function isMovedAway(subscription: string) {
  return sql`EXISTS (SELECT FROM usage_moves AS moves
    WHERE moves.organization_id = ${sql.ref(`${subscription}.organization_id`)}
      AND moves.from_external_id = ${sql.ref(`${subscription}.customer_external_id`)} AND moves.finished_at IS NULL)`;
}
