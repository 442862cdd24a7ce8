// What passes within ten seconds after a worker died. One test waits them out, ingest/exactly-once.test.ts.

import type { QueueConnection } from '@weir/queue/connection';

/** Has nobody hold the jobs that dead workers had in hand of a queue: the next worker that opens has them at once. */
export async function letGoOf({ redis, keys }: Pick<QueueConnection, 'redis' | 'keys'>, name: string): Promise<void> {
  const key = (end: string) => `${keys.prefix}:${name}:${end}`;
  const jobs = await redis.lrange(key('active'), 0, -1);
  if (jobs.length === 0) throw new Error(`no job of ${name} was in anybody's hand`);
  await redis.del(key('stalled-check'), ...jobs.map((job) => `${key(job)}:lock`));
  await redis.sadd(key('stalled'), ...jobs);
}
