import { until, type Weir } from './harness.ts';

/** Waits until a worker has grouped what was counted before the keys of a meter were changed. */
export const untilGrouped = ({ pool }: Weir): Promise<void> =>
  until(async () => (await pool.query('SELECT FROM metadata_backfills')).rowCount === 0, 'usage is grouped');
