// Conditions on the rows of an organization, each in the form that one kind of index fits (docs/decisions/0054-one-index-for-each-question.md).

import { sql, type RawBuilder, type SqlBool } from 'kysely';

/** By a key that begins with the organization. */
export function ofOrganization(organizationId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`organization_id = ${organizationId}::uuid`;
}

/** By a key that begins with something else, which is the organization's. */
export function alsoOf(organizationId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${ofOrganization(organizationId)}) IS TRUE`;
}

/** By the index with this seed: written so that no key that begins with the organization is a way to them. */
export function hashed(organizationId: string, seed: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`(uuid_hash_extended(organization_id, ${sql.lit(seed)}) = uuid_hash_extended(${organizationId}::uuid, ${sql.lit(seed)})
    AND ${alsoOf(organizationId)})`;
}

/**
 * By the index with this seed and a hash of the status: a status that is itself a column of an index leads there from questions of
 * something else.
 */
export function ofStatus(organizationId: string, seed: number, status: string): RawBuilder<SqlBool> {
  const wanted = sql.lit(status);
  return sql<SqlBool>`(${hashed(organizationId, seed)} AND hashtextextended(status, 0) = hashtextextended(${wanted}, 0)
    AND (status = ${wanted}) IS TRUE)`;
}

/**
 * By the index on a hash of the organization and of the external id that a column has. A key on both is no better than one on the
 * organization alone while Postgres believes that this one has next to no rows.
 */
export function ofCustomer(
  organizationId: string | RawBuilder<unknown>,
  column: 'customers.external_id' | 'subscriptions.customer_external_id' | 's.customer_external_id',
  externalId: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const own = sql.raw(`${column.split('.', 1)[0]}.organization_id`);
  const name = sql.raw(column);
  return sql<SqlBool>`(hashtextextended(${name}, uuid_hash_extended(${own}, 0))
      = hashtextextended(${externalId}, uuid_hash_extended(${organizationId}::uuid, 0))
    AND (${own} = ${organizationId}::uuid AND ${name} = ${externalId}) IS TRUE)`;
}
