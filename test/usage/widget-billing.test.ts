// What a widget token opens of billing: what its customer owes, its finalized invoices and its prices, and nothing of anybody else.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer } from '../support/harness.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { textOfPages } from '../support/pdf-text.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Billed;
let apiKey: string;
let token: string;
let strangersToken: string;
/** The invoice of February, which has usage. */
let used: { id: string; invoice_number: string };
let draft: { id: string };
/** The invoice of another customer, over 7.00. */
let theirs: { id: string; customer_id: string };

beforeAll(async () => {
  billing = await startBilled(weir);
  apiKey = await billing.admin.createKey();
  for (const day of [3, 4, 5]) await billing.use(day, `2025-01-0${day}T12:00:00Z`);
  [used] = (await billing.finalizeAll(billing.subscription)) as [typeof used];
  await billing.moveTo('2025-03-05T00:00:00Z', billing.subscription);
  draft = await billing.draft();
  await billing.post(`/customers/${billing.ownCustomer.id}/credits`, { amount: '2.5', currency: 'EUR' }, 201);
  token = await tokenFor(billing.ownCustomer.external_id);
  const other = await billing.customer();
  const seats = await billing.plan([{ type: 'FIXED', display_name: 'Seats', unit_price: '7' }], { name: 'Seats' });
  const { id } = await billing.subscribe(seats.id, other.id, { start_date: '2025-03-01T00:00:00Z' });
  [theirs] = (await billing.finalizeAll(id)) as [typeof theirs];
  strangersToken = await tokenFor(other.external_id);
});
afterAll(() => billing.close());

async function tokenFor(customer_external_id: string, key = apiKey): Promise<string> {
  const answer = await weir.request('POST', '/api/v1/widget/token', { apiKey: key, body: { customer_external_id } });
  return answer.body.token;
}

const ask = (path: string, by = token): Promise<Answer> =>
  weir.request('GET', `/api/v1/widget/${path}`, { headers: { authorization: `Bearer ${by}` } });

describe('the customer of a token', () => {
  test('sees its finalized invoices by pages, newest first, and no draft', async () => {
    const { status, body } = await ask('invoices');
    expect(status).toBe(200);
    expect(body.meta).toMatchObject({ page: 1, total: 2 });
    expect(body.data[0]).toEqual({
      id: used.id,
      invoice_number: used.invoice_number,
      status: 'OPEN',
      currency: 'USD',
      issue_date: '2025-02-01',
      due_date: '2025-03-03',
      period_start: '2025-01-01T00:00:00.000Z',
      period_end: '2025-02-01T00:00:00.000Z',
      subtotal: '10.18',
      tax: '0.00',
      total: '10.18',
      credits_applied: '0.00',
      amount_paid: '0.00',
      amount_due: '10.18',
      is_past_due: false,
    });
    const [first, second] = [await ask('invoices?page_size=1'), await ask('invoices?page_size=1&page=2')];
    expect([...first.body.data, ...second.body.data]).toEqual(body.data);
    expectProblem(await ask(`invoices/${draft.id}`), 404, 'not_found');
    expectProblem(await ask(`invoices/${draft.id}/pdf`), 404, 'not_found');
  });

  test('opens one with its lines, without notes of the organization, and the events behind its usage', async () => {
    const { status, body } = await ask(`invoices/${used.id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ invoice_number: used.invoice_number, time_zone: 'UTC', payments: [] });
    expect(Object.keys(body)).not.toContain('note');
    const [calls, base] = body.lines;
    expect([calls, base]).toMatchObject([
      { description: 'Calls', quantity: '12', amount: '0.18', has_events: true, charge: { unit_price: '0.015' } },
      { description: 'Base', quantity: null, amount: '10.00', has_events: false },
    ]);
    expect((await ask(`invoices/${used.id}/lines?limit=1`)).body).toEqual({
      data: [calls],
      meta: { next_cursor: '1' },
    });
    const events = `invoices/${used.id}/lines/${calls.id}/events`;
    const page = await ask(`${events}?limit=2`);
    expect(page.body.data).toEqual([
      { id: expect.any(String), timestamp: '2025-01-03T12:00:00.000Z', quantity: '3', status: 'recorded' },
      { id: expect.any(String), timestamp: '2025-01-04T12:00:00.000Z', quantity: '4', status: 'recorded' },
    ]);
    const rest = await ask(`${events}?cursor=${page.body.meta.next_cursor}`);
    expect([rest.body.data.map(({ quantity }: { quantity: string }) => quantity), rest.body.meta.next_cursor]).toEqual([
      ['5'],
      null,
    ]);
    expect((await ask(`invoices/${used.id}/lines/${base.id}/events`)).body.data).toEqual([]);
  });

  test('reads no events of a meter that the organization shows to nobody', async () => {
    const hide = (meter_ids: string[] | null) => billing.request('PATCH', '/widget/settings', { meter_ids });
    expect((await hide([])).status).toBe(200);
    const { body } = await ask(`invoices/${used.id}`);
    expect(body.lines[0]).toMatchObject({ description: 'Calls', amount: '0.18', has_events: false });
    expect((await ask(`invoices/${used.id}/lines/${body.lines[0].id}/events`)).body.data).toEqual([]);
    await hide(null);
  });

  test('keeps the same PDF as the organization', async () => {
    const read = async (path: string, headers: Record<string, string>) =>
      new Uint8Array(await (await fetch(`${weir.baseUrl}/api/v1/${path}`, { headers })).arrayBuffer());
    const bytes = await read(`widget/invoices/${used.id}/pdf`, { authorization: `Bearer ${token}` });
    const cookie = `access_token=${billing.admin.session}`;
    expect(bytes).toEqual(await read(`invoices/${used.id}/pdf`, { cookie }));
    expect((await textOfPages(bytes))[0]).toContain(used.invoice_number);
  });

  test('sees what it owes and what credit it has, and what its plan costs now', async () => {
    await weir.pool.query('UPDATE invoices SET is_past_due = true WHERE id = $1', [used.id]);
    expect((await ask('balance')).body).toEqual({
      token_expires_in: expect.any(Number),
      data: [
        { currency: 'EUR', amount_due: '0.00', past_due: '0.00', credit: '2.50' },
        { currency: 'USD', amount_due: '20.18', past_due: '10.18', credit: '0.00' },
      ],
    });
    expect((await ask('plan')).body.plan).toMatchObject({
      name: 'Plan',
      billing_interval: 'month',
      currency: 'USD',
      charges: [
        { display_name: 'Base', unit_price: '10' },
        { display_name: 'Calls', model: 'per_unit', unit_price: '0.015' },
      ],
    });
  });

  test('sees the prices of when it was subscribed, where its period had begun before', async () => {
    const { data } = await billing.get('/subscriptions?status=ACTIVE');
    const { plan_id } = data.find(({ customer_id }: { customer_id: string }) => customer_id === theirs.customer_id);
    const { charges } = await billing.get(`/plans/${plan_id}`);
    const seats = { type: 'FIXED', display_name: 'Seats', unit_price: '9', replaces: charges[0].id };
    await billing.moveTo('2025-03-06T00:00:00Z');
    await billing.post(`/plans/${plan_id}/charges`, seats, 201);
    expect((await ask('plan', strangersToken)).body.plan.charges).toMatchObject([{ unit_price: '7' }]);
  });

  test('sees what it has paid and owes the rest, and is not asked for what was given up', async () => {
    const pay = (amount: string) => billing.post(`/invoices/${used.id}/pay`, { amount, reference: 'not shown' });
    const { payments } = await pay('3');
    await billing.request('DELETE', `/invoices/${used.id}/payments/${payments[0].id}`);
    await pay('4.00');
    const amounts = { total: '10.18', amount_paid: '4.00', amount_due: '6.18', is_past_due: true };
    const { body: list } = await ask('invoices');
    expect(list.data[0]).toMatchObject(amounts);
    expect((await ask(`invoices/${used.id}`)).body).toMatchObject({
      ...amounts,
      payments: [{ amount: '4.00', paid_at: expect.any(String) }],
    });
    const papers = ['?as=now', ''].map(async (query) => {
      const pdf = await fetch(`${weir.baseUrl}/api/v1/widget/invoices/${used.id}/pdf${query}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return (await textOfPages(new Uint8Array(await pdf.arrayBuffer())))[0];
    });
    const [now, issued] = await Promise.all(papers);
    expect(now).toContain('4.00 USD');
    expect(now).not.toContain('not shown');
    expect(issued).toContain(used.invoice_number);
    expect(issued).not.toContain('4.00 USD');
    await billing.post(`/invoices/${list.data[1].id}/uncollectible`);
    const { data } = (await ask('balance')).body;
    expect(data[1]).toEqual({ currency: 'USD', amount_due: '6.18', past_due: '6.18', credit: '0.00' });
  });

  test('is told which event was taken out after the invoice, whose amounts stay', async () => {
    const [line] = (await ask(`invoices/${used.id}`)).body.lines;
    const events = async () => (await ask(`invoices/${used.id}/lines/${line.id}/events`)).body.data;
    const [, , last] = await events();
    await billing.post(`/events/${last.id}/void`, { reason: 'a test of ours' }, 201);
    expect((await events()).map(({ status }: { status: string }) => status)).toEqual([
      'recorded',
      'recorded',
      'voided',
    ]);
    expect((await ask(`invoices/${used.id}`)).body).toMatchObject({ total: '10.18', lines: [line, {}] });
  });

  test('without a record owes nothing, has no invoices and no plan', async () => {
    const nobody = await tokenFor('nobody yet');
    expect((await ask('invoices', nobody)).body).toMatchObject({ data: [], meta: { total: 0, total_pages: 0 } });
    expect((await ask('balance', nobody)).body.data).toEqual([]);
    expect((await ask('plan', nobody)).body).toEqual({ plan: null });
  });
});

test('another customer and another organization of the same external id hear that there is no such invoice', async () => {
  const elsewhere = await signUp(weir);
  const body = { external_id: billing.ownCustomer.external_id };
  await weir.request('POST', '/api/v1/customers', { session: elsewhere.session, body });
  const foreign = await tokenFor(body.external_id, await elsewhere.createKey());
  const [line] = (await ask(`invoices/${used.id}`)).body.lines;
  for (const by of [strangersToken, foreign]) {
    for (const path of ['', '/lines', `/lines/${line.id}/events`, '/pdf'])
      expectProblem(await ask(`invoices/${used.id}${path}`, by), 404, 'not_found');
    const { body: list } = await ask('invoices', by);
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual(by === foreign ? [] : [theirs.id]);
  }
  for (const path of ['', '/lines', '/pdf']) expectProblem(await ask(`invoices/${theirs.id}${path}`), 404, 'not_found');
  // A line is looked for in the invoice that it is asked of.
  expectProblem(await ask(`invoices/${theirs.id}/lines/${line.id}/events`, strangersToken), 404, 'not_found');
  const owed = { currency: 'USD', amount_due: '7.00', past_due: '0.00', credit: '0.00' };
  expect((await ask('balance', strangersToken)).body.data).toEqual([owed]);
  expect((await ask('plan', strangersToken)).body.plan.name).toBe('Seats');
  expect((await ask('balance', foreign)).body.data).toEqual([]);
  expect((await ask('plan', foreign)).body.plan).toBeNull();
});
