// Invoices of more lines than an answer holds, and plans of more charges: what is answered is bounded, and all of it is there by pages.

import { findLine } from '@weir/db/billing/invoices/find-line';
import { readInvoice, readInvoices, readLinesOfInvoice } from '@weir/db/billing/invoices/read-invoices';
import { listFinalizedInvoices, recomputeInvoice } from '@weir/db/billing/invoices/recompute';
import { previewInvoice } from '@weir/db/billing/invoices/upcoming';
import { voidInvoice } from '@weir/db/billing/run/invoice-states';
import { closeForDrafts, finalizeClosed } from '@weir/db/billing/run/finalize';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyRows } from '../support/copy-rows.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { watchRows, type Watched } from '../support/held-rows.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

// oxlint-disable-next-line typescript/no-explicit-any
type Body = any;

const LINES = 1_203;
const TIERS = 40;

const weir = ownWeir();
let billing: Billed;
beforeAll(async () => {
  billing = await startBilled(weir);
});
afterAll(() => billing.close());

/** Every page of the lines of an invoice, as it came. */
async function pagesOf(id: string, limit: number): Promise<Body[][]> {
  const pages: Body[][] = [];
  let cursor: string | null = '0';
  while (cursor !== null) {
    const { data, meta }: Body = await billing.get(`/invoices/${id}/lines?limit=${limit}&cursor=${cursor}`);
    pages.push(data);
    cursor = meta.next_cursor;
  }
  return pages;
}

describe('an invoice of some lines', () => {
  test('holds all of them, and says of no others', async () => {
    const draft = await billing.get(`/invoices/${(await billing.draft()).id}`);
    expect(draft.lines.length).toBe(2);
    expect(Object.keys(draft)).not.toContain('lines_total');
    expect((await pagesOf(draft.id, 500)).flat()).toEqual(draft.lines);
    expect((await pagesOf(draft.id, 1)).map(({ length }) => length)).toEqual([1, 1]);
    for (const line of draft.lines) expect(await billing.get(`/invoices/${draft.id}/lines/${line.id}`)).toEqual(line);
  });
});

describe('an invoice of a thousand lines', () => {
  let draft: Body;
  let pagesOfDraft: Body[][];
  let invoice: Body;
  beforeAll(async () => {
    const { id } = await billing.draft();
    for (let n = 0; n < 3; n += 1)
      await billing.post(`/invoices/${id}/lines`, { description: 'By hand', amount: '1' }, 201);
    // As many as years of late usage are.
    await weir.pool.query(
      copyRows('invoice_lines', `'id', gen_random_uuid(), 'position', t.position + n`, {
        times: LINES - 5,
        where: 't.invoice_id = $1 AND t.position = (SELECT max(position) FROM invoice_lines WHERE invoice_id = $1)',
      }),
      [id],
    );
    draft = await billing.get(`/invoices/${id}`);
    pagesOfDraft = await pagesOf(id, 500);
    invoice = await billing.post(`/invoices/${id}/finalize`);
  });

  test('is so as a draft too', () => {
    expect(draft).toMatchObject({ status: 'DRAFT', lines_total: LINES, lines_next_cursor: '500' });
    expect(pagesOfDraft.map(({ length }) => length)).toEqual([500, 500, 203]);
    expect(pagesOfDraft[0]).toEqual(draft.lines);
  });

  test('holds the first of them, says how many there are, and the others are there by pages', async () => {
    expect(invoice).toMatchObject({ lines_total: LINES, lines_next_cursor: '500', total: '1211.00' });
    const pages = await pagesOf(invoice.id, 500);
    expect(pages.map(({ length }) => length)).toEqual([500, 500, 203]);
    expect(pages[0]).toEqual(invoice.lines);
    const all = pages.flat();
    expect(new Set(all.map(({ id }) => id)).size).toBe(LINES);
    expect((await pagesOf(invoice.id, 7)).flat()).toEqual(all);
  });

  test('is computed again as a whole', async () => {
    const again = await billing.post(`/invoices/${invoice.id}/recompute`);
    expect(again).toMatchObject({ identical: true, lines_total: LINES });
    expect(again.stored.lines).toEqual(invoice.lines);
    expect(again.recomputed).toEqual(again.stored);
  });

  test('is not identical where a line that is not shown differs, and that line comes first', async () => {
    const last = (await pagesOf(invoice.id, 500)).flat().at(-1);
    const change = (amount: string) =>
      weir.pool.query('UPDATE invoice_lines SET exact_amount = $1 WHERE id = $2', [amount, last.id]);
    await change('2');
    const again = await billing.post(`/invoices/${invoice.id}/recompute`);
    await change('1');
    expect(again.identical).toBe(false);
    expect(again.stored.lines[0]).toMatchObject({ id: last.id, exact_amount: '2' });
    expect(again.recomputed.lines[0]).toMatchObject({ id: last.id, exact_amount: '1' });
    expect((await billing.post(`/invoices/${invoice.id}/recompute`)).identical).toBe(true);
  });

  test('opens each of its lines', async () => {
    const last = (await pagesOf(invoice.id, 500)).flat().at(-1);
    expect(await billing.get(`/invoices/${invoice.id}/lines/${last.id}`)).toEqual(last);
    expect(await billing.get(`/invoices/${invoice.id}/lines/${last.id}/usage`)).toMatchObject({ event_count: 0 });
    // Of another invoice.
    const { id } = (await billing.get('/invoices?issued_to=2025-01-31')).data[0];
    for (const what of ['', '/usage'])
      expectProblem(await billing.request('GET', `/invoices/${id}/lines/${last.id}${what}`), 404, 'not_found');
  });

  test.each(['cursor=x', 'cursor=-1', 'limit=501'])('takes no %s', async (query) => {
    expectProblem(await billing.request('GET', `/invoices/${invoice.id}/lines?${query}`), 422, 'invalid_request');
  });
});

test('a page of lines ends early where their charges have many tiers', async () => {
  const tiers = Array.from({ length: TIERS }, (_, n) => ({
    up_to: n === TIERS - 1 ? null : String(n + 1),
    unit_price: '1',
  }));
  const meter = await billing.meter('SUM');
  const priced = { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, model: 'graduated', tiers };
  const plan = await billing.plan([priced]);
  const { id: customer } = await billing.customer();
  await billing.moveTo('2025-03-01T00:10:00Z');
  const { id: subscription } = await billing.subscribe(plan.id, customer, { start_date: '2025-03-01T00:00:00Z' });
  await billing.moveTo('2025-04-01T00:10:00Z', subscription);
  const [invoice] = await billing.finalizeAll(subscription);
  await weir.pool.query(
    copyRows('invoice_lines', `'id', gen_random_uuid(), 'position', t.position + n`, {
      times: 149,
      where: 't.invoice_id = $1',
    }),
    [invoice.id],
  );
  // 100 lines of 40 tiers are 4,000.
  expect(await billing.get(`/invoices/${invoice.id}`)).toMatchObject({ lines_total: 150, lines_next_cursor: '100' });
  expect((await pagesOf(invoice.id, 500)).map(({ length }) => length)).toEqual([100, 50]);
});

describe('a plan whose price was often changed', () => {
  test('holds what has not ended and what ended last, and all of it is there by pages', async () => {
    const { id } = await billing.plan([]);
    let replaces: string | undefined;
    const made: string[] = [];
    for (let price = 1; price <= 25; price += 1) {
      const charge = { type: 'FIXED', display_name: 'Base', unit_price: String(price), ...(replaces && { replaces }) };
      replaces = (await billing.post(`/plans/${id}/charges`, charge, 201)).id;
      made.push(replaces ?? '');
    }
    const plan = await billing.get(`/plans/${id}`);
    expect(plan.ended_charges_total).toBe(24);
    expect(plan.charges.map((charge: Body) => charge.id)).toEqual(made.slice(4));
    const list = async (query: string) => (await billing.get(`/plans/${id}/charges?${query}`)).data;
    const all = [...(await list('page_size=20')), ...(await list('page_size=20&page=2'))];
    expect(all.map((charge) => charge.id)).toEqual(made.toReversed());
    expect(await list('status=ACTIVE')).toEqual(plan.charges.slice(-1));
    expect((await list('status=INACTIVE&page_size=100')).length).toBe(24);
    expectProblem(await billing.request('GET', `/plans/${billing.ownCustomer.id}/charges`), 404, 'not_found');
  });

  test('takes no more announced changes than a plan has charges', async () => {
    const { id, charges } = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '1' }]);
    let [replaces] = charges;
    const announce = (n: number) =>
      billing.request('POST', `/plans/${id}/charges`, {
        type: 'FIXED',
        display_name: 'Base',
        unit_price: '1',
        replaces,
        effective_from: new Date(Date.UTC(2025, 9, 1, 0, n)).toISOString(),
      });
    for (let n = 0; n < 100; n += 1) replaces = (await announce(n)).body.id;
    expectProblem(await announce(100), 422, 'invalid_request');
    expect((await billing.get(`/plans/${id}`)).charges.length).toBe(101);
  });
});

/** A day's usage came late for each of thousands of periods that are long closed: each is a due of the next draft. */
describe('a draft of thousands of late dues', () => {
  const LATE = 1_300;
  /** Dues that are held at once. */
  const HELD = 500;
  const TOTAL = `${8 * LATE - 2}.00`;
  let watched: Watched;
  let organization: string;
  let draft: string;
  let subscription: string;
  beforeAll(async () => {
    organization = billing.admin.id;
    watched = watchRows(billing.database);
    const { id: customer, external_id } = await billing.customer();
    const meter = await billing.meter('SUM');
    const priced = { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '2' };
    const { id: plan } = await billing.plan([priced], { billing_interval: 'day' });
    await billing.moveTo('2025-05-01T00:10:00Z');
    ({ id: subscription } = await billing.subscribe(plan, customer, { start_date: '2025-05-01T00:00:00Z' }));
    const at = '2025-05-01T12:00:00Z';
    await billing.track([{ meter, customer: external_id, quantity: 1, at }]);
    await billing.moveTo('2025-05-02T00:10:00Z', subscription);
    await billing.finalizeAll(subscription);
    await billing.track([{ meter, customer: external_id, quantity: 3, at }]);
    await billing.moveTo('2025-05-03T00:10:00Z', subscription);
    draft = (await billing.drafts(subscription))[0]?.id ?? '';
    const copy = (table: string, changes: string, where: string) =>
      weir.pool.query(copyRows(table, changes, { times: LATE - 1, where }), [
        table === 'dues' || table === 'subscription_periods' ? subscription : meter.id,
      ]);
    const earlier = (...columns: string[]) =>
      columns.map((name) => `'${name}', t.${name} - n * interval '1 day'`).join();
    const period = `'cycle', -n, ${earlier('period_start', 'period_end')}`;
    await copy('subscription_periods', period, 't.cycle = 0 AND t.subscription_id = $1');
    await copy('dues', `${period}, 'billed', 0`, 't.cycle = 0 AND t.subscription_id = $1');
    await copy('customer_usage_days', earlier('day'), 't.meter_id = $1');
    await copy('customer_usage_hours', earlier('hour'), 't.meter_id = $1');
    await copy('late_events', `'event_id', gen_random_uuid(), ${earlier('timestamp')}`, 't.meter_id = $1');
  });

  test('holds some hundred of them at once, and none of their lines but the first page', async () => {
    const whole = await readInvoice(watched.database, organization, draft);
    // Of the first day 1 was billed before, and of the others nothing. The day that ends has no usage.
    expect(whole).toMatchObject({ total: TOTAL, lines_total: LATE + 1, lines_next_cursor: '500' });
    expect(watched.take('terms').most).toBeLessThanOrEqual(HELD);
  });

  test('is in a list, as a draft of a preview is, without more', async () => {
    const filter = { subscriptionId: subscription, status: 'DRAFT' } as const;
    const { rows } = await readInvoices(watched.database, organization, filter, { page: 1, page_size: 20 });
    expect(rows).toMatchObject([{ id: draft, total: TOTAL }]);
    expect(watched.take('terms').most).toBeLessThanOrEqual(HELD);
    await previewInvoice(watched.database, organization, subscription);
    expect(watched.take('terms').all).toBeLessThan(10);
  });

  test('has pages, and single lines, for which no other due is read', async () => {
    const span = { from: 1_000, limit: 10 };
    const page = await readLinesOfInvoice(watched.database, organization, draft, span);
    expect(page?.lines.map(({ kind, amount }) => `${kind} ${amount}`)).toEqual(Array(10).fill('LATE_USAGE 8.00'));
    expect(page?.next).toBe(1_010);
    expect(watched.take('terms').all).toBeLessThan(30);
    const found = await findLine(watched.database, organization, draft, page?.lines[9]?.id ?? '');
    expect(found?.line).toMatchObject({ position: 1_009, amount: '8.00' });
    expect(watched.take('terms').all).toBeLessThan(10);
  });

  test('is not finalized by halves where its last due cannot be priced, and another is beside it', async () => {
    const { id: plan } = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '5' }]);
    const { id: customer } = await billing.customer();
    const { id } = await billing.subscribe(plan, customer, { start_date: '2025-05-03T00:00:00Z' });
    const [other] = await billing.drafts(id);
    const setPrice = (price: string) =>
      weir.pool.query(
        `UPDATE dues SET terms = jsonb_set(terms, '{unit_price}', to_jsonb($2::text)) WHERE subscription_id = $1 AND cycle = 0`,
        [subscription, price],
      );
    const written = async () =>
      (
        await weir.pool.query(
          `SELECT (SELECT count(*) FROM invoice_lines WHERE invoice_id = $1) AS lines,
             (SELECT sum(billed) FROM dues WHERE subscription_id = $2) AS billed`,
          [draft, subscription],
        )
      ).rows;
    const before = await written();
    await setPrice('many');
    const { data } = await billing.post('/invoices/finalize', { ids: [draft, other?.id] });
    await setPrice('2');
    expect(data).toMatchObject([
      { id: draft, outcome: 'not_computed', invoice_number: null, not_computed: { code: 'internal_error' } },
      { id: other?.id, outcome: 'finalized', invoice_number: expect.stringMatching(/^INV-/) },
    ]);
    expect(await written()).toEqual(before);
    expect((await billing.get(`/invoices/${other?.id}`)).lines).toMatchObject([{ amount: '5.00' }]);
  });

  test('is finalized and computed again, some hundred dues at once', async () => {
    const closing = await closeForDrafts(watched.database, organization, [draft], { now: true });
    expect(closing).toBe(true);
    watched.take('terms');
    const { finalized } = await watched.database.kysely
      .transaction()
      .execute((transaction) => finalizeClosed(transaction, organization, [draft], { actor: 'weir', now: true }));
    expect(finalized).toEqual([draft]);
    expect(watched.take('terms').most).toBeLessThanOrEqual(HELD);
    expect(await billing.get(`/invoices/${draft}`)).toMatchObject({ total: TOTAL, lines_total: LATE + 1 });
    const { rowCount } = await weir.pool.query('SELECT FROM dues WHERE subscription_id = $1 AND billed = 8', [
      subscription,
    ]);
    expect(rowCount).toBe(LATE);
    expect(await recomputeInvoice(watched.database, organization, draft, 'rollups')).toMatchObject({ identical: true });
    expect(watched.take('terms').most).toBeLessThanOrEqual(HELD + 1);
  });

  test('is computed again apart from others, where those are computed together', async () => {
    const chunks: string[][] = [];
    for (let after: string | undefined; ; after = chunks.at(-1)?.at(-1)) {
      const page = { after, limit: 200, bytesMax: 100_000 };
      const ids = await listFinalizedInvoices(billing.database.kysely, organization, page);
      if (ids.length === 0) break;
      chunks.push(ids);
    }
    expect(chunks).toContainEqual([draft]);
    const together = await listFinalizedInvoices(billing.database.kysely, organization, {
      limit: 200,
      bytesMax: Infinity,
    });
    expect(chunks.flat()).toEqual(together);
    expect(chunks.length).toBeGreaterThan(1);
  });

  test('is voided to be billed again without a look at its usage, but where a month of it may be taken out', async () => {
    const duesReadBy = async (createdAt: string) => {
      const voided = watched.database.kysely.transaction().execute(async (transaction) => {
        await sql`UPDATE organizations SET created_at = ${createdAt} WHERE id = ${organization}`.execute(transaction);
        const which = { organizationId: organization, id: draft, actor: 'a test' };
        expect(await voidInvoice(transaction, which, { note: null, rebill: true })).toEqual({ outcome: 'done' });
        throw new Error('rolled back');
      });
      await expect(voided).rejects.toThrow('rolled back');
      return watched.take('aggregation');
    };
    watched.take('aggregation');
    expect(await duesReadBy(new Date().toISOString())).toMatchObject({ all: 0 });
    // Before the first month that there is.
    const bounded = await duesReadBy('2015-01-01');
    expect(bounded.all).toBeGreaterThanOrEqual(LATE);
    expect(bounded.most).toBeLessThanOrEqual(HELD);
  });
});
