import { findApiKeyGrants, type ApiKeyGrant } from '@weir/db/api-keys';
import type { Database } from '@weir/db/database';
import type { FastifyBaseLogger } from 'fastify';
import { Known } from '../known.ts';

/**
 * A key is not used from memory for longer than this. What keeps a deleted key out meanwhile is its tombstone, which
 * every admission asks for; so this is only for routes that do.
 */
export const KNOWN_KEY_SECONDS_MAX = 3_600;

/** What an API key opens, and what the memory of Redis was known by before Postgres was asked about it. */
export interface KnownKey extends ApiKeyGrant {
  memory: string;
}

export interface KnownKeyParts {
  database: Database;
  /** What the memory of Redis is known by; rejects where the queue is that of another database. */
  memory(): Promise<string>;
  log: FastifyBaseLogger;
}

/**
 * What API keys open, by the key's hash in base64. About 7 MB at most. A key that was deleted after it was looked up has its
 * tombstone in the same memory of Redis, unless that memory is lost; then it is known by another value, and admission refuses.
 */
export function buildKnownKeys({ database, memory: memoryOf, log }: KnownKeyParts): Known<KnownKey> {
  return new Known({
    what: 'API key',
    async find(keyHashes) {
      const memory = await memoryOf();
      const grants = await findApiKeyGrants(database, keyHashes);
      return new Map([...grants].map(([keyHash, grant]) => [keyHash, { ...grant, memory }]));
    },
    freshMs: 10_000,
    usableMs: KNOWN_KEY_SECONDS_MAX * 1_000,
    countMax: 10_000,
    log,
  });
}
