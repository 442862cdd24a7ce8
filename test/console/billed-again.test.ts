// An invoice that is voided to be billed again, in the console: what of that is said before, and that nobody has to wait for it.

import { expect, onTestFinished, test } from 'vitest';
import { findBarriers, openBrowser } from '../support/browser/browser.ts';
import { startInvoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });

test('the form says when it is billed again and what is lost, and the subscription has it billed now', async () => {
  const billing = await startInvoicing(weir);
  onTestFinished(() => billing.close());
  const customer = await billing.customer();
  const credit = { amount: '100', currency: 'USD', expires_at: '2025-02-01T00:00:00Z' };
  await billing.post(`/customers/${customer.id}/credits`, credit, 201);
  const charge = { type: 'FIXED', display_name: 'Base', unit_price: '1200' };
  const plan = await billing.plan([charge], { billing_interval: 'year' });
  await billing.moveTo('2025-01-05T00:00:00Z');
  const { id } = await billing.subscribe(plan.id, customer.id, { start_date: '2025-01-01' });
  const [invoice] = await billing.finalizeAll(id);
  expect(invoice).toMatchObject({ credits_applied: '100.00', amount_due: '1100.00' });
  await billing.moveTo('2025-02-05T00:00:00Z');

  const browser = await openBrowser([weir.baseUrl]);
  onTestFinished(() => browser.close());
  const { context, page } = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 860 } });
  await context.addCookies([{ name: 'access_token', value: billing.admin.session, url: weir.baseUrl }]);
  const dialog = page.getByRole('dialog');
  await page.goto(`/invoices/${invoice.id}`);
  await page.getByRole('button', { name: 'Void', exact: true }).click();
  await dialog.getByText('But 100.00 USD came of credit that has expired or was voided since').waitFor();
  await dialog.getByLabel('Bill it again').check();
  await dialog.getByText('else by its next invoice, which is made on 1 Jan 2026').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Void the invoice' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Its charges are billed again').waitFor();

  await page.getByRole('link', { name: /^Plan for / }).click();
  await page
    .getByText('What void invoices have left for the next one waits for it. It is made on 1 Jan 2026.')
    .waitFor();
  await page.getByRole('button', { name: 'Bill it now' }).click();
  await dialog.getByRole('button', { name: 'Bill it now' }).click();
  await page.getByRole('heading', { name: /^INV-2025-/ }).waitFor();
  expect(await page.getByText('after its end').count()).toBe(0);
  const { data } = await billing.get(`/subscriptions/${id}/invoices?status=OPEN`);
  expect(data).toMatchObject([{ kind: 'ADJUSTMENT', total: '1200.00' }]);
  await page.goto(`/subscriptions/${id}`);
  await page.getByRole('heading', { name: /^Plan for / }).waitFor();
  expect(await page.getByRole('button', { name: 'Bill it now' }).count()).toBe(0);

  // While there is a draft, that has it, and nothing else may bill it.
  await billing.post(`/invoices/${data[0].id}/void`, { rebill: true });
  await billing.moveTo('2026-01-01T00:10:00Z', id);
  const [draft] = await billing.drafts(id);
  const asked: string[] = [];
  page.on('request', (request) => void asked.push(request.url()));
  await page.reload();
  const callout = page.locator('.callout', { hasText: 'What void invoices have left' });
  await callout.getByRole('link', { name: 'the draft that there is' }).waitFor();
  expect(await page.getByRole('button', { name: 'Bill it now' }).count()).toBe(0);
  // Each draft more would be computed with all of its usage.
  const ofDrafts = asked.map((url) => new URL(url).searchParams).filter((query) => query.get('status') === 'DRAFT');
  expect([...new Set(ofDrafts.map((query) => `${query.get('sort')} ${query.get('limit')}`))]).toEqual(['created_at 1']);
  await callout.getByRole('link').click();
  await page.waitForURL(`**/invoices/${draft?.id}`);
}, 120_000);
