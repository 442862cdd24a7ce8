// What has to hold of the rows behind an invoice, and that `npm run reconcile` finds it where it does not.

import { BILLING_CHECKS, checkBilling } from '@weir/db/billing/checks/billing-checks';
import type { Database } from '@weir/db/database';
import { formatExact, parseExact } from '@weir/rating/exact';
import { formatAmount, round } from '@weir/rating/money';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeBilled, openForPlanting, planted, type Billed } from '../support/billed-organization.ts';
import { PLANTED_FAULTS } from '../support/planted-faults.ts';
import { makeTenant } from '../support/reconcile-fixture.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let database: Database;
let billed: Billed;
beforeAll(async () => {
  database = openForPlanting(weir);
  billed = await makeBilled(weir);
});
afterAll(() => database.close());

const look = (organizationId: string | undefined = billed.tenant.id) =>
  checkBilling(database, { organizationId }, () => {});

test('every promise holds of rows as they are left, of one organization and of all', async () => {
  expect(await look()).toEqual([]);
  expect(await checkBilling(database, {}, () => {})).toEqual([]);
});

test.each(PLANTED_FAULTS)('$check finds $what', async ({ check, text, said }) => {
  const broken = await planted(database, billed, text, () => look());
  const found = broken.find(({ name }) => name === check);
  expect(found?.faults.map((fault) => fault.said).join('\n')).toContain(said);
  expect(found?.faults[0]?.organizationId).toBe(billed.tenant.id);
});

test('a fault is planted for each check', () => {
  expect([...new Set(PLANTED_FAULTS.map(({ check }) => check))].sort()).toEqual(
    BILLING_CHECKS.map(({ name }) => name).sort(),
  );
});

test.each([
  ['is a draft', `status = 'DRAFT', invoice_number = NULL, finalized_at = NULL`, true],
  ['was finalized 34 days ago', `finalized_at = now() - interval '34 days'`, true],
  ['was finalized 36 days ago', `finalized_at = now() - interval '36 days'`, false],
])('a due of a charge that had ended, whose invoice %s, is named or not', async (_how, set, isNamed) => {
  const text = `UPDATE charges SET ended_at = '2026-02-01' WHERE id = :usageB;
    UPDATE invoices SET finalized_at = now() - interval '36 days'; UPDATE invoices SET ${set} WHERE id = :invoice3`;
  const broken = await planted(database, billed, text, () => look());
  const found = broken.find(({ name }) => name === 'dues_in_force')?.faults ?? [];
  expect(found.map(({ subject }) => subject)).toEqual(isNamed ? [`subscription ${billed.ids.subscriptionB}`] : []);
});

test('another organization is not looked at', async () => {
  const other = await makeTenant(weir);
  expect(await planted(database, billed, 'UPDATE invoice_numbers SET last_number = 6', () => look(other.id))).toEqual(
    [],
  );
});

test('archived events are not looked for', async () => {
  const month = new Date().toISOString().slice(0, 7);
  const forget = `DELETE FROM events WHERE id IN (SELECT event_id FROM late_events)`;
  const names = async (archivedThrough?: string) => {
    const found = await planted(database, billed, forget, () => checkBilling(database, { archivedThrough }, () => {}));
    return found.map(({ name }) => name);
  };
  expect(await names()).toEqual(['late_events']);
  expect(await names(month)).toEqual([]);
});

test('the rounding in SQL is that of packages/rating, for decimals and fractions of any length', async () => {
  const exact = fc
    .tuple(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.constantFrom(1n, 3n, 7n, 8n, 28n, 200n, 10n ** 18n, 365n),
    )
    .map(([n, d]) => formatExact(parseExact(`${n}/${d}`)));
  const half = fc
    .bigInt({ min: -(10n ** 6n), max: 10n ** 6n })
    .map((n) => formatExact(parseExact(`${2n * n + 1n}/200`)));
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
