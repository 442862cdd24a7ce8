import type { Redis } from 'ioredis';
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';

/** The bytes of all tables of a database with their indexes; its log is not in it. */
export async function postgresBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(`
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::float8 AS bytes
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`);
  return rows[0]?.bytes ?? 0;
}

/** After this a Redis that still frees memory is taken for one that somebody else uses too. */
const FREEING_SECONDS_MAX = 10;

/** The bytes that Redis has in use, once it has freed what was unlinked. */
export async function redisBytes(redis: Redis): Promise<number> {
  const deadline = Date.now() + FREEING_SECONDS_MAX * 1_000;
  for (;;) {
    const info = await redis.info('memory');
    const number = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
    if (number('lazyfree_pending_objects') === 0 || Date.now() > deadline) return number('used_memory');
    await delay(20);
  }
}
