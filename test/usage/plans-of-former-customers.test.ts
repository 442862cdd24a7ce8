// What a chart of a meter costs that has met very many customers: by those that have used it in the window, and not by those that are gone.

import type { Database } from '@weir/db/database';
import { readGroupedUsage } from '@weir/db/usage/read-groups';
import { readMeterUsage } from '@weir/db/usage/read-usage';
import { customersIn, Parameters } from '@weir/db/usage/usage-rows';
import { toEnd } from '@weir/shared/to-end';
import { planningWindow, type Window } from '@weir/shared/window';
import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { indexPagesReadBy, rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const GONE = 60_000;
const HERE = 20;

const weir = ownWeir({ withWorker: false, unobserved: true });
let admin: Organization;
let meterId: string;

beforeAll(async () => {
  admin = await signUp(weir);
  meterId = (await admin.createMeter('SUM', undefined, ['model'])).id;
  await use('gone', GONE, '2023-03-01T10:00:00Z');
  await use('here', HERE, '2024-06-10T10:00:00Z');
});

/** The rows of customers that have used the meter once each, at some time. */
async function use(name: string, count: number, at: string): Promise<void> {
  const amounts = `1, 1, 1, 1, $3::timestamptz, '00000000-0000-7000-8000-000000000000'::uuid, 1`;
  const values = [admin.id, meterId, at];
  await weir.pool.query(
    `INSERT INTO customer_usage_days SELECT $1, $2, $4 || '-' || n, date_trunc('day', $3::timestamptz, 'UTC'), ${amounts}
     FROM generate_series(1, $5::int) AS n`,
    [...values, name, count],
  );
  await weir.pool.query(`INSERT INTO meter_usage_quarters SELECT $1, $2, $3::timestamptz, 0, ${amounts}`, values);
}

function windowOf(start_date: string, end_date: string): Window {
  const window = toEnd(planningWindow({ timezone: 'UTC', start_date, end_date }, Date.parse('2024-07-01T00:00:00Z')));
  if ('problem' in window) throw new Error(window.problem.message);
  return window;
}

test('a chart of a month costs few rows where most customers of the meter are gone', async () => {
  const question = { organizationId: admin.id, meterId, aggregation: 'SUM' } as const;
  const rows = await rowsReadBy(weir, async ({ pool }) => {
    const window = windowOf('2024-06-01', '2024-06-30');
    expect(await readMeterUsage(pool, { ...question, window })).toMatchObject({ uniqueCustomers: HERE });
  });
  expect(rows).toBeLessThan(GONE / 2);
  const all = windowOf('2023-01-01', '2024-06-30');
  expect(await readMeterUsage(weir.pool, { ...question, window: all })).toMatchObject({ uniqueCustomers: GONE + HERE });
});

test('a chart that ends with a day asks nobody for events of the next one', async () => {
  const { rows: months } = await weir.pool.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'events'::regclass`,
  );
  expect(months).not.toEqual([]);
  const question = { organizationId: admin.id, meterId, aggregation: 'SUM' } as const;
  const filters = [{ key: 'model', value: 'large' }];
  for (const window of [windowOf('2024-06-01', '2024-06-09'), windowOf('2024-06-08', '2024-06-09')]) {
    const read = async ({ pool }: Database) => {
      await readMeterUsage(pool, { ...question, window });
      await readGroupedUsage(pool, { ...question, window, keys: ['model'], filters });
    };
    for (const { name } of months) expect(await indexPagesReadBy(weir, read, name, { least: 0 }), name).toBe(0);
  }
});

test.each([
  ['the walk, which is short', { walkedMax: 2 * GONE, daysMax: 1 }],
  ['the days, which are few', { walkedMax: 1, daysMax: HERE }],
  ['the walk after all, where the days are many', { walkedMax: 1, daysMax: HERE - 1 }],
])('the customers of a long window are the same by %s', async (_, longest) => {
  const parameters = new Parameters();
  const scope = { organization: parameters.add(admin.id, 'uuid'), meter: parameters.add(meterId, 'uuid') };
  const { start, end } = windowOf('2024-06-01', '2024-06-30');
  const { rows } = await weir.pool.query<{ customer: string }>(
    customersIn(parameters, scope, { start, end }, longest),
    parameters.values,
  );
  const here = Array.from({ length: HERE }, (__, n) => `here-${n + 1}`);
  expect(rows.map(({ customer }) => customer).toSorted()).toEqual(here.toSorted());
});
