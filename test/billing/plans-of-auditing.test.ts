// What an auditor's questions cost, where an organization has grown since Postgres looked at it: by an index each, whatever it believes.

import { SUBSCRIPTION_STATUSES } from '@weir/billing/kinds';
import {
  listEntriesOfGrant,
  listEntriesOfInvoice,
  listGrants,
  readBalance,
} from '@weir/db/billing/credits/credit-ledger';
import {
  INVOICE_SORTS,
  listInvoiceRows,
  type InvoiceFilter,
  type InvoiceSort,
} from '@weir/db/billing/invoices/find-invoices';
import { listLines, type LinePlace } from '@weir/db/billing/invoices/list-lines';
import {
  listSubscriptions,
  SUBSCRIPTION_SORTS,
  type SubscriptionFilter,
} from '@weir/db/billing/subscriptions/subscriptions';
import { findTouchedInvoices } from '@weir/db/corrections/touched-invoices';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyRows } from '../support/copy-rows.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const COPIES = 2_000;
/** What is found is some rows. A statement that walks over the organization reads its thousands of invoices, or twice as many lines. */
const FEW = 400;
/** Where Postgres has seen one invoice alone, it believes that all of them are its customer's, and reads each table once. */
const ONCE = 6 * COPIES;
/** Of a page of a hundred lines: their invoices, their dues, and each as often as an index is asked. */
const OF_A_PAGE = 3_000;

/** The status of a row of `t`, most of which are as they were: each of these five times. */
const exceptFew = (column: string, few: Record<number, string>) =>
  `'${column}', CASE n % ${COPIES / 5} ${Object.entries(few)
    .map(([place, value]) => `WHEN ${place} THEN ${value}`)
    .join(' ')} ELSE t.${column} END`;

/** When Postgres has looked at the tables. */
describe.each([
  ['before there was any invoice', 'never'],
  ['when there was one', 'one'],
  ['when they were those of another organization', 'other'],
])('looked at %s', (_title, looked) => {
  const few = looked === 'one' ? ONCE : FEW;
  const weir = ownWeir({ unobserved: true });
  let billing: Billed;
  let invoice: string;
  let grant: string;
  beforeAll(async () => {
    billing = await startBilled(weir);
    await billing.use(1_000, '2025-01-15T12:00:00Z');
    const { id: customer } = billing.ownCustomer;
    ({ id: grant } = await billing.post(`/customers/${customer}/credits`, { amount: '1', currency: 'USD' }, 201));
    const [finalized] = await billing.finalizeAll(billing.subscription);
    invoice = finalized.id;
    await weir.pool.query(`UPDATE subscriptions SET external_id = 'own' WHERE id = $1`, [billing.subscription]);
    if (looked === 'one') await weir.pool.query('ANALYZE');
    if (looked === 'other') {
      await copyAll(`'${crypto.randomUUID()}'::uuid`);
      await weir.pool.query('ANALYZE');
    }
    await copyAll('t.organization_id');
  }, 180_000);
  afterAll(() => billing.close());

  /**
   * Thousands of invoices like those of the subscription, one a day and a quarter of them drafts, each with a customer, lines, dues, a
   * grant and a draw of its own.
   */
  async function copyAll(organization: string): Promise<void> {
    const own = billing.admin.id;
    const client = await weir.pool.connect();
    const copyId = (column: string) => `md5(${column}::text || n || ${organization}::text)::uuid`;
    const ids = (...columns: string[]) => columns.map((column) => `'${column}', ${copyId(`t.${column}`)}`).join();
    const copy = (table: string, changes: string) =>
      client.query(
        copyRows(table, `'organization_id', ${organization}, ${changes}`, {
          times: COPIES,
          where: `t.organization_id = '${own}'`,
        }),
      );
    // What another organization has is none of the matter here, only that there is much of it.
    await client.query(`SET session_replication_role = replica`);
    const day = `(date '2010-01-01' + n)`;
    await copy('customers', `${ids('id')}, 'external_id', 'copy-' || n`);
    await copy(
      'subscriptions',
      `${ids('id', 'customer_id')}, 'run_at', null, 'external_id', null, 'run_error', CASE WHEN n = 7 THEN 'x' END,
       ${exceptFew('status', { 1: `'PAST_DUE'`, 2: `'TRIAL'`, 3: `'CANCELED'` })}, ${exceptFew('is_scheduled', { 4: 'true' })},
       ${exceptFew('start_at', { 4: `'2100-01-01'` })}, ${exceptFew('ended_at', { 3: `'2025-01-01'`, 5: `'2025-01-01'` })}`,
    );
    await copy('subscription_periods', ids('subscription_id'));
    await copy('dues', ids('subscription_id'));
    await copy(
      'invoices',
      `${ids('id', 'customer_id', 'subscription_id')}, 'run_at', null, 'past_due_at', null,
       'status', CASE WHEN n % 4 = 0 THEN 'DRAFT' WHEN n % 400 = 1 THEN 'PAID' WHEN n % 400 = 2 THEN 'VOID'
         WHEN n % 400 = 3 THEN 'UNCOLLECTIBLE' ELSE t.status END,
       'invoice_number', CASE WHEN n % 4 > 0 THEN t.invoice_number || '-' || n END, 'issue_date', CASE WHEN n % 4 > 0 THEN ${day} END,
       'period_end', ${day}::timestamptz, 'is_past_due', n = 7 AND t.status = 'OPEN', 'run_error', CASE WHEN n = 8 THEN 'x' END`,
    );
    await copy('invoice_lines', ids('id', 'invoice_id', 'subscription_id'));
    await copy('credit_grants', ids('id', 'customer_id'));
    await copy('credit_entries', ids('id', 'grant_id', 'invoice_id'));
    await client.query('RESET session_replication_role');
    client.release();
  }

  const filters: [title: string, filter: () => InvoiceFilter][] = [
    ['issue date', () => ({ issuedFrom: '2012-03-01', issuedTo: '2012-03-11' })],
    ['the end of their period', () => ({ from: '2012-03-01T00:00:00Z', to: '2012-03-11T00:00:00Z' })],
    ['customer', () => ({ customerId: billing.ownCustomer.id })],
    ['customer and status', () => ({ customerId: billing.ownCustomer.id, status: 'OPEN' })],
    ['subscription', () => ({ subscriptionId: billing.subscription })],
    ['subscription and issue date', () => ({ subscriptionId: billing.subscription, issuedFrom: '2025-01-01' })],
    ['number', () => ({ number: 'inv-2025-000001-17' })],
    ['the beginning of their number', () => ({ numberPrefix: 'inv-2025-000001-17' })],
    ['being past due', () => ({ isPastDue: true })],
    ['being void', () => ({ status: 'VOID' })],
    ['being void, of many issue dates', () => ({ status: 'VOID', issuedFrom: '2010-01-01' })],
    ['being void, of many periods', () => ({ status: 'VOID', from: '2010-01-01T00:00:00Z' })],
    [
      'being void, of many periods by issue date',
      () => ({ status: 'VOID', from: '2010-01-01T00:00:00Z', sort: 'issue_date' }),
    ],
  ];

  test.each(Object.keys(INVOICE_SORTS) as InvoiceSort[])('invoices go on in the order %s', async (sort) => {
    const { kysely: own } = billing.database;
    const { next } = await listInvoiceRows(own, billing.admin.id, { sort }, { page: 60, page_size: 20 });
    const cursor = next ?? undefined;
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const page = await listInvoiceRows(kysely, billing.admin.id, { sort }, { cursor, limit: 20 });
      expect(page.rows).toHaveLength(20);
    });
    expect(rows).toBeLessThan(FEW);
  });

  test.each(filters)('invoices are found by %s', async (_by, filter) => {
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const found = await listInvoiceRows(kysely, billing.admin.id, filter(), { page: 1, page_size: 20 });
      expect(found.counted?.total).toBeGreaterThan(0);
      expect(found.counted?.total).toBeLessThan(200);
    });
    expect(rows).toBeLessThan(few);
  });

  const rare = (['VOID', 'UNCOLLECTIBLE'] as const).flatMap((status) =>
    (Object.keys(INVOICE_SORTS) as InvoiceSort[]).map((sort) => ({ status, sort })),
  );
  test.each(rare)('invoices that are $status go on in the order $sort', async (filter) => {
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const first = await listInvoiceRows(kysely, billing.admin.id, filter, { limit: 6 });
      const cursor = first.next ?? undefined;
      const second = await listInvoiceRows(kysely, billing.admin.id, filter, { cursor, limit: 6 });
      expect([first.rows.length, second.rows.length]).toEqual([6, 4]);
    });
    expect(rows).toBeLessThan(FEW);
  });

  test('of invoices, only the rare states are in the indexes of one', async () => {
    const { rows } = await weir.pool.query(
      `SELECT count(*)::int AS indexes FROM pg_index WHERE indrelid = 'invoices'::regclass AND indexrelid::regclass::text LIKE 'invoices_status_%'
         AND pg_get_expr(indpred, indrelid) LIKE '%ARRAY[''VOID''::text, ''UNCOLLECTIBLE''::text])%'`,
    );
    expect(rows).toEqual([{ indexes: 2 }]);
  });

  test.each(
    SUBSCRIPTION_STATUSES.flatMap((status) =>
      (Object.keys(SUBSCRIPTION_SORTS) as (keyof typeof SUBSCRIPTION_SORTS)[]).map((sort) => ({ status, sort })),
    ),
  )('subscriptions that are $status go on in the order $sort', async (filter) => {
    const isUsual = filter.status === 'ACTIVE';
    const { kysely: own } = billing.database;
    const far = await listSubscriptions(own, billing.admin.id, filter, { page: 30, page_size: 20 });
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      for (const cursor of [undefined, far.next ?? undefined]) {
        const page = await listSubscriptions(kysely, billing.admin.id, filter, { cursor, limit: 20 });
        // Of those that have ended the run has been at half of them.
        const few = filter.status === 'CANCELED' ? 10 : 5;
        expect(page.rows.map(({ status }) => status)).toEqual(Array(isUsual ? 20 : few).fill(filter.status));
      }
    });
    expect(rows).toBeLessThan(FEW);
  });

  test.each([
    ['customer', () => ({ customerId: billing.ownCustomer.id })],
    ['customer and status', () => ({ customerId: billing.ownCustomer.id, status: 'ACTIVE' })],
    ['external id', () => ({ externalId: 'own' })],
  ] satisfies [string, () => SubscriptionFilter][])('subscriptions are found by %s', async (_by, filter) => {
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const found = await listSubscriptions(kysely, billing.admin.id, filter(), { page: 1, page_size: 20 });
      expect(found.rows).toMatchObject([{ id: billing.subscription }]);
    });
    expect(rows).toBeLessThan(few);
  });

  test('subscriptions of which the run could not bill something', async () => {
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const page = { page: 1, page_size: 20 };
      const found = await listSubscriptions(kysely, billing.admin.id, { hasRunError: true }, page);
      expect(found.counted?.total).toBe(2);
    });
    expect(rows).toBeLessThan(few);
  });

  test('the invoices of events are found by the dues of these', async () => {
    const event = {
      id: newId(),
      organization_id: billing.admin.id,
      meter_id: billing.ownMeter.id,
      customer_external_id: billing.ownCustomer.external_id,
      quantity: '1',
      timestamp: '2025-01-15T12:00:00Z',
    };
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const changed = [false, true].map((isNew) => ({ event, aggregation: 'SUM' as const, isNew }));
      const { total } = await findTouchedInvoices(kysely, billing.admin.id, changed);
      expect(total).toBeGreaterThan(0);
    });
    expect(rows).toBeLessThan(few);
  });

  test.each([
    ['from the beginning', {}, undefined],
    ['of a month', { issuedFrom: '2012-03-01', issuedTo: '2012-04-01' }, undefined],
    ['from within', {}, { issue_date: '2015-05-05', id: '00000000-0000-0000-0000-000000000000', position: 0 }],
    ['of a subscription', { subscriptionId: 'own' }, undefined],
    ['of a customer', { customerId: 'own' }, undefined],
    ['of what is past due', { isPastDue: true }, undefined],
  ] satisfies [string, InvoiceFilter, LinePlace | undefined][])(
    'a page of lines %s',
    async (_title, filter: InvoiceFilter, from: LinePlace | undefined) => {
      const rows = await rowsReadBy(weir, async (database) => {
        const { lines } = await listLines(
          database,
          billing.admin.id,
          {
            ...filter,
            ...(filter.subscriptionId !== undefined && { subscriptionId: billing.subscription }),
            ...(filter.customerId !== undefined && { customerId: billing.ownCustomer.id }),
          },
          { from, limit: 100 },
        );
        expect(lines.length).toBeGreaterThan(2);
      });
      expect(rows).toBeLessThan(OF_A_PAGE);
    },
  );

  test('what paid an invoice, and what a grant paid', async () => {
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const page = { page: 1, page_size: 20 };
      expect((await listEntriesOfInvoice(kysely, billing.admin.id, invoice, page)).counted?.total).toBe(1);
      expect((await listEntriesOfGrant(kysely, billing.admin.id, grant, page))?.counted?.total).toBe(1);
    });
    expect(rows).toBeLessThan(few);
  });

  test('what a customer had in advance', async () => {
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const filter = { customerId: billing.ownCustomer.id, asOf: '2030-01-01T00:00:00Z' };
      expect(await readBalance(kysely, billing.admin.id, filter)).toEqual({ USD: '0.00' });
      const page = { page: 1, page_size: 20 };
      expect((await listGrants(kysely, billing.admin.id, filter, page)).rows).toMatchObject([{ id: grant }]);
    });
    expect(rows).toBeLessThan(few);
  });

  test('what all customers had is read in one pass over the ledger', async () => {
    const rows = await rowsReadBy(weir, ({ kysely }) =>
      readBalance(kysely, billing.admin.id, { asOf: '2030-01-01T00:00:00Z' }),
    );
    // Each grant, and each entry of it, from an index and from its table.
    expect(rows).toBeLessThan(6 * COPIES);
  });

  describe('where nobody records a payment', () => {
    beforeAll(async () => {
      await weir.pool.query(`UPDATE invoices SET is_past_due = true WHERE status = 'OPEN'`);
    });

    test.each([
      ['from the beginning', undefined],
      ['from within', { issue_date: '2012-05-05', id: '00000000-0000-0000-0000-000000000000', position: 0 }],
    ] satisfies [string, LinePlace | undefined][])('a page of lines of what is past due %s', async (_title, from) => {
      const rows = await rowsReadBy(weir, async (database) => {
        const { lines, next } = await listLines(database, billing.admin.id, { isPastDue: true }, { from, limit: 100 });
        expect([lines.length, next?.issue_date.slice(0, 4)]).toEqual([100, from === undefined ? '2010' : '2012']);
      });
      expect(rows).toBeLessThan(OF_A_PAGE);
    });

    test.each(Object.keys(INVOICE_SORTS) as InvoiceSort[])('what is past due goes on in the order %s', async (sort) => {
      const filter = { isPastDue: true, sort };
      const { next } = await listInvoiceRows(billing.database.kysely, billing.admin.id, filter, {
        page: 60,
        page_size: 20,
      });
      const cursor = next ?? undefined;
      const rows = await rowsReadBy(weir, async ({ kysely }) => {
        const page = await listInvoiceRows(kysely, billing.admin.id, filter, { cursor, limit: 20 });
        expect(page.rows).toHaveLength(20);
      });
      expect(rows).toBeLessThan(FEW);
    });
  });
});
