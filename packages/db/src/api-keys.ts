import { sql } from 'kysely';
import { plainArray } from './array-text.ts';
import type { Database, Queries } from './database.ts';
import { DELETED_MAX, inSlices } from './delete-in-slices.ts';
import { deleteOfEach } from './left-alone.ts';
import { NEWEST_FIRST } from './order.ts';
import { countRows, selectPage, type Page, type PageOf } from './page.ts';
import type { Read, Scope } from './schema.ts';

/** An API key without its secret, which nobody can read again. */
export type ApiKey = Read<'api_keys', 'key_hash' | 'revoked_at'>;

/** The scopes of a key, and whose it is. */
export interface ApiKeyGrant {
  id: string;
  organization_id: string;
  scopes: Scope[];
}

const columns = ['id', 'name', 'scopes', 'last4', 'last_used_at', 'created_at'] as const;

export async function insertApiKey(
  db: Queries,
  key: { organization_id: string; id: string; name: string; key_hash: Buffer; last4: string; scopes: Scope[] },
): Promise<ApiKey> {
  return await db.insertInto('api_keys').values(key).returning(columns).executeTakeFirstOrThrow();
}

export async function countApiKeys(db: Queries, organizationId: string): Promise<number> {
  return await countRows(
    db.selectFrom('api_keys').where('organization_id', '=', organizationId).where('revoked_at', 'is', null),
  );
}

/** The key with this SHA-256, whichever organization it belongs to. */
export async function findApiKeyGrant(db: Queries, keyHash: Buffer): Promise<ApiKeyGrant | undefined> {
  return await db
    .selectFrom('api_keys')
    .select(['id', 'organization_id', 'scopes'])
    .where('key_hash', '=', keyHash)
    .executeTakeFirst();
}

/** The keys with these SHA-256s in base64, by them. A hash that no key has is left out. */
export async function findApiKeyGrants(
  database: Database,
  keyHashes: readonly string[],
): Promise<Map<string, ApiKeyGrant>> {
  const { rows } = await database.pool.query<ApiKeyGrant & { hash: string }>({
    name: 'api-keys-by-hash',
    text: `SELECT encode(key_hash, 'base64') AS hash, id, organization_id, scopes FROM api_keys
      WHERE key_hash = ANY (SELECT decode(unnest($1::text[]), 'base64'))`,
    values: [plainArray(keyHashes)],
  });
  return new Map(rows.map(({ hash, ...grant }) => [hash, grant]));
}

/** Newest first. */
export async function listApiKeys(db: Queries, organizationId: string, page: Page): Promise<PageOf<ApiKey>> {
  const query = db
    .selectFrom('api_keys')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null);
  return await selectPage(query, NEWEST_FIRST, page);
}

/** Tokens that go within the request that deletes their key: somebody waits for it. */
const TOKENS_AT_ONCE_MAX = 1_000;

/**
 * Ends a key and its tokens of widgets: once the transaction has committed nobody finds them, however many tokens there are. What is left
 * of those is for {@link deleteRevokedKeys}. Returns whether there was such a key.
 */
export async function revokeApiKey(transaction: Queries, organizationId: string, id: string): Promise<boolean> {
  // Processes of the version before know of no mark: they find a key by its hash, and look at its scopes before they record by it.
  const { numAffectedRows } = await sql`
    UPDATE api_keys SET revoked_at = now(), key_hash = sha256(uuid_send(gen_random_uuid())), scopes = '{usage.read}'
    WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid AND revoked_at IS NULL`.execute(transaction);
  if (numAffectedRows !== 1n) return false;
  await deleteWithTokens(transaction, organizationId, id, TOKENS_AT_ONCE_MAX);
  return true;
}

/** Deletes what is left of keys that were revoked, a bounded number of rows. Returns how many tokens. */
export async function deleteRevokedKeys(db: Queries): Promise<number> {
  const revoked = await db
    .selectFrom('api_keys')
    .select(['organization_id', 'id'])
    .where('revoked_at', 'is not', null)
    .orderBy('revoked_at')
    .execute();
  return await deleteOfEach(revoked, ({ organization_id, id }) =>
    inSlices(() => deleteWithTokens(db, organization_id, id, DELETED_MAX)),
  );
}

/**
 * Deletes so many tokens of a key that is marked, and it with the last of them. Returns how many tokens: also fewer where others delete some
 * of the same, so that it is looked whether any is left. With the key all of them would go, in one statement.
 */
async function deleteWithTokens(db: Queries, organizationId: string, id: string, tokensMax: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM widget_tokens WHERE token_hash = ANY (ARRAY(
      SELECT token_hash FROM widget_tokens WHERE organization_id = ${organizationId}::uuid AND api_key_id = ${id}::uuid
      LIMIT ${tokensMax}))`.execute(db);
  if (numAffectedRows < tokensMax)
    await sql`
      DELETE FROM api_keys AS keys WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid AND NOT EXISTS (
        SELECT FROM widget_tokens WHERE organization_id = keys.organization_id AND api_key_id = keys.id)`.execute(db);
  return Number(numAffectedRows);
}
