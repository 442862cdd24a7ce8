// A draft that comes to nothing, in the console: whoever finalizes it or looks at it is told that it is gone.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { untilLater } from '../support/browser/page-clock.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  [billing, browser] = await Promise.all([startInvoicing(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 900 } });
  await visit.context.addCookies([{ name: 'access_token', value: billing.admin.session, url: weir.baseUrl }]);
  page = visit.page;
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await billing?.close();
});

test('a draft that comes to nothing is told to be gone when it is finalized, and leads to the list', async () => {
  expect((await billing.request('PATCH', '/billing/settings', { finalize: 'manual' })).status).toBe(200);
  const { id: plan } = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '31' }]);
  await billing.moveTo('2025-06-01T00:00:00Z');
  const { id } = await billing.subscribe(plan, (await billing.customer()).id);
  await billing.finalizeAll(id);
  // On the last day all of the period is in force.
  await billing.moveTo('2025-06-30T12:00:00Z');
  await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  // The draft of a cycle stands until then, whatever it comes to.
  const { rows } = await weir.pool.query(
    `INSERT INTO invoices (organization_id, id, kind, status, subscription_id, customer_id, cycle, currency, period_start, period_end)
     SELECT organization_id, gen_random_uuid(), kind, 'DRAFT', subscription_id, customer_id, 1, currency, period_start, billing_now()
     FROM invoices WHERE subscription_id = $1 RETURNING id`,
    [id],
  );
  await page.goto(`/invoices/${rows[0].id}`);
  await page.getByText('No line: nothing is due yet.').waitFor();
  await page.getByRole('button', { name: 'Finalize', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Finalize' }).click();
  await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor();
  await page.getByText('Nothing was to be billed: the draft is gone.').waitFor();
  expect(await billing.drafts(id)).toEqual([]);
  expect(visit.faults).toEqual([]);
});

test('a draft that is gone while one looks at it says so, and is asked for no more', async () => {
  const { id: plan } = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '31' }]);
  const { id } = await billing.subscribe(plan, (await billing.customer()).id);
  const [{ id: draft } = { id: '' }] = await billing.drafts(id);
  await page.clock.install();
  await page.goto(`/invoices/${draft}`);
  await page.getByText('Computed a moment ago').waitFor();
  await weir.pool.query('DELETE FROM invoices WHERE id = $1', [draft]);
  await untilLater(page, page.getByText('Nothing was to be billed: the draft is gone.'));
  let asked = 0;
  page.on('request', (request) => (asked += request.url().includes(draft) ? 1 : 0));
  await page.clock.runFor(30_000);
  expect(asked).toBe(0);
  expect(await page.getByText('Computed a moment ago').count()).toBe(0);
  expect(visit.faults).toEqual([]);
});
