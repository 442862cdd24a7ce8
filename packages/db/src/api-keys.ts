import { plainArray } from './array-text.ts';
import type { Database, Queries } from './database.ts';
import { NEWEST_FIRST } from './order.ts';
import { selectPage, type Page, type PageOf } from './page.ts';
import type { Read, Scope } from './schema.ts';

/** An API key without its secret, which nobody can read again. */
export type ApiKey = Read<'api_keys', 'key_hash'>;

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
  const { count } = await db
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return Number(count);
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
  const query = db.selectFrom('api_keys').select(columns).where('organization_id', '=', organizationId);
  return await selectPage(query, NEWEST_FIRST, page);
}

/** Returns whether there was such a key. */
export async function deleteApiKey(db: Queries, organizationId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('api_keys')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
