// What customers had in advance at an instant, and which grant paid how much of which invoice.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

// oxlint-disable-next-line typescript/no-explicit-any
type Body = any;

const weir = ownWeir();
let billing: Billed;
beforeAll(async () => {
  billing = await startBilled(weir);
});
afterAll(() => billing.close());

const own = () => billing.ownCustomer.id;
const grant = (customer: string, fields: object): Promise<Body> =>
  billing.post(`/customers/${customer}/credits`, { currency: 'USD', ...fields }, 201);
const entriesOf = async (path: string): Promise<Body[]> => (await billing.get(path)).data;

test('what was there at an instant is what was answered at that instant, whatever came after it', async () => {
  const [other, third] = [(await billing.customer()).id, (await billing.customer()).id];
  const monthly = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '31' }]);
  const [NEW, OLD] = ['/customers', '/credits'];
  const questions = [
    `${NEW}/${own()}/credits?`,
    `${NEW}/${other}/credits?`,
    `${OLD}/balance?`,
    `${OLD}/balance?customer_id=${own()}&`,
    `${OLD}/balance?currency=EUR&`,
    `${OLD}?page_size=100&`,
    ...['ACTIVE', 'USED', 'EXPIRED', 'VOID'].map((status) => `${OLD}?status=${status}&`),
    `${OLD}?customer_id=${other}&currency=USD&`,
  ];
  const answered: { at: string; answers: Body[] }[] = [];
  /** What happens at an instant comes after it. */
  const at = async (instant: string, happens: () => Promise<unknown>): Promise<void> => {
    await billing.moveTo(instant, billing.subscription);
    const answers = [];
    for (const question of questions) answers.push(await billing.get(question));
    answered.push({ at: instant, answers });
    await happens();
  };
  let drawn: Body;
  let ended: Body;
  await at('2025-02-01T06:00:00Z', () => grant(own(), { amount: '12.00', priority: 1 }));
  await at('2025-02-01T07:00:00Z', () => grant(own(), { amount: '3.00', expires_at: '2025-03-15T00:00:00Z' }));
  await at('2025-02-01T08:00:00Z', () => grant(other, { amount: '50', expires_at: '2025-02-20T00:00:00Z' }));
  await at('2025-02-01T09:00:00Z', async () => (ended = await grant(other, { amount: '7.5', currency: 'EUR' })));
  // 25.00: the 3.00 first, which has the smaller priority.
  await billing.use(1_000, '2025-01-15T12:00:00Z');
  await at('2025-02-02T00:00:00Z', async () => ([drawn] = await billing.finalizeAll(billing.subscription)));
  // The very end of a grant.
  await at('2025-02-20T00:00:00Z', () => billing.post(`/credits/${ended.id}/void`));
  await at('2025-03-02T00:00:00Z', () => billing.finalizeAll(billing.subscription));
  // 3.00 come back to one that has expired, and 12.00 to the other.
  await at('2025-03-20T00:00:00Z', () => billing.post(`/invoices/${drawn.id}/void`, { note: 'wrong' }));
  await at('2025-03-21T00:00:00Z', () => billing.post(`/credits/${ended.id}/void`));
  let paid: Body;
  // 31.00, of which ten dates of 31 count.
  await at('2025-03-22T00:00:00Z', async () => {
    const { id } = await billing.subscribe(monthly.id, third, { start_date: '2025-03-12T00:00:00Z' });
    const [invoice] = await billing.finalizeAll(id);
    paid = await billing.post(`/invoices/${invoice.id}/pay`);
    await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
    await billing.finalizeAll(id);
  });
  // Nobody has paid it after all, so that a part of the grant ends, which is all of it.
  await at('2025-03-23T00:00:00Z', async () => {
    const path = `/invoices/${paid.id}`;
    expect((await billing.request('DELETE', `${path}/payments/${paid.payments[0].id}`)).status).toBe(204);
    await billing.post(`${path}/void`);
  });
  await at('2025-03-24T00:00:00Z', () => Promise.resolve());

  const balances = answered.map(({ answers }) => answers[2].balance);
  expect(balances).toEqual([
    {},
    { USD: '12.00' },
    { USD: '15.00' },
    { USD: '65.00' },
    { EUR: '7.50', USD: '65.00' },
    { EUR: '7.50', USD: '0.00' },
    { EUR: '0.00', USD: '0.00' },
    { EUR: '0.00', USD: '0.00' },
    { EUR: '0.00', USD: '12.00' },
    { EUR: '0.00', USD: '12.00' },
    { EUR: '0.00', USD: '33.00' },
    { EUR: '0.00', USD: '12.00' },
  ]);
  for (const { at: instant, answers } of answered) {
    for (const [index, question] of questions.entries()) {
      const then = await billing.get(`${question}as_of=${encodeURIComponent(instant)}`);
      expect({ question, instant, ...then }).toEqual({ question, instant, ...answers[index] });
    }
  }
  // A date is its first instant in the zone of the organization.
  const first = await billing.get('/credits/balance?as_of=2025-02-20');
  expect(first).toEqual({ as_of: '2025-02-20T00:00:00.000Z', balance: balances[5] });
  expectProblem(await billing.request('GET', '/credits?as_of=2025-03-25'), 422, 'invalid_request');
});

describe('what paid an invoice', () => {
  test('is said by the invoice and by each of its grants, and what came back too', async () => {
    const { data: grants } = await billing.get(`/credits?customer_id=${own()}`);
    const { data: voided } = await billing.get(`/invoices?status=VOID&customer_id=${own()}`);
    const [{ id, invoice_number, credits_applied }] = voided;
    const entries = await entriesOf(`/invoices/${id}/credits`);
    expect(new Set(entries.map(({ kind, amount, invoice_number: of }) => `${kind} ${amount} ${of}`))).toEqual(
      new Set(['DRAW 12.00', 'DRAW 3.00', 'RETURN 12.00', 'RETURN 3.00'].map((taken) => `${taken} ${invoice_number}`)),
    );
    expect(credits_applied).toBe('15.00');
    const byGrant: Body[] = [];
    for (const each of grants) byGrant.push(...(await entriesOf(`/credits/${each.id}/entries`)));
    const ids = (all: Body[]) => new Set(all.map((entry) => entry.id));
    expect(ids(byGrant.filter(({ invoice_id }) => invoice_id === id))).toEqual(ids(entries));
    expect(entries.length).toBe(4);
    const { meta } = await billing.get(`/invoices/${id}/credits?page_size=3`);
    expect(meta).toMatchObject({ total: 4, total_pages: 2 });
    expect((await entriesOf(`/invoices/${id}/credits?page_size=3&page=2`)).length).toBe(1);
  });

  test('an invoice below zero says which others it lowered, and they say which one it was', async () => {
    const customer = await billing.customer();
    const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '10' }]);
    await billing.moveTo('2025-04-01T00:10:00Z');
    const { id: subscription } = await billing.subscribe(plan.id, customer.id, { start_date: '2025-04-01T00:00:00Z' });
    const [open] = await billing.finalizeAll(subscription);
    await billing.moveTo('2025-05-01T00:10:00Z', subscription);
    const [draft] = await billing.drafts(subscription);
    await billing.post(`/invoices/${draft?.id ?? ''}/lines`, { description: 'Sorry', amount: '-14.00' }, 201);
    const [below] = await billing.finalizeAll(subscription);
    expect(below.total).toBe('-4.00');
    const { amount_due, credits_applied } = await billing.get(`/invoices/${open.id}`);
    expect([amount_due, credits_applied]).toEqual(['6.00', '4.00']);
    const lowered = {
      kind: 'DRAW',
      amount: '4.00',
      currency: 'USD',
      invoice_id: open.id,
      invoice_number: open.invoice_number,
      given_by_invoice_id: below.id,
      given_by_invoice_number: below.invoice_number,
    };
    expect(await entriesOf(`/invoices/${below.id}/credits`)).toMatchObject([lowered]);
    expect(await entriesOf(`/invoices/${open.id}/credits`)).toMatchObject([lowered]);
    const { data: grants } = await billing.get(`/credits?customer_id=${customer.id}&status=USED`);
    expect(grants).toMatchObject([{ amount: '4.00', remaining: '0.00', invoice_id: below.id }]);
    expect(await entriesOf(`/credits/${grants[0].id}/entries`)).toMatchObject([lowered]);
  });

  test('of what is not there is 404', async () => {
    const nobody = '0198c0de-5a1e-7000-8000-000000000001';
    expectProblem(await billing.request('GET', `/invoices/${nobody}/credits`), 404, 'not_found');
    expectProblem(await billing.request('GET', `/credits/${nobody}/entries`), 404, 'not_found');
  });
});
