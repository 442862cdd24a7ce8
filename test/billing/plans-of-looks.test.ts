// What a look for usage that no charge bills costs, where 5,000 customers came in before Postgres had looked at the tables: it asks
// for each customer of the day a few rows of its own, and reads no table of the organization.

import type { Database } from '@weir/db/database';
import {
  countUnbilledMeters,
  findDaysToLookAt,
  listUnbilledUsage,
  lookAtDay,
} from '@weir/db/billing/usage/unbilled-usage';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setBillingTime } from '../support/billing-time.ts';
import { copyRows } from '../support/copy-rows.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const CUSTOMERS = 5_000;
const LONG = { timeout: 120_000 };

const weir = ownWeir({ unobserved: true });
let billing: Billed;
beforeAll(async () => {
  billing = await startBilled(weir);
  await billing.use(10, '2025-02-03T12:00:00Z');
  await billing.request('PATCH', `/plans/${billing.ownPlan.id}/charges/${billing.ownPlan.charges[1]}`, {
    status: 'INACTIVE',
  });
  await setBillingTime(weir.pool, '2025-02-04T00:00:00Z');
  const client = await weir.pool.connect();
  const copy = (table: string, changes: string) => client.query(copyRows(table, changes, { times: CUSTOMERS }));
  const idOf = (column: string) => `'${column}', md5(t.${column}::text || n)::uuid`;
  const name = `'customer_external_id', 'copy-' || n`;
  await client.query('SET session_replication_role = replica');
  await copy('subscriptions', `${idOf('id')}, ${name}, 'external_id', null`);
  await copy('subscription_periods', idOf('subscription_id'));
  await copy('dues', `${idOf('subscription_id')}, ${name}`);
  await copy('customer_usage_days', name);
  // The days before, of the same customers.
  for (const days of [1, 2])
    await client.query(
      copyRows('customer_usage_days', `'day', t.day - interval '${days} days'`, {
        times: 1,
        where: `t.day = '2025-02-03T00:00:00Z'`,
      }),
    );
  await client.query('RESET session_replication_role');
  client.release();
}, LONG.timeout);
afterAll(() => billing.close());

const day = { day: '2025-02-03' };

describe('with 5,000 customers on a day', LONG, () => {
  test('one that is billed is looked at', async () => {
    const at = { ...day, meterId: billing.ownMeter.id };
    const rows = await rowsReadBy(weir, (database) => lookAtDay(database, billing.admin.id, at));
    expect(rows).toBeLessThan(4 * CUSTOMERS);
    // By a connection that ends: another one says what it has read some seconds later, in the midst of the next test.
    const list = async ({ kysely }: Database) => {
      const page = { page: 1, page_size: 9 };
      expect((await listUnbilledUsage(kysely, billing.admin.id, { month: '2025-02' }, page)).rows).toEqual([]);
    };
    await rowsReadBy(weir, list, { least: 0 });
  });

  test('one that nothing bills is looked at, and then each look, list and metric reads a few rows', async () => {
    await weir.pool.query(
      `UPDATE dues SET period_start = period_start - interval '1 month', period_end = period_end - interval '1 month'`,
    );
    await weir.pool.query(`UPDATE charges SET ended_at = ended_at - interval '1 month' WHERE ended_at IS NOT NULL`);
    const at = { ...day, meterId: billing.ownMeter.id };
    const rows = await rowsReadBy(weir, (database) => lookAtDay(database, billing.admin.id, at));
    expect(rows).toBeLessThan(30 * CUSTOMERS);
    const few = await rowsReadBy(weir, async ({ kysely }) => {
      expect(await countUnbilledMeters(kysely)).toBe(1);
      expect(await findDaysToLookAt(kysely, billing.admin.id, 100)).toHaveLength(2);
      const page = { page: 1, page_size: 9 };
      const { rows: listed } = await listUnbilledUsage(kysely, billing.admin.id, { month: '2025-02' }, page);
      expect(listed).toMatchObject([{ reason: 'price_ended', events: CUSTOMERS + 1, customers: CUSTOMERS + 1 }]);
    });
    expect(few).toBeLessThan(CUSTOMERS);
  });

  test.each([
    // What was billed once is given in a trial, by whichever plan.
    ['in a trial', [undefined, undefined], `UPDATE subscriptions SET trial_end_at = '2025-03-01'`],
    [
      'after the period that is open',
      ['price_ended', 'not_in_plan'],
      `UPDATE subscriptions SET trial_end_at = null, current_period_end = '2025-02-03';
       UPDATE subscription_periods SET period_start = period_start - interval '1 month', period_end = '2025-02-03'`,
    ],
  ])('one %s, of a plan that gives it or not, is looked at', async (_, reasons, changed) => {
    const { id } = await billing.plan([]);
    const at = { ...day, meterId: billing.ownMeter.id };
    await weir.pool.query(changed);
    for (const [index, plan] of [billing.ownPlan.id, id].entries()) {
      await weir.pool.query('UPDATE subscriptions SET plan_id = $1', [plan]);
      const look = (database: Database) => lookAtDay(database, billing.admin.id, at);
      const rows = await rowsReadBy(weir, look, { least: CUSTOMERS });
      expect(rows).toBeLessThan(30 * CUSTOMERS);
      const { rows: found } = await weir.pool.query(
        'SELECT reason, customers::int FROM unbilled_usage_days WHERE day = $1 AND meter_id = $2',
        [at.day, at.meterId],
      );
      const reason = reasons[index];
      expect(found).toEqual(reason === undefined ? [] : [{ reason, customers: CUSTOMERS + 1 }]);
    }
  });
});
