import { newId } from '@weir/shared/ids';
import type { Redis } from 'ioredis';
import type { QueueConnection } from './connection.ts';
import { loadScript } from './script.ts';

const takeBackMark = loadScript<number>('take-back-mark');

/**
 * Marks an API key as revoked, for as many seconds as a process may go on using it from memory; admission asks for the mark.
 * Where two copies are asked for, a replica has it too. Throws what ioredis says when Redis does not answer, and a NotCopied; the mark is
 * taken back then, if Redis can still be told.
 */
export async function markRevoked(
  { redis, keys, secondCopy }: QueueConnection,
  apiKeyId: string,
  seconds: number,
): Promise<void> {
  const key = keys.revoked(apiKeyId);
  const mark = newId();
  let used = redis;
  const write = (on: Redis) => {
    used = on;
    return on.set(key, mark, 'EX', seconds);
  };
  try {
    await (secondCopy === undefined ? write(redis) : secondCopy.written(write));
  } catch (error) {
    // Redis may have done it, or do it later. On the same connection this comes after it. Where it does not arrive either, the mark
    // ends by itself.
    await takeBackMark.whole(used, [key], [mark]).catch(() => undefined);
    throw error;
  }
}
