import type { Weir } from './harness.ts';

/** What Weir holds: for each table a digest of its rows, and every key in Redis but those that no request keeps. */
export interface Kept {
  tables: { name: string; rows: number; digest: string | null }[];
  keys: string[];
}

/**
 * Reads everything that is kept, to compare it with what was there before. When a session or an API key was used last, and a
 * user seen, is left out: a refused request may be sent with one all the same.
 */
export async function readKept({ pool, redis, env, keys }: Weir): Promise<Kept> {
  const { rows: names } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
  );
  const counts = names.map(
    ({ name }) =>
      `SELECT '${name}' AS name, count(*)::int AS rows,
              md5(string_agg(kept, ' ' ORDER BY kept)) AS digest
         FROM (SELECT (to_jsonb(t) - '{used_at,last_used_at,last_seen_at}'::text[])::text AS kept FROM "${name}" t) AS rows`,
  );
  const { rows: tables } = await pool.query<Kept['tables'][number]>(`${counts.join(' UNION ALL ')} ORDER BY name`);
  const prefix = env['QUEUE_PREFIX'] ?? '';
  const all = await redis.keys(`${prefix}*`);
  // What the limits count, and what is noted about Redis, Postgres and workers themselves.
  const noted = [keys.epoch, keys.database, keys.timeline, keys.lastDrained, keys.workerSeen, keys.maintenanceDone];
  const own = [keys.failures, keys.limits, ...noted];
  return { tables, keys: all.filter((key) => !own.some((start) => key.startsWith(start))).toSorted() };
}
