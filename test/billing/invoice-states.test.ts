// What becomes of a finalized invoice: it is paid, given up or voided, once.

import { markPastDue } from '@weir/db/billing/run/past-due';
import { findInvoiceRow } from '@weir/db/billing/invoices/invoices';
import { insertPayment } from '@weir/db/billing/invoices/payments';
import type { Queries } from '@weir/db/database';
import { LIMITS } from '@weir/shared/limits';
import { shiftBillingTime } from '../support/billing-time.ts';
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

describe('paying in parts', () => {
  const pay = (id: string, body?: object) => billing.request('POST', `/invoices/${id}/pay`, body);
  const takeBack = (id: string, payment: string, body?: object) =>
    billing.request('DELETE', `/invoices/${id}/payments/${payment}`, body);

  test('leaves it OPEN until nothing is due, and each payment is told', async () => {
    const { id } = await billing.open();
    const part = await billing.post(`/invoices/${id}/pay`, { amount: '4.5', reference: 'ch_1', paid_at: '2025-01-20' });
    expect(part).toMatchObject({
      status: 'OPEN',
      amount_paid: '4.50',
      amount_due: '5.50',
      paid_at: null,
      reference: null,
    });
    // It came before the first one, and is told after it.
    const all = await billing.post(`/invoices/${id}/pay`, { amount: 5.5, reference: 'ch_2', paid_at: '2025-01-10' });
    expect(all).toMatchObject({
      status: 'PAID',
      amount_paid: '10.00',
      amount_due: '0.00',
      paid_at: '2025-01-20T00:00:00.000Z',
      reference: 'ch_2',
      payments: [
        { amount: '4.50', reference: 'ch_1', paid_at: '2025-01-20T00:00:00.000Z', taken_back_at: null, note: null },
        { amount: '5.50', reference: 'ch_2', paid_at: '2025-01-10T00:00:00.000Z' },
      ],
    });
    expect(await billing.get(`/invoices/${id}`)).toEqual(all);
    const told = (await billing.feedOf(id)).slice(-3);
    expect(told.map(({ type }) => type)).toEqual([
      'invoice.payment_recorded',
      'invoice.payment_recorded',
      'invoice.paid',
    ]);
    expect(told[0]?.data).toMatchObject({ status: 'OPEN', amount_due: '5.50', payment: part.payments[0] });
  });

  test('is told again with its reference, and counts once', async () => {
    const { id } = await billing.open();
    const part = { amount: '4.00', reference: 'ch_1' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => pay(id, part)));
    const [first, ...others] = answers.toSorted((one, other) => one.status - other.status);
    expect(first).toMatchObject({ status: 200, body: { amount_due: '6.00' } });
    for (const other of others) {
      expectProblem(other, 409, 'payment_recorded');
      expect(other.body).toMatchObject({ reference: 'ch_1', id: first?.body.payments[0].id });
    }
    await billing.post(`/invoices/${id}/pay`, { reference: 'ch_2' });
    for (const reference of ['ch_1', 'ch_2']) {
      const again = await pay(id, { amount: '4.00', reference });
      expectProblem(again, 409, 'invoice_not_open');
      expect(again.body.reference).toBe(reference);
    }
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ amount_paid: '10.00' });
  });

  test('is never more than what is due, however many pay at once', async () => {
    const { id } = await billing.open();
    const answers = await Promise.all(Array.from({ length: 8 }, () => pay(id, { amount: '3.00' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.find(({ status }) => status !== 200)!;
    expectProblem(refused, 409, 'payment_above_due');
    expect(refused.body.amount_due).toBe('1.00');
    for (const amount of ['0', '-1', '1.001', 'x']) expectProblem(await pay(id, { amount }), 422, 'invalid_request');
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ amount_paid: '9.00', amount_due: '1.00' });
  });

  test('taken back it counts no more, and stays with its note', async () => {
    const { id } = await billing.open();
    const last = { amount: '4.00', reference: 'ch_1', paid_at: '2025-01-31' };
    const { payments } = await billing.post(`/invoices/${id}/pay`, last);
    await billing.post(`/invoices/${id}/pay`, { paid_at: '2025-01-05' });
    const [payment] = payments;
    expect(await takeBack(id, payment.id, { note: 'of another one' })).toMatchObject({ status: 204 });
    const open = await billing.get(`/invoices/${id}`);
    expect(open).toMatchObject({
      status: 'OPEN',
      amount_paid: '6.00',
      amount_due: '4.00',
      paid_at: null,
      reference: null,
    });
    expect(open.payments[0]).toMatchObject({ ...payment, taken_back_at: expect.any(String), note: 'of another one' });
    const told = await billing.feedOf(id);
    expect(told.find(({ type }) => type === 'invoice.payment_taken_back')).toMatchObject({
      actor: await billing.actor(),
      data: { status: 'OPEN', amount_due: '4.00', payment: open.payments[0] },
    });
    expectProblem(await takeBack(id, payment.id), 409, 'payment_taken_back');
    expectProblem(await takeBack(id, id), 404, 'not_found');
    // Its reference is free: it may have been the right one with a wrong amount.
    expect(await billing.post(`/invoices/${id}/pay`, { reference: 'ch_1', paid_at: '2025-01-10' })).toMatchObject({
      status: 'PAID',
      reference: 'ch_1',
      paid_at: '2025-01-10T00:00:00.000Z',
    });
  });

  test('taken back it is UNCOLLECTIBLE again where it had been given up', async () => {
    const { id } = await billing.open();
    await billing.post(`/invoices/${id}/pay`, { amount: '1.00' });
    await billing.post(`/invoices/${id}/uncollectible`);
    const { payments } = await billing.post(`/invoices/${id}/pay`);
    expect(await takeBack(id, payments[0].id)).toMatchObject({ status: 204 });
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ status: 'UNCOLLECTIBLE', amount_due: '1.00' });
  });

  test('keeps its subscription PAST_DUE until all is paid, and again once that is taken back', async () => {
    const { id } = await billing.open();
    await markPastDue(billing.database, billing.admin.id, [id]);
    const { status } = await billing.post(`/invoices/${id}/pay`, { amount: '9.99' });
    const statusOfSubscription = async () => (await billing.get(`/subscriptions/${billing.subscription}`)).status;
    expect([status, await statusOfSubscription()]).toEqual(['OPEN', 'PAST_DUE']);
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ is_past_due: true });
    const { payments } = await billing.post(`/invoices/${id}/pay`);
    expect(await statusOfSubscription()).toBe('ACTIVE');
    await takeBack(id, payments[1].id);
    expect(await statusOfSubscription()).toBe('PAST_DUE');
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ is_past_due: true, amount_due: '0.01' });
    expect((await billing.feedOf(id)).slice(-2).map(({ type }) => type)).toEqual([
      'invoice.payment_taken_back',
      'invoice.past_due',
    ]);
    expect((await billing.feedOf(billing.subscription)).at(-1)).toMatchObject({ type: 'subscription.past_due' });
  });

  test('is not for nothing: an invoice of which something is paid is not voided', async () => {
    const { id } = await billing.open();
    const { payments } = await billing.post(`/invoices/${id}/pay`, { amount: '4.00' });
    expectProblem(await billing.request('POST', `/invoices/${id}/void`), 409, 'invoice_partly_paid');
    await takeBack(id, payments[0].id);
    expect(await billing.post(`/invoices/${id}/void`)).toMatchObject({ status: 'VOID', amount_paid: '0.00' });
    expectProblem(await takeBack(id, payments[0].id), 409, 'payment_taken_back');
  });

  test('ends at the number of payments that an invoice takes', async () => {
    const { id } = await billing.open();
    await weir.pool.query(
      `INSERT INTO payments (organization_id, invoice_id, id, amount, paid_at, taken_back_at)
       SELECT $1, $2, gen_random_uuid(), 1, now(), now() FROM generate_series(1, $3)`,
      [billing.admin.id, id, LIMITS.payments],
    );
    const refused = await pay(id);
    expectProblem(refused, 422, 'invalid_request');
    expect(refused.body.errors).toMatchObject([
      { path: '', message: expect.stringContaining('mark it uncollectible') },
    ]);
  });

  test('is in the order in which it was recorded, whoever began first', async () => {
    const { id } = await billing.open();
    await shiftBillingTime(weir.pool);
    const { kysely } = billing.database;
    const invoice = await findInvoiceRow(kysely, billing.admin.id, id);
    const record = (transaction: Queries, reference: string) =>
      insertPayment(transaction, invoice!, { amount: 100n, paidAt: '2025-01-20T00:00:00Z', reference });
    await kysely.transaction().execute(async (early) => {
      await early.selectFrom('invoices').select('id').where('id', '=', id).execute();
      await kysely.transaction().execute((late) => record(late, 'first'));
      await record(early, 'second');
    });
    const { payments } = await billing.get(`/invoices/${id}`);
    expect(payments).toMatchObject([{ reference: 'first' }, { reference: 'second' }]);
  });

  test('processes of the version before leave a row of each payment, too', async () => {
    const { id } = await billing.open();
    await billing.post(`/invoices/${id}/pay`, { amount: '4.00', reference: 'ch_1' });
    await weir.pool.query(
      // In a later millisecond: of one, the ids say which is first, and that of such a row is drawn by lot.
      `UPDATE invoices SET status = 'PAID', amount_paid = 10, reference = 'ch_2',
         paid_at = (SELECT paid_at FROM payments WHERE invoice_id = $1) + interval '1 s' WHERE id = $1`,
      [id],
    );
    const { payments } = await billing.get(`/invoices/${id}`);
    expect(payments).toMatchObject([
      { amount: '4.00', reference: 'ch_1' },
      { amount: '6.00', reference: 'ch_2' },
    ]);
  });

  test('is not for nothing where a process of the version before voids it, either', async () => {
    const { id } = await billing.open();
    const { payments } = await billing.post(`/invoices/${id}/pay`, { amount: '4.00' });
    const voided = () =>
      weir.pool.query(`UPDATE invoices SET status = 'VOID', note = 'x', is_past_due = false WHERE id = $1`, [id]);
    await expect(voided()).rejects.toThrow('4.00 of it was paid');
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ status: 'OPEN', amount_paid: '4.00', note: null });
    await takeBack(id, payments[0].id);
    await voided();
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ status: 'VOID', amount_paid: '0.00' });
  });
});

describe('an invoice that is not paid', () => {
  test('is voided, and one that is has a way on: its payment is taken back, or it gets a credit', async () => {
    const { id } = await billing.open();
    await billing.post(`/invoices/${id}/pay`);
    const refused = await billing.request('POST', `/invoices/${id}/void`);
    expectProblem(refused, 409, 'invoice_not_open');
    expect(refused.body.detail).toMatch(/can be taken back.*by a credit/);
  });

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
    expect(types.slice(-3)).toEqual(['invoice.uncollectible', 'invoice.payment_recorded', 'invoice.paid']);
  });

  test('is voided: its totals stay, nothing is due, and it is neither paid nor given up any more', async () => {
    const { id } = await billing.open();
    const invoice = await billing.post(`/invoices/${id}/void`, { note: 'our mistake' });
    expect(invoice).toMatchObject({ status: 'VOID', total: '10.00', amount_due: '0.00', note: 'our mistake' });
    expect(invoice.invoice_number).toMatch(/^INV-2025-/);
    expect(invoice.rebilled).toBe(false);
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
