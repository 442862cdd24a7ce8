import { sql } from 'kysely';
import type { Database, Queries } from './database.ts';

/** The findings of the last reconciliation of an organization. */
export interface Reconciliation {
  finished_at: string;
  is_equal: boolean;
  problems: number;
}

/**
 * Writes down what a reconciliation has found of each organization, or of one: how many problems, 0 where none is named. Where
 * some are nobody's that is known (`areAllKnown` false), no organization is said to be equal.
 */
export async function saveReconciliation(
  { kysely }: Database,
  organizationId: string | undefined,
  { problems, areAllKnown }: { problems: ReadonlyMap<string, number>; areAllKnown: boolean },
): Promise<void> {
  const only = organizationId === undefined ? sql`true` : sql`organizations.id = ${organizationId}::uuid`;
  await sql`
    INSERT INTO reconciliations (organization_id, is_equal, problems)
    SELECT organizations.id, ${areAllKnown}::boolean AND found.problems IS NULL, coalesce(found.problems, 0)
    FROM organizations
    LEFT JOIN unnest(${[...problems.keys()]}::uuid[], ${[...problems.values()]}::integer[]) AS found (id, problems) USING (id)
    WHERE ${only} ORDER BY organizations.id
    ON CONFLICT (organization_id) DO UPDATE
      SET finished_at = now(), is_equal = excluded.is_equal, problems = excluded.problems`.execute(kysely);
}

/** Undefined where none has looked at the organization yet. */
export async function findReconciliation(db: Queries, organizationId: string): Promise<Reconciliation | undefined> {
  return await db
    .selectFrom('reconciliations')
    .select(['finished_at', 'is_equal', 'problems'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
}
