import { sql } from 'kysely';
import { FIRST_SIGNUP_LOCK } from './advisory-locks.ts';
import type { Queries } from './database.ts';

export interface Organization {
  id: string;
  name: string;
}

/** Lets one transaction at a time decide whether there is an organization yet; held until that transaction ends. */
export async function lockFirstSignup(transaction: Queries): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${FIRST_SIGNUP_LOCK})`.execute(transaction);
}

/** Whether anybody has signed up here. */
export async function hasOrganization(db: Queries): Promise<boolean> {
  return (await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Finds those of some organizations that this database has. */
export async function findExistingOrganizations(db: Queries, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom('organizations').select('id').where('id', 'in', ids).execute();
  return new Set(rows.map(({ id }) => id));
}

export async function insertOrganization(db: Queries, organization: Organization): Promise<void> {
  await db.insertInto('organizations').values(organization).execute();
}

/** An organization as its people see it. */
export type OrganizationSince = Organization & { created_at: string };

export async function getOrganization(db: Queries, id: string): Promise<OrganizationSince> {
  return await db
    .selectFrom('organizations')
    .select(['id', 'name', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

export async function renameOrganization(db: Queries, { id, name }: Organization): Promise<OrganizationSince> {
  return await db
    .updateTable('organizations')
    .set({ name })
    .where('id', '=', id)
    .returning(['id', 'name', 'created_at'])
    .executeTakeFirstOrThrow();
}

/** The time zone of an organization: that of its customers who have none of their own, and of its dates. */
export async function findTimeZone(db: Queries, id: string): Promise<string> {
  const { time_zone } = await db
    .selectFrom('organizations')
    .select('time_zone')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return time_zone;
}
