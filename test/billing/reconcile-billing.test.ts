// `npm run reconcile` on what is billed: what became of each event, and how it is told.

import {
  countBilledEvents,
  MISCOUNTED_MAX,
  type BilledEvents,
  type BillingFate,
} from '@weir/db/billing/checks/billed-events';
import { BILLING_CHECKS } from '@weir/db/billing/checks/billing-checks';
import type { Database } from '@weir/db/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeBilled, openForPlanting, planted, type Billed } from '../support/billed-organization.ts';
import { makeTenant, reconcileHere, runReconcile } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let database: Database;
let billed: Billed;
beforeAll(async () => {
  database = openForPlanting(weir);
  billed = await makeBilled(weir);
});
afterAll(() => database.close());

const count = (filter: { from?: string; before?: string } = {}): Promise<BilledEvents> =>
  countBilledEvents(database, { organizationId: billed.tenant.id, ...filter });

/** What is not 0. */
function told({ months }: BilledEvents): Record<string, Record<string, number>> {
  const nameOf = (meterId: string) => (meterId === billed.tenant.sum.id ? 'sum' : 'count');
  return Object.fromEntries(
    months.map(({ meterId, month, recorded, fates }) => {
      const found = Object.entries(fates).filter(([, events]) => events > 0);
      return [`${month} ${nameOf(meterId)}`, { recorded, ...Object.fromEntries(found) }];
    }),
  );
}

describe('what became of events', () => {
  test('each recorded event of a priced meter is billed, late, open, or unbilled for one reason', async () => {
    const found = await count();
    expect(told(found)).toEqual({
      '2026-01 sum': { recorded: 10, billed: 4, trial: 2, before_start: 1, not_priced: 1, no_subscription: 2 },
      '2026-02 sum': { recorded: 5, billed: 4, late: 1 },
      '2026-03 sum': { recorded: 10, billed: 2, late: 2, open: 6 },
      '2026-04 sum': { recorded: 1, not_opened: 1 },
      '2026-01 count': { recorded: 5, billed: 3, not_priced: 2 },
      '2026-02 count': { recorded: 3, billed: 1, after_end: 2 },
    });
    expect(found).toMatchObject({ duesCompared: 4, duesMiscounted: 0, miscounted: [] });
  });

  test('a month can be asked for by itself, with the dues that lie wholly in it', async () => {
    const found = await count({ from: '2026-01-01T00:00:00Z', before: '2026-02-01T00:00:00Z' });
    expect(Object.keys(told(found)).sort()).toEqual(['2026-01 count', '2026-01 sum']);
    // Only the first period of plan B.
    expect(found.duesCompared).toBe(1);
  });

  const ofNobody = (
    dates: string,
  ) => `INSERT INTO subscriptions (organization_id, id, customer_id, customer_external_id, plan_id,
      status, time_zone, currency, billing_interval, billing_alignment, anchor, anchor_at, cycle, current_period_start,
      current_period_end, start_at, ended_at)
    SELECT organization_id, gen_random_uuid(), customer_id, 'nobody', plan_id, status, time_zone, currency, billing_interval,
      billing_alignment, anchor, anchor_at, cycle, current_period_start, current_period_end, dates.*
    FROM subscriptions, (VALUES ${dates}) AS dates (start_at, ended_at) WHERE id = :subscriptionB`;
  const before = "('2026-06-01'::timestamptz, '2026-07-01'::timestamptz)";
  const after = "('2025-06-01'::timestamptz, '2025-07-01'::timestamptz)";

  test.each<[string, string, Partial<Record<BillingFate, number>>]>([
    [
      'open as long as its due is',
      'UPDATE dues SET closing = NULL WHERE charge_id = :usageB',
      { open: 10, billed: 10 },
    ],
    [
      'late when it came in after the closing of the last line',
      'UPDATE dues SET closing = 2 WHERE charge_id = :usageA AND cycle = 0',
      { late: 4, billed: 13 },
    ],
    [
      'after_end where the subscription is to end with its period',
      'UPDATE subscriptions SET cancel_at_period_end = true WHERE id = :subscriptionA',
      { after_end: 3, not_opened: 0 },
    ],
    [
      'not_priced where the plan has no price for the next period',
      `UPDATE charges SET ended_at = '2026-03-20' WHERE id = :usageA`,
      { not_priced: 4, not_opened: 0 },
    ],
    [
      'not_priced where it goes over to a plan that has none',
      'UPDATE subscriptions SET pending_plan_id = :planB WHERE id = :subscriptionA',
      { not_priced: 4, not_opened: 0 },
    ],
    ['before_start of a subscription to come', ofNobody(before), { before_start: 3, no_subscription: 0 }],
    ['after_end of one that is over', ofNobody(after), { after_end: 4, no_subscription: 0 }],
    ['after_end between two', ofNobody(`${before}, ${after}`), { after_end: 4, no_subscription: 0 }],
  ])('an event is %s', async (_, text, expected) => {
    const { months } = await planted(database, billed, text, () => count());
    const total = (fate: BillingFate) => months.reduce((sum, { fates }) => sum + fates[fate], 0);
    const found = Object.keys(expected).map((fate) => [fate, total(fate as BillingFate)]);
    expect(Object.fromEntries(found)).toEqual(expected);
    expect(months.every(({ unexplained }) => unexplained === null)).toBe(true);
  });

  test.each([
    [
      'after a due that was cut',
      `UPDATE dues SET period_end = '2026-03-18' WHERE charge_id = :usageA AND cycle = 2`,
      6,
    ],
    [
      'between two periods',
      `UPDATE subscription_periods SET period_start = '2026-01-21' WHERE cycle = 0 AND subscription_id = :subscriptionA;
       UPDATE dues SET period_start = '2026-01-21' WHERE cycle = 0 AND charge_id = :usageA`,
      // Also one of the other meter.
      4,
    ],
    [
      'after the end of what has ended at no time',
      'UPDATE subscriptions SET ended_at = NULL WHERE id = :subscriptionB',
      2,
    ],
    [
      'that one subscription should bill, whatever another says,',
      `${ofNobody(after)}; UPDATE subscriptions SET start_at = '2025-01-01', ended_at = NULL, current_period_end = '2026-05-01'
       WHERE customer_external_id = 'nobody'; ${ofNobody(before)}`,
      2,
    ],
  ])('an event %s is unexplained, and told by its id', async (_, text, events) => {
    const { months } = await planted(database, billed, text, () => count());
    const found = months.map(({ recorded, fates, unexplained }) => ({
      difference: recorded - Object.values(fates).reduce((sum, each) => sum + each, 0),
      unexplained,
    }));
    expect(found.reduce((sum, { difference }) => sum + difference, 0)).toBe(events);
    const isId = (text: string | null) => text !== null && /^[0-9a-f-]{36}$/.test(text);
    expect(found.map(({ unexplained }) => isId(unexplained))).toEqual(found.map(({ difference }) => difference > 0));
  });

  test.each([
    [
      'has an event that its line does not',
      'DELETE FROM late_events WHERE closing = 3 AND "timestamp" < \'2026-02-15\'',
      1,
    ],
    [
      'lost one that its line has',
      `DELETE FROM events WHERE meter_id = :count AND "timestamp" < '2026-02-01' AND customer_external_id = 'beta'`,
      1,
    ],
    [
      'adds up to another quantity',
      `UPDATE events SET quantity = 2 WHERE meter_id = :sum AND "timestamp" < '2026-02-15'`,
      1,
    ],
    ['is billed with another quantity', 'UPDATE invoice_lines SET quantity = 9 WHERE charge_id = :usageB', 2],
  ])('a closed due that %s is told', async (_, text, dues) => {
    const found = await planted(database, billed, text, () => count());
    expect(found.duesMiscounted).toBe(dues);
    expect(found.miscounted).toHaveLength(dues);
  });

  test(`of many such dues at most ${MISCOUNTED_MAX} are told, and how many there are`, async () => {
    const many = `INSERT INTO subscription_periods SELECT organization_id, subscription_id, 100 + n, plan_id,
        '2020-01-01'::timestamptz + n * interval '1 day', '2020-01-01'::timestamptz + (n + 1) * interval '1 day', NULL, NULL
      FROM subscription_periods, generate_series(1, 30) AS n WHERE subscription_id = :subscriptionA AND cycle = 0;
      INSERT INTO dues SELECT d.organization_id, d.subscription_id, p.cycle, d.charge_id, d.display_name, d.terms, d.meter_id,
        d.customer_external_id, p.period_start, p.period_end, NULL, NULL, 3, 0
      FROM dues d JOIN subscription_periods p USING (subscription_id) WHERE d.charge_id = :usageA AND d.cycle = 0 AND p.cycle > 99;
      INSERT INTO invoice_lines (organization_id, id, invoice_id, position, kind, description, subscription_id, cycle, charge_id,
        quantity, event_count, exact_amount, billed_before, amount, closing, rating_version)
      SELECT organization_id, gen_random_uuid(), :invoice5, 9, 'USAGE', '', subscription_id, cycle, charge_id, 1, 1, '0', 0, 0, 3, 1
      FROM dues WHERE cycle > 99`;
    const found = await planted(database, billed, many, () => count());
    expect(found.duesMiscounted).toBe(30);
    expect(found.miscounted).toHaveLength(MISCOUNTED_MAX);
  });
});

describe('the command', () => {
  const run = (...args: string[]) => runReconcile(weir, '--organization', billed.tenant.id, ...args);

  test('proves what is billed, by month, computes invoices again when asked, and exits with 0', async () => {
    const { code, out } = await runReconcile(weir, '--invoices');
    expect(out).toContain(
      "Billing, by month of the events' own time: recorded = billed + late + open + unbilled\n" +
        '  2026-01  15 = 7 + 0 + 0 + 8  (2 meters, equal, 2 trial, 3 not priced, 1 before start, 2 no subscription)\n' +
        '  2026-02  8 = 5 + 1 + 0 + 2  (2 meters, equal, 2 after end)\n' +
        '  2026-03  10 = 2 + 2 + 6 + 0  (1 meter, equal)\n' +
        '  2026-04  1 = 0 + 0 + 0 + 1  (1 meter, equal, 1 not opened)\n' +
        '  4 closed dues compared with the events: all equal\n' +
        `  ${BILLING_CHECKS.length} promises about subscriptions, dues, invoices and credits: all hold\n` +
        '  5 invoices computed again, from rollups and events: all identical\n',
    );
    expect(out).toMatch(/All is equal\.\n$/);
    expect(code).toBe(0);
  });

  test('tells what does not hold, by meter and with ids, and exits with 1', async () => {
    const [first = '', , third = ''] = billed.invoices;
    const { sum, id } = billed.tenant;
    const { usageA, usageB } = billed.ids;
    await weir.pool.query('UPDATE invoices SET amount_paid = 19 WHERE id = $1', [first]);
    await weir.pool.query(`UPDATE invoice_lines SET event_count = 8 WHERE quantity = 6`);
    await weir.pool.query(`UPDATE dues SET period_end = '2026-03-18' WHERE charge_id = $1 AND cycle = 2`, [usageA]);
    await weir.pool.query(`UPDATE invoice_lines SET exact_amount = '0.011' WHERE exact_amount = '0.01'`);
    try {
      const { code, out } = await run('--invoices');
      expect(out).toContain(`  2026-03  meter ${sum.id}  10 ≠ 2 + 2 + 0 + 0  (not equal)`);
      expect(out).toMatch(new RegExp(`${id}, 2026-03, meter ${sum.id}: 6 events UNEXPLAINED, .*such as [0-9a-f-]{36}`));
      expect(out).toContain('  4 closed dues compared with the events: 1 not equal\n');
      expect(out).toContain('bills 8 events with 6 in all, and there are 4 with 6.0 in all.');
      expect(out).toContain(
        `${BILLING_CHECKS.length} promises about subscriptions, dues, invoices and credits: 3 BROKEN`,
      );
      expect(out).toContain(`    organization ${id}, invoice ${first}: it is PAID, with a total of 20.00`);
      expect(out).toContain('  5 invoices computed again, from rollups and events: 2 NOT identical\n');
      for (const from of ['rollups', 'events']) {
        expect(out).toContain(
          `invoice ${third} (INV-2026-000003), from ${from}: its total is 3.58 and comes to 3.58; lines that differ: `,
        );
      }
      expect(out).toMatch(/NOT EQUAL\.\n$/);
      expect(code).toBe(1);
    } finally {
      await weir.pool.query('UPDATE invoices SET amount_paid = 20 WHERE id = $1', [first]);
      await weir.pool.query(`UPDATE invoice_lines SET event_count = 4 WHERE quantity = 6`);
      await weir.pool.query(`UPDATE dues SET period_end = '2026-04-15' WHERE charge_id = $1 AND cycle = 2`, [usageA]);
      await weir.pool.query(
        `UPDATE invoice_lines SET exact_amount = '0.01' WHERE charge_id = $1 AND exact_amount = '0.011'`,
        [usageB],
      );
    }
  });

  test('tells a program each meter of a month', async () => {
    const { out } = await run('--month', '2026-02', '--json');
    const found = [
      { recorded: 5, billed: 4, late: 1 },
      { recorded: 3, billed: 1, after_end: 2 },
    ];
    expect(JSON.parse(out)).toMatchObject({
      equal: true,
      billing: {
        events: found.map((row) => expect.objectContaining({ ...row, difference: 0, month: '2026-02' })),
        checks: { made: BILLING_CHECKS.length, broken: [] },
      },
    });
  });

  test('an invoice that cannot be computed at all does not hide the others', async () => {
    const wide = openTestDatabase(weir);
    const [, , third = ''] = billed.invoices;
    await weir.pool.query('UPDATE invoices SET subtotal = 3.581 WHERE id = $1', [third]);
    try {
      const { billing } = await reconcileHere(weir, wide, { organizationId: billed.tenant.id, invoices: true });
      expect(billing?.invoices).toMatchObject({ computed: 5, differing: 1 });
      expect(billing?.invoices?.examples.map(({ invoiceId, said }) => [invoiceId, said])).toEqual(
        Array.from({ length: 2 }, () => [third, expect.stringContaining('it cannot be computed: ')]),
      );
    } finally {
      await weir.pool.query('UPDATE invoices SET subtotal = 3.58 WHERE id = $1', [third]);
      await wide.close();
    }
  });

  test('says nothing of billing where nobody bills', async () => {
    const other = await makeTenant(weir);
    const { code, out } = await runReconcile(weir, '--organization', other.id);
    expect(out).not.toMatch(/billing|invoice/i);
    expect(code).toBe(0);
  });
});
