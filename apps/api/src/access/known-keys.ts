import { findApiKeyGrant, type ApiKeyGrant } from '@weir/db/api-keys';
import type { Database } from '@weir/db/database';
import type { FastifyBaseLogger } from 'fastify';
import { Known } from '../known.ts';

/**
 * A key is not used from memory for longer than this. What keeps a deleted key out meanwhile is its tombstone, which
 * every admission asks for; so this is only for routes that do.
 */
export const KNOWN_KEY_SECONDS_MAX = 3_600;

/** What API keys open, by the key's hash in base64. About 5 MB at most. */
export function buildKnownKeys(database: Database, log: FastifyBaseLogger): Known<ApiKeyGrant> {
  return new Known({
    what: 'API key',
    find: (keyHash) => findApiKeyGrant(database.kysely, Buffer.from(keyHash, 'base64')),
    freshMs: 10_000,
    usableMs: KNOWN_KEY_SECONDS_MAX * 1_000,
    countMax: 10_000,
    log,
  });
}
