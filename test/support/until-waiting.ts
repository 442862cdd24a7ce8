import { until, type Weir } from './harness.ts';

/** How many wait for a lock that somebody else holds, some of them behind others. */
export async function countWaiting({ pool }: Pick<Weir, 'pool'>): Promise<number> {
  const { rowCount } = await pool.query(
    'SELECT FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0',
  );
  return rowCount ?? 0;
}

/** Until so many do. */
export const untilWaiting = (weir: Pick<Weir, 'pool'>, count = 1): Promise<void> =>
  until(async () => (await countWaiting(weir)) >= count, `${count} wait for what is held`);
