import type { Weir } from './harness.ts';

interface Counted {
  events: number;
  sum: string | null;
}

/** The recorded events of a meter, and the sum of their quantities. */
export async function counted(weir: Weir, meterId: string): Promise<Counted> {
  const { rows } = await weir.pool.query<Counted>(
    'SELECT count(*)::int AS events, sum(quantity)::text AS sum FROM events WHERE meter_id = $1',
    [meterId],
  );
  return rows[0] ?? { events: 0, sum: null };
}
