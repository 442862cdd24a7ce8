// Endpoints of webhooks, as admins see and change them. What is sent to them is in turns.ts.

import type { FeedType } from '@weir/billing/feed-events';
import { newId } from '@weir/shared/ids';
import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import type { Queries } from '../database.ts';
import { DELETED_MAX, inSlices } from '../delete-in-slices.ts';
import { deleteOfEach } from '../left-alone.ts';
import { OLDEST_FIRST } from '../order.ts';
import { countRows, mapPage, selectPage, type Page, type PageOf } from '../page.ts';
import { ofEndpoint } from './deliveries.ts';
import type { DisabledReason, EndpointStatus } from './webhook-tables.ts';

/** An endpoint without its secrets. */
export interface WebhookEndpoint {
  id: string;
  url: string;
  /** Null: all. */
  event_types: FeedType[] | null;
  status: EndpointStatus;
  /** Why Weir turned it off. */
  disabled_reason: DisabledReason | null;
  /** How far it has come in the feed: events up to here have been sent to it once, or are about to be. */
  last_sequence: number;
  /** What of before is being sent again: the next event, and the last one. */
  replay: { next_sequence: number; last_sequence: number } | null;
  /** Since when it has been tried without a success; tests that fail do not count. Null: nothing has failed since one did well, or since it was changed. */
  failing_since: string | null;
  /** Until when the secret before signs as well; null: none does. */
  previous_secret_until: string | null;
  created_at: string;
}

/** The fields of an endpoint that a person sets. */
interface EndpointFields {
  url: string;
  event_types: FeedType[] | null;
  status: EndpointStatus;
}

/** Those that a person changes. */
export type EndpointChanges = { [Field in keyof EndpointFields]?: EndpointFields[Field] | undefined };

/** The endpoint with an id, unless it was deleted and some of its deliveries are still there. */
const isThere = (organizationId: string, id: string) =>
  sql`organization_id = ${organizationId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL`;

/** How many an organization has. */
export async function countEndpoints(db: Queries, organizationId: string): Promise<number> {
  return await countRows(
    db.selectFrom('webhook_endpoints').where('organization_id', '=', organizationId).where('deleted_at', 'is', null),
  );
}

/** Makes an endpoint that is told of what happens from now on; one that is turned off, once it is turned on. */
export async function insertEndpoint(
  db: Queries,
  organizationId: string,
  { url, event_types, status, secret }: EndpointFields & { secret: Buffer },
): Promise<WebhookEndpoint> {
  const { rows } = await sql<EndpointRow>`
    INSERT INTO webhook_endpoints (organization_id, id, url, event_types, status, secret, last_sequence)
    VALUES (${organizationId}, ${newId()}, ${url}, ${event_types}, ${status}, ${secret},
      coalesce((SELECT last_sequence FROM billing_feeds WHERE organization_id = ${organizationId}), 0))
    RETURNING ${columns}`.execute(db);
  return only(rows.map(endpointOf));
}

/** Oldest first. */
export async function listEndpoints(db: Queries, organizationId: string, page: Page): Promise<PageOf<WebhookEndpoint>> {
  const rows = sql<EndpointRow>`(SELECT ${columns} FROM webhook_endpoints
    WHERE organization_id = ${organizationId} AND deleted_at IS NULL)`;
  return mapPage(await selectPage(db.selectFrom(rows.as('endpoints')).selectAll(), OLDEST_FIRST, page), endpointOf);
}

export async function findEndpoint(
  db: Queries,
  organizationId: string,
  id: string,
): Promise<WebhookEndpoint | undefined> {
  const { rows } = await sql<EndpointRow>`
    SELECT ${columns} FROM webhook_endpoints WHERE ${isThere(organizationId, id)}`.execute(db);
  return rows.map(endpointOf)[0];
}

/**
 * At another address nothing has failed yet; with the one and the status that it has it goes on as it was. Turned on, it goes on where it
 * was: what happened meanwhile is sent to it. What waits of types that it takes no longer is given up. Needs a transaction.
 */
export async function updateEndpoint(
  transaction: Queries,
  organizationId: string,
  id: string,
  { url, event_types, status }: EndpointChanges,
): Promise<WebhookEndpoint | undefined> {
  const isTurned = sql`${status ?? null} <> status`;
  await sql`
    UPDATE webhook_endpoints SET
      url = coalesce(${url ?? null}, url),
      event_types = CASE WHEN ${event_types !== undefined} THEN ${event_types ?? null}::text[] ELSE event_types END,
      status = coalesce(${status ?? null}, status),
      disabled_reason = CASE WHEN ${isTurned} THEN NULL ELSE disabled_reason END,
      failing_since = CASE WHEN ${isTurned} OR ${url ?? null} <> url THEN NULL ELSE failing_since END
    WHERE ${isThere(organizationId, id)}`.execute(transaction);
  if (event_types !== undefined && event_types !== null)
    await giveUpOthers(transaction, organizationId, id, event_types);
  return await findEndpoint(transaction, organizationId, id);
}

/**
 * Gives up what waits to be sent to an endpoint and is of none of these types; tests have none. Behind the lock of its row no turn adds
 * to it. Of an attempt under way the time is not what it was, so that what comes of it has nothing sent again. Where no event waits then,
 * none would come that ends its failing.
 */
async function giveUpOthers(
  transaction: Queries,
  organizationId: string,
  id: string,
  types: readonly FeedType[],
): Promise<void> {
  const { numAffectedRows } = await sql`
    UPDATE webhook_deliveries AS deliveries SET status = 'FAILED', next_attempt_at = now()
    WHERE deliveries.organization_id = ${organizationId} AND deliveries.endpoint_id = ${id} AND deliveries.status = 'PENDING'
      AND (SELECT events.type <> ALL (${types}::text[]) FROM billing_events AS events
        WHERE events.organization_id = ${organizationId} AND events.sequence = deliveries.sequence)`.execute(
    transaction,
  );
  if (numAffectedRows === 0n) return;
  await sql`UPDATE webhook_endpoints SET failing_since = NULL WHERE organization_id = ${organizationId} AND id = ${id}
    AND NOT EXISTS (SELECT FROM webhook_deliveries AS deliveries WHERE deliveries.organization_id = ${organizationId}
      AND deliveries.endpoint_id = ${id} AND deliveries.status = 'PENDING' AND deliveries.sequence IS NOT NULL)`.execute(
    transaction,
  );
}

/** Deliveries that go within the request that deletes their endpoint: somebody waits for it. */
const DELIVERIES_AT_ONCE_MAX = 1_000;

/**
 * Deletes an endpoint with its deliveries: once the transaction has committed nobody finds them, and nothing more is sent, however many there
 * are. What is left of those is for {@link deleteGoneEndpoints}. Returns whether there was such an endpoint.
 */
export async function deleteEndpoint(transaction: Queries, organizationId: string, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE webhook_endpoints SET deleted_at = now(), status = 'DISABLED', disabled_reason = NULL, replay_next = NULL, replay_last = NULL,
      secret = '', previous_secret = NULL
    WHERE ${isThere(organizationId, id)}`.execute(transaction);
  if (numAffectedRows !== 1n) return false;
  await deleteWithDeliveries(transaction, organizationId, id, DELIVERIES_AT_ONCE_MAX);
  return true;
}

/** Deletes what is left of endpoints that were deleted, a bounded number of rows. Returns how many deliveries. */
export async function deleteGoneEndpoints(db: Queries): Promise<number> {
  const { rows } = await sql<{ organization_id: string; id: string }>`
    SELECT organization_id, id FROM webhook_endpoints WHERE deleted_at IS NOT NULL ORDER BY deleted_at`.execute(db);
  return await deleteOfEach(rows, ({ organization_id, id }) =>
    inSlices(() => deleteWithDeliveries(db, organization_id, id, DELETED_MAX)),
  );
}

/** Deletes so many deliveries of an endpoint that is marked, and it with the last of them. Returns how many deliveries. */
async function deleteWithDeliveries(db: Queries, organizationId: string, id: string, max: number): Promise<number> {
  // By where they are, and any time is: so Postgres walks along the index of their times for as long as it needs, whatever it believes of them.
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM webhook_deliveries WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM webhook_deliveries
      WHERE ${ofEndpoint(organizationId, id, 0)} AND created_at BETWEEN '-infinity' AND 'infinity'
      ORDER BY created_at, sequence, id LIMIT ${max}))`.execute(db);
  if (numAffectedRows < max)
    await sql`DELETE FROM webhook_endpoints WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid AND NOT EXISTS (
      SELECT FROM webhook_deliveries WHERE ${ofEndpoint(organizationId, id, 0)})`.execute(db);
  return Number(numAffectedRows);
}

/** Gives it another secret. The one that it had signs too for a day; the one before that no more. */
export async function rotateSecret(
  db: Queries,
  organizationId: string,
  id: string,
  secret: Buffer,
): Promise<WebhookEndpoint | undefined> {
  const { rows } = await sql<EndpointRow>`
    UPDATE webhook_endpoints SET secret = ${secret}, previous_secret = secret,
      previous_secret_until = now() + make_interval(hours => ${LIMITS.rotationHours})
    WHERE ${isThere(organizationId, id)} RETURNING ${columns}`.execute(db);
  return rows.map(endpointOf)[0];
}

/** Where a replay begins or ends: a sequence, which is in it, or a time (ISO 8601), from which it begins and before which it ends. */
export type ReplayBound = number | string;

/**
 * Has events of before sent again, of the types that it takes. Returns the endpoint as it is then, without a replay where there is no such
 * event; `busy` while the one before is not done.
 */
export async function startReplay(
  transaction: Queries,
  organizationId: string,
  id: string,
  { from, to }: { from: ReplayBound; to: ReplayBound | undefined },
): Promise<WebhookEndpoint | 'busy' | undefined> {
  const { rows } = await sql<{ last_sequence: string; replay_next: string | null }>`
    SELECT last_sequence, replay_next FROM webhook_endpoints
    WHERE ${isThere(organizationId, id)} FOR UPDATE`.execute(transaction);
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.replay_next !== null) return 'busy';
  const firstSince = (time: string) => findFirstSince(transaction, organizationId, time);
  const next = Math.max(1, typeof from === 'number' ? from : await firstSince(from));
  // What it has not been sent at all comes by itself.
  const until = to === undefined || typeof to === 'number' ? (to ?? Infinity) : (await firstSince(to)) - 1;
  const last = Math.min(Number(row.last_sequence), until);
  if (next <= last)
    await sql`UPDATE webhook_endpoints SET replay_next = ${next}, replay_last = ${last}
      WHERE organization_id = ${organizationId} AND id = ${id}`.execute(transaction);
  return await findEndpoint(transaction, organizationId, id);
}

/** The first event of a time or later, or the number that the next one will get. The times rise with the numbers: it is found by halves. */
async function findFirstSince(db: Queries, organizationId: string, time: string): Promise<number> {
  const { rows } = await sql<{ sequence: string }>`
    WITH RECURSIVE halves (first, after) AS (
      SELECT 1::bigint, last_sequence + 1 FROM billing_feeds WHERE organization_id = ${organizationId}
      UNION ALL
      SELECT CASE WHEN is_before THEN middle + 1 ELSE first END, CASE WHEN is_before THEN after ELSE middle END
      FROM (SELECT first, after, (first + after) / 2 AS middle FROM halves WHERE first < after) AS halved
      CROSS JOIN LATERAL (
        SELECT coalesce((SELECT created_at < ${time}::timestamptz FROM billing_events
          WHERE organization_id = ${organizationId} AND sequence = middle), true) AS is_before
      ) AS looked
    )
    SELECT first AS sequence FROM halves WHERE first = after`.execute(db);
  return Number(rows[0]?.sequence ?? Infinity);
}

const columns = sql.raw(
  `id, url, event_types, status, disabled_reason, last_sequence, replay_next, replay_last, failing_since,
   CASE WHEN previous_secret_until > now() THEN previous_secret_until END AS previous_secret_until, created_at`,
);

type EndpointRow = Omit<WebhookEndpoint, 'last_sequence' | 'replay'> & {
  last_sequence: string;
  replay_next: string | null;
  replay_last: string | null;
};

function endpointOf({ replay_next, replay_last, last_sequence, ...row }: EndpointRow): WebhookEndpoint {
  const replay =
    replay_next === null ? null : { next_sequence: Number(replay_next), last_sequence: Number(replay_last) };
  return { ...row, last_sequence: Number(last_sequence), replay };
}

function only<Row>([row]: Row[]): Row {
  if (row === undefined) throw new Error('a row that was inserted did not come back');
  return row;
}
