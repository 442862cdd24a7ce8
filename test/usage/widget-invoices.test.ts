// What a customer reads of its invoices on the page /embed: how each amount came about, what was paid and what is left, in the words of
// its language.

import { LANGUAGES, type Language } from '@weir/api/widget/embed';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBarriers, openBrowser, type Browser } from '../support/browser/browser.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Billed;
let browser: Browser;
let token: string;
/** Over 1,000 units of January; some of it was paid. */
let first: { id: string; invoice_number: string };
/** With 50 more units of January, that came in when it was billed. */
let second: { id: string; invoice_number: string };

beforeAll(async () => {
  browser = await openBrowser([new URL(weir.baseUrl).origin]);
  billing = await startBilled(weir);
  const { ownCustomer, subscription } = billing;
  await billing.post(`/invoices/${(await billing.open()).id}/pay`);
  await billing.use(1_000, '2025-01-15T12:00:00Z');
  await billing.post(`/customers/${ownCustomer.id}/credits`, { amount: '2.00', currency: 'USD' }, 201);
  [first] = (await billing.finalizeAll(subscription)) as [typeof first];
  await billing.post(`/invoices/${first.id}/pay`, { amount: '3.00', paid_at: '2025-02-01' });
  await billing.use(50, '2025-01-20T12:00:00Z');
  await billing.moveTo('2025-03-01T00:10:00Z', subscription);
  [second] = (await billing.finalizeAll(subscription)) as [typeof second];
  const apiKey = await billing.admin.createKey();
  const body = { customer_external_id: ownCustomer.external_id };
  token = (await weir.request('POST', '/api/v1/widget/token', { apiKey, body })).body.token;
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await billing?.close();
});

const ask = async (path: string) =>
  (await weir.request('GET', `/api/v1/widget/${path}`, { headers: { authorization: `Bearer ${token}` } })).body;

/** Shows the invoices in a language, with this one open, and runs `look`. */
async function open(language: string, number: string, look: (page: Page) => Promise<void>): Promise<void> {
  const visit = await browser.visit({ viewport: { width: 320, height: 900 } });
  await visit.page.goto(`${weir.baseUrl}/embed?show=billing&lang=${language}#token=${token}`);
  await visit.page.getByText(number).click();
  await visit.page.locator('tfoot').waitFor();
  await look(visit.page);
  expect(await visit.page.evaluate(`document.documentElement.scrollWidth`)).toBeLessThanOrEqual(320);
  expect(await findBarriers(visit.page)).toEqual([]);
  expect(visit.faults).toEqual([]);
  await visit.close();
}

const plain = (texts: string[]) => texts.map((text) => text.replaceAll(/[\u00A0\u202F]/g, ' '));
const sums = async (page: Page) =>
  plain(
    await page.locator('tfoot tr').evaluateAll((rows: { innerText: string }[]) => rows.map((row) => row.innerText)),
  );
const notes = async (page: Page) => plain(await page.locator('tbody th > .quiet').allTextContents());

test('an invoice says what was taken off it and paid of it, and what is left', async () => {
  await open('en', first.invoice_number, async (page) => {
    expect(await sums(page)).toEqual([
      'Total\tUS$25.00',
      'Credits applied\t-US$2.00',
      'Paid on 1 Feb 2025\t-US$3.00',
      'Amount due\tUS$20.00',
    ]);
  });
});

/** Of one that is missing nobody has seen what a customer reads: it does not compile. */
const SAID: Record<Language, Record<'late' | 'base' | 'left' | 'nothing' | 'closed' | 'unpaid', string>> = {
  en: {
    late: 'late usage · US$0.015 each · US$15.00 billed before',
    base: 'US$10.00 per period',
    left: 'Amount due',
    nothing: 'Nothing is due.',
    closed: 'closed',
    unpaid: 'Unpaid',
  },
  de: {
    late: 'nachgemeldete Nutzung · je 0,015 $ · 15,00 $ schon berechnet',
    base: '10,00 $ pro Zeitraum',
    left: 'Offener Betrag',
    nothing: 'Nichts ist offen.',
    closed: 'geschlossen',
    unpaid: 'Unbezahlt',
  },
  fr: {
    late: 'utilisation tardive · 0,015 $US l’unité · 15,00 $US déjà facturés',
    base: '10,00 $US par période',
    left: 'Reste à payer',
    nothing: 'Rien à payer.',
    closed: 'close',
    unpaid: 'Impayé',
  },
  es: {
    late: 'uso tardío · 0,015 US$ por unidad · 15,00 US$ ya facturados',
    base: '10,00 US$ por periodo',
    left: 'Importe por pagar',
    nothing: 'No hay nada por pagar.',
    closed: 'cerrada',
    unpaid: 'Impagado',
  },
};

test.each(LANGUAGES)('a line of late usage says that it is one, and what was billed before: %s', async (language) => {
  const { late, base, left } = SAID[language];
  const { lines } = await ask(`invoices/${second.id}`);
  expect(lines.find(({ kind }: { kind: string }) => kind === 'LATE_USAGE')).toMatchObject({
    quantity: '1050',
    billed_before: '15.00',
    amount: '0.75',
    waived: null,
    days: null,
  });
  await open(language, second.invoice_number, async (page) => {
    expect(await notes(page)).toEqual(expect.arrayContaining([late, base]));
    expect((await sums(page)).at(-1)).toContain(left);
  });
});

test('what was given up is closed and unpaid, beside the words that nothing is due', async () => {
  await billing.post(`/invoices/${first.id}/pay`);
  await billing.post(`/invoices/${second.id}/uncollectible`);
  for (const language of LANGUAGES) {
    const { nothing, closed, unpaid } = SAID[language];
    await open(language, second.invoice_number, async (page) => {
      await page.getByText(nothing).waitFor();
      expect(await page.locator('summary', { hasText: second.invoice_number }).innerText()).toMatch(
        new RegExp(` · ${closed}$`),
      );
      expect((await sums(page)).at(-1)).toContain(unpaid);
    });
  }
});

test('an invoice below zero was settled, and not paid', async () => {
  await billing.moveTo('2025-04-01T00:10:00Z', billing.subscription);
  const { id } = await billing.draft();
  await billing.post(`/invoices/${id}/lines`, { description: 'Goodwill', amount: '-60.00' }, 201);
  const { invoice_number, total } = await billing.post(`/invoices/${id}/finalize`);
  expect(total).toBe('-50.00');
  await open('en', invoice_number, async (page) => {
    expect(await page.locator('summary', { hasText: invoice_number }).innerText()).toMatch(/-US\$50\.00 · settled$/);
    expect((await sums(page)).at(-1)).toBe('Amount due\tUS$0.00');
  });
});
