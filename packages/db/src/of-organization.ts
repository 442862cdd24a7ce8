// Conditions on the rows of an organization, each in the form that one kind of index fits (docs/decisions/0054-one-index-for-each-question.md).

import { sql, type RawBuilder, type SqlBool } from 'kysely';

/** By a key that begins with the organization. */
export function ofOrganization(organizationId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`organization_id = ${organizationId}::uuid`;
}

/** By the index with this seed: written so that no key that begins with the organization is a way to them. */
export function hashed(organizationId: string, seed: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`(uuid_hash_extended(organization_id, ${sql.lit(seed)}) = uuid_hash_extended(${organizationId}::uuid, ${sql.lit(seed)})
    AND (${ofOrganization(organizationId)}) IS TRUE)`;
}
