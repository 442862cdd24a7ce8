// What a subscription costs that has been billed for years: its next invoice, and the look for something to settle once it has ended, read
// a few rows of it, however many periods are behind it, and whatever Postgres believes to be there.

import { readInvoice } from '@weir/db/billing/invoices/read-invoices';
import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { findUnsettled } from '@weir/db/billing/run/settlements';
import { findLateDues } from '@weir/db/billing/subscriptions/late-events';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyRows } from '../support/copy-rows.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

/** Periods before its first one, each with three dues and an invoice. */
const CYCLES = 500;
const METERS = 2;
const ROWS_MAX = 100;

/** When Postgres has looked at the tables: how many periods there were. */
describe.each([
  ['before there was any', 'never'],
  ['when there was one', 'one'],
  ['when all of them were there', 'all'],
])('looked at %s', (_title, looked) => {
  const weir = ownWeir({ withWorker: false, unobserved: true });
  let billing: Invoicing;
  let meters: string[];
  let customer: string;
  let subscription: string;
  beforeAll(async () => {
    billing = await startInvoicing(weir);
    meters = [];
    for (let n = 0; n < METERS; n += 1) meters.push((await billing.meter()).id);
    const calls = meters.map((meter_id) => ({ type: 'USAGE', display_name: 'Calls', meter_id, unit_price: '0.01' }));
    const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '10' }, ...calls]);
    await billing.moveTo('2025-01-01T00:10:00Z');
    const subscriber = await billing.customer();
    customer = subscriber.external_id;
    const start = { start_date: '2025-01-01T00:00:00Z' };
    subscription = (await billing.subscribe(plan.id, subscriber.id, start)).id;
    await billing.finalizeAll(subscription);
    await billing.moveTo('2025-02-01T00:10:00Z', subscription);
    if (looked === 'one') await weir.pool.query('ANALYZE');
    await copyPeriods();
    await addLateEvents('somebody-else', '2025-01-15T00:00:00Z', CYCLES);
    if (looked === 'all') await weir.pool.query('ANALYZE');
  }, 180_000);
  afterAll(() => billing.close());

  /** Months before its first one, all of them closed, and an invoice of each. */
  async function copyPeriods(): Promise<void> {
    const client = await weir.pool.connect();
    const earlier = (column: string) => `'${column}', t.${column} - make_interval(months => n)`;
    const period = `'cycle', -n, ${earlier('period_start')}, ${earlier('period_end')}`;
    const copy = (table: string, changes: string) =>
      client.query(copyRows(table, `${period}, ${changes}`, { times: CYCLES, where: 't.cycle = 0' }));
    // What refers to each other is there once all of it is.
    await client.query('SET session_replication_role = replica');
    await copy('subscription_periods', earlier('opened_at'));
    await copy('dues', `'closing', 1`);
    await copy(
      'invoices',
      `'id', md5(t.id::text || n)::uuid, 'invoice_number', t.invoice_number || '-' || n, ${earlier('created_at')}`,
    );
    await client.query('RESET session_replication_role');
    client.release();
  }

  /** So many of each meter, one a second. */
  const addLateEvents = (of: string, from: string, count = 1) =>
    weir.pool.query(
      `INSERT INTO late_events (organization_id, meter_id, customer_external_id, "timestamp", event_id, closing, quantity)
       SELECT $1, meter_id, $3, $4::timestamptz + make_interval(secs => n), gen_random_uuid(), number, 1
       FROM unnest($2::uuid[]) AS meter_id, generate_series(1, $5) AS n, closings WHERE organization_id = $1`,
      [billing.admin.id, meters, of, from, count],
    );

  const findLate = async (): Promise<{ cycles: number[]; rows: number }> => {
    let cycles: number[] = [];
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const late = await findLateDues(kysely, billing.admin.id, [subscription], null);
      cycles = late.map(({ cycle }) => cycle);
    });
    return { cycles, rows };
  };

  test('its late changes are looked for by a row of each of its meters', async () => {
    const { cycles, rows } = await findLate();
    expect(cycles).toEqual([]);
    expect(rows).toBeLessThan(ROWS_MAX / 4);
  });

  test('its draft is read by the rows of its own period, and so it is finalized', async () => {
    const [draft] = await billing.drafts(subscription);
    const id = draft?.id ?? '';
    const reading = await rowsReadBy(weir, async (database) => {
      const invoice = await readInvoice(database, billing.admin.id, id);
      expect(invoice?.lines?.length).toBe(1 + METERS);
    });
    const finalizing = await rowsReadBy(weir, async (database) => {
      const { finalized } = await finalizeInvoices(database, billing.admin.id, [id], { actor: 'weir', now: true });
      expect(finalized).toEqual([id]);
    });
    expect(reading).toBeLessThan(ROWS_MAX / 2);
    expect(finalizing).toBeLessThan(ROWS_MAX);
  });

  describe('once it has ended', () => {
    const look = async (): Promise<{ ids: string[]; rows: number }> => {
      let ids: string[] = [];
      const rows = await rowsReadBy(weir, async ({ kysely }) => {
        ids = (await findUnsettled(kysely, billing.admin.id, { after: undefined, limit: 1 })).ids;
      });
      return { ids, rows };
    };
    beforeAll(async () => {
      await weir.pool.query(`UPDATE subscriptions SET status = 'CANCELED', run_at = NULL`);
      await weir.pool.query(
        `INSERT INTO invoices SELECT (jsonb_populate_record(t, jsonb_build_object('id', $1::uuid, 'kind', 'ADJUSTMENT', 'cycle', null,
           'invoice_number', t.invoice_number || '-settled', 'created_at', billing_now() - interval '25 hours'))).*
         FROM invoices AS t WHERE cycle = 0`,
        [randomUUID()],
      );
    });

    test('a look that finds nothing reads a few rows of it', async () => {
      const { ids, rows } = await look();
      expect(ids).toEqual([]);
      expect(rows).toBeLessThan(ROWS_MAX / 2);
    });

    test('it is found where something came late for any of its periods', async () => {
      await addLateEvents(customer, '2025-03-15T00:00:00Z');
      expect((await look()).ids).toEqual([]);
      await addLateEvents(customer, '2024-06-15T00:00:00Z');
      expect((await look()).ids).toEqual([subscription]);
      const { cycles, rows } = await findLate();
      expect(cycles).toEqual(meters.map(() => -7));
      // Each closed due of its meters is asked once.
      expect(rows).toBeLessThan(METERS * CYCLES + ROWS_MAX);
    });

    test.each([
      ['its last invoice', 'cycle = 1'],
      ['a settlement', 'cycle IS NULL'],
    ])('while %s is a draft, it is left', async (_what, which) => {
      const number = await weir.pool.query(`SELECT invoice_number FROM invoices WHERE ${which}`);
      await weir.pool.query(`UPDATE invoices SET status = 'DRAFT', invoice_number = NULL WHERE ${which}`);
      const { ids, rows } = await look();
      await weir.pool.query(`UPDATE invoices SET status = 'OPEN', invoice_number = $1 WHERE status = 'DRAFT'`, [
        number.rows[0].invoice_number,
      ]);
      expect(ids).toEqual([]);
      expect(rows).toBeLessThan(ROWS_MAX / 2);
      expect((await look()).ids).toEqual([subscription]);
    });

    test('for a day after a settlement it is left', async () => {
      await weir.pool.query(`UPDATE invoices SET created_at = billing_now() - interval '23 hours' WHERE cycle IS NULL`);
      const { ids, rows } = await look();
      expect(ids).toEqual([]);
      expect(rows).toBeLessThan(ROWS_MAX / 2);
    });
  });
});
