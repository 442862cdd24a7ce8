// `npm run reconcile` on what is billed: what became of each event, and everything that has to hold of the rows behind an invoice.

import { countBilledEvents, MISCOUNTED_MAX, type BilledEvents } from '@weir/db/billing/billed-events';
import { BILLING_CHECKS, checkBilling } from '@weir/db/billing/billing-checks';
import { openDatabase, type Database } from '@weir/db/database';
import { formatExact, parseExact } from '@weir/rating/exact';
import { formatAmount, round } from '@weir/rating/money';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeBilled, type Billed } from '../support/billed-rows.ts';
import { startWeir, type Weir } from '../support/harness.ts';
import { makeTenant, runReconcile } from '../support/reconcile-fixture.ts';

let weir: Weir;
let database: Database;
let billed: Billed;
beforeAll(async () => {
  weir = await startWeir();
  // One connection, so that what is looked at is in the transaction of whoever planted it.
  database = openDatabase(weir.databaseUrl, { connectionsMax: 1, statementTimeoutMs: 30_000, onConnectionError: () => {} });
  billed = await makeBilled(weir);
});
afterAll(async () => {
  await database.close();
  await weir.close();
});

/** Plants something wrong, looks, and takes it back. In the text, `:organization` and names of ids stand for ids. */
async function planted<Result>(text: string, look: () => Promise<Result>): Promise<Result> {
  await database.pool.query('BEGIN');
  try {
    await database.pool.query(named(text));
    return await look();
  } finally {
    await database.pool.query('ROLLBACK');
  }
}

function named(text: string): string {
  const { tenant, count, ids, invoices, grants } = billed;
  const names: Record<string, string | undefined> = {
    ...ids,
    organization: tenant.id,
    sum: tenant.sum.id,
    count: count.id,
    ...Object.fromEntries(invoices.map((id, index) => [`invoice${index + 1}`, id])),
    ...grants,
  };
  return text.replaceAll(/(?<!:):([a-z]\w*)/gi, (_, name: string) => {
    const id = names[name];
    if (id === undefined) throw new Error(`no id is called ${name}`);
    return `'${id}'::uuid`;
  });
}

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

  // Each takes away what an event was something for, so that it becomes something else or nothing.
  test.each([
    ['open when its due is opened again', 'UPDATE dues SET closing = NULL WHERE charge_id = :usageB', { open: 4 }],
    ['late when it came in after the last closing', 'UPDATE dues SET closing = 2 WHERE charge_id = :usageA AND cycle = 0', { late: 4 }],
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
      'before_start of the next subscription only where none has ended before it',
      `UPDATE subscriptions SET start_at = '2026-03-01' WHERE id = :subscriptionB;
       DELETE FROM dues WHERE subscription_id = :subscriptionB AND meter_id IS NOT NULL
         AND NOT EXISTS (SELECT FROM invoice_lines WHERE false)`,
      undefined,
    ],
  ] as const)('an event is %s', async (_, text, expected) => {
    if (expected === undefined) return;
    const { months } = await planted(text, () => count());
    for (const [fate, events] of Object.entries(expected)) {
      expect(months.reduce((sum, { fates }) => sum + fates[fate as 'open'], 0), fate).toBe(events);
    }
  });

  test.each([
    ['of a due that was cut', `UPDATE dues SET period_end = '2026-03-18' WHERE charge_id = :usageA AND cycle = 2`, 6],
    ['between two periods', `UPDATE subscription_periods SET period_start = '2026-01-21' WHERE cycle = 0 AND subscription_id = :subscriptionA;
      UPDATE dues SET period_start = '2026-01-21' WHERE cycle = 0 AND charge_id = :usageA`, 4],
    ['after the last period of what has ended at no time', `UPDATE subscriptions SET ended_at = NULL WHERE id = :subscriptionB;
      DELETE FROM charges WHERE false`, 0],
  ])('an event %s is unexplained, and told by its id', async (_, text, events) => {
    const { months } = await planted(text, () => count());
    const open = months.map(({ recorded, fates, unexplained }) => ({
      difference: recorded - Object.values(fates).reduce((sum, each) => sum + each, 0),
      unexplained,
    }));
    expect(open.reduce((sum, { difference }) => sum + difference, 0)).toBe(events);
    for (const { difference, unexplained } of open) {
      expect(unexplained).toEqual(difference === 0 ? null : expect.stringMatching(/^[0-9a-f-]{36}$/));
    }
  });

  test.each([
    ['has an event that its line does not', 'DELETE FROM late_events WHERE closing = 3 AND "timestamp" < \'2026-02-15\'', 1],
    ['lost one that its line has', `DELETE FROM events WHERE meter_id = :count AND "timestamp" < '2026-02-01' AND customer_external_id = 'beta'`, 1],
    ['adds up to another quantity', `UPDATE events SET quantity = 2 WHERE meter_id = :sum AND "timestamp" < '2026-02-15'`, 1],
    ['is billed with another quantity', 'UPDATE invoice_lines SET quantity = 9 WHERE charge_id = :usageB', 2],
  ])('a closed due that %s is told', async (_, text, dues) => {
    const found = await planted(text, () => count());
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
    const found = await planted(many, () => count());
    expect(found.duesMiscounted).toBe(30);
    expect(found.miscounted).toHaveLength(MISCOUNTED_MAX);
  });
});

describe('what has to hold of the rows', () => {
  const look = (organizationId: string | undefined = billed.tenant.id) => checkBilling(database, { organizationId }, () => {});

  test('holds of rows as they are left, of one organization and of all', async () => {
    expect(await look()).toEqual([]);
    expect(await checkBilling(database, {}, () => {})).toEqual([]);
  });

  const faults: [check: string, what: string, text: string, said: string][] = [
    ['invoice_totals', 'a subtotal that its lines do not add up to', 'UPDATE invoices SET subtotal = 3.59, total = 3.59 WHERE id = :invoice3', 'its lines add up to 3.58, its subtotal is 3.59'],
    ['invoice_totals', 'a total that is not the subtotal', 'UPDATE invoices SET total = 3.57 WHERE id = :invoice3', 'its total 3.57'],
    ['invoice_totals', 'a finalized invoice without lines', 'DELETE FROM invoice_lines WHERE invoice_id = :invoice3', 'its lines add up to nothing'],
    ['invoice_status', 'a paid invoice of which something is due', 'UPDATE invoices SET amount_paid = 19.99 WHERE id = :invoice1', 'it is PAID'],
    ['invoice_status', 'an open one of which nothing is', 'UPDATE invoices SET amount_paid = 3.58 WHERE id = :invoice3', 'it is OPEN'],
    ['invoice_status', 'more credits than the total', 'UPDATE invoices SET credits_applied = 1 WHERE id = :invoice5', 'credits of 1'],
    ['line_rounding', 'an amount that is not its exact amount, rounded', `UPDATE invoice_lines SET exact_amount = '0.605' WHERE exact_amount = '0.6'`, '0.60 is not 0.605 rounded'],
    ['line_rounding', 'a fraction that is rounded to another amount', `UPDATE invoice_lines SET exact_amount = '25/6' WHERE exact_amount = '25/7'`, '3.57 is not 25/6 rounded'],
    ['line_rounding', 'what was billed before not taken off', 'UPDATE invoice_lines SET billed_before = 0 WHERE billed_before > 0', '0.15 is not 0.9 rounded, less 0'],
    ['line_rounding', 'an exact amount that is no number', `UPDATE invoice_lines SET exact_amount = '1e3' WHERE exact_amount = '0.6'`, '1e3'],
    ['line_rounding', 'an amount with more digits than its currency', 'UPDATE invoice_lines SET amount = 0.155, billed_before = 0.745 WHERE billed_before > 0', '0.155'],
    ['invoice_numbers', 'a number that is missing', `UPDATE invoices SET invoice_number = 'INV-2026-000007' WHERE id = :invoice5;
      UPDATE invoice_numbers SET last_number = 7`, 'before its number, INV-2026-000007, 2 of the year are missing'],
    ['invoice_numbers', 'a first number that is missing', `UPDATE invoices SET invoice_number = 'INV-2026-000006' WHERE id = :invoice1;
      UPDATE invoice_numbers SET last_number = 6`, 'before its number, INV-2026-000002, 1 of the year are missing'],
    ['invoice_numbers', 'a number that is given twice, under two prefixes', `UPDATE invoices SET invoice_number = 'ACME-2026-000004' WHERE id = :invoice5;
      UPDATE invoice_numbers SET last_number = 4`, '-2026-000004 is given twice'],
    ['invoice_numbers', 'a counter that is ahead of the numbers', 'UPDATE invoice_numbers SET last_number = 6', '6 numbers were taken, and the last that is given is 5'],
    ['invoice_numbers', 'a number of another year', `UPDATE invoices SET issue_date = '2025-12-31' WHERE id = :invoice1`, 'is none of an invoice that was issued on 2025-12-31'],
    ['invoice_order', 'a later cycle that was finalized first', `UPDATE invoices SET invoice_number = 'x' WHERE id = :invoice1;
      UPDATE invoices SET invoice_number = 'INV-2026-000001' WHERE id = :invoice5; UPDATE invoices SET invoice_number = 'INV-2026-000005' WHERE id = :invoice1`, 'has a smaller number than the one before'],
    ['invoice_order', 'a draft before a finalized invoice', `UPDATE invoices SET status = 'DRAFT', invoice_number = NULL WHERE id = :invoice4`, 'and the one before is a draft'],
    ['invoice_order', 'two invoices of one boundary', `ALTER TABLE invoices DROP CONSTRAINT invoices_organization_id_subscription_id_cycle_key;
      UPDATE invoices SET cycle = 1 WHERE id = :invoice5`, 'has another invoice'],
    ['invoices_missing', 'a boundary without its invoice', 'UPDATE invoices SET cycle = 9 WHERE id = :invoice4', 'something is due at boundary 1'],
    ['invoices_missing', 'the end of a subscription without its invoice', 'UPDATE invoices SET cycle = 9 WHERE id = :invoice3', 'something is due at boundary 2'],
    ['dues_left_open', 'a due that its invoice did not close', 'UPDATE dues SET closing = NULL WHERE charge_id = :usageA AND cycle = 1', 'is open, and invoice'],
    ['due_billed', 'a due that says another amount than its lines', 'UPDATE dues SET billed = 0.75 WHERE charge_id = :usageA AND cycle = 0', 'its lines add up to 0.90, last at closing 3; it says 0.75'],
    ['due_billed', 'a due that was closed without a line', `UPDATE dues SET closing = 3 WHERE charge_id = :usageA AND cycle = 2`, 'last at closing none'],
    ['due_billed', 'a line that is there twice', `INSERT INTO invoice_lines SELECT (r).* FROM (SELECT jsonb_populate_record(l, jsonb_build_object('id', gen_random_uuid())) AS r
      FROM invoice_lines l WHERE exact_amount = '0.6') AS copied`, 'its lines add up to 1.20'],
    ['line_billed_before', 'a line that forgets the lines before it', `UPDATE invoice_lines SET billed_before = 0.74 WHERE billed_before > 0`, 'it says 0.74, and the lines before it add up to 0.75'],
    ['line_billed_before', 'a line on the invoice of another subscription', `UPDATE invoice_lines SET invoice_id = :invoice3 WHERE exact_amount = '0.6'`, 'and its invoice of'],
    ['dues_overlap', 'two dues that hold one event', `UPDATE dues SET period_start = '2026-02-14' WHERE charge_id = :usageA AND cycle = 1`, 'goes on until 2026-02-15'],
    ['closings', 'a closed due that goes on after all that is closed', `UPDATE closings SET until = '2026-03-14'`, 'ends at 2026-03-15'],
    ['closings', 'a closing that never was', 'UPDATE closings SET number = 2', 'the last one is 2'],
    ['closings', 'a subscription that was settled at none', `UPDATE subscriptions SET closing = 4 WHERE id = :subscriptionB`, 'it was settled at closing 4'],
    ['closings', 'a late event of none', `UPDATE late_events SET closing = 4 WHERE closing = 2`, 'it is late for closing 4'],
    ['late_events', 'a late event that was never recorded', `UPDATE late_events SET event_id = gen_random_uuid() WHERE closing = 2`, 'was never recorded'],
    ['late_events', 'a late event with another quantity', 'UPDATE late_events SET quantity = 2 WHERE closing = 2', 'another meter, customer, time or quantity'],
    ['late_events_lost', 'late events that no invoice will find', 'UPDATE closings SET number = 4; UPDATE subscriptions SET closing = 4 WHERE id = :subscriptionA', 'cycle 1 of charge'],
    ['periods', 'a gap between two periods', `UPDATE subscription_periods SET period_end = '2026-02-14' WHERE subscription_id = :subscriptionA AND cycle = 0`, 'and the one before ends at 2026-02-14'],
    ['periods', 'a first period that begins before the trial is over', `UPDATE subscriptions SET trial_end_at = '2026-01-16' WHERE id = :subscriptionA`, 'and not at 2026-01-16'],
    ['periods', 'a cycle that was left out', `UPDATE dues SET cycle = cycle; ALTER TABLE dues DROP CONSTRAINT dues_organization_id_subscription_id_cycle_fkey;
      DELETE FROM subscription_periods WHERE subscription_id = :subscriptionA AND cycle = 1`, 'cycle 2 follows cycle 0'],
    ['periods', 'a subscription that is not in its last period', `UPDATE subscriptions SET current_period_end = '2026-04-16' WHERE id = :subscriptionA`, 'it is in cycle 2'],
    ['dues_in_periods', 'a due that ends before its period', `UPDATE dues SET period_end = '2026-03-18' WHERE charge_id = :usageA AND cycle = 2`, 'and the period from'],
    ['dues_in_periods', `a due of another customer's events`, `UPDATE dues SET customer_external_id = 'beta' WHERE charge_id = :usageA AND cycle = 2`, 'for beta'],
    ['dues_missing', 'a period without a due of a charge', 'DELETE FROM dues WHERE charge_id = :usageA AND cycle = 2', 'cycle 2 has no due of charge'],
    ['billed_meters', 'a meter that another subscription may bill meanwhile', `UPDATE billed_meters SET ended_at = '2026-03-15' WHERE meter_id = :sum`, 'which is kept for'],
    ['billed_meters', 'a meter that is kept for none', 'DELETE FROM billed_meters WHERE meter_id = :sum', 'which is kept for none'],
    ['credit_grants', 'a grant of which too little remains', 'UPDATE credit_grants SET remaining = 0.24 WHERE id = :drawn', '1.00 were granted, 0.75 drawn, 0 returned, 0 voided, and 0.24 remain'],
    ['credit_grants', 'a grant that is below zero', `ALTER TABLE credit_grants DROP CONSTRAINT credit_grants_remaining_check;
      UPDATE credit_entries SET amount = 1.25 WHERE grant_id = :drawn; UPDATE credit_grants SET remaining = -0.25 WHERE id = :drawn`, 'and -0.25 remain'],
    ['credit_grants', 'a void grant of which something remains', `DELETE FROM credit_entries WHERE kind = 'VOID'; UPDATE credit_grants SET remaining = 5 WHERE id = :voided`, 'and 5 remain'],
    ['invoice_credits', 'credits that were not drawn', 'UPDATE invoices SET credits_applied = 0.5 WHERE id = :invoice4', 'credits of 0.5; it drew 0.75'],
    ['invoice_credits', 'a void invoice that kept what it drew', `DELETE FROM credit_entries WHERE kind = 'RETURN'`, 'returned 0'],
    ['invoice_credits', 'a total below zero that became no grant', 'UPDATE credit_grants SET invoice_id = NULL WHERE id = :negative', 'granted 0'],
    ['draws', `a draw from another customer's grant`, 'UPDATE credit_grants SET customer_id = :beta WHERE id = :drawn', 'and drew from grant'],
    ['draws', 'a draw from a grant of another currency', `UPDATE credit_grants SET currency = 'EUR' WHERE id = :drawn`, 'in EUR'],
    ['feed', 'a gap in the feed', 'DELETE FROM billing_events WHERE sequence = 2', 'before it 1 are missing'],
    ['feed', 'a number of the feed that is there twice', `ALTER TABLE billing_events DROP CONSTRAINT billing_events_pkey;
      INSERT INTO billing_events SELECT * FROM billing_events WHERE sequence = 3`, 'it is there twice'],
    ['feed', 'a feed whose last numbers were taken and not written', 'UPDATE billing_feeds SET last_sequence = 6', '6 numbers were taken, and the last that is written is 4'],
  ];

  test.each(faults)('%s finds %s', async (check, _, text, said) => {
    const broken = await planted(text, () => look());
    const found = broken.find(({ name }) => name === check);
    expect(found?.faults.map((fault) => fault.said).join('\n')).toContain(said);
    expect(found?.faults[0]?.organizationId).toBe(billed.tenant.id);
  });

  test('has a fault planted for each check', () => {
    expect([...new Set(faults.map(([check]) => check))].sort()).toEqual(BILLING_CHECKS.map(({ name }) => name).sort());
  });

  test('is not asked of another organization', async () => {
    const other = await makeTenant(weir);
    expect(await planted('UPDATE invoice_numbers SET last_number = 6', () => look(other.id))).toEqual([]);
  });

  test('archived events are not looked for', async () => {
    const month = new Date().toISOString().slice(0, 7);
    const forget = `DELETE FROM events WHERE id IN (SELECT event_id FROM late_events)`;
    const names = async (archivedThrough?: string) => {
      const found = await planted(forget, () => checkBilling(database, { archivedThrough }, () => {}));
      return found.map(({ name }) => name);
    };
    expect(await names()).toEqual(['late_events']);
    expect(await names(month)).toEqual([]);
  });

  test('the rounding in SQL is that of packages/rating, for decimals and fractions of any length', async () => {
    const exact = fc
      .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.constantFrom(1n, 3n, 7n, 8n, 28n, 200n, 10n ** 18n, 365n))
      .map(([n, d]) => formatExact(parseExact(`${n}/${d}`)));
    const half = fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }).map((n) => formatExact(parseExact(`${2n * n + 1n}/200`)));
    await database.pool.query('BEGIN');
    await database.pool.query(`DELETE FROM invoice_lines WHERE kind <> 'ADJUSTMENT'`);
    try {
      await fc.assert(
        fc.asyncProperty(fc.oneof(exact, half), fc.constantFrom(-1n, 0n, 1n), async (text, off) => {
          const amount = formatAmount(round(parseExact(text), 2) + off, 2);
          await database.pool.query('UPDATE invoice_lines SET exact_amount = $1, amount = $2', [text, amount]);
          const found = (await look()).some(({ name }) => name === 'line_rounding');
          expect(found, `${amount} of ${text}`).toBe(off !== 0n);
        }),
        { numRuns: 60 },
      );
    } finally {
      await database.pool.query('ROLLBACK');
    }
  });
});

describe('the command', () => {
  const run = (...args: string[]) => runReconcile(weir, '--organization', billed.tenant.id, ...args);

  test('proves what is billed beside the rest, by month and of one organization by meter, and exits with 0', async () => {
    const all = await runReconcile(weir);
    expect(all.out).toContain(
      "Billing, by month of the events' own time: recorded = billed + late + open + unbilled\n" +
        '  2026-01  15 = 7 + 0 + 0 + 8  (2 meters, equal, 2 trial, 3 not priced, 1 before start, 2 no subscription)\n' +
        '  2026-02  8 = 5 + 1 + 0 + 2  (2 meters, equal, 2 after end)\n' +
        '  2026-03  10 = 2 + 2 + 6 + 0  (1 meter, equal)\n' +
        '  2026-04  1 = 0 + 0 + 0 + 1  (1 meter, equal, 1 not opened)\n' +
        '  4 closed dues compared with the events: all equal\n' +
        `  ${BILLING_CHECKS.length} promises about subscriptions, dues, invoices and credits: all hold\n`,
    );
    expect(all.out).toMatch(/All is equal\.\n$/);
    expect(all.code).toBe(0);
    const own = await run();
    expect(own.out).toContain(`  2026-03  meter ${billed.tenant.sum.id}  10 = 2 + 2 + 6 + 0  (equal)`);
    const month = await run('--month', '2026-02', '--json');
    expect(JSON.parse(month.out)).toMatchObject({
      billing: {
        events: [{ recorded: 5, billed: 4, late: 1 }, { recorded: 3, billed: 1, after_end: 2 }].map((row) =>
          expect.objectContaining({ ...row, difference: 0, month: '2026-02' }),
        ),
        checks: { made: BILLING_CHECKS.length, broken: [] },
      },
    });
  });

  test('with --invoices computes every invoice again from rollups and from events, and tells each that is not identical', async () => {
    const { code, out } = await run('--invoices');
    expect(out).toContain('  5 invoices computed again, from rollups and events: all identical\n');
    expect(code).toBe(0);

    const [, , third = ''] = billed.invoices;
    const change = (exact: string) =>
      weir.pool.query('UPDATE invoice_lines SET exact_amount = $1 WHERE invoice_id = $2 AND charge_id = $3', [
        exact,
        third,
        billed.ids.usageB,
      ]);
    await change('0.011');
    try {
      const without = await run();
      expect(without.code).toBe(0);
      const found = await run('--invoices');
      expect(found.out).toContain('  5 invoices computed again, from rollups and events: 1 NOT identical\n');
      for (const from of ['rollups', 'events']) {
        expect(found.out).toContain(`invoice ${third} (INV-2026-000003), from ${from}: its total is 3.58 and comes to 3.58; lines that differ: `);
      }
      expect(found.out).toMatch(/NOT EQUAL\.\n$/);
      expect(found.code).toBe(1);
    } finally {
      await change('0.01');
    }
  });

  test('tells what does not hold with its organization and ids, and exits with 1', async () => {
    const [first = ''] = billed.invoices;
    await weir.pool.query('UPDATE invoices SET amount_paid = 19 WHERE id = $1', [first]);
    await weir.pool.query(`UPDATE invoice_lines SET event_count = 8 WHERE quantity = 6`);
    await weir.pool.query(`UPDATE dues SET period_end = '2026-03-18' WHERE charge_id = $1 AND cycle = 2`, [billed.ids.usageA]);
    try {
      const { code, out } = await run();
      expect(out).toContain(`  2026-03  meter ${billed.tenant.sum.id}  10 ≠ 2 + 2 + 0 + 0  (not equal)`);
      expect(out).toMatch(
        new RegExp(`organization ${billed.tenant.id}, 2026-03, meter ${billed.tenant.sum.id}: 6 events UNEXPLAINED, in no due .*such as [0-9a-f-]{36}`),
      );
      expect(out).toContain('  4 closed dues compared with the events: 1 not equal\n');
      expect(out).toContain('bills 8 events with 6 in all, and there are 4 with 6.0 in all.');
      expect(out).toContain(`${BILLING_CHECKS.length} promises about subscriptions, dues, invoices and credits: 2 BROKEN`);
      expect(out).toContain(`    organization ${billed.tenant.id}, invoice ${first}: it is PAID, with a total of 20.00`);
      expect(code).toBe(1);
    } finally {
      await weir.pool.query('UPDATE invoices SET amount_paid = 20 WHERE id = $1', [first]);
      await weir.pool.query(`UPDATE invoice_lines SET event_count = 4 WHERE quantity = 6`);
      await weir.pool.query(`UPDATE dues SET period_end = '2026-04-15' WHERE charge_id = $1 AND cycle = 2`, [billed.ids.usageA]);
    }
  });

  test('says nothing of billing where nobody bills', async () => {
    const other = await makeTenant(weir);
    const { code, out } = await runReconcile(weir, '--organization', other.id);
    expect(out).not.toMatch(/billing|invoice/i);
    expect(code).toBe(0);
    expect(JSON.parse((await runReconcile(weir, '--organization', other.id, '--json')).out)).not.toHaveProperty('billing');
  });
});
