// Files that take many requests: what is in them while usage goes on, how far they go, and that they are stopped.

import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { holdBack } from '../support/browser/hold-back.ts';
import { fixedCharge, makeCustomer, makePricedPlan } from '../support/billing-fixture.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let admin: Organization;
let apiKey: string;
let meter: { id: string; token: string };
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  [admin, browser] = await Promise.all([signUp(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 860 } });
  await visit.context.addCookies([{ name: 'access_token', value: admin.session, url: weir.baseUrl }]);
  page = visit.page;
  apiKey = await admin.createKey();
  meter = await admin.createMeter('SUM');
}, 120_000);
afterAll(() => browser?.close());

/** The month before this one, which the export begins with. */
const MONTH = (() => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
})();

async function track(customer_external_id: string, quantity: number): Promise<void> {
  const body = { meter_token: meter.token, customer_external_id, quantity, timestamp: `${MONTH}-15T12:00:00Z` };
  expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).status).toBe(201);
  await weir.drained();
}

/** Exports the month in pages of one customer, and runs `meanwhile` after the first of them. Returns the rows of the file. */
async function exportMonth(meanwhile: () => Promise<void>): Promise<string[][]> {
  let isFirst = true;
  const walk = async (route: Route) => {
    const url = new URL(route.request().url());
    // The page around it reads customers, too, from no cursor on.
    if (isFirst && url.searchParams.has('cursor')) {
      isFirst = false;
      await meanwhile();
    }
    url.searchParams.set('limit', '1');
    await route.continue({ url: url.href });
  };
  await page.route(/\/meters\/[^/]+\/customers\?/, walk);
  await page.goto('/usage');
  await page.getByRole('button', { name: 'Export a month' }).click();
  const file = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: 'Export', exact: true }).click();
  const [, ...rows] = (await readFile(await (await file).path(), 'utf8')).trimEnd().split('\r\n');
  await page.unrouteAll({ behavior: 'wait' });
  return rows.map((row) => row.split(','));
}

test('a customer whose usage rises while a month is exported is in the file, and once', async () => {
  await track('ada', 30);
  await track('bob', 20);
  await track('cleo', 10);
  const rows = await exportMonth(() => track('cleo', 100));
  expect(rows.map(([, , , , customer, , usage]) => [customer, usage])).toEqual([
    ['ada', '30'],
    ['bob', '20'],
    ['cleo', '110'],
  ]);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(visit.faults).toEqual([]);
});

test('usage that came in for who was read already is told beside the file', async () => {
  const rows = await exportMonth(() => track('ada', 5));
  expect(rows.map(([, , , , customer, , usage]) => [customer, usage])).toEqual([
    ['ada', '30'],
    ['bob', '20'],
    ['cleo', '110'],
  ]);
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Usage of these meters changed while it was made').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  const again = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Export', exact: true }).click();
  expect(await readFile(await (await again).path(), 'utf8')).toContain(',ada,,35,2\r\n');
  await dialog.waitFor({ state: 'detached' });

  // Whoever closes it wants no file any more, and hears nothing more of it.
  await page.getByRole('button', { name: 'Export a month' }).click();
  const letGo = await holdBack(page, /\/meters\/[^/]+\/customers\?/);
  const asked = page.waitForRequest(/\/meters\/[^/]+\/customers\?/);
  await dialog.getByRole('button', { name: 'Export', exact: true }).click();
  const answered = (await asked).response();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  letGo();
  await (await answered)?.finished();
  await page.evaluate('new Promise(requestAnimationFrame)');
  expect(await page.locator('.notice').count()).toBe(0);
});

const lines = () => page.getByRole('button', { name: 'Lines as CSV' });
const csv = () => page.getByRole('button', { name: 'CSV', exact: true });

/** Makes an invoice of these amounts, and finalizes it. */
async function makeInvoice(...amounts: string[]): Promise<{ id: string; subscription: string; customer: string }> {
  const plan = await makePricedPlan(
    weir,
    admin,
    amounts.map((amount) => fixedCharge(amount)),
  );
  const customer = await makeCustomer(weir, admin);
  const { session } = admin;
  const body = { customer_id: customer.id, plan_id: plan.id };
  const { id: subscription } = (await weir.request('POST', '/api/v1/subscriptions', { session, body })).body;
  const { data } = (await weir.request('GET', `/api/v1/subscriptions/${subscription}/invoices`, { session })).body;
  expect((await weir.request('POST', `/api/v1/invoices/${data[0].id}/finalize`, { session })).status).toBe(200);
  return { id: data[0].id, subscription, customer: customer.id };
}

/** The amounts in the file of lines of the page that is open, from low to high. */
async function readAmounts(): Promise<string[]> {
  const file = page.waitForEvent('download');
  await lines().click();
  const [head = '', ...rows] = (await readFile(await (await file).path(), 'utf8')).trimEnd().split('\r\n');
  const amount = head.split(',').indexOf('amount');
  return rows.map((row) => row.split(',')[amount] ?? '').toSorted();
}

test('a file of lines is all of them, page by page, and stops where somebody says so', async () => {
  await makeInvoice('10', '20', '30');
  let pages = 0;
  let held = Infinity;
  await page.route(/\/invoice-lines\?/, async (route) => {
    pages += 1;
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '1');
    // The page that is held is given up by the browser, and answered by nobody.
    if (pages < held) await route.continue({ url: url.href });
  });
  await page.goto('/invoices');
  expect(await readAmounts()).toEqual(['10.00', '20.00', '30.00']);

  [pages, held] = [0, 2];
  let files = 0;
  page.on('download', () => (files += 1));
  await lines().click();
  await until(async () => pages === 2, 'the second page is asked for');
  await page.getByText('1 lines read …').waitFor();
  const stop = page.getByRole('button', { name: 'Stop', exact: true });
  await stop.click();
  await stop.waitFor({ state: 'detached' });
  expect([files, await page.getByText('lines read').count(), await page.getByRole('alert').count()]).toEqual([0, 0, 0]);
  await page.getByRole('status').getByText('Stopped: there is no file.').waitFor();
  await lines().and(page.locator(':focus')).waitFor();

  [pages, held] = [0, 1];
  await lines().click();
  await until(async () => pages === 1, 'the first page is asked for');
  await stop.click();
  await page.getByRole('status').getByText('Stopped: there is no file.').waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  expect(visit.faults).toEqual([]);
});

test('the file of a list stops where somebody says so, and where its page is left', async () => {
  for (const amount of ['51', '52', '53']) await makeInvoice(amount);
  let [pages, files] = [0, 0];
  let goOn = (): void => {};
  await page.route(/\/invoices\?.*limit=100/, async (route) => {
    pages += 1;
    if (pages > 1) await new Promise<void>((resolve) => (goOn = resolve));
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '1');
    await route.continue({ url: url.href });
  });
  page.on('download', () => (files += 1));
  const begin = async (): Promise<void> => {
    await page.goto('/invoices');
    pages = 0;
    await csv().click();
    await until(async () => pages === 2, 'the second page is asked for');
  };
  /** The page that was asked for comes after all, and nobody goes on from it. */
  const letGo = async (): Promise<void> => {
    const answered = page.waitForResponse(/\/invoices\?.*limit=1&/);
    goOn();
    await (await answered).finished();
    await page.evaluate('new Promise(requestAnimationFrame)');
    expect([pages, files]).toEqual([2, 0]);
  };
  await begin();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('status').getByText('Stopped: there is no file.').waitFor();
  await csv().and(page.locator(':focus')).waitFor();
  await letGo();
  await begin();
  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor();
  await letGo();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  expect(visit.faults).toEqual([]);
});

test('a file of lines is of what the page shows: what is past due, of one customer, of one subscription', async () => {
  const { id, subscription } = await makeInvoice('41');
  const { customer } = await makeInvoice('42');
  await weir.pool.query('UPDATE invoices SET is_past_due = true WHERE id = $1', [id]);
  for (const [address, amounts] of [
    ['/invoices?status=PAST_DUE', ['41.00']],
    [`/subscriptions/${subscription}?tab=invoices`, ['41.00']],
    [`/customers/${customer}?tab=invoices`, ['42.00']],
  ] as const) {
    await page.goto(address);
    expect([address, await readAmounts()]).toEqual([address, amounts]);
  }
  // What a draft comes to is computed whenever it is read: no file lists its lines.
  await page.goto('/invoices?status=DRAFT');
  await csv().waitFor();
  expect(await lines().count()).toBe(0);
  expect(visit.faults).toEqual([]);
});

test('a list is not read for a file that cannot be written', async () => {
  await page.goto('/customers');
  await csv().waitFor();
  await page.route(/\/assets\/list-csv-/, (route) => route.abort());
  let pages = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/v1/customers') pages += 1;
  });
  await csv().click();
  await page.getByRole('alert').waitFor();
  expect(pages).toBe(0);
  await page.unrouteAll({ behavior: 'wait' });
});
