import type { QueueConnection } from './connection.ts';

/**
 * Marks an API key as revoked, for as many seconds as a process may go on using it from memory; admission asks for the mark.
 * Throws what ioredis says when Redis does not answer.
 */
export async function markRevoked({ redis, keys }: QueueConnection, apiKeyId: string, seconds: number): Promise<void> {
  await redis.set(keys.revoked(apiKeyId), '1', 'EX', seconds);
}
