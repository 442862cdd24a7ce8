// An erasure of a customer who was billed for years, or by the day: no statement changes more rows than it has time for.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { findInTables, performAllMoves } from '../support/erasing.ts';
import { until } from '../support/harness.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

/** Dues of a period, and periods. */
const CHARGES = 100;
const CYCLES = 55;
const INVOICES = 2_500;
/** Rows that a statement may change. */
const AT_ONCE_MAX = 1_000;

const weir = ownWeir({ withWorker: false });
let billing: Billed;
beforeAll(async () => {
  billing = await startBilled(weir);
});
afterAll(() => billing.close());

/** Copies of a row with other values of some columns, from `generate_series(from, to) AS n`. */
async function copyRow(table: string, changes: Record<string, string>, where: string, rows: string): Promise<void> {
  const { rows: names } = await weir.pool.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
    [table],
  );
  const values = names.map(({ name }) => changes[name] ?? `copied.${name}`);
  await weir.pool.query(
    `INSERT INTO ${table} (${names.map(({ name }) => name).join(', ')})
     SELECT ${values.join(', ')} FROM (SELECT * FROM ${table} WHERE ${where} LIMIT 1) AS copied, ${rows}`,
  );
}

async function refuseMoreAtOnce(table: string): Promise<void> {
  await weir.pool.query(`
    CREATE FUNCTION refuse_more_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM changed) > ${AT_ONCE_MAX} THEN RAISE EXCEPTION 'more of ${table} at once than there is time for'; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER refuse_more AFTER UPDATE ON ${table} REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_more_${table}()`);
}

test('an erasure of a customer with very many dues and invoices goes on page by page to its end', async () => {
  const { subscription, ownCustomer, ownPlan } = billing;
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(subscription);
  const cycles = `generate_series(10, ${9 + CYCLES}) AS cycle`;
  const isOwn = `subscription_id = '${subscription}'`;
  await copyRow('subscription_periods', { cycle: 'cycle.cycle' }, isOwn, cycles);
  const charge = {
    id: 'gen_random_uuid()',
    meter_id: 'NULL',
    type: `'FIXED'`,
    ended_at: 'now()',
    display_name: `'copied'`,
  };
  await copyRow('charges', charge, `plan_id = '${ownPlan.id}' AND type = 'FIXED'`, `generate_series(1, ${CHARGES})`);
  const charges = `(SELECT id FROM charges WHERE display_name = 'copied') AS charge`;
  const due = { cycle: 'cycle.cycle', charge_id: 'charge.id' };
  await copyRow('dues', due, `${isOwn} AND meter_id IS NULL`, `${cycles}, ${charges}`);
  const invoice = { id: 'gen_random_uuid()', cycle: 'n', invoice_number: `'COPY-' || n`, note: `'a note'` };
  await copyRow(
    'invoices',
    invoice,
    `${isOwn} AND issue_date IS NOT NULL`,
    `generate_series(100, ${99 + INVOICES}) AS n`,
  );
  for (const table of ['dues', 'invoices']) await refuseMoreAtOnce(table);
  const asked = { customer_id: ownCustomer.id, invoice_copies_issued_before: '2025-03-01' };
  const { status, body } = await billing.request('POST', '/erasures', asked);
  expect({ status, body }).toMatchObject({ status: 202 });
  await performAllMoves(billing.database);
  expect(await findInTables(weir, 'a note', 'Acme', ownCustomer.external_id)).toEqual([]);
  const { rows } = await weir.pool
    .query(`SELECT count(*)::int AS dues, bool_and(customer_external_id = to_external_id) AS are_renamed
    FROM dues, usage_moves`);
  expect(rows).toEqual([{ dues: CHARGES * CYCLES + 4, are_renamed: true }]);
});

test('an erasure holds invoices in the order in which one below zero holds those that it pays', async () => {
  const { id: plan } = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '10' }]);
  const { id: customer } = await billing.customer();
  const { id: subscription } = await billing.subscribe(plan, customer);
  await billing.finalizeAll(subscription);
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(subscription);
  const { rows } = await weir.pool.query<{ id: string }>('SELECT id FROM invoices WHERE customer_id = $1 ORDER BY id', [
    customer,
  ]);
  const [first, last] = [rows[0]?.id, rows.at(-1)?.id];
  expect(first).not.toBe(last);
  // By their issue dates they come the other way round.
  await weir.pool.query(`UPDATE invoices SET issue_date = '2026-01-01' WHERE id = $1`, [first]);
  const asked = { customer_id: customer, invoice_copies_issued_before: '2026-01-02' };
  expect(await billing.request('POST', '/erasures', asked)).toMatchObject({ status: 202 });
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM invoices WHERE id = $1 FOR UPDATE', [first]);
    const erasing = performAllMoves(billing.database);
    await until(async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await weir.pool.query(waiting)).rowCount === 1;
    }, 'the erasure waits for the first');
    await holder.query('SELECT FROM invoices WHERE id = $1 FOR UPDATE', [last]);
    await holder.query('COMMIT');
    await erasing;
  } finally {
    holder.release(true);
  }
  expect((await billing.get(`/invoices/${last}`)).customer).toBeNull();
});
