// What an auditor asks: which invoices, which of their lines, what customers had in advance at a date, and which grant paid what.

import { WeirClient } from '@weir/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { performAllMoves } from '../support/erasing.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { makeServiceAccount } from '../support/service-accounts.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Billed;
/** Its invoices: INV-2025-000001 of 1 January, and those of five months, a day of grace later. */
let numbers: string[];

beforeAll(async () => {
  billing = await startBilled(weir);
  for (const month of ['02', '03', '04', '05', '06']) {
    await billing.use(1_000, `2025-${month}-15T12:00:00Z`);
    await billing.moveTo(`2025-${month}-02T00:10:00Z`, billing.subscription);
    await billing.finalizeAll(billing.subscription);
  }
  numbers = (await billing.get('/invoices?page_size=100')).data.map(
    ({ invoice_number }: { invoice_number: string }) => invoice_number,
  );
});
afterAll(() => billing.close());

// oxlint-disable-next-line typescript/no-explicit-any
type Body = any;
const numbersOf = async (query: string): Promise<string[]> =>
  (await billing.get(`/invoices?${query}`)).data.map((invoice: Body) => invoice.invoice_number);

describe('invoices are found', () => {
  test('by issue date, from the first on and before the last', async () => {
    expect(numbers.length).toBe(6);
    const { data } = await billing.get('/invoices?issued_from=2025-03-02&issued_to=2025-05-02');
    expect(data.map(({ issue_date }: Body) => issue_date)).toEqual(['2025-04-02', '2025-03-02']);
    expect(await numbersOf('issued_from=2025-05-02')).toEqual(numbers.slice(0, 2));
    expect(await numbersOf('issued_to=2025-02-02')).toEqual(numbers.slice(5));
    expect(await numbersOf('issued_to=2025-01-01')).toEqual([]);
  });

  test('page by page', async () => {
    const query = 'issued_from=2025-02-01&page_size=2';
    const pages = [await numbersOf(query), await numbersOf(`${query}&page=2`), await numbersOf(`${query}&page=3`)];
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(numbers.slice(0, 5));
    expect((await billing.get(`/invoices?${query}`)).meta.total).toBe(5);
  });

  test('by their number, in whatever case, and by how it begins', async () => {
    const [last = ''] = numbers;
    expect(await numbersOf(`invoice_number=${last}`)).toEqual([last]);
    expect(await numbersOf(`invoice_number=${last.toLowerCase()}`)).toEqual([last]);
    expect(await numbersOf(`invoice_number=${last.slice(0, -1)}`)).toEqual([]);
    expect(await numbersOf('search=inv-2025-00000')).toEqual(numbers);
    expect(await numbersOf(`search=${last}`)).toEqual([last]);
    expect(await numbersOf('search=')).toEqual(numbers);
    // No wildcard of the database.
    expect(await numbersOf('search=INV_2025')).toEqual([]);
    expect(await numbersOf(`search=${encodeURIComponent('%')}`)).toEqual([]);
  });

  test('past due, once the run has said so, until they are paid', async () => {
    const { id } = await billing.open();
    expect(await numbersOf('is_past_due=true')).toEqual([]);
    await weir.pool.query('UPDATE invoices SET is_past_due = true WHERE id = $1', [id]);
    const { data } = await billing.get('/invoices?is_past_due=true');
    expect(data).toMatchObject([{ id, is_past_due: true, status: 'OPEN' }]);
    expect((await numbersOf('is_past_due=false')).length).toBe(5);
    await weir.pool.query('UPDATE invoices SET is_past_due = false WHERE id = $1', [id]);
  });

  test('by all of it together', async () => {
    const all = `customer_id=${billing.ownCustomer.id}&subscription_id=${billing.subscription}&status=OPEN&is_past_due=false`;
    const times = 'issued_from=2025-03-01&issued_to=2025-06-01&from=2025-03-01&to=2025-04-02';
    expect(await numbersOf(`${all}&${times}&search=INV&invoice_number=${numbers[3] ?? ''}`)).toEqual([numbers[3]]);
    expect(await numbersOf(`${all}&${times}&search=X`)).toEqual([]);
    expect(
      (await billing.get(`/subscriptions/${billing.subscription}/invoices?issued_from=2025-06-01`)).data.length,
    ).toBe(1);
  });

  test.each(['issued_from=2025-02-30', 'issued_to=2025-02-01T00:00:00Z', 'is_past_due=yes', 'issued_from='])(
    'and %s is refused',
    async (query) => {
      expectProblem(await billing.request('GET', `/invoices?${query}`), 422, 'invalid_request');
    },
  );
});

describe('the lines of many invoices', () => {
  const allPages = async (query: string): Promise<Body[]> => {
    const lines: Body[] = [];
    let cursor = '';
    do {
      const { data, meta } = await billing.get(`/invoice-lines?${query}${cursor}`);
      lines.push(...data);
      cursor = meta.next_cursor === null ? '' : `&cursor=${meta.next_cursor}`;
    } while (cursor !== '');
    return lines;
  };

  test('may be those of what is past due alone', async () => {
    const ids = async (isPastDue: boolean) =>
      new Set((await allPages(`limit=1&is_past_due=${isPastDue}`)).map(({ invoice_id }) => invoice_id));
    const all = await ids(false);
    expect(await ids(true)).toEqual(new Set());
    const [id] = all;
    await weir.pool.query('UPDATE invoices SET is_past_due = true WHERE id = $1', [id]);
    expect([await ids(true), (await ids(false)).size]).toEqual([new Set([id]), all.size - 1]);
    await weir.pool.query('UPDATE invoices SET is_past_due = false WHERE id = $1', [id]);
  });

  test('are those of each of them, in the order of issue dates', async () => {
    const { data } = await billing.get('/invoices?page_size=100');
    const expected = [];
    for (const { id } of data.toReversed()) {
      const invoice = await billing.get(`/invoices/${id}`);
      for (const { charge, detail: _, ...line } of invoice.lines) {
        const { invoice_number, issue_date, currency, customer_id, subscription_id } = invoice;
        const of = { invoice_id: id, invoice_number, issue_date, currency, customer_id, subscription_id };
        const customer = { customer_external_id: billing.ownCustomer.external_id, customer_name: 'Acme' };
        expected.push({ ...of, ...customer, ...line, invoice_status: 'OPEN', meter_id: charge?.meter_id ?? null });
      }
    }
    expect(expected.length).toBeGreaterThan(10);
    expect(await allPages('limit=1000')).toEqual(expected);
  });

  test('are the same in pages of any size, also where one ends within an invoice', async () => {
    const all = await allPages('limit=1000');
    for (const limit of [1, 2, 3, 5, all.length]) expect(await allPages(`limit=${limit}`)).toEqual(all);
  });

  test('are filtered by their invoices, each page on its own', async () => {
    const all = await allPages('limit=1000');
    const some = (keep: (line: Body) => boolean) => all.filter(keep);
    const march = ({ issue_date }: Body) => issue_date.startsWith('2025-03');
    expect(await allPages('issued_from=2025-03-01&issued_to=2025-04-01&limit=1')).toEqual(some(march));
    expect(await allPages(`customer_id=${billing.ownCustomer.id}&issued_to=2025-04-01&limit=1`)).toEqual(
      some(({ issue_date }) => issue_date < '2025-04-01'),
    );
    expect(await allPages(`subscription_id=${billing.subscription}&limit=2`)).toEqual(all);
    expect(await allPages(`status=PAID`)).toEqual([]);
    // The period of February ends with it.
    expect(await allPages('from=2025-03-01&to=2025-03-02&limit=1')).toEqual(some(march));
  });

  test('are CSV for who asks for it, one file of all pages', async () => {
    const all = await allPages('limit=1000');
    const read = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${weir.baseUrl}${path}`, { headers: { cookie: `access_token=${billing.admin.session}`, ...headers } });
    let file = '';
    let pages = 0;
    for (let next: string | undefined = '/api/v1/invoice-lines?format=csv&limit=4'; next !== undefined;) {
      const answer = await read(next);
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      file += await answer.text();
      next = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      pages += 1;
    }
    expect(pages).toBeGreaterThan(2);
    const rows = file.split('\r\n').slice(0, -1);
    expect(rows[0]).toBe(Object.keys(all[0]).join());
    expect(rows.slice(1)).toEqual(all.map((line) => Object.values(line).join()));
    const { token } = await makeServiceAccount(weir, billing.admin, 'viewer');
    const client = new WeirClient({ baseUrl: weir.baseUrl, serviceToken: token });
    const byClient = await client.file('/invoice-lines', { query: { format: 'csv', limit: 4 } });
    expect(new TextDecoder().decode(byClient)).toBe(file);
    const accepted = await read('/api/v1/invoice-lines', { accept: 'text/csv' });
    expect(await accepted.text()).toBe(file);
    const both = await read('/api/v1/invoice-lines?format=json', { accept: 'text/csv' });
    expect(both.headers.get('content-type')).toMatch('application/json');
  });

  test('are no formulas in a spreadsheet', async () => {
    await weir.pool.query(`UPDATE invoice_lines SET description = '=HYPERLINK("x")' WHERE description = 'Base'`);
    const answer = await fetch(`${weir.baseUrl}/api/v1/invoice-lines?format=csv`, {
      headers: { cookie: `access_token=${billing.admin.session}` },
    });
    expect(await answer.text()).toContain(`,"'=HYPERLINK(""x"")",`);
    await weir.pool.query(`UPDATE invoice_lines SET description = 'Base' WHERE description LIKE '=%'`);
  });

  test('name the customer as their invoice does, whatever it was called before or is called since', async () => {
    const { id: customer_id, external_id: former } = await billing.customer();
    const start = { start_date: '2025-06-01T00:00:00Z' };
    const { id: subscription } = await billing.subscribe(billing.ownPlan.id, customer_id, start);
    await billing.track([{ meter: billing.ownMeter, customer: former, quantity: 10, at: '2025-06-01T12:00:00Z' }]);
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    const renamed = await billing.request('PATCH', `/customers/${customer_id}`, { external_id: 'called otherwise' });
    expect(renamed.status).toBe(200);
    const [draft] = await billing.drafts(subscription);
    await billing.post(`/invoices/${draft?.id}/lines`, { description: 'By hand', amount: '1.00' }, 201);
    const named = async () => {
      const lines = await allPages(`subscription_id=${subscription}`);
      return [...new Set(lines.map((line) => `${line.kind} ${line.customer_external_id}`))].toSorted();
    };
    const of = (name: string) => ['ADJUSTMENT', 'FIXED', 'USAGE'].map((kind) => `${kind} ${name}`);
    for (const { customer } of await billing.finalizeAll(subscription))
      expect(customer.external_id).toBe('called otherwise');
    expect(await named()).toEqual(of('called otherwise'));
    expectProblem(await billing.request('POST', '/erasures', { customer_id }), 409, 'external_id_billed');
    await billing.post('/erasures', { customer_external_id: former }, 202);
    await performAllMoves(billing.database);
    // The copies of the invoices are kept, and then they are not.
    const erasure = { customer_id, invoice_copies_issued_before: '2025-01-01' };
    await billing.post('/erasures', erasure, 202);
    await performAllMoves(billing.database);
    expect(await named()).toEqual(of('called otherwise'));
    await billing.post('/erasures', { ...erasure, invoice_copies_issued_before: '2100-01-01' }, 202);
    await performAllMoves(billing.database);
    const { external_id } = await billing.get(`/customers/${customer_id}`);
    expect(external_id).toMatch(/^erased-/);
    expect(await named()).toEqual(of(external_id));
  });

  test('have days that no spreadsheet takes for a date, in CSV alone', async () => {
    const { id } = await billing.customer();
    const start = { start_date: '2025-06-01T00:00:00Z' };
    const { id: subscription } = await billing.subscribe(billing.ownPlan.id, id, start);
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    await billing.finalizeAll(subscription);
    const days = (await allPages(`subscription_id=${subscription}`)).map((line) => line.days);
    expect(days).toContain('2/30');
    const answer = await fetch(`${weir.baseUrl}/api/v1/invoice-lines?format=csv&subscription_id=${subscription}`, {
      headers: { cookie: `access_token=${billing.admin.session}` },
    });
    const text = await answer.text();
    expect([text.includes(`,'2/30,`), text.includes(',2/30,')]).toEqual([true, false]);
  });

  test.each([
    'cursor=x',
    'cursor=2025-02-30.0198c0de-5a1e-7000-8000-00000000000a.0',
    'limit=1001',
    'status=DRAFT',
    'format=xml',
  ])('and %s is refused', async (query) => {
    expectProblem(await billing.request('GET', `/invoice-lines?${query}`), 422, 'invalid_request');
  });
});
