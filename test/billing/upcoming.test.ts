// What a subscription comes to before there is an invoice, and after its last one.

import { readUsageAmounts } from '@weir/db/billing/invoices/upcoming';
import { lockPlanAlone } from '@weir/db/plans';
import { LIMITS } from '@weir/shared/limits';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { watchRows } from '../support/held-rows.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Billed;

// An organization of its own for each, since billing goes back in time for the next test.
beforeEach(async () => {
  billing = await startBilled(weir);
});
afterEach(() => billing.close());

describe('before there is an invoice', () => {
  test('the preview is the next one as of now, without an id and a number, and what the boundary then makes', async () => {
    await billing.finalizeAll(billing.subscription);
    await billing.use(200, '2025-02-10T00:00:00Z');
    const preview = await billing.post(`/subscriptions/${billing.subscription}/preview-invoice`);
    expect(preview).not.toHaveProperty('id');
    expect(preview).not.toHaveProperty('invoice_number');
    expect(preview).toMatchObject({ cycle: 2, total: '13.00', period_end: '2025-03-01T00:00:00.000Z' });
    expect(preview.lines[0]).not.toHaveProperty('id');
    expect(await billing.drafts(billing.subscription)).toEqual([]);
    await billing.moveTo('2025-03-01T00:00:00Z', billing.subscription);
    const { id } = await billing.draft();
    const { id: _, invoice_number: __, payments: ___, lines, ...made } = await billing.get(`/invoices/${id}`);
    const same = { created_at: '', computed_at: '' };
    expect({ ...preview, ...same }).toEqual({
      ...made,
      lines: lines.map((line: object) => ({ ...line, id: undefined })),
      ...same,
    });
  });

  test('the preview of a subscription that ends with its period bills nothing in advance', async () => {
    await billing.post(`/subscriptions/${billing.subscription}/cancel`);
    const preview = await billing.post(`/subscriptions/${billing.subscription}/preview-invoice`);
    expect(preview.lines).toMatchObject([{ kind: 'USAGE' }]);
  });

  test('the preview in a trial is the invoice at its end, and usage costs nothing until then', async () => {
    const other = await billing.meter('SUM');
    const { id: trialPlan, charges } = await billing.plan([
      { type: 'FIXED', display_name: 'Base', unit_price: 10 },
      { type: 'USAGE', display_name: 'Calls', meter_id: other.id, unit_price: 1 },
    ]);
    const { id } = await billing.subscribe(trialPlan, billing.ownCustomer.id, {
      start_date: '2025-02-01',
      trial_end_date: '2025-02-15',
    });
    await billing.track([
      { meter: other, customer: billing.ownCustomer.external_id, quantity: 3, at: '2025-02-01T00:05:00Z' },
    ]);
    expect(await billing.post(`/subscriptions/${id}/preview-invoice`)).toMatchObject({
      cycle: 0,
      period_start: '2025-02-15T00:00:00.000Z',
      period_end: '2025-02-15T00:00:00.000Z',
      total: '10.00',
      lines: [{ kind: 'FIXED', period_end: '2025-03-15T00:00:00.000Z' }],
    });
    expect(await billing.get(`/subscriptions/${id}/usage`)).toEqual({
      data: [{ charge_id: charges[1], meter_id: other.id, quantity: '3', amount: '0.00' }],
    });
  });

  test('a preview too large to be kept is computed again by a repeat, whole, and its key stays with it', async () => {
    const charge = { type: 'FIXED', display_name: 'x'.repeat(LIMITS.name), unit_price: 1 };
    const { id: plan } = await billing.plan(Array.from({ length: LIMITS.planCharges }, () => charge));
    const { id } = await billing.subscribe(plan, billing.ownCustomer.id, { start_date: '2025-02-01' });
    const headers = { 'idempotency-key': randomUUID() };
    const { session } = billing.admin;
    const preview = () => weir.request('POST', `/api/v1/subscriptions/${id}/preview-invoice`, { session, headers });
    const first = await preview();
    expect(JSON.stringify(first.body).length).toBeGreaterThan(LIMITS.keptAnswerBytes);
    const second = await preview();
    expect([second.headers.get('idempotent-withheld'), second.headers.get('idempotent-replay')]).toEqual([null, null]);
    expect(second.body.lines).toEqual(first.body.lines);
    const { body } = await weir.request('POST', '/api/v1/customers', { session, headers, body: {} });
    expect(body.code).toBe('idempotency_key_reused');
  });

  test('a subscription that has ended has no next invoice: 409 subscription_ended', async () => {
    await billing.post(`/subscriptions/${billing.subscription}/cancel`, { cancel_at_period_end: false });
    const answer = await billing.request('POST', `/subscriptions/${billing.subscription}/preview-invoice`);
    expectProblem(answer, 409, 'subscription_ended');
  });

  test('the usage of the open period is told for each charge for usage, with what it comes to', async () => {
    await billing.use(7, '2025-01-31T23:00:00Z');
    await billing.use(100, '2025-02-01T00:00:00Z');
    expect(await billing.get(`/subscriptions/${billing.subscription}/usage`)).toEqual({
      data: [{ charge_id: billing.ownPlan.charges[1], meter_id: billing.ownMeter.id, quantity: '100', amount: '1.50' }],
    });
  });

  test('minimum and maximum of a part of a period are by its days, as they are on the invoice', async () => {
    const [least, most] = [await billing.meter(), await billing.meter()];
    const usage = { type: 'USAGE', unit_price: '1' };
    const { id: plan } = await billing.plan([
      { ...usage, display_name: 'At least', meter_id: least.id, minimum_amount: '10' },
      { ...usage, display_name: 'At most', meter_id: most.id, maximum_amount: '10' },
    ]);
    await billing.moveTo('2025-02-08T00:00:00Z');
    const customer = await billing.customer();
    const { id } = await billing.subscribe(plan, customer.id, { billing_alignment: 'calendar' });
    await billing.track([{ meter: most, customer: customer.external_id, quantity: 100, at: '2025-02-08T12:00:00Z' }]);
    // 21 of the 28 days.
    const { data } = await billing.get(`/subscriptions/${id}/usage`);
    expect(data).toMatchObject([{ amount: '7.50' }, { amount: '7.50' }]);
    await billing.moveTo('2025-03-01T00:00:00Z', id);
    const [draft] = await billing.drafts(id);
    const { lines } = await billing.get(`/invoices/${draft?.id}`);
    expect(lines).toMatchObject([
      { days: '21/28', amount: '7.50' },
      { days: '21/28', amount: '7.50' },
    ]);
  });

  test('what many periods come to is added up of parts, which hold no more than may be computed at once', async () => {
    await billing.use(100, '2025-02-01T00:00:00Z');
    const periods = [{ subscription_id: billing.subscription, cycle: 1, currency: 'USD' }];
    for (let times = 0; times < 4; times += 1) {
      const { id } = await billing.customer();
      const other = await billing.subscribe(billing.ownPlan.id, id, { start_date: '2025-02-01T00:00:00Z' });
      periods.unshift({ subscription_id: other.id, cycle: 0, currency: 'USD' });
    }
    const watched = watchRows(billing.database);
    const amounts = () => readUsageAmounts(watched.database.kysely, billing.admin.id, periods);
    expect([await amounts(), watched.take('terms')]).toEqual([[0n, 0n, 0n, 0n, 150n], { all: 5, most: 5 }]);
    // A period weighs 2 MB.
    await weir.pool.query('UPDATE charges SET terms = terms || $1 WHERE organization_id = $2', [
      { x: 'x'.repeat(1_000_000) },
      billing.admin.id,
    ]);
    expect([await amounts(), watched.take('terms')]).toEqual([[0n, 0n, 0n, 0n, 150n], { all: 5, most: 2 }]);
  });
});

describe('after the end', () => {
  const settle = () => billing.request('POST', `/subscriptions/${billing.subscription}/settle`);

  test('settle waits for the end, and for the final invoice: 409 subscription_not_ended, 409 earlier_draft', async () => {
    expectProblem(await settle(), 409, 'subscription_not_ended');
    await billing.post(`/subscriptions/${billing.subscription}/cancel`, { cancel_at_period_end: false });
    expectProblem(await settle(), 409, 'earlier_draft');
  });

  test('settle at the end of the last period makes the final invoice where the run has not been there', async () => {
    await billing.finalizeAll(billing.subscription);
    await billing.post(`/subscriptions/${billing.subscription}/cancel`);
    await billing.moveTo('2025-02-28T23:59:59.999999Z');
    expectProblem(await settle(), 409, 'subscription_not_ended');
    await billing.moveTo('2025-03-01T00:00:00Z');
    expect(await billing.get(`/subscriptions/${billing.subscription}`)).toMatchObject({ status: 'CANCELED' });
    expectProblem(await settle(), 409, 'earlier_draft');
    expect(await billing.drafts(billing.subscription)).toMatchObject([{ cycle: 2 }]);
    expect((await billing.feedOf(billing.subscription)).at(-1)).toMatchObject({ type: 'subscription.canceled' });
    await billing.finalizeAll(billing.subscription);
    expect((await settle()).body).toEqual({ invoice: null });
  });

  test('settle at the end of the last period makes the final invoice also while somebody changes the plan', async () => {
    await billing.finalizeAll(billing.subscription);
    await billing.post(`/subscriptions/${billing.subscription}/cancel`);
    await billing.moveTo('2025-03-01T00:00:00Z');
    await billing.database.kysely.transaction().execute(async (transaction) => {
      await lockPlanAlone(transaction, billing.admin.id, billing.ownPlan.id);
      expectProblem(await settle(), 409, 'earlier_draft');
    });
    expect(await billing.drafts(billing.subscription)).toMatchObject([{ cycle: 2 }]);
  });

  test('settle puts what came late on an ADJUSTMENT invoice, and where nothing did it says null', async () => {
    await billing.post(`/subscriptions/${billing.subscription}/cancel`, { cancel_at_period_end: false });
    await billing.finalizeAll(billing.subscription);
    const nothing = await settle();
    expect([nothing.status, nothing.body]).toEqual([200, { invoice: null }]);
    await billing.use(100, '2025-01-20T00:00:00Z');
    await billing.moveTo('2025-02-01T00:11:00Z');
    const settled = await settle();
    expect(settled.status).toBe(201);
    expect(settled.body.invoice).toMatchObject({
      kind: 'ADJUSTMENT',
      cycle: null,
      status: 'OPEN',
      total: '1.50',
      lines: [{ kind: 'LATE_USAGE', quantity: '100', amount: '1.50' }],
    });
    expect(await billing.get(`/invoices/${settled.body.invoice.id}`)).toEqual(settled.body.invoice);
    expect((await settle()).body).toEqual({ invoice: null });
  });

  test('settle says null where late changes add up to 0.00, and bills them with what comes next', async () => {
    await billing.use(100, '2025-01-20T00:00:00Z');
    await billing.post(`/subscriptions/${billing.subscription}/cancel`, { cancel_at_period_end: false });
    await billing.finalizeAll(billing.subscription);
    const { rows } = await weir.pool.query('SELECT id FROM events WHERE organization_id = $1', [billing.admin.id]);
    await billing.post(`/events/${rows[0].id}/void`, { reason: 'Of February' }, 201);
    await billing.use(100, '2025-02-01T00:05:00Z');
    await billing.moveTo('2025-02-01T00:11:00Z');
    const nothing = await settle();
    expect([nothing.status, nothing.body]).toEqual([200, { invoice: null }]);
    await billing.use(200, '2025-02-01T00:05:00Z');
    expect((await settle()).body.invoice).toMatchObject({
      total: '3.00',
      lines: [{ amount: '-1.50' }, { amount: '4.50' }],
    });
  });
});
