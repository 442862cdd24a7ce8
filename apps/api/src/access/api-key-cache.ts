import { findApiKeyGrants, type ApiKeyGrant } from '@weir/db/api-keys';
import type { Database } from '@weir/db/database';
import type { FastifyBaseLogger } from 'fastify';
import { LookupCache } from '../lookup-cache.ts';

/**
 * A key is not used from memory for longer than this. What keeps a deleted key out meanwhile is its revoked mark, which
 * every admission asks for; so this is only for routes that do.
 */
export const CACHED_KEY_SECONDS_MAX = 3_600;

/** A key as Postgres knows it, with the epoch of Redis before Postgres was asked. */
export interface CachedKey extends ApiKeyGrant {
  epoch: string;
}

/** By the hash of the key in base64. About 7 MB at most. */
export type ApiKeyCache = LookupCache<CachedKey>;

export interface ApiKeyCacheDeps {
  database: Database;
  /** The epoch of Redis; rejects where the queue is that of another database. */
  epoch(): Promise<string>;
  /** Whether a key has its revoked mark; false while Redis is away. */
  isRevoked(apiKeyId: string): Promise<boolean>;
  log: FastifyBaseLogger;
}

/**
 * A key that was deleted after it was looked up has its revoked mark in the same epoch of Redis. Once that is lost there is
 * another epoch, and admission refuses.
 */
export function buildApiKeyCache({ database, epoch: readEpoch, isRevoked, log }: ApiKeyCacheDeps): ApiKeyCache {
  return new LookupCache({
    what: 'API key',
    async find(keyHashes) {
      const epoch = await readEpoch();
      const grants = await findApiKeyGrants(database, keyHashes);
      return new Map([...grants].map(([keyHash, grant]) => [keyHash, { ...grant, epoch }]));
    },
    isMarkedGone: ({ id }) => isRevoked(id),
    freshMs: 10_000,
    usableMs: CACHED_KEY_SECONDS_MAX * 1_000,
    countMax: 10_000,
    log,
  });
}
