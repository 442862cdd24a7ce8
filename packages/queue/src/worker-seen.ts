import type { QueueConnection } from './connection.ts';

/** Notes that a worker of this queue is at work. */
export async function markWorkerSeen({ redis, keys }: QueueConnection): Promise<void> {
  await redis.set(keys.workerSeen, String(Date.now()));
}

/** When a worker of this queue was last at work, in milliseconds since 1970; undefined where none was. */
export async function findWorkerSeen({ redis, keys }: QueueConnection): Promise<number | undefined> {
  const at = await redis.get(keys.workerSeen);
  return at === null ? undefined : Number(at);
}
