// What the run of billing waits for: events that are on their way.

import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { settleSubscription } from '@weir/db/billing/run/settlements';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRun, startPricedRun, type PricedRun } from '../support/billing-run.ts';
import { startWeir } from '../support/harness.ts';
import { startInvoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let priced: PricedRun;
let { billing, run, meter } = {} as PricedRun;

beforeEach(async () => {
  priced = await startPricedRun(weir);
  ({ billing, run, meter } = priced);
});
afterEach(() => priced.close());

test('finalization waits while events that were accepted before the boundary are staged, for 24 h at most', async () => {
  const alone = await startWeir({ withWorker: false });
  const held = await startInvoicing(alone);
  try {
    const runOfIt = openRun(alone, held.database);
    // Periods that end after what is staged was accepted.
    const now = Date.now();
    const at = (hours: number) => new Date(now + hours * 3_600_000).toISOString();
    await held.moveTo(at(-2));
    const calls = await held.meter('SUM');
    const { id: monthly } = await held.plan(
      [{ type: 'USAGE', display_name: 'Calls', meter_id: calls.id, unit_price: '1' }],
      {
        billing_interval: 'month',
      },
    );
    const customer = await held.customer();
    const { id } = await held.subscribe(monthly, customer.id);
    const body = {
      meter_token: calls.token,
      customer_external_id: customer.external_id,
      quantity: 5,
      timestamp: at(-1),
    };
    await alone.request('POST', '/api/v1/sdk/track', { apiKey: await held.admin.createKey(), body });
    const { rows } = await alone.pool.query('SELECT current_period_end FROM subscriptions WHERE id = $1', [id]);
    const end = Date.parse(rows[0].current_period_end);
    const first = async () =>
      (await alone.pool.query('SELECT * FROM invoices WHERE subscription_id = $1 ORDER BY cycle', [id])).rows[0];
    const finalizeDue = async (hours: number) => {
      await held.moveTo(new Date(end + hours * 3_600_000).toISOString());
      await runOfIt.once();
    };
    // Made at the boundary, the draft has an hour of grace from there.
    await finalizeDue(0);
    await finalizeDue(1.5);
    await finalizeDue(2);
    expect(await first()).toMatchObject({ status: 'DRAFT', cycle: 1 });
    // Another organization has nothing that waits.
    const other = await startInvoicing(alone);
    await other.moveTo(new Date(end + 2 * 3_600_000).toISOString());
    const fixed = await other.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '1' }]);
    const { id: free } = await other.subscribe(fixed.id, (await other.customer()).id);
    await other.moveTo(new Date(end + 4 * 3_600_000).toISOString());
    await runOfIt.once();
    const freed = await alone.pool.query('SELECT status FROM invoices WHERE subscription_id = $1', [free]);
    expect(freed.rows).toEqual([{ status: 'OPEN' }]);
    await other.close();
    await finalizeDue(24.9);
    expect(await first()).toMatchObject({ status: 'DRAFT', cycle: 1 });
    await finalizeDue(25);
    expect(await first()).toMatchObject({ status: 'PAID', cycle: 1, total: '0.00' });
    // The event comes late after all, and is on the next invoice.
    await alone.startWorker();
    await alone.drained();
    await held.moveTo(new Date(end + 33 * 86_400_000).toISOString());
    await runOfIt.untilDone();
    const invoices = await held.get(`/subscriptions/${id}/invoices`);
    const { lines } = await held.get(`/invoices/${invoices.data[0].id}`);
    expect(lines.filter(({ kind }: { kind: string }) => kind === 'LATE_USAGE')).toMatchObject([
      { cycle: 0, quantity: '5', amount: '5.00' },
    ]);
  } finally {
    await held.close();
    await alone.close();
  }
}, 120_000);

test('what was recorded while a draft waited is on its invoice, also where another was finalized meanwhile', async () => {
  const [early, held, idle] = await priced.subscribeMany(3);
  const ids = [early, held, idle].map((each) => each?.id ?? '');
  await billing.moveTo('2026-02-01T00:00:10Z', ...ids);
  const [earlyDraft, heldDraft, idleDraft] = await Promise.all(
    ids.map(async (id) => (await billing.drafts(id)).find(({ cycle }) => cycle === 1)?.id ?? ''),
  );
  await billing.moveTo('2026-02-01T01:10:00Z');
  for (const id of ids) {
    const [first] = await billing.drafts(id);
    if (first?.cycle === 0) await billing.post(`/invoices/${first.id}/finalize`);
  }
  await billing.post(`/invoices/${earlyDraft}/finalize`);
  const closing = async () =>
    (await weir.pool.query('SELECT number FROM closings WHERE organization_id = $1', [billing.admin.id])).rows[0]
      .number;
  const before = Number(await closing());
  // Workers are back: this was accepted before the boundary.
  await billing.moveTo('2026-02-01T05:00:00Z');
  const customer = held?.customer.external_id ?? '';
  await billing.track([{ meter, customer, quantity: 500, at: '2026-01-31T20:00:00Z' }]);
  const { total } = await billing.get(`/invoices/${heldDraft}`);
  const finalize = (id = '') => finalizeInvoices(billing.database, billing.admin.id, [id], { actor: 'weir' });
  await finalize(idleDraft);
  expect(Number(await closing()), 'what has no late events needs no other closing').toBe(before);
  await finalize(heldDraft);
  expect(await billing.get(`/invoices/${heldDraft}`)).toMatchObject({ status: 'OPEN', total });
  expect(Number(await closing())).toBe(before + 1);
});

test('late changes that a waiting draft has shown are on its invoice, also where all dues are closed', async () => {
  const [ended, other] = await priced.subscribeMany(2);
  const [id, customer] = [ended?.id ?? '', ended?.customer.external_id ?? ''];
  const late = (quantity: number) => billing.track([{ meter, customer, quantity, at: '2026-01-20T00:00:00Z' }]);
  await billing.moveTo('2026-01-25T00:00:00Z', id);
  await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(id);
  await billing.request('PATCH', '/billing/settings', { finalize: 'manual' });
  await late(100);
  const settled = await settleSubscription(billing.database, billing.admin.id, id, { actor: 'weir' });
  expect(settled).toMatchObject({ outcome: 'drafted' });
  const [draft] = (await billing.drafts(id)).filter(({ cycle }) => cycle === null);
  // Another draft brings a closing, which the first one comes after, and then something is late for that one.
  await billing.moveTo('2026-01-26T00:00:00Z');
  const [first] = await billing.drafts(other?.id ?? '');
  await billing.post(`/invoices/${first?.id}/finalize`);
  await late(50);
  const { total } = await billing.get(`/invoices/${draft?.id}`);
  expect(total).toBe('15.00');
  await billing.request('PATCH', '/billing/settings', { finalize: 'automatic' });
  await billing.moveTo('2026-01-26T02:00:00Z');
  await run.untilDone();
  expect(await billing.get(`/invoices/${draft?.id}`)).toMatchObject({ status: 'OPEN', total });
});
