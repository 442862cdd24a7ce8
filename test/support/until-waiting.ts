import { until, type Weir } from './harness.ts';

/** Until so many wait for a lock that somebody else holds, some of them behind others. */
export const untilWaiting = ({ pool }: Pick<Weir, 'pool'>, count = 1): Promise<void> =>
  until(async () => {
    const { rowCount } = await pool.query(
      'SELECT FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0',
    );
    return (rowCount ?? 0) >= count;
  }, `${count} wait for what is held`);
