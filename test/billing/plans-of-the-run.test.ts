// What the run costs where an organization has grown since Postgres looked at it: what is due is found, settled,
// marked as past due and put off in chunks, none of which reads all of the organization for each of its rows.

import { findAlertWork, TouchedPlaces } from '@weir/db/alerts/find-alert-work';
import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { findLine } from '@weir/db/billing/invoices/find-line';
import { readInvoice } from '@weir/db/billing/invoices/read-invoices';
import { previewInvoice, readSubscriptionUsage } from '@weir/db/billing/invoices/upcoming';
import { findEntitlementTerms, readEntitlementUsage } from '@weir/db/billing/plans/entitlements';
import { readExpectedRevenue, reckonRevenue } from '@weir/db/billing/run/expected-revenue';
import { findUnsettled } from '@weir/db/billing/run/settlements';
import { cutByWeight } from '@weir/db/billing/invoices/cut-by-weight';
import { releaseMetersOfPlan } from '@weir/db/billing/subscriptions/billed-meters';
import { takeOffDues, updateDues } from '@weir/db/billing/subscriptions/dues';
import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { voidInvoice } from '@weir/db/billing/run/invoice-states';
import { markPastDue } from '@weir/db/billing/run/past-due';
import {
  countDueDrafts,
  findDueDrafts,
  findDueDraftsOf,
  findDueOrganizations,
  findDueSubscriptions,
  findOrganizationsToSettle,
  findPastDue,
  leaveWaiting,
  openDueSubscriptions,
  postponeDraft,
  postponeLater,
  postponePastDue,
  postponeSettlement,
  postponeSubscription,
  readRunState,
} from '@weir/db/billing/run/run-work';
import { readDueBuckets } from '@weir/db/billing/usage/due-buckets';
import { pageDueEvents } from '@weir/db/billing/usage/due-events';
import { toEnd } from '@weir/shared/to-end';
import { planningWindow } from '@weir/shared/window';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setBillingTime } from '../support/billing-time.ts';
import { copyRows } from '../support/copy-rows.ts';
import { throwIt } from '../support/erasing.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const COPIES = 1_500;
const CHUNK = 100;
/** A statement may read all rows of the organization once, but not once for each of a chunk, which is hundreds of thousands. */
const ROWS_MAX = 15 * COPIES;

/** When Postgres has looked at the tables: how many of the subscriptions there were. */
describe.each([
  ['before there was any', 'never'],
  ['when there was one', 'one'],
])('looked at %s', (_title, looked) => {
  const weir = ownWeir({ withWorker: false, unobserved: true });
  let billing: Billed;
  beforeAll(async () => {
    const worker = await weir.startWorker();
    billing = await startBilled(weir);
    await billing.use(10, '2025-01-15T12:00:00Z');
    await billing.use(10, '2025-02-10T12:00:00Z');
    await billing.post(`/customers/${billing.ownCustomer.id}/credits`, { currency: 'USD', amount: '0.50' }, 201);
    const { rows: features } = await weir.pool.query('SELECT feature_id FROM meters WHERE id = $1', [
      billing.ownMeter.id,
    ]);
    const limited = { ...features[0], usage_limit: 100, usage_reset_period: 'month' };
    await billing.post(`/plans/${billing.ownPlan.id}/features`, limited, 201);
    // It would take what the tests look at.
    await worker.close();
    // Its boundary of March is past, its draft of February due, and its first invoice past due.
    await setBillingTime(weir.pool, '2025-03-20T00:00:00Z');
    if (looked === 'one') await weir.pool.query('ANALYZE');
    await copyAll();
  }, 180_000);
  afterAll(() => billing.close());

  /** Thousands like the subscription, each with all that is behind it. */
  async function copyAll(): Promise<void> {
    const client = await weir.pool.connect();
    const ids = (...columns: string[]) =>
      columns.map((column) => `'${column}', md5(t.${column}::text || n)::uuid`).join();
    const copy = (table: string, changes: string) => client.query(copyRows(table, changes, { times: COPIES }));
    const name = `'customer_external_id', 'copy-' || n`;
    await client.query('SET session_replication_role = replica');
    await copy('customers', `${ids('id')}, 'external_id', 'copy-' || n`);
    await copy('subscriptions', `${ids('id', 'customer_id')}, ${name}, 'external_id', null`);
    await copy('credit_grants', ids('id', 'customer_id'));
    await copy('billed_meters', `${ids('subscription_id')}, ${name}`);
    await copy('subscription_periods', ids('subscription_id'));
    await copy('dues', `${ids('subscription_id')}, ${name}`);
    await copy(
      'invoices',
      `${ids('id', 'customer_id', 'subscription_id')}, 'invoice_number', t.invoice_number || '-' || n`,
    );
    await copy('invoice_lines', ids('id', 'invoice_id', 'subscription_id'));
    await copy('customer_usage_days', name);
    await copy('customer_usage_hours', name);
    await copy('events', `${ids('id')}, ${name}`);
    await client.query('RESET session_replication_role');
    client.release();
  }

  const organization = () => billing.admin.id;
  const idsOf = async (from: string): Promise<string[]> =>
    (await weir.pool.query(`SELECT id FROM ${from} LIMIT ${CHUNK}`)).rows.map(({ id }) => id);

  test('what is due is found', async () => {
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      for (const task of ['open', 'finalize', 'past_due'] as const)
        expect(await findDueOrganizations(kysely, task)).toEqual([organization()]);
      expect((await findDueSubscriptions(kysely, organization(), CHUNK)).length).toBe(CHUNK);
      const drafts = await findDueDrafts(kysely, organization(), { stagedSince: null, limit: CHUNK });
      expect(drafts.length).toBe(CHUNK);
      expect((await findPastDue(kysely, organization(), CHUNK)).length).toBe(CHUNK);
      expect(await findUnsettled(kysely, organization(), { after: undefined, limit: CHUNK })).toMatchObject({
        ids: [],
      });
      expect((await readRunState(kysely)).draftsDue).toBe(COPIES + 1);
      expect(await countDueDrafts(kysely)).toEqual([]);
    });
    expect(rows).toBeLessThan(ROWS_MAX);
    const few = await rowsReadBy(weir, async ({ kysely }) => {
      expect(await findOrganizationsToSettle(kysely)).toEqual([]);
    });
    expect(few).toBeLessThan(COPIES);
  });

  test('what is read of one customer reads its own rows', async () => {
    const { rows: found } = await weir.pool.query(
      `SELECT invoices.id AS draft, subscription_id AS subscription FROM invoices JOIN subscriptions ON subscriptions.id = subscription_id
       WHERE customer_external_id = 'copy-7' AND invoices.status = 'DRAFT'`,
    );
    const [{ draft, subscription }] = found;
    const rows = await rowsReadBy(weir, async (database) => {
      const terms = await findEntitlementTerms(database.pool, organization(), { customerExternalId: 'copy-7' });
      const [entitled] = await readEntitlementUsage(database.pool, organization(), terms);
      expect(entitled?.usage).toBe('0');
      const amounts = await readSubscriptionUsage(database, organization(), subscription);
      expect(amounts).toMatchObject([{ quantity: '10', amount: '0.15' }]);
      const preview = await previewInvoice(database, organization(), subscription);
      expect(preview).toMatchObject({ outcome: 'done', invoice: { total: '10.15' } });
      const { lines = [] } = (await readInvoice(database, organization(), draft)) ?? {};
      const line = await findLine(database, organization(), draft, lines[0]?.id ?? '');
      if (line?.question === undefined) throw new Error('the first line has no usage');
      const day = { start_date: '2025-01-01', end_date: '2025-02-01', timezone: 'UTC', group_by: 'day' } as const;
      const window = toEnd(planningWindow(day, 0));
      if ('problem' in window) throw new Error(window.problem.message);
      const { total } = await readDueBuckets(database.kysely, line.question, window);
      const { events } = await pageDueEvents(database.kysely, line.question, { limit: 100 });
      expect([total.usage, events.length]).toEqual(['10', 1]);
    });
    expect(rows).toBeLessThan(CHUNK);
  });

  test('a chunk of drafts is found by its subscriptions, and weighed', async () => {
    const drafts = await weir.pool.query(
      `SELECT subscription_id FROM invoices WHERE status = 'DRAFT' ORDER BY run_at, id LIMIT ${CHUNK}`,
    );
    const subscriptions = drafts.rows.map(({ subscription_id }) => subscription_id);
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const found = await findDueDraftsOf(kysely, organization(), subscriptions, CHUNK);
      expect(await leaveWaiting(kysely, organization(), found, '2025-03-19T00:00:00Z')).toEqual(found);
      expect((await cutByWeight(kysely, organization(), found)).flat().length).toBe(CHUNK);
    });
    expect(rows).toBeLessThan(ROWS_MAX);
  });

  test('a step of what may be expected to be invoiced is reckoned', async () => {
    await readExpectedRevenue(billing.database.kysely, organization(), throwIt);
    for (const part of ['drafts', 'open_periods']) {
      await weir.pool.query('UPDATE revenue_reckonings SET part = $1, after = NULL', [part]);
      const rows = await rowsReadBy(weir, async (database) => {
        expect(await reckonRevenue(database, 0, throwIt)).toBe(0);
      });
      expect(rows).toBeLessThan(ROWS_MAX);
    }
  });

  test('a chunk of subscriptions is opened', async () => {
    const chunk = await idsOf('subscriptions WHERE run_at <= billing_now() ORDER BY run_at, id');
    const rows = await rowsReadBy(weir, async (database) => {
      const opened = await openDueSubscriptions(database, organization(), chunk);
      expect(opened).toEqual({ opened: CHUNK, isBehind: false });
    });
    expect(rows).toBeLessThan(ROWS_MAX);
    const opened = await weir.pool.query(
      `SELECT FROM subscription_periods WHERE subscription_id = ANY ($1) AND period_start = '2025-03-01'`,
      [chunk],
    );
    expect(opened.rowCount).toBe(CHUNK);
  });

  test('a chunk of drafts is finalized, with their lines, numbers and what they draw', async () => {
    const chunk = await idsOf(`invoices WHERE status = 'DRAFT' AND run_at <= billing_now() ORDER BY run_at, id`);
    const rows = await rowsReadBy(weir, async (database) => {
      const { finalized } = await finalizeInvoices(database, organization(), chunk, { actor: 'weir' });
      expect(finalized.length).toBe(CHUNK);
    });
    expect(rows).toBeLessThan(ROWS_MAX);
    const drawn = await weir.pool.query('SELECT FROM invoices WHERE id = ANY ($1) AND credits_applied = 0.5', [chunk]);
    expect(drawn.rowCount).toBe(CHUNK);
  });

  test('an invoice is voided, and its dues wait to be billed again', async () => {
    const { rows: open } = await weir.pool.query(
      `SELECT id, subscription_id FROM invoices WHERE status = 'OPEN' AND credits_applied = 0.5 ORDER BY id LIMIT 2`,
    );
    for (const [at, rebill] of [true, false].entries()) {
      const which = { organizationId: organization(), id: open[at].id, actor: 'weir' };
      const rows = await rowsReadBy(weir, ({ kysely }) =>
        kysely.transaction().execute(async (transaction) => {
          expect(await voidInvoice(transaction, which, { note: null, rebill })).toEqual({ outcome: 'done' });
        }),
      );
      expect(rows).toBeLessThan(COPIES / 2);
    }
    const { rows: dues } = await weir.pool.query('SELECT DISTINCT subscription_id FROM dues WHERE rebilling');
    expect(dues).toEqual([{ subscription_id: open[0].subscription_id }]);
  });

  test('what has changed of a chunk of customers is taken, and held against alerts', async () => {
    const alert = { name: 'Alert', subscription_amount: true, thresholds: ['0.01'] };
    const { id } = await billing.post('/alerts', alert, 201);
    await billing.post('/alerts', { ...alert, subscription_amount: false, meter_id: billing.ownMeter.id }, 201);
    // No look at all that is there, and many changes of somebody else before these. Asked for before the period that is past was over.
    await weir.pool.query(`UPDATE alerts SET looked_after = NULL, told_from = '2025-02-10'`);
    const other = randomUUID();
    await weir.pool.query('TRUNCATE touched_usage');
    await weir.pool.query(
      `INSERT INTO touched_usage (organization_id, customer_external_id)
       SELECT $1, 'copy-' || n FROM generate_series(1, 20 * ${COPIES}) AS n`,
      [other],
    );
    await weir.pool.query(
      `INSERT INTO touched_usage (organization_id, customer_external_id)
       SELECT $1, 'copy-' || n % ${CHUNK} FROM generate_series(1, 10 * ${CHUNK}) AS n`,
      [organization()],
    );
    const left = () => weir.pool.query('SELECT FROM touched_usage WHERE organization_id = $1', [organization()]);
    // A turn begins with few of them, so that workers get on that are killed again and again.
    await rowsReadBy(weir, (database) => performAlerts(database, organization(), 0));
    expect((await left()).rowCount).toBe(10 * CHUNK - 50);
    const rows = await rowsReadBy(weir, async (database) => {
      expect((await findAlertWork(database, new TouchedPlaces())).toSorted()).toEqual(
        [organization(), other].toSorted(),
      );
      await performAlerts(database, organization(), 60_000);
    });
    expect((await left()).rowCount).toBe(0);
    const crossed = await weir.pool.query('SELECT FROM alert_crossings WHERE alert_id = $1', [id]);
    expect(crossed.rowCount).toBeGreaterThan(0);
    expect(rows).toBeLessThan(ROWS_MAX);
  });

  test('what was settled of a chunk of dues is written down', async () => {
    const { rows: dues } = await weir.pool.query(
      `SELECT subscription_id, cycle, charge_id, '1' AS billed FROM dues ORDER BY subscription_id, cycle, charge_id LIMIT ${CHUNK}`,
    );
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      await updateDues(kysely, organization(), 1, dues);
    });
    expect(rows).toBeLessThan(ROWS_MAX);
    const { rowCount } = await weir.pool.query('SELECT FROM dues WHERE closing = 1 AND billed = 1');
    expect(rowCount).toBe(CHUNK);
  });

  test('what was settled of a period of many dues is written down without reading all of them for each', async () => {
    const { rows: found } = await weir.pool.query('SELECT subscription_id, cycle, charge_id FROM dues LIMIT 1');
    const period = [found[0].subscription_id, found[0].cycle];
    const client = await weir.pool.connect();
    await client.query('SET session_replication_role = replica');
    const one = { times: CHUNK, where: 't.subscription_id = $1 AND t.cycle = $2 AND t.charge_id = $3' };
    await client.query(copyRows('dues', `'charge_id', md5(t.charge_id::text || n)::uuid`, one), [
      ...period,
      found[0].charge_id,
    ]);
    await client.query('RESET session_replication_role');
    client.release();
    const { rows: dues } = await weir.pool.query(
      `SELECT subscription_id, cycle, charge_id, '2' AS billed FROM dues WHERE subscription_id = $1 AND cycle = $2`,
      period,
    );
    expect(dues.length).toBeGreaterThan(CHUNK);
    const rows = await rowsReadBy(weir, ({ kysely }) => updateDues(kysely, organization(), 1, dues));
    // Once it may read all of the organization.
    const { rowCount: all } = await weir.pool.query('SELECT FROM dues');
    expect(rows).toBeLessThan((all ?? 0) + 5 * dues.length);
    const { rowCount } = await weir.pool.query('SELECT FROM dues WHERE closing = 1 AND billed = 2');
    expect(rowCount).toBe(dues.length);
    // So is what a void takes off.
    const lines = dues.map((due) => ({ ...due, id: randomUUID(), invoice_id: randomUUID(), amount: '7' }));
    const taking = await rowsReadBy(weir, ({ kysely }) =>
      takeOffDues(kysely, organization(), lines, { isBilledAgain: false }),
    );
    expect(taking).toBeLessThan((all ?? 0) + 5 * dues.length);
    const { rowCount: taken } = await weir.pool.query('SELECT FROM dues WHERE billed = -5 AND rebills = 1');
    expect(taken).toBe(dues.length);
  });

  test('a chunk of invoices is marked as past due', async () => {
    const chunk = await idsOf(`invoices WHERE status = 'OPEN' AND past_due_at <= billing_now() ORDER BY past_due_at`);
    const rows = await rowsReadBy(weir, async (database) => {
      expect(await markPastDue(database, organization(), chunk)).toBe(CHUNK);
    });
    expect(rows).toBeLessThan(ROWS_MAX);
  });

  test('what cannot be billed is put off', async () => {
    const drafts = await idsOf(`invoices WHERE status = 'DRAFT' AND run_at <= billing_now() ORDER BY id`);
    const [subscription = '', ended = ''] = await idsOf('subscriptions WHERE run_at <= billing_now()');
    const [open] = await idsOf(`invoices WHERE status = 'OPEN' AND NOT is_past_due AND past_due_at <= billing_now()`);
    await weir.pool.query(`UPDATE subscriptions SET status = 'CANCELED' WHERE id = $1`, [ended]);
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      await postponeSubscription(kysely, organization(), subscription, 'why');
      await postponeDraft(kysely, organization(), drafts[0] ?? '', 'why');
      await postponeLater(kysely, organization(), drafts);
      await postponePastDue(kysely, organization(), open ?? '', 'why');
      await postponeSettlement(kysely, organization(), ended, 'why');
    });
    await weir.pool.query(`UPDATE subscriptions SET status = 'ACTIVE' WHERE id = $1`, [ended]);
    expect(rows).toBeLessThan(ROWS_MAX);
    const { rows: said } = await weir.pool.query(
      `SELECT 'subscription' AS of, id FROM subscriptions WHERE run_error = 'why' AND run_at > billing_now()
       UNION ALL SELECT 'draft', id FROM invoices WHERE run_error = 'why' AND run_at > billing_now()
       UNION ALL SELECT 'open', id FROM invoices WHERE run_error = 'why' AND past_due_at > billing_now()`,
    );
    expect(said).toHaveLength(4);
    expect(said).toEqual(
      expect.arrayContaining([
        { of: 'subscription', id: subscription },
        { of: 'subscription', id: ended },
        { of: 'draft', id: drafts[0] },
        { of: 'open', id: open },
      ]),
    );
    // None of them waits for an earlier draft.
    const left = await weir.pool.query('SELECT FROM invoices WHERE id = ANY ($1) AND run_at <= billing_now()', [
      drafts,
    ]);
    expect(left.rowCount).toBe(0);
  });

  test('the meter of a price that ends is let go of by all on the plan', async () => {
    const { id: planId } = billing.ownPlan;
    const held = () => weir.pool.query('SELECT FROM billed_meters WHERE ended_at IS NULL');
    expect((await held()).rowCount).toBe(COPIES + 1);
    // Within a period that no price of the meter is due in.
    await weir.pool.query(`UPDATE subscriptions SET cycle = 99, current_period_end = '2025-04-01'`);
    await weir.pool.query('UPDATE charges SET ended_at = billing_now() WHERE meter_id IS NOT NULL');
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const meterIds = [billing.ownMeter.id];
      await releaseMetersOfPlan(kysely, organization(), { planId, meterIds, now: '2025-03-20T00:00:00Z' });
    });
    expect(rows).toBeLessThan(ROWS_MAX);
    expect((await held()).rowCount).toBe(0);
  });
});
