import type { Redis } from 'ioredis';
import type { QueueConnection } from './connection.ts';

/**
 * Marks an API key as revoked, for as many seconds as a process may go on using it from memory; admission asks for the mark.
 * Where two copies are asked for, a replica has it too. Throws what ioredis says when Redis does not answer, and a NotCopied.
 */
export async function markRevoked(
  { redis, keys, secondCopy }: QueueConnection,
  apiKeyId: string,
  seconds: number,
): Promise<void> {
  const mark = (on: Redis) => on.set(keys.revoked(apiKeyId), '1', 'EX', seconds);
  await (secondCopy === undefined ? mark(redis) : secondCopy.written(mark));
}

/** Whether an API key is marked. No mark says nothing: it may have been lost, or be over. Throws what ioredis says when Redis does not answer. */
export async function isMarkedRevoked({ redis, keys }: QueueConnection, apiKeyId: string): Promise<boolean> {
  return (await redis.exists(keys.revoked(apiKeyId))) === 1;
}
