// Invoices as an admin sees them: drafts that are computed when they are read, lists, previews, what is added to a draft, and
// what becomes of an invoice once it is finalized.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startWeir, type Weir } from '../support/harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';

let weir: Weir;
let billing: Invoicing;
let meter: PricedMeter;
let plan: { id: string; charges: string[] };
let customer: { id: string; external_id: string };
let subscription: string;

const NOBODYS = '01890000-0000-7000-8000-000000000001';

beforeAll(async () => {
  weir = await startWeir();
});
afterAll(() => weir.close());

/**
 * An organization of its own, since billing goes back in time for the next test. A subscription from 1 January 2025 on, at 00:10
 * of 1 February: a finalized invoice of cycle 0, and a draft of cycle 1.
 */
beforeEach(async () => {
  billing = await startInvoicing(weir);
  meter = await billing.meter('SUM');
  plan = await billing.plan([
    { type: 'FIXED', display_name: 'Base', unit_price: '10' },
    { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '0.015' },
  ]);
  await billing.moveTo('2025-01-01T00:10:00Z');
  customer = await billing.customer({ name: 'Acme', billing_address_city: 'Oslo' });
  subscription = (await billing.subscribe(plan.id, customer.id, { start_date: '2025-01-01T00:00:00Z' })).id;
  await billing.finalizeAll(subscription);
  await billing.moveTo('2025-02-01T00:10:00Z', subscription);
});
afterEach(() => billing.close());

const use = (quantity: number, at: string) => billing.track([{ meter, customer: customer.external_id, quantity, at }]);

async function draft() {
  const [first] = await billing.drafts(subscription);
  if (first === undefined) throw new Error('there is no draft');
  return first;
}

/** The invoice of cycle 0, which is OPEN over 10.00. */
async function open() {
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices?status=OPEN`);
  return data[0];
}

async function feedOf(id: string) {
  const { rows } = await weir.pool.query(
    `SELECT type, actor, data FROM billing_events WHERE organization_id = $1 AND data ->> 'id' = $2 ORDER BY sequence`,
    [billing.admin.id, id],
  );
  return rows;
}

async function actor(): Promise<string> {
  const { rows } = await weir.pool.query('SELECT id FROM users WHERE organization_id = $1', [billing.admin.id]);
  return `user:${rows[0].id}`;
}

describe('a draft', () => {
  test('is computed when it is read: an event is in it as soon as it is recorded', async () => {
    const { id } = await draft();
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ total: '10.00', lines: [{ quantity: '0' }, {}] });
    await use(101, '2025-01-31T23:59:59.999Z');
    await use(5, '2025-02-01T00:00:00Z');
    const invoice = await billing.get(`/invoices/${id}`);
    expect(invoice).toMatchObject({
      id,
      invoice_number: null,
      kind: 'SUBSCRIPTION',
      status: 'DRAFT',
      customer_id: customer.id,
      subscription_id: subscription,
      cycle: 1,
      currency: 'USD',
      issue_date: null,
      due_date: null,
      period_start: '2025-01-01T00:00:00.000Z',
      period_end: '2025-02-01T00:00:00.000Z',
      // 101 × 0.015 = 1.515, rounded once.
      subtotal: '11.52',
      tax: '0.00',
      total: '11.52',
      credits_applied: '0.00',
      amount_paid: '0.00',
      amount_due: '11.52',
      finalizes_at: '2025-02-01T01:00:00.000Z',
      finalized_at: null,
      paid_at: null,
      note: null,
      customer: null,
      computed_at: '2025-02-01T00:10:00.000Z',
    });
    expect(invoice.lines).toMatchObject([
      {
        kind: 'USAGE',
        description: 'Calls',
        charge_id: plan.charges[1],
        charge: { type: 'USAGE', model: 'per_unit', unit_price: '0.015', meter_id: meter.id, display_name: 'Calls' },
        period_start: '2025-01-01T00:00:00.000Z',
        period_end: '2025-02-01T00:00:00.000Z',
        days: null,
        quantity: '101',
        event_count: 1,
        detail: null,
        exact_amount: '1.515',
        billed_before: '0.00',
        amount: '1.52',
        closing: null,
        rating_version: 1,
      },
      {
        kind: 'FIXED',
        charge: { type: 'FIXED', timing: 'in_advance', unit_price: '10', meter_id: null },
        period_start: '2025-02-01T00:00:00.000Z',
        quantity: null,
        event_count: null,
        exact_amount: '10',
        amount: '10.00',
      },
    ]);
  });

  test('keeps the ids of its lines when it is finalized', async () => {
    await use(3, '2025-01-10T00:00:00Z');
    const { id } = await draft();
    await billing.post(`/invoices/${id}/lines`, { description: 'Sorry', amount: '-1' }, 201);
    const before = await billing.get(`/invoices/${id}`);
    const after = await billing.post(`/invoices/${id}/finalize`);
    const ids = ({ lines }: { lines: { id: string }[] }) => lines.map((line) => line.id);
    expect(ids(after)).toEqual(ids(before));
    expect(after).toMatchObject({ status: 'OPEN', total: before.total, computed_at: null });
    expect(await billing.get(`/invoices/${id}`)).toEqual(after);
  });

  test('takes ADJUSTMENT lines, also below zero, which are in its total and stand last', async () => {
    const { id } = await draft();
    const line = await billing.post(`/invoices/${id}/lines`, { description: 'Sorry', amount: '-2.5' }, 201);
    expect(line).toMatchObject({
      kind: 'ADJUSTMENT',
      description: 'Sorry',
      charge_id: null,
      charge: null,
      period_start: null,
      quantity: null,
      exact_amount: '-2.5',
      billed_before: '0.00',
      amount: '-2.50',
      closing: null,
    });
    await billing.post(`/invoices/${id}/lines`, { description: 'Setup', amount: 1.05 }, 201);
    const invoice = await billing.get(`/invoices/${id}`);
    expect(invoice).toMatchObject({ subtotal: '8.55', total: '8.55', amount_due: '8.55' });
    expect(invoice.lines.map(({ description }: { description: string }) => description)).toEqual([
      'Calls',
      'Base',
      'Sorry',
      'Setup',
    ]);
    expect(invoice.lines[2]).toEqual(line);
  });

  test('lets go of a line that was added, and of no line that is computed', async () => {
    const { id } = await draft();
    const line = await billing.post(`/invoices/${id}/lines`, { description: 'Sorry', amount: '-2.5' }, 201);
    expect((await billing.request('DELETE', `/invoices/${id}/lines/${line.id}`)).status).toBe(204);
    expectProblem(await billing.request('DELETE', `/invoices/${id}/lines/${line.id}`), 404, 'not_found');
    const { lines, total } = await billing.get(`/invoices/${id}`);
    expect(total).toBe('10.00');
    expectProblem(await billing.request('DELETE', `/invoices/${id}/lines/${lines[0].id}`), 404, 'not_found');
    expect((await billing.get(`/invoices/${id}`)).lines).toEqual(lines);
  });

  test.each([
    ['more digits than the currency has', '1.005'],
    ['more digits, as a number', 0.001],
    ['zero', '0.00'],
    ['an exponent in a string', '1e2'],
    ['sixteen digits before the point', '1234567890123456'],
    ['words', 'ten'],
    ['an empty string', ''],
  ])('refuses an amount of %s', async (_, amount) => {
    const { id } = await draft();
    const answer = await billing.request('POST', `/invoices/${id}/lines`, { description: 'x', amount });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('amount');
    expect((await billing.get(`/invoices/${id}`)).lines).toHaveLength(2);
  });

  test('takes the digits of an amount as they were sent', async () => {
    const { id } = await draft();
    const raw = '{"description": "x", "amount": 123456789012345.67}';
    const { admin } = billing;
    const answer = await weir.request('POST', `/api/v1/invoices/${id}/lines`, { session: admin.session, raw });
    expect(answer.body).toMatchObject({ amount: '123456789012345.67', exact_amount: '123456789012345.67' });
  });

  test('cannot be paid, voided or given up', async () => {
    const { id } = await draft();
    for (const change of ['pay', 'void', 'uncollectible'])
      expectProblem(await billing.request('POST', `/invoices/${id}/${change}`), 409, 'invoice_not_open');
    expect((await billing.get(`/invoices/${id}`)).status).toBe('DRAFT');
  });
});

describe('a finalized invoice', () => {
  test('takes no line, lets none go, and is not finalized again: 409 invoice_not_draft', async () => {
    const { id } = await draft();
    const line = await billing.post(`/invoices/${id}/lines`, { description: 'Sorry', amount: '-1' }, 201);
    const invoice = await billing.post(`/invoices/${id}/finalize`);
    const added = await billing.request('POST', `/invoices/${id}/lines`, { description: 'x', amount: '1' });
    expectProblem(added, 409, 'invoice_not_draft');
    const taken = await billing.request('DELETE', `/invoices/${id}/lines/${line.id}`);
    expectProblem(taken, 409, 'invoice_not_draft');
    expectProblem(await billing.request('POST', `/invoices/${id}/finalize`), 409, 'invoice_not_draft');
    expect(await billing.get(`/invoices/${id}`)).toEqual(invoice);
  });

  test('has a number, its dates, and the customer as it was then', async () => {
    const { id } = await draft();
    const invoice = await billing.post(`/invoices/${id}/finalize`);
    expect(invoice).toMatchObject({
      invoice_number: expect.stringMatching(/^INV-2025-\d{6}$/),
      status: 'OPEN',
      issue_date: '2025-02-01',
      due_date: '2025-03-03',
      customer: { name: 'Acme', billing_address_city: 'Oslo' },
    });
    await billing.request('PATCH', `/customers/${customer.id}`, { name: 'Acme Ltd' });
    expect((await billing.get(`/invoices/${id}`)).customer).toEqual(invoice.customer);
  });

  test('waits for the drafts before it: 409 earlier_draft', async () => {
    await billing.moveTo('2025-03-01T00:10:00Z', subscription);
    const [first, second] = await billing.drafts(subscription);
    expectProblem(await billing.request('POST', `/invoices/${second?.id}/finalize`), 409, 'earlier_draft');
    await billing.post(`/invoices/${first?.id}/finalize`);
    await billing.post(`/invoices/${second?.id}/finalize`);
  });

  test('is told of in the feed by who finalized it', async () => {
    const { id } = await draft();
    await billing.post(`/invoices/${id}/finalize`);
    expect((await feedOf(id)).filter(({ type }) => type === 'invoice.finalized')).toMatchObject([
      { actor: await actor() },
    ]);
  });
});

describe('paying', () => {
  test('is of all that is due, and says when and with what', async () => {
    const { id } = await open();
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
    expect((await feedOf(id)).at(-1)).toMatchObject({
      type: 'invoice.paid',
      actor: await actor(),
      data: { id, status: 'PAID', amount_paid: '10.00', reference: 'ch_1' },
    });
  });

  test('needs neither a time nor a reference: it is paid now', async () => {
    const { id } = await open();
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
    const { id } = await open();
    const answer = await billing.request('POST', `/invoices/${id}/pay`, { paid_at: '2025-02-01T00:10:00.000001Z' });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('paid_at');
    expect(await open()).toMatchObject({ id, status: 'OPEN' });
  });

  test('a second time is 409 with the reference that paid it, and changes nothing', async () => {
    const { id } = await open();
    const invoice = await billing.post(`/invoices/${id}/pay`, { reference: 'ch_1' });
    const again = await billing.request('POST', `/invoices/${id}/pay`, { reference: 'ch_2' });
    expectProblem(again, 409, 'invoice_not_open');
    expect(again.body.reference).toBe('ch_1');
    expect(await billing.get(`/invoices/${id}`)).toEqual(invoice);
    expect((await feedOf(id)).filter(({ type }) => type === 'invoice.paid')).toHaveLength(1);
  });

  test('ten times at once pays once', async () => {
    const { id } = await open();
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
    const { id } = await open();
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
    const types = (await feedOf(id)).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['invoice.uncollectible', 'invoice.paid']);
  });

  test('is voided: its totals stay, nothing is due, and it is neither paid nor given up any more', async () => {
    const { id } = await open();
    const invoice = await billing.post(`/invoices/${id}/void`, { note: 'our mistake' });
    expect(invoice).toMatchObject({ status: 'VOID', total: '10.00', amount_due: '0.00', note: 'our mistake' });
    expect(invoice.invoice_number).toMatch(/^INV-2025-/);
    for (const change of ['pay', 'void', 'uncollectible'])
      expectProblem(await billing.request('POST', `/invoices/${id}/${change}`), 409, 'invoice_not_open');
    expect((await feedOf(id)).at(-1)).toMatchObject({ type: 'invoice.voided', data: { status: 'VOID' } });
  });

  test('is voided also when it was given up before', async () => {
    const { id } = await open();
    await billing.post(`/invoices/${id}/uncollectible`);
    expect(await billing.post(`/invoices/${id}/void`)).toMatchObject({ status: 'VOID' });
  });

  test('gives what it took of credits back when it is voided, and what it billed does not come back by itself', async () => {
    await billing.post(`/customers/${customer.id}/credits`, { amount: '4', currency: 'USD' }, 201);
    await use(100, '2025-01-05T00:00:00Z');
    const [invoice] = await billing.finalizeAll(subscription);
    expect(invoice).toMatchObject({ total: '11.50', credits_applied: '4.00', amount_due: '7.50' });
    expect(await billing.get(`/customers/${customer.id}/credits`)).toMatchObject({ balance: { USD: '0.00' } });
    const voided = await billing.post(`/invoices/${invoice.id}/void`);
    expect(voided).toMatchObject({ total: '11.50', credits_applied: '4.00', amount_due: '0.00' });
    expect(await billing.get(`/customers/${customer.id}/credits`)).toMatchObject({ balance: { USD: '4.00' } });
    await billing.moveTo('2025-03-01T00:10:00Z', subscription);
    const [next] = await billing.finalizeAll(subscription);
    expect(next).toMatchObject({ total: '10.00' });
  });

  test('keeps its subscription PAST_DUE until it is paid', async () => {
    const { id } = await open();
    await weir.pool.query('UPDATE invoices SET is_past_due = true WHERE id = $1', [id]);
    await weir.pool.query(`UPDATE subscriptions SET status = 'PAST_DUE' WHERE id = $1`, [subscription]);
    await billing.post(`/invoices/${id}/pay`);
    expect(await billing.get(`/subscriptions/${subscription}`)).toMatchObject({ status: 'ACTIVE' });
    expect((await feedOf(subscription)).at(-1)).toMatchObject({ type: 'subscription.activated' });
  });
});

describe('lists', () => {
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

  test('are newest first, in pages, without lines, with drafts as they are now', async () => {
    await billing.moveTo('2025-04-01T00:10:00Z', subscription);
    await use(100, '2025-03-05T00:00:00Z');
    const list = await billing.get(`/invoices?subscription_id=${subscription}`);
    expect(list.data.map(({ cycle, total }: { cycle: number; total: string }) => [cycle, total])).toEqual([
      [3, '11.50'],
      [2, '10.00'],
      [1, '10.00'],
      [0, '10.00'],
    ]);
    expect(list.data[0]).toMatchObject({ status: 'DRAFT', computed_at: '2025-04-01T00:10:00.000Z' });
    expect(list.data[3]).toMatchObject({ status: 'OPEN', computed_at: null });
    expect(list.data[0]).not.toHaveProperty('lines');
    const { lines: _, ...alone } = await billing.get(`/invoices/${list.data[0].id}`);
    expect(list.data[0]).toEqual(alone);
    const page = await billing.get(`/subscriptions/${subscription}/invoices?page=2&page_size=3`);
    expect(page.meta).toEqual({ page: 2, page_size: 3, total: 4, total_pages: 2 });
    expect(idsOf(page)).toEqual([list.data[3].id]);
  });

  test('are of a customer, of a subscription, of a status', async () => {
    const all = idsOf(await billing.get(`/invoices?customer_id=${customer.id}`));
    expect(all).toHaveLength(2);
    expect(idsOf(await billing.get(`/invoices?subscription_id=${subscription}`))).toEqual(all);
    expect(idsOf(await billing.get(`/subscriptions/${subscription}/invoices`))).toEqual(all);
    expect(idsOf(await billing.get(`/invoices?customer_id=${customer.id}&status=OPEN`))).toEqual(all.slice(1));
    expect(idsOf(await billing.get(`/invoices?customer_id=${NOBODYS}`))).toEqual([]);
    expectProblem(await billing.request('GET', '/invoices?status=OPENED'), 422, 'invalid_request');
  });

  test('are of periods that end from one instant on and before another, which are dates in the organization’s zone', async () => {
    const [second, first] = idsOf(await billing.get(`/subscriptions/${subscription}/invoices`));
    const between = async (query: string) => idsOf(await billing.get(`/invoices?customer_id=${customer.id}&${query}`));
    // The periods end at 1 January and at 1 February.
    expect(await between('from=2025-01-01T00:00:00Z')).toEqual([second, first]);
    expect(await between('from=2025-01-01T00:00:00.000001Z')).toEqual([second]);
    expect(await between('to=2025-02-01T00:00:00Z')).toEqual([first]);
    expect(await between('from=2025-01-01&to=2025-02-02')).toEqual([second, first]);
    await billing.request('PATCH', '/billing/settings', { time_zone: 'America/New_York' });
    expect(await between('from=2025-01-01&to=2025-02-01')).toEqual([second]);
    expectProblem(await billing.request('GET', '/invoices?from=tomorrow'), 422, 'invalid_request');
    expectProblem(await billing.request('GET', '/invoices?to=2025-02-30'), 422, 'invalid_request');
  });
});

describe('before there is an invoice', () => {
  test('the preview is the next one as of now, without an id and a number, and what the boundary then makes', async () => {
    await billing.finalizeAll(subscription);
    await use(200, '2025-02-10T00:00:00Z');
    const preview = await billing.post(`/subscriptions/${subscription}/preview-invoice`);
    expect(preview).not.toHaveProperty('id');
    expect(preview).not.toHaveProperty('invoice_number');
    expect(preview).toMatchObject({ cycle: 2, total: '13.00', period_end: '2025-03-01T00:00:00.000Z' });
    expect(preview.lines[0]).not.toHaveProperty('id');
    expect(await billing.drafts(subscription)).toEqual([]);
    await billing.moveTo('2025-03-01T00:10:00Z', subscription);
    const { id } = await draft();
    const { id: _, invoice_number: __, lines, ...made } = await billing.get(`/invoices/${id}`);
    const same = { created_at: '', computed_at: '' };
    expect({ ...preview, ...same }).toEqual({
      ...made,
      lines: lines.map(({ id: _, ...line }: { id: string }) => line),
      ...same,
    });
  });

  test('the preview of a subscription that ends with its period bills nothing in advance', async () => {
    await billing.post(`/subscriptions/${subscription}/cancel`);
    const preview = await billing.post(`/subscriptions/${subscription}/preview-invoice`);
    expect(preview.lines).toMatchObject([{ kind: 'USAGE' }]);
  });

  test('the preview in a trial is the invoice at its end, and usage costs nothing until then', async () => {
    const other = await billing.meter('SUM');
    const { id: trialPlan, charges } = await billing.plan([
      { type: 'FIXED', display_name: 'Base', unit_price: 10 },
      { type: 'USAGE', display_name: 'Calls', meter_id: other.id, unit_price: 1 },
    ]);
    const { id } = await billing.subscribe(trialPlan, customer.id, {
      start_date: '2025-02-01',
      trial_end_date: '2025-02-15',
    });
    await billing.track([{ meter: other, customer: customer.external_id, quantity: 3, at: '2025-02-01T00:05:00Z' }]);
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

  test('a subscription that has ended has no next invoice: 409 subscription_ended', async () => {
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    const answer = await billing.request('POST', `/subscriptions/${subscription}/preview-invoice`);
    expectProblem(answer, 409, 'subscription_ended');
  });

  test('the usage of the open period is told for each charge for usage, with what it comes to', async () => {
    await use(7, '2025-01-31T23:00:00Z');
    await use(100, '2025-02-01T00:00:00Z');
    expect(await billing.get(`/subscriptions/${subscription}/usage`)).toEqual({
      data: [{ charge_id: plan.charges[1], meter_id: meter.id, quantity: '100', amount: '1.50' }],
    });
  });
});

describe('after the end', () => {
  const settle = () => billing.request('POST', `/subscriptions/${subscription}/settle`);

  test('settle waits for the end, and for the final invoice: 409 subscription_not_ended, 409 earlier_draft', async () => {
    expectProblem(await settle(), 409, 'subscription_not_ended');
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    expectProblem(await settle(), 409, 'earlier_draft');
  });

  test('settle puts what came late on an ADJUSTMENT invoice, and where nothing did it says null', async () => {
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    await billing.finalizeAll(subscription);
    const nothing = await settle();
    expect([nothing.status, nothing.body]).toEqual([200, { invoice: null }]);
    await use(100, '2025-01-20T00:00:00Z');
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
});

test('what does not exist is 404, whatever is asked of it', async () => {
  const { id } = await draft();
  const asked: [string, string, object?][] = [
    ['GET', `/invoices/${NOBODYS}`],
    ['GET', `/subscriptions/${NOBODYS}/invoices`],
    ['GET', `/subscriptions/${NOBODYS}/usage`],
    ['POST', `/subscriptions/${NOBODYS}/preview-invoice`],
    ['POST', `/subscriptions/${NOBODYS}/settle`],
    ['POST', `/invoices/${NOBODYS}/finalize`],
    ['POST', `/invoices/${NOBODYS}/pay`],
    ['POST', `/invoices/${NOBODYS}/void`],
    ['POST', `/invoices/${NOBODYS}/uncollectible`],
    ['POST', `/invoices/${NOBODYS}/recompute`],
    ['POST', `/invoices/${NOBODYS}/lines`, { description: 'x', amount: 1 }],
    ['DELETE', `/invoices/${NOBODYS}/lines/${NOBODYS}`],
    ['GET', `/invoices/${NOBODYS}/lines/${NOBODYS}/usage`],
    ['GET', `/invoices/${NOBODYS}/lines/${NOBODYS}/events`],
    ['DELETE', `/invoices/${id}/lines/${NOBODYS}`],
    ['GET', `/invoices/${id}/lines/${NOBODYS}/usage`],
    ['GET', `/invoices/${id}/lines/${NOBODYS}/events`],
  ];
  for (const [method, path, body] of asked) expectProblem(await billing.request(method, path, body), 404, 'not_found');
});
