import type { Weir } from './harness.ts';

/** What Weir holds: for each table a digest of its rows, and every key in Redis but those that no request keeps. */
export interface Kept {
  tables: { name: string; rows: number; digest: string | null }[];
  keys: string[];
}

/**
 * Reads everything that is kept, to compare it with what was there before. When a session was used, and its user seen, last is left
 * out: a refused request may be sent in a session all the same.
 */
export async function readKept({ pool, redis, env, keys }: Weir): Promise<Kept> {
  const { rows: names } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
  );
  const counts = names.map(
    ({ name }) =>
      `SELECT '${name}' AS name, count(*)::int AS rows,
              md5(string_agg((to_jsonb(t) - '{used_at,last_seen_at}'::text[])::text, ' ' ORDER BY to_jsonb(t)::text)) AS digest
         FROM "${name}" t`,
  );
  const { rows: tables } = await pool.query<Kept['tables'][number]>(`${counts.join(' UNION ALL ')} ORDER BY name`);
  const prefix = env['QUEUE_PREFIX'] ?? '';
  const all = await redis.keys(`${prefix}*`);
  // What the limits count, and what is noted about Redis and Postgres themselves.
  const own = [keys.failures, keys.limits, keys.epoch, keys.database, keys.timeline, keys.lastDrained];
  return { tables, keys: all.filter((key) => !own.some((start) => key.startsWith(start))).toSorted() };
}
