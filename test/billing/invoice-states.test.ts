// What becomes of a finalized invoice: it is paid, given up or voided, once.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Billed;

// An organization of its own for each, since billing goes back in time for the next test.
beforeEach(async () => {
  billing = await startBilled(weir);
});
afterEach(() => billing.close());

describe('paying', () => {
  test('is of all that is due, and says when and with what', async () => {
    const { id } = await billing.open();
    const payment = { paid_at: '2025-01-31T12:00:00+01:00', reference: 'ch_1' };
    const invoice = await billing.post(`/invoices/${id}/pay`, payment);
    expect(invoice).toMatchObject({
      status: 'PAID',
      total: '10.00',
      amount_paid: '10.00',
      amount_due: '0.00',
      paid_at: '2025-01-31T11:00:00.000Z',
      reference: 'ch_1',
    });
    expect(await billing.get(`/invoices/${id}`)).toEqual(invoice);
    expect((await billing.feedOf(id)).at(-1)).toMatchObject({
      type: 'invoice.paid',
      actor: await billing.actor(),
      data: { id, status: 'PAID', amount_paid: '10.00', reference: 'ch_1' },
    });
  });

  test('needs neither a time nor a reference: it is paid now', async () => {
    const { id } = await billing.open();
    expect(await billing.post(`/invoices/${id}/pay`)).toMatchObject({
      status: 'PAID',
      paid_at: '2025-02-01T00:10:00.000Z',
      reference: null,
    });
  });

  test('takes a date as its first instant in the zone of the subscription', async () => {
    const elsewhere = await billing.customer({ time_zone: 'Asia/Kathmandu' });
    const other = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: 7 }]);
    const { id } = await billing.subscribe(other.id, elsewhere.id, { start_date: '2025-02-01' });
    const [invoice] = await billing.finalizeAll(id);
    const paid = await billing.post(`/invoices/${invoice.id}/pay`, { paid_at: '2025-02-01' });
    expect(paid.paid_at).toBe('2025-01-31T18:15:00.000Z');
  });

  test('in the future is refused', async () => {
    const { id } = await billing.open();
    const answer = await billing.request('POST', `/invoices/${id}/pay`, { paid_at: '2025-02-01T00:10:00.000001Z' });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('paid_at');
    expect(await billing.open()).toMatchObject({ id, status: 'OPEN' });
  });

  test('a second time is 409 with the reference that paid it, and changes nothing', async () => {
    const { id } = await billing.open();
    const invoice = await billing.post(`/invoices/${id}/pay`, { reference: 'ch_1' });
    const again = await billing.request('POST', `/invoices/${id}/pay`, { reference: 'ch_2' });
    expectProblem(again, 409, 'invoice_not_open');
    expect(again.body.reference).toBe('ch_1');
    expect(await billing.get(`/invoices/${id}`)).toEqual(invoice);
    expect((await billing.feedOf(id)).filter(({ type }) => type === 'invoice.paid')).toHaveLength(1);
  });

  test('ten times at once pays once', async () => {
    const { id } = await billing.open();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => billing.request('POST', `/invoices/${id}/pay`, { reference: `ch_${at}` })),
    );
    const [paid, ...others] = answers.toSorted((one, other) => one.status - other.status);
    expect(paid?.status).toBe(200);
    for (const other of others) {
      expectProblem(other, 409, 'invoice_not_open');
      expect(other.body.reference).toBe(paid?.body.reference);
    }
  });
});

describe('an invoice that is not paid', () => {
  test('is given up as UNCOLLECTIBLE, and can still be paid', async () => {
    const { id } = await billing.open();
    expect(await billing.post(`/invoices/${id}/uncollectible`, { note: 'gone' })).toMatchObject({
      status: 'UNCOLLECTIBLE',
      note: 'gone',
      amount_due: '10.00',
    });
    expectProblem(await billing.request('POST', `/invoices/${id}/uncollectible`), 409, 'invoice_not_open');
    expect(await billing.post(`/invoices/${id}/pay`)).toMatchObject({
      status: 'PAID',
      note: 'gone',
      amount_due: '0.00',
    });
    const types = (await billing.feedOf(id)).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['invoice.uncollectible', 'invoice.paid']);
  });

  test('is voided: its totals stay, nothing is due, and it is neither paid nor given up any more', async () => {
    const { id } = await billing.open();
    const invoice = await billing.post(`/invoices/${id}/void`, { note: 'our mistake' });
    expect(invoice).toMatchObject({ status: 'VOID', total: '10.00', amount_due: '0.00', note: 'our mistake' });
    expect(invoice.invoice_number).toMatch(/^INV-2025-/);
    for (const change of ['pay', 'void', 'uncollectible'])
      expectProblem(await billing.request('POST', `/invoices/${id}/${change}`), 409, 'invoice_not_open');
    expect((await billing.feedOf(id)).at(-1)).toMatchObject({ type: 'invoice.voided', data: { status: 'VOID' } });
  });

  test('is voided also when it was given up before', async () => {
    const { id } = await billing.open();
    await billing.post(`/invoices/${id}/uncollectible`);
    expect(await billing.post(`/invoices/${id}/void`)).toMatchObject({ status: 'VOID' });
  });

  test('gives what it took of credits back when voided, and what it billed does not come back by itself', async () => {
    await billing.post(`/customers/${billing.ownCustomer.id}/credits`, { amount: '4', currency: 'USD' }, 201);
    await billing.use(100, '2025-01-05T00:00:00Z');
    const [invoice] = await billing.finalizeAll(billing.subscription);
    expect(invoice).toMatchObject({ total: '11.50', credits_applied: '4.00', amount_due: '7.50' });
    expect(await billing.get(`/customers/${billing.ownCustomer.id}/credits`)).toMatchObject({
      balance: { USD: '0.00' },
    });
    const voided = await billing.post(`/invoices/${invoice.id}/void`);
    expect(voided).toMatchObject({ total: '11.50', credits_applied: '4.00', amount_due: '0.00' });
    expect(await billing.get(`/customers/${billing.ownCustomer.id}/credits`)).toMatchObject({
      balance: { USD: '4.00' },
    });
    await billing.moveTo('2025-03-01T00:10:00Z', billing.subscription);
    const [next] = await billing.finalizeAll(billing.subscription);
    expect(next).toMatchObject({ total: '10.00' });
  });

  test('keeps its subscription PAST_DUE until it is paid', async () => {
    const { id } = await billing.open();
    await weir.pool.query('UPDATE invoices SET is_past_due = true WHERE id = $1', [id]);
    await weir.pool.query(`UPDATE subscriptions SET status = 'PAST_DUE' WHERE id = $1`, [billing.subscription]);
    await billing.post(`/invoices/${id}/pay`);
    expect(await billing.get(`/subscriptions/${billing.subscription}`)).toMatchObject({ status: 'ACTIVE' });
    expect((await billing.feedOf(billing.subscription)).at(-1)).toMatchObject({ type: 'subscription.activated' });
  });
});
