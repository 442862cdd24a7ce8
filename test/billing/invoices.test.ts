// Invoices as an admin sees them: drafts that are computed when they are read, what is added to them, what is finalized, and lists.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const NOBODYS = '01890000-0000-7000-8000-000000000001';

const weir = ownWeir();
let billing: Billed;

// An organization of its own for each, since billing goes back in time for the next test.
beforeEach(async () => {
  billing = await startBilled(weir);
});
afterEach(() => billing.close());

describe('a draft', () => {
  test('is computed when it is read: an event is in it as soon as it is recorded', async () => {
    const { id } = await billing.draft();
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ total: '10.00', lines: [{ quantity: '0' }, {}] });
    await billing.use(101, '2025-01-31T23:59:59.999Z');
    await billing.use(5, '2025-02-01T00:00:00Z');
    const invoice = await billing.get(`/invoices/${id}`);
    expect(invoice).toMatchObject({
      id,
      invoice_number: null,
      kind: 'SUBSCRIPTION',
      status: 'DRAFT',
      customer_id: billing.ownCustomer.id,
      subscription_id: billing.subscription,
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
      finalizes_at: '2025-02-01T01:10:00.000Z',
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
        charge_id: billing.ownPlan.charges[1],
        charge: {
          type: 'USAGE',
          model: 'per_unit',
          unit_price: '0.015',
          meter_id: billing.ownMeter.id,
          display_name: 'Calls',
        },
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
        rating_version: 3,
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
    await billing.use(3, '2025-01-10T00:00:00Z');
    const { id } = await billing.draft();
    await billing.post(`/invoices/${id}/lines`, { description: 'Sorry', amount: '-1' }, 201);
    const before = await billing.get(`/invoices/${id}`);
    const after = await billing.post(`/invoices/${id}/finalize`);
    const ids = ({ lines }: { lines: { id: string }[] }) => lines.map((line) => line.id);
    expect(ids(after)).toEqual(ids(before));
    expect(after).toMatchObject({ status: 'OPEN', total: before.total, computed_at: null });
    expect(await billing.get(`/invoices/${id}`)).toEqual(after);
  });

  test('takes ADJUSTMENT lines, also below zero, which are in its total and stand last', async () => {
    const { id } = await billing.draft();
    const added = await billing.post(`/invoices/${id}/lines`, { description: 'Sorry', amount: '-2.5' }, 201);
    expect(added).toMatchObject({
      invoice_id: id,
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
    expect({ ...invoice.lines[2], invoice_id: id }).toEqual(added);
  });

  test('lets go of a line that was added, and of no line that is computed', async () => {
    const { id } = await billing.draft();
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
    const { id } = await billing.draft();
    const answer = await billing.request('POST', `/invoices/${id}/lines`, { description: 'x', amount });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('amount');
    expect((await billing.get(`/invoices/${id}`)).lines).toHaveLength(2);
  });

  test('takes the digits of an amount as they were sent', async () => {
    const { id } = await billing.draft();
    const raw = '{"description": "x", "amount": 123456789012345.67}';
    const { admin } = billing;
    const answer = await weir.request('POST', `/api/v1/invoices/${id}/lines`, { session: admin.session, raw });
    expect(answer.body).toMatchObject({ amount: '123456789012345.67', exact_amount: '123456789012345.67' });
  });

  test('cannot be paid, voided or given up', async () => {
    const { id } = await billing.draft();
    for (const change of ['pay', 'void', 'uncollectible'])
      expectProblem(await billing.request('POST', `/invoices/${id}/${change}`), 409, 'invoice_not_open');
    expect((await billing.get(`/invoices/${id}`)).status).toBe('DRAFT');
  });
});

describe('a finalized invoice', () => {
  test('takes no line, lets none go, and is not finalized again: 409 invoice_not_draft', async () => {
    const { id } = await billing.draft();
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
    const { id } = await billing.draft();
    const invoice = await billing.post(`/invoices/${id}/finalize`);
    expect(invoice).toMatchObject({
      invoice_number: expect.stringMatching(/^INV-2025-\d{6}$/),
      status: 'OPEN',
      issue_date: '2025-02-01',
      due_date: '2025-03-03',
      customer: { name: 'Acme', billing_address_city: 'Oslo' },
    });
    await billing.request('PATCH', `/customers/${billing.ownCustomer.id}`, { name: 'Acme Ltd' });
    expect((await billing.get(`/invoices/${id}`)).customer).toEqual(invoice.customer);
  });

  test('waits for the drafts before it: 409 earlier_draft', async () => {
    await billing.moveTo('2025-03-01T00:10:00Z', billing.subscription);
    const [first, second] = await billing.drafts(billing.subscription);
    expectProblem(await billing.request('POST', `/invoices/${second?.id}/finalize`), 409, 'earlier_draft');
    await billing.post(`/invoices/${first?.id}/finalize`);
    await billing.post(`/invoices/${second?.id}/finalize`);
  });

  test('is told of in the feed by who finalized it', async () => {
    const { id } = await billing.draft();
    await billing.post(`/invoices/${id}/finalize`);
    expect((await billing.feedOf(id)).filter(({ type }) => type === 'invoice.finalized')).toMatchObject([
      { actor: await billing.actor() },
    ]);
  });
});

describe('lists', () => {
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

  test('are newest first, in pages, without lines, with drafts as they are now', async () => {
    await billing.moveTo('2025-04-01T00:10:00Z', billing.subscription);
    await billing.use(100, '2025-03-05T00:00:00Z');
    const list = await billing.get(`/invoices?subscription_id=${billing.subscription}`);
    expect(list.data.map(({ cycle, total }: { cycle: number; total: string }) => [cycle, total])).toEqual([
      [3, '11.50'],
      [2, '10.00'],
      [1, '10.00'],
      [0, '10.00'],
    ]);
    expect(list.data[0]).toMatchObject({ status: 'DRAFT', computed_at: '2025-04-01T00:10:00.000Z' });
    expect(list.data[3]).toMatchObject({ status: 'OPEN', computed_at: null });
    expect(list.data[0]).not.toHaveProperty('lines');
    const { lines: _, payments: __, ...alone } = await billing.get(`/invoices/${list.data[0].id}`);
    expect(list.data[0]).toEqual({ ...alone, not_computed: null });
    const page = await billing.get(`/subscriptions/${billing.subscription}/invoices?page=2&page_size=3`);
    expect(page.meta).toEqual({ page: 2, page_size: 3, total: 4, total_pages: 2, next_cursor: null });
    expect(idsOf(page)).toEqual([list.data[3].id]);
  });

  test('have the latest period first where several invoices were made in one moment', async () => {
    const { id } = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: 1 }]);
    const longAgo = await billing.subscribe(id, billing.ownCustomer.id, { start_date: '2024-06-01T00:00:00Z' });
    const { data } = await billing.get(`/subscriptions/${longAgo.id}/invoices`);
    expect(data.map(({ cycle }: { cycle: number }) => cycle)).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  test('are of a customer, of a subscription, of a status', async () => {
    const all = idsOf(await billing.get(`/invoices?customer_id=${billing.ownCustomer.id}`));
    expect(all).toHaveLength(2);
    expect(idsOf(await billing.get(`/invoices?subscription_id=${billing.subscription}`))).toEqual(all);
    expect(idsOf(await billing.get(`/subscriptions/${billing.subscription}/invoices`))).toEqual(all);
    expect(idsOf(await billing.get(`/invoices?customer_id=${billing.ownCustomer.id}&status=OPEN`))).toEqual(
      all.slice(1),
    );
    expect(idsOf(await billing.get(`/invoices?customer_id=${NOBODYS}`))).toEqual([]);
    expectProblem(await billing.request('GET', '/invoices?status=OPENED'), 422, 'invalid_request');
  });

  test('are of periods that end within instants, which are dates in the organization’s zone', async () => {
    const [second, first] = idsOf(await billing.get(`/subscriptions/${billing.subscription}/invoices`));
    const between = async (query: string) =>
      idsOf(await billing.get(`/invoices?customer_id=${billing.ownCustomer.id}&${query}`));
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

test('what does not exist is 404, whatever is asked of it', async () => {
  const { id } = await billing.draft();
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
