// Events that were recorded and are lost: rollups are all that is left of them, and `npm run reconcile -- --repair` rebuilds none of
// these, whatever was written off.

import type { Database } from '@weir/db/database';
import { recordEvents } from '@weir/db/record';
import { ALL_ROLLUPS, rowsOfTable } from '@weir/db/rollups';
import { newId } from '@weir/shared/ids';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { detachMonth, loseMonth, makeMonthsSince, recordUsed } from '../support/months.ts';
import { reconcileHere, reportHere, runReconcile } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
/** The statement of "When events are MISSING", for events of a month of the reader's own. */
const [, writeOff = ''] = /^When events are MISSING:\n[^]*?```sql\n([^]*?)```/m.exec(page) ?? [];

const weir = ownWeir({ withWorker: false });
let database: Database;
let billing: Invoicing;

beforeAll(async () => {
  database = openTestDatabase(weir);
  billing = await startInvoicing(weir);
  await makeMonthsSince(weir, '2024-01-01');
  await weir.pool.query(`UPDATE organizations SET created_at = '2024-03-01' WHERE id = $1`, [billing.admin.id]);
});
afterAll(async () => {
  await billing.close();
  await database.close();
});

/** Records usage that came in when it happened. */
async function record(meterId: string, countsUniqueValues: boolean, customer: string, ...times: string[]) {
  const events = times.map((timestamp, index) => ({
    event: {
      id: newId(Date.parse(timestamp)),
      organization_id: billing.admin.id,
      meter_id: meterId,
      customer_external_id: customer,
      quantity: '2',
      timestamp,
      metadata: JSON.stringify({ user_id: `user ${index}` }),
    },
    countsUniqueValues,
  }));
  expect((await recordEvents(weir.pool, events)).recorded).toBe(times.length);
}

/** What the rollups have of a month. */
async function rollupsOf(month: string): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  for (const rollup of ALL_ROLLUPS) {
    const { rows } = await weir.pool.query<{ row: string }>(
      `SELECT t::text AS row FROM (${rowsOfTable(rollup, `date_trunc('month', ${rollup.grain}, 'UTC') = '${month}-01Z'`)}) AS t ORDER BY 1`,
    );
    tables[rollup.table] = rows.map(({ row }) => row);
  }
  return tables;
}

test('what was counted and billed of a lost month stays, and the rest is repaired', async () => {
  const [calls, users] = [await billing.meter(), await billing.meter('UNIQUE_COUNT')];
  await billing.moveTo('2024-02-29T00:00:00Z');
  const usage = (meter_id: string) => ({ type: 'USAGE', display_name: 'Usage', meter_id, unit_price: '2' });
  const { id: plan } = await billing.plan([usage(calls.id), usage(users.id)]);
  const { id: customer, external_id: acme } = await billing.customer();
  await billing.moveTo('2024-03-01T00:00:00Z');
  const { id: subscription } = await billing.subscribe(plan, customer, { start_date: '2024-03-01T00:00:00Z' });
  const march = ['2024-03-20T10:10:00Z', '2024-03-20T10:40:00Z', '2024-03-21T00:05:00Z'];
  await record(calls.id, false, acme, ...march);
  await record(users.id, true, acme, ...march);
  await record(calls.id, false, acme, '2024-08-20T10:10:00Z');
  await billing.moveTo('2024-04-01T00:10:00Z', subscription);
  const [invoice] = (await billing.finalizeAll(subscription)).slice(-1);
  expect(invoice.total).toBe('18.00');
  const recompute = () => billing.post(`/invoices/${invoice.id}/recompute`, { from: 'rollups' });
  const before = { rollups: await rollupsOf('2024-03'), invoice: await recompute() };
  expect(before.invoice.identical).toBe(true);
  expect(before.rollups['customer_usage_hours']).toHaveLength(4);

  await loseMonth(weir, '2024-03');
  const damage = () =>
    weir.pool.query(`UPDATE customer_usage_days SET quantity_sum = 1000 WHERE day = '2024-08-20' AND meter_id = $1`, [
      calls.id,
    ]);
  const expectOnlyRestRepaired = async () => {
    const { rollups, isEqual } = await reconcileHere(weir, database, { repair: true });
    expect(isEqual).toBe(false);
    expect(rollups.differing.filter(({ isRebuilt }) => isRebuilt).map(({ month }) => month)).toEqual(['2024-08']);
    expect([...new Set(rollups.differing.filter(({ isRebuilt }) => !isRebuilt).map(({ month }) => month))]).toEqual([
      '2024-03',
    ]);
    expect(await rollupsOf('2024-03')).toEqual(before.rollups);
    expect(await recompute()).toEqual(before.invoice);
  };
  // The door's counts were lost as well, so that nothing is missing.
  await damage();
  await expectOnlyRestRepaired();

  await weir.pool.query(`INSERT INTO accepted_events (organization_id, month, events) VALUES ($1, '2024-03-01', 6)`, [
    billing.admin.id,
  ]);
  expect(await reportHere(weir, database, {})).toContain('2024-03: 6 events MISSING');
  // The id last: it may have a -3 of its own.
  await weir.pool.query(
    writeOff.replace('-3', '-6').replace('2026-11-01', '2024-03-01').replace('…', billing.admin.id),
  );
  expect(await reportHere(weir, database, {})).not.toContain('MISSING');
  await damage();
  await expectOnlyRestRepaired();
  const { code, out } = await runReconcile(weir, '--repair');
  expect(code).toBe(1);
  expect(out).toContain('Left alone: it may be all that is left of events that are gone.');
  expect(await rollupsOf('2024-03')).toEqual(before.rollups);

  // As from then on.
  const archived = await reconcileHere(weir, database, { archivedThrough: '2024-03' });
  expect(archived).toMatchObject({ isEqual: true, rollups: { differing: [] } });
});

test('usage of events that came in far ahead of their time stays when their month was archived', async () => {
  const priced = await startInvoicing(weir);
  onTestFinished(() => priced.close());
  const { id: organizationId } = priced.admin;
  await weir.pool.query(`UPDATE organizations SET created_at = '2024-01-01' WHERE id = $1`, [organizationId]);
  await weir.pool.query('UPDATE installation SET ahead_seconds_max = 90 * 86400');
  const { id } = await priced.meter();
  await priced.moveTo('2024-02-29T00:00:00Z');
  const { id: plan } = await priced.plan([{ type: 'USAGE', display_name: 'Booked', meter_id: id, unit_price: '2' }]);
  const { id: customer, external_id: acme } = await priced.customer();
  await priced.moveTo('2024-03-01T00:00:00Z');
  const { id: subscription } = await priced.subscribe(plan, customer, { start_date: '2024-03-01T00:00:00Z' });
  const booked = (at: string, receivedAt: string) => {
    return { meter: { id, aggregation: 'SUM' as const }, customer: acme, at, receivedAt };
  };
  await recordUsed(weir, organizationId, [
    booked('2024-03-20T10:10:00Z', '2024-01-05T00:00:00Z'),
    booked('2024-03-20T10:20:00Z', '2024-01-06T00:00:00Z'),
    // The last one of the hour is there.
    booked('2024-03-20T10:40:00Z', '2024-03-20T10:40:00Z'),
    booked('2024-06-20T10:10:00Z', '2024-06-20T10:10:00Z'),
  ]);
  await priced.moveTo('2024-04-01T00:10:00Z', subscription);
  const [invoice] = (await priced.finalizeAll(subscription)).slice(-1);
  expect(invoice.total).toBe('6.00');
  const before = await rollupsOf('2024-03');
  await detachMonth(weir, '2024-01');

  // Also where nobody says that it was archived.
  const { rollups } = await reconcileHere(weir, database, { organizationId, repair: true });
  expect(rollups.differing.map(({ month, isRebuilt }) => ({ month, isRebuilt }))).toContainEqual({
    month: '2024-03',
    isRebuilt: false,
  });
  expect(rollups.differing.filter(({ isRebuilt }) => isRebuilt)).toEqual([]);
  expect(await rollupsOf('2024-03')).toEqual(before);

  const archived = await reconcileHere(weir, database, { organizationId, archivedThrough: '2024-01', repair: true });
  expect(archived).toMatchObject({ isEqual: true, rollups: { compared: 1, differing: [] } });
  expect(archived.billing?.dues).toMatchObject({ compared: 0, miscounted: 0 });
  expect(await rollupsOf('2024-03')).toEqual(before);
});
