// What looking for late usage and computing invoices again cost, where an organization has grown since Postgres looked at it.

import { BILLING_CHECKS, checkBilling } from '@weir/db/billing/checks/billing-checks';
import { countBilledEvents } from '@weir/db/billing/checks/billed-events';
import { readInvoices } from '@weir/db/billing/invoices/read-invoices';
import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { findUnsettled, settleSubscription } from '@weir/db/billing/run/settlements';
import { findDues } from '@weir/db/billing/subscriptions/dues';
import { findLateDues } from '@weir/db/billing/subscriptions/late-events';
import { listFinalizedInvoices, recomputeInvoices } from '@weir/db/billing/invoices/recompute';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyRows } from '../support/copy-rows.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const SUBSCRIPTIONS = 2_000;
const CHUNK = 200;
/** A statement may read all rows of the organization once, but not once for each of a chunk, which is a million and more. */
const ROWS_MAX = 15 * SUBSCRIPTIONS;

/** When Postgres has looked at the tables: how many of the subscriptions there were. */
describe.each([
  ['before there was any', 'never'],
  ['when there was one', 'one'],
])('looked at %s', (_title, looked) => {
  const weir = ownWeir({ unobserved: true });
  let billing: Billed;
  let subscriptions: string[];
  let invoices: string[];
  beforeAll(async () => {
    billing = await startBilled(weir);
    await billing.use(10, '2025-01-15T12:00:00Z');
    await billing.finalizeAll(billing.subscription);
    // Late for the closing of its January.
    await billing.use(5, '2025-01-16T12:00:00Z');
    // Its February is a draft, which takes what is late.
    await billing.moveTo('2025-03-01T00:10:00Z', billing.subscription);
    if (looked === 'one') await weir.pool.query('ANALYZE');
    subscriptions = await copySubscriptions();
    const { rows } = await weir.pool.query(`SELECT id FROM invoices WHERE status <> 'DRAFT' ORDER BY id LIMIT $1`, [
      CHUNK,
    ]);
    invoices = rows.map(({ id }) => id);
  }, 180_000);
  afterAll(() => billing.close());

  /** Thousands of others like the subscription, each with its customer's number, invoices, lines, dues and late events. */
  async function copySubscriptions(): Promise<string[]> {
    const copyId = (column: string) => `md5(${column}::text || n)::uuid`;
    const copy = (table: string, changes: string) =>
      weir.pool.query(copyRows(table, changes, { times: SUBSCRIPTIONS }));
    const customer = `'customer_external_id', 'copy-' || n`;
    await copy('subscriptions', `'id', ${copyId('t.id')}, ${customer}, 'run_at', null`);
    await copy('subscription_periods', `'subscription_id', ${copyId('t.subscription_id')}`);
    await copy('dues', `'subscription_id', ${copyId('t.subscription_id')}, ${customer}`);
    await copy(
      'invoices',
      `'id', ${copyId('t.id')}, 'subscription_id', ${copyId('t.subscription_id')}, 'run_at', null, 'past_due_at', null,
       'invoice_number', t.invoice_number || '-' || n`,
    );
    await copy(
      'invoice_lines',
      `'id', ${copyId('t.id')}, 'invoice_id', ${copyId('t.invoice_id')}, 'subscription_id', ${copyId('t.subscription_id')}`,
    );
    await copy('late_events', `'event_id', ${copyId('t.event_id')}, ${customer}`);
    const { rows } = await weir.pool.query('SELECT id FROM subscriptions WHERE id <> $1 ORDER BY id LIMIT $2', [
      billing.subscription,
      CHUNK,
    ]);
    return rows.map(({ id }) => id);
  }

  test('late usage is looked for among the dues of a chunk', async () => {
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const dues = await findLateDues(kysely, billing.admin.id, subscriptions, null);
      expect(new Set(dues.map(({ subscription_id }) => subscription_id)).size).toBe(CHUNK);
    });
    expect(rows).toBeLessThan(ROWS_MAX);
  });

  test('the dues of periods are found by their periods', async () => {
    const periods = subscriptions.map((subscription_id) => ({ subscription_id, cycle: 0, inAdvanceOnly: false }));
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      expect((await findDues(kysely, billing.admin.id, periods)).length).toBe(2 * CHUNK);
    });
    expect(rows).toBeLessThan(ROWS_MAX);
  });

  test.each(['rollups', 'events'] as const)('invoices are computed again from %s', async (from) => {
    const rows = await rowsReadBy(weir, async (database) => {
      expect((await recomputeInvoices(database, billing.admin.id, invoices, from)).length).toBe(CHUNK);
    });
    expect(rows).toBeLessThan(ROWS_MAX);
  });

  test('a page of drafts with late dues is listed, and a chunk of them is closed and finalized', async () => {
    const { id: organization } = billing.admin;
    const drafts = await weir.pool.query(
      `SELECT id FROM invoices WHERE status = 'DRAFT' AND subscription_id = ANY ($1) ORDER BY id`,
      [subscriptions.slice(0, CHUNK / 2)],
    );
    const ids = drafts.rows.map(({ id }) => id);
    const listed = await rowsReadBy(weir, async (database) => {
      const page = { page: 1, page_size: 100 };
      // The usage of the copies was not copied: what was billed of it comes back.
      const { rows } = await readInvoices(database, organization, { status: 'DRAFT' }, page);
      expect(rows.length).toBe(100);
      expect(rows[0]?.total).toBe('9.85');
    });
    expect(listed).toBeLessThan(ROWS_MAX);
    const finalized = await rowsReadBy(weir, async (database) => {
      const done = await finalizeInvoices(database, organization, ids, { actor: 'weir', now: true });
      expect(done.finalized.length).toBe(CHUNK / 2);
    });
    expect(finalized).toBeLessThan(ROWS_MAX);
  });

  test('what reconcile looks at is read some times as a whole, and not once for each row', async () => {
    const { id: organizationId } = billing.admin;
    const checked = await rowsReadBy(weir, (database) => checkBilling(database, { organizationId }, () => {}));
    expect(checked).toBeLessThan(BILLING_CHECKS.length * ROWS_MAX);
    const counted = await rowsReadBy(weir, async (database) => {
      expect((await countBilledEvents(database, { organizationId })).duesCompared).toBeGreaterThan(SUBSCRIPTIONS);
    });
    expect(counted).toBeLessThan(2 * ROWS_MAX);
    const named = await rowsReadBy(weir, async ({ kysely }) => {
      expect((await listFinalizedInvoices(kysely, organizationId, { limit: CHUNK })).length).toBe(CHUNK);
    });
    expect(named).toBeLessThan(ROWS_MAX);
  });

  test('a look for something to settle reads a few subscriptions, and settling one its own rows', async () => {
    const { id: organization } = billing.admin;
    await weir.pool.query(`DELETE FROM invoices WHERE status = 'DRAFT'`);
    await weir.pool.query(
      `UPDATE subscriptions SET status = 'CANCELED', run_at = NULL, ended_at = '2025-03-01T00:00:00Z'`,
    );
    const limit = CHUNK / 2;
    const [settled, unsettled] = [subscriptions.slice(0, limit), subscriptions.slice(limit)];
    const looks = [
      [undefined, []],
      [settled.at(-1), unsettled],
    ] as const;
    for (const [after, ids] of looks) {
      const rows = await rowsReadBy(weir, async ({ kysely }) => {
        const found = await findUnsettled(kysely, organization, { after, limit });
        expect(found.ids.filter((id) => id !== billing.subscription)).toEqual(ids);
        expect(found.last).toBeDefined();
      });
      expect(rows).toBeLessThan(SUBSCRIPTIONS);
    }
    const rows = await rowsReadBy(weir, async (database) => {
      const done = await settleSubscription(database, organization, unsettled[0] ?? '', { actor: 'weir' });
      expect(done.outcome).toBe('settled');
    });
    expect(rows).toBeLessThan(ROWS_MAX);
  });
});
