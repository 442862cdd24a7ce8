// Who changed what. An entry is written down before the change is made, and marked as done before the answer leaves.

import { epochMsOfId, firstIdAt } from '@weir/shared/ids';
import { LIMITS } from '@weir/shared/limits';
import { sql, type SqlBool } from 'kysely';
import type { Queries } from './database.ts';
import { DELETED_MAX, inSlices } from './delete-in-slices.ts';
import { alsoOf, hashed, ofOrganization } from './of-organization.ts';
import type { ActorType } from './schema.ts';

/** Who made a change, and from where. */
export interface Actor {
  actor_type: ActorType;
  actor_id: string | null;
  actor_email: string | null;
  /** Of a service account, which may be deleted later. */
  actor_name?: string | null;
  address: string | null;
  user_agent: string | null;
}

/** One entry. The time of the change is that of the id. */
export interface AuditEntry extends Required<Actor> {
  id: string;
  action: string;
  resource_type: string;
  resource_id: string | null;
  changes: Record<string, unknown> | null;
  /** False where the process died, or Postgres did not answer, before it was known what came of the change. */
  is_done: boolean;
}

/** Which entries to list, newest first. Times are milliseconds since 1970, half-open. */
export interface AuditFilter {
  userId?: string | undefined;
  /** Of whatever type the actor is. */
  actorId?: string | undefined;
  action?: string | undefined;
  resourceId?: string | undefined;
  startMs?: number | undefined;
  endMs?: number | undefined;
  /** The id that the page before ended with. */
  before?: string | undefined;
  limit: number;
}

/** What is not done is listed after this: by then no request is under way that could still take it back. */
const UNDER_WAY_MS_MAX = 60_000;

const columns = [
  'id',
  'action',
  'resource_type',
  'resource_id',
  'actor_type',
  'actor_id',
  'actor_email',
  'actor_name',
  'address',
  'user_agent',
  'changes',
  'is_done',
] as const;

/** A new entry; its resource_type is what stands before the dot of its action. */
export type NewAuditEntry = Actor &
  Pick<AuditEntry, 'id' | 'action' | 'resource_id' | 'changes' | 'is_done'> & { organization_id: string };

export async function insertAuditEntry(db: Queries, { changes, ...entry }: NewAuditEntry): Promise<void> {
  const [resource_type = ''] = entry.action.split('.', 1);
  await db
    .insertInto('audit_entries')
    .values({ ...entry, resource_type, changes: changes === null ? null : JSON.stringify(changes) })
    .execute();
}

/** The change was made, to this resource. */
export async function completeAuditEntry(
  db: Queries,
  organizationId: string,
  id: string,
  resourceId: string | null,
): Promise<void> {
  await db
    .updateTable('audit_entries')
    .set({ is_done: true, resource_id: resourceId })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

/** The change was refused, and nothing came of it. */
export async function deleteAuditEntry(db: Queries, organizationId: string, id: string): Promise<void> {
  await db.deleteFrom('audit_entries').where('organization_id', '=', organizationId).where('id', '=', id).execute();
}

/**
 * Entries of an organization, newest first: at most `filter.limit`, and fewer where what was sent with them is large. `next` is the id that
 * the next page goes on from; null where this is the last.
 */
export async function listAuditEntries(
  db: Queries,
  organizationId: string,
  filter: AuditFilter,
): Promise<{ entries: AuditEntry[]; next: string | null }> {
  const found = await weighEntries(db, organizationId, filter);
  const ids = found.slice(0, fittingOf(found.slice(0, filter.limit))).map(({ id }) => id);
  const entries = await db
    .selectFrom('audit_entries')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', sql<string>`ANY (${ids}::uuid[])`)
    .orderBy('id', 'desc')
    .execute();
  return { entries, next: found.length > ids.length ? (ids.at(-1) ?? null) : null };
}

/** Their ids, and how many bytes their changes have as text: those of a page, and one more where there is one. */
async function weighEntries(
  db: Queries,
  organizationId: string,
  filter: AuditFilter,
): Promise<{ id: string; bytes: number }[]> {
  let query = db
    .selectFrom('audit_entries')
    .select(['id', 'changes'])
    .where(() => entriesOf(organizationId, filter));
  if (filter.userId !== undefined) query = query.where('actor_type', '=', 'user');
  if (filter.startMs !== undefined) query = query.where('id', '>=', firstIdAt(filter.startMs));
  if (filter.endMs !== undefined) query = query.where('id', '<', firstIdAt(filter.endMs));
  if (filter.before !== undefined) query = query.where('id', '<', filter.before);
  const underWay = firstIdAt(Date.now() - UNDER_WAY_MS_MAX);
  const found = query
    .where(({ eb, or }) => or([eb('is_done', '=', true), eb('id', '<', underWay)]))
    .orderBy('id', 'desc')
    .limit(filter.limit + 1);
  // Outside of the limit, so that the text is made of these alone, however they are found.
  return await db
    .selectFrom(found.as('found'))
    .select(['id', sql<number>`coalesce(octet_length(changes::text), 0)`.as('bytes')])
    .orderBy('id', 'desc')
    .execute();
}

/**
 * By the index that leads to the fewest, and in a form that no other fits: whichever Postgres took, it could have to read all that an
 * organization ever did.
 */
function entriesOf(organizationId: string, { userId, actorId = userId, action, resourceId }: AuditFilter) {
  const isActor = actorId === undefined ? sql`true` : sql`(actor_id = ${actorId}::uuid) IS TRUE`;
  const isUser = userId === undefined ? sql`true` : sql`(actor_id = ${userId}::uuid) IS TRUE`;
  const isAction = action === undefined ? sql`true` : sql`(action = ${action}) IS TRUE`;
  const own = sql`${alsoOf(organizationId)} AND ${isUser}`;
  if (resourceId !== undefined)
    return sql<SqlBool>`(resource_id = ${resourceId}::uuid AND ${isActor} AND ${isAction} AND ${own})`;
  if (actorId === undefined) {
    if (action === undefined) return ofOrganization(organizationId);
    return sql<SqlBool>`(${hashed(organizationId, 0)} AND action = ${action})`;
  }
  if (action === undefined) return sql<SqlBool>`(actor_id = ${actorId}::uuid AND ${own})`;
  return sql<SqlBool>`(uuid_hash_extended(actor_id, 0) = uuid_hash_extended(${actorId}::uuid, 0) AND action = ${action}
    AND ${isActor} AND ${own})`;
}

/** How many of them one page has. The first is there whatever it has, so that whoever follows the pages gets on. */
function fittingOf(found: readonly { bytes: number }[]): number {
  let bytes = 0;
  const first = found.findIndex((entry, place) => {
    bytes += entry.bytes;
    return place > 0 && bytes > LIMITS.auditPageBytes;
  });
  return first === -1 ? found.length : first;
}

/** When an entry was made, as ISO 8601 UTC. */
export function timeOfEntry({ id }: Pick<AuditEntry, 'id'>): string {
  return new Date(epochMsOfId(id)).toISOString();
}

/**
 * Deletes entries of all organizations that are older than so many days, slice by slice. Returns how many there were. They are old by the
 * clock of Postgres as well: what one machine whose clock is ahead deletes does not come back.
 */
export async function deleteOldAuditEntries(db: Queries, days: number): Promise<number> {
  const here = new Date().toISOString();
  const bound = sql`first_event_id(least(now(), ${here}::timestamptz) - make_interval(days => ${days}))`;
  return await inSlices(async () => {
    // Organization by organization, as the primary key has them.
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM audit_entries USING (
        SELECT found.organization_id, found.id FROM organizations CROSS JOIN LATERAL (
          SELECT organization_id, id FROM audit_entries
          WHERE organization_id = organizations.id AND id < ${bound} ORDER BY id LIMIT ${DELETED_MAX}
        ) AS found LIMIT ${DELETED_MAX}
      ) AS old
      WHERE audit_entries.organization_id = old.organization_id AND audit_entries.id = old.id`.execute(db);
    return Number(numAffectedRows);
  });
}
