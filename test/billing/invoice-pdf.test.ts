// An invoice as PDF: what stands on it, in whatever script; the same bytes each time; and no more of it than there is room for. Of
// each that is read here nothing leaves its page or stands over anything else.

import { writeFile } from 'node:fs/promises';
import { LIMITS } from '@weir/shared/limits';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRows } from '../support/copy-rows.ts';
import { performAllMoves } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { readPages } from '../support/pdf-text.ts';
import { ownWeir } from '../support/use-weir.ts';

// Some of its letters are drawn as one.
const ARABIC = 'شركة الاختبار';
const CHINESE = '测试有限公司';
const HEBREW = 'חברה';

const weir = ownWeir();
let billing: Billed;
let shots = 0;
beforeAll(async () => {
  billing = await startBilled(weir);
});
afterAll(() => billing.close());

async function ask(id: string, { baseUrl = weir.baseUrl, query = '' } = {}) {
  const answer = await fetch(`${baseUrl}/api/v1/invoices/${id}/pdf${query}`, {
    headers: { cookie: `access_token=${billing.admin.session}` },
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  expect(answer.status).toBe(200);
  shots += 1;
  if (process.env['SHOTS'] !== undefined) await writeFile(`${process.env['SHOTS']}/invoice-${shots}.pdf`, bytes);
  const { texts: pages, misplaced } = await readPages(bytes);
  expect(misplaced).toEqual([]);
  return { headers: answer.headers, bytes, pages };
}

/** The same one as it is, with what happened since it was finalized. */
const askNow = (id: string) => ask(id, { query: '?as=now' });

const joined = (pages: string[]) => pages.join(' ').replaceAll(/\s+/g, ' ');

/** Readers see spaces where letters of Arabic stand apart. */
const closed = (text: string) => text.replaceAll(' ', '');

/** The draft of a new customer with these fields, with a line of this text. */
async function draftFor(fields: object, description: string): Promise<string> {
  const customer = await billing.customer(fields);
  const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '1234.5' }]);
  const { id } = await billing.subscribe(plan.id, customer.id);
  const [draft] = await billing.drafts(id);
  await billing.post(`/invoices/${draft?.id}/lines`, { description, amount: '-4.50' }, 201);
  return draft?.id ?? '';
}

test('it holds the number, dates, parties, lines and sums, and is named by the number', async () => {
  const { id } = await billing.open();
  const { headers, pages } = await ask(id);
  const invoice = await billing.get(`/invoices/${id}`);
  expect(headers.get('content-type')).toBe('application/pdf');
  expect(headers.get('content-disposition')).toBe(`attachment; filename="${invoice.invoice_number}.pdf"`);
  const text = joined(pages);
  for (const told of [
    `Invoice number ${invoice.invoice_number}`,
    'Date of issue 1 Jan 2025',
    'Date due 31 Jan 2025',
    'Period 1 Jan 2025',
    'Bill to Acme Oslo',
    '10.00 USD due 31 Jan 2025',
    'Base 1 Jan 2025 – 31 Jan 2025 10.00 USD each period, in advance 10.00 USD',
    'Total 10.00 USD',
    'Amount due 10.00 USD',
    'Page 1 of 1',
  ])
    expect(text).toContain(told);
  // Without tax it is the total.
  expect(text).not.toContain('Subtotal');
});

test('names in Arabic, Hebrew, Chinese, Greek and Cyrillic, and emoji, are read back as they were written', async () => {
  const issuer = 'Пример ООО\nΑθήνα';
  const settings = await billing.request('PATCH', '/billing/settings', { invoice_issuer: issuer });
  expect(settings.status).toBe(200);
  const fields = { name: ARABIC, billing_address_line1: CHINESE, billing_address_city: HEBREW };
  const id = await draftFor(fields, 'Thank you 🎉 (12 個)');
  await billing.post(`/invoices/${id}/finalize`);
  const text = closed(joined((await ask(id)).pages));
  for (const told of [ARABIC, CHINESE, HEBREW, '🎉', '(12 個)', 'Пример ООО', 'Αθήνα', '−4.50 USD', '1,230.00 USD due'])
    expect(text).toContain(closed(told));
});

test('it is as it was issued, the same to the byte whenever and wherever it is made', async () => {
  const id = await draftFor({ name: ARABIC }, CHINESE);
  await billing.post(`/invoices/${id}/finalize`);
  const first = await ask(id);
  const other = await weir.startApi();
  for (const again of [await ask(id), await ask(id, { baseUrl: other.url })]) expect(again.bytes).toEqual(first.bytes);
  await other.close();
  await billing.post(`/invoices/${id}/pay`, { amount: '30', reference: 'ch_42' });
  for (const query of ['', '?as=issued']) expect((await ask(id, { query })).bytes).toEqual(first.bytes);
  const paid = joined((await askNow(id)).pages);
  expect(paid).toContain('Paid −30.00 USD');
  expect(paid).toContain('Amount due 1,200.00 USD');
  expect(paid).not.toContain('ch_42');
});

const issued = async (id: string) => (await ask(id)).bytes;

test('it stays the same to the byte, whatever is paid, taken back, given up or voided since', async () => {
  const id = await draftFor({ name: ARABIC }, CHINESE);
  await billing.post(`/invoices/${id}/finalize`);
  const { bytes } = await askNow(id);
  expect(await issued(id)).toEqual(bytes);
  const { payments } = await billing.post(`/invoices/${id}/pay`, { amount: '30' });
  expect(await issued(id)).toEqual(bytes);
  expect((await askNow(id)).bytes).not.toEqual(bytes);
  const taken = await billing.request('DELETE', `/invoices/${id}/payments/${payments[0].id}`);
  expect(taken.status).toBe(204);
  await billing.post(`/invoices/${id}/uncollectible`);
  expect(await issued(id)).toEqual(bytes);
  await billing.post(`/invoices/${id}/pay`);
  expect(await issued(id)).toEqual(bytes);
  const other = await draftFor({ name: 'Hooli' }, 'Discount');
  await billing.post(`/invoices/${other}/finalize`);
  const before = await issued(other);
  await billing.post(`/invoices/${other}/void`, { note: 'a mistake of ours' });
  expect(await issued(other)).toEqual(before);
});

test('it has the credits that were drawn then, and not what a later invoice gave', async () => {
  const { id: customer } = await billing.customer({ name: 'Stark' });
  await billing.post(`/customers/${customer}/credits`, { amount: '4', currency: 'USD' }, 201);
  const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '10' }]);
  const finalize = async (adjustment?: string): Promise<string> => {
    const { id: subscription } = await billing.subscribe(plan.id, customer);
    const [draft] = await billing.drafts(subscription);
    const line = { description: 'Goodwill', amount: adjustment };
    if (adjustment !== undefined) await billing.post(`/invoices/${draft?.id}/lines`, line, 201);
    await billing.post(`/invoices/${draft?.id}/finalize`);
    return draft?.id ?? '';
  };
  const id = await finalize();
  const { bytes, pages } = await ask(id);
  expect(joined(pages)).toContain('Credits applied −4.00 USD Amount due 6.00 USD');
  const { rows } = await weir.pool.query('SELECT billing_now() AS now');
  await billing.moveTo(new Date(Date.parse(rows[0].now) + 60_000).toISOString());
  await finalize('-15');
  expect(joined((await askNow(id)).pages)).toContain('Credits applied −9.00 USD Amount due 1.00 USD');
  expect(await issued(id)).toEqual(bytes);
  // One of credits alone is paid in the moment that it is issued.
  await billing.post(`/customers/${customer}/credits`, { amount: '10', currency: 'USD' }, 201);
  const paid = await finalize();
  const first = await askNow(paid);
  expect(joined(first.pages)).toContain('Paid. Thank you.');
  expect(await issued(paid)).toEqual(first.bytes);
});

test('a draft and a void invoice say so on every page, and a draft has no number', async () => {
  const id = await draftFor({ name: 'Globex' }, 'Discount');
  const draft = await ask(id);
  expect(draft.headers.get('content-disposition')).toBe('attachment; filename="draft.pdf"');
  expect(draft.pages.map((page) => page.includes('DRAFT'))).toEqual([true]);
  expect(joined(draft.pages)).not.toContain('Invoice number');
  await billing.post(`/invoices/${id}/finalize`);
  await billing.post(`/invoices/${id}/void`, { note: 'a mistake of ours' });
  const { pages } = await askNow(id);
  expect(pages.map((page) => page.includes('VOID'))).toEqual([true]);
  expect(joined(pages)).toContain('nothing is due');
  expect(joined(pages)).not.toContain('a mistake of ours');
});

test('one below zero thanks nobody for paying it, and one that was given up asks for nothing', async () => {
  const below = await draftFor({ name: 'Umbrella' }, 'Discount');
  await billing.post(`/invoices/${below}/lines`, { description: 'Goodwill', amount: '-1280.00' }, 201);
  expect(await billing.post(`/invoices/${below}/finalize`)).toMatchObject({ status: 'PAID', total: '-50.00' });
  const negative = joined((await askNow(below)).pages);
  expect(negative).toContain('−50.00 USD, nothing is due');
  expect(negative).not.toContain('Paid.');
  const given = await draftFor({ name: 'Umbrella' }, 'Discount');
  await billing.post(`/invoices/${given}/finalize`);
  await billing.post(`/invoices/${given}/pay`, { amount: '30' });
  await billing.post(`/invoices/${given}/uncollectible`);
  const closed = joined((await askNow(given)).pages);
  expect(closed).toContain('1,200.00 USD unpaid, closed: nothing is due');
  expect(closed).toContain('Unpaid 1,200.00 USD');
  expect(closed).not.toContain('Amount due');
  await billing.post(`/invoices/${given}/pay`);
  expect(joined((await askNow(given)).pages)).toContain('Paid. Thank you.');
});

test('a line of nothing is left out, unless something was waived', async () => {
  const id = await draftFor({ name: 'Initech' }, 'Discount');
  const { subscription_id } = await billing.post(`/invoices/${id}/finalize`);
  await billing.post(`/invoices/${id}/void`);
  await billing.post(`/subscriptions/${subscription_id}/cancel`, { cancel_at_period_end: false });
  const [final] = await billing.finalizeAll(subscription_id);
  expect(final).toMatchObject({ total: '0.00', lines: [{ amount: '0.00', waived: '1190.41' }] });
  expect(joined((await ask(final.id)).pages)).toContain('1,190.41 USD waived 0.00 USD');
});

test('name and address that were erased when their time was over are told as that, and not as to come', async () => {
  const id = await draftFor({ name: 'Ada Lovelace' }, 'Discount');
  expect(joined((await ask(id)).pages)).toContain('as they will be when it is finalized');
  const { customer_id, subscription_id } = await billing.post(`/invoices/${id}/finalize`);
  await billing.post(`/subscriptions/${subscription_id}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(subscription_id);
  await billing.post('/erasures', { customer_id, invoice_copies_issued_before: '2100-01-01' }, 202);
  await performAllMoves(billing.database);
  const text = joined((await ask(id)).pages);
  expect(text).toContain('Bill to Name and address have been erased');
  expect(text).not.toContain('Lovelace');
});

test('of more lines than there is room for the others are one row, and each page has the head', async () => {
  const more = 3;
  const id = await draftFor({ name: 'Initech' }, 'Discount');
  await weir.pool.query(
    copyRows('invoice_lines', `'id', gen_random_uuid(), 'position', t.position + n`, {
      times: LIMITS.pdfLines + more - 2,
      where: 't.invoice_id = $1',
    }),
    [id],
  );
  await billing.post(`/invoices/${id}/finalize`);
  const { pages } = await ask(id);
  expect(pages.length).toBeGreaterThan(20);
  for (const [index, page] of pages.entries()) expect(page).toContain(`Page ${index + 1} of ${pages.length}`);
  for (const page of pages.slice(0, -1)) expect(page).toMatch(/Description\s+Quantity\s+Amount/);
  const text = joined(pages);
  expect(text).toContain(`${more} more lines Not listed here. −13.50 USD`);
  expect(text.match(/Discount/g)).toHaveLength(LIMITS.pdfLines - 1);
});

const filled = (text: string, length: number): string => Array.from(text.repeat(length)).slice(0, length).join('');
/** A name or a line that is as long as it may be. */
const long = (text: string): string => filled(text, LIMITS.name);

test('nothing leaves its page or its column, however long names, lines, quantities and amounts are', async () => {
  const [nines, fraction] = ['9'.repeat(LIMITS.priceDigits), '9'.repeat(LIMITS.fraction)];
  const [price, amount, least] = [`${nines}.${fraction}`, `${nines}.9999`, `0.${'0'.repeat(LIMITS.fraction - 1)}1`];
  const seller = {
    legal_name: long('W'),
    tax_id: filled('W', LIMITS.shortText),
    address_line1: long('W'),
    city: long('W '),
    postal_code: filled('W', LIMITS.postalCode),
    country: 'NO',
  };
  const letterhead = `Weirworks\n${filled('W', LIMITS.lines - 10)}`;
  const settings = { seller, invoice_issuer: letterhead, invoice_prefix: filled('W', LIMITS.invoicePrefix) };
  expect((await billing.request('PATCH', '/billing/settings', settings)).status).toBe(200);
  const customer = await billing.customer({
    name: 'Wayne',
    billing_address_line1: long('W'),
    billing_address_city: long('با'),
    billing_address_state: long('測'),
    email: `${filled('W', 64)}@${filled('W', LIMITS.email - 69)}.com`,
  });
  const [packed, tiered] = [await billing.meter(), await billing.meter()];
  const tiers = Array.from({ length: LIMITS.tiers }, (_, index) => ({
    up_to: index === LIMITS.tiers - 1 ? null : `${10n ** BigInt(LIMITS.unitDigits - 1) + BigInt(index)}.${fraction}`,
    unit_price: price,
    flat_fee: price,
  }));
  const charge = { type: 'USAGE', display_name: long('W'), minimum_amount: price };
  const plan = await billing.plan(
    [
      { type: 'FIXED', display_name: long('Wide '), unit_price: price },
      { ...charge, meter_id: packed.id, model: 'package', unit_price: price, package_size: least, included_units: '1' },
      { ...charge, meter_id: tiered.id, model: 'graduated', tiers },
    ],
    { currency: 'CLF' },
  );
  const usage = { meter: packed, customer: customer.external_id, at: '2025-01-15T12:00:00Z' };
  await billing.track([
    { ...usage, quantity: LIMITS.quantity },
    { ...usage, quantity: 1e-300 },
  ]);
  await billing.post(`/customers/${customer.id}/credits`, { amount, currency: 'CLF' }, 201);
  const start = { start_date: '2025-01-01T00:00:00Z' };
  const { id: subscription } = await billing.subscribe(plan.id, customer.id, start);
  const id = (await billing.drafts(subscription)).at(-1)?.id ?? '';
  for (const text of ['W', 'f', 'Wide words, ', 'با', 'ع ', 'ח', '測', '。', '🎉', 'W測בع🎉 '])
    await billing.post(`/invoices/${id}/lines`, { description: long(text), amount: `-${amount}` }, 201);
  await ask(id);
  const finalized = (await billing.finalizeAll(subscription)).at(-1);
  await billing.post(`/invoices/${id}/pay`, { amount });
  for (const query of ['', '?as=now']) expect(joined((await ask(id, { query })).pages)).toContain('Amount due');
  expect(finalized.amount_due.length).toBeGreaterThan(50);
  expect(finalized.lines.some(({ quantity }: { quantity: string | null }) => (quantity ?? '').length > 300)).toBe(true);
});

test('one that there is not is 404, like any invoice', async () => {
  const answer = await billing.request('GET', '/invoices/01890000-0000-7000-8000-00000000000a/pdf');
  expectProblem(answer, 404, 'not_found');
});

test('lines of nothing are left out beside others, and listed where there are no others', async () => {
  const [used, unused] = [await billing.meter(), await billing.meter()];
  const charge = { type: 'USAGE', unit_price: '1' };
  const { id: plan } = await billing.plan([
    { ...charge, display_name: 'Calls made', meter_id: used.id },
    { ...charge, display_name: 'Hours on hold', meter_id: unused.id },
  ]);
  const { id: customer_id, external_id: customer } = await billing.customer();
  const { id } = await billing.subscribe(plan, customer_id, { start_date: '2025-01-01T00:00:00Z' });
  await billing.track([{ meter: used, customer, quantity: 7, at: '2025-02-15T00:00:00Z' }]);
  await billing.moveTo('2025-03-01T00:10:00Z', id);
  const texts = [];
  for (const invoice of await billing.finalizeAll(id)) {
    expect(invoice.lines).toHaveLength(2);
    texts.push(joined((await ask(invoice.id)).pages));
  }
  const listed = texts.map((text) => ['Calls made', 'Hours on hold'].filter((title) => text.includes(title)));
  expect(listed).toEqual([['Calls made', 'Hours on hold'], ['Calls made']]);
});
