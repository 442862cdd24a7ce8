// Parts of the console that are loaded when they are first needed, where they cannot be: without a network, and in a tab from before an
// upgrade. The page stays, says why, and is reloaded by whoever presses the button.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixedCharge, makeCustomer, makePricedPlan } from '../support/billing-fixture.ts';
import { findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let admin: Organization;
let invoice: string;
let browser: Browser;

beforeAll(async () => {
  [admin, browser] = await Promise.all([signUp(weir), openBrowser([weir.baseUrl])]);
  const plan = await makePricedPlan(weir, admin, [fixedCharge('10')]);
  const { id: customer_id } = await makeCustomer(weir, admin);
  const { id } = await admin.call('POST', '/subscriptions', { customer_id, plan_id: plan.id });
  const { data } = await admin.call('GET', `/subscriptions/${id}/invoices`);
  invoice = data[0].id;
  await admin.call('POST', `/invoices/${invoice}/finalize`);
}, 120_000);
afterAll(() => browser?.close());

/** Opens a page in a browser that has been nowhere. `isAsBefore` tells whether it was not loaded anew since. */
async function open(address: string): Promise<Visit & { isAsBefore: () => Promise<boolean> }> {
  const visit = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 860 } });
  await visit.context.addCookies([{ name: 'access_token', value: admin.session, url: weir.baseUrl }]);
  await visit.page.goto(address);
  await visit.page.locator('h1').waitFor();
  await visit.page.evaluate('globalThis.isAsBefore = true');
  return { ...visit, isAsBefore: () => visit.page.evaluate<boolean>('globalThis.isAsBefore === true') };
}

const NOT_LOADED = 'This part of the console could not be loaded';
const UPDATED = 'Weir was updated: reload the page.';

const voidButton = (page: Page) => page.getByRole('button', { name: 'Void', exact: true });
const pressVoid = (page: Page) => voidButton(page).click();
const voidDialog = (page: Page) => page.getByRole('dialog', { name: /^Void/ });

test('without a network a dialog says that it cannot be opened, and opens by the next press with one', async () => {
  const { context, page, isAsBefore } = await open(`/invoices/${invoice}`);
  await voidButton(page).waitFor();
  await context.setOffline(true);
  for (const _ of ['first', 'again']) {
    await pressVoid(page);
    await page.getByRole('alert').filter({ hasText: NOT_LOADED }).waitFor();
    await page.getByRole('button', { name: 'Reload the page' }).waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    expect(await page.getByText(NOT_LOADED).count()).toBe(0);
  }
  await context.setOffline(false);
  await pressVoid(page);
  await voidDialog(page).waitFor();
  expect(await isAsBefore()).toBe(true);
});

test('in a tab from before an upgrade it says that Weir was updated, and is there after the reload', async () => {
  const { page, isAsBefore } = await open(`/invoices/${invoice}`);
  await page.route(/\/assets\/invoice-forms-/, (route) => route.fulfill({ status: 404, body: '' }));
  await page.route(`${weir.baseUrl}/`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/assets/index-newer.js"></script>' }),
  );
  await pressVoid(page);
  await page.getByRole('alert').filter({ hasText: UPDATED }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  expect(await isAsBefore()).toBe(true);
  await page.unrouteAll({ behavior: 'wait' });
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await expect.poll(isAsBefore).toBe(false);
  await pressVoid(page);
  await voidDialog(page).waitFor();
});

test('without a network a page says that it cannot be loaded, and is there by going to it again', async () => {
  const { context, page, isAsBefore, expectFaults } = await open('/');
  expectFaults(/could not be loaded|dynamically imported module/);
  const main = page.getByRole('navigation', { name: 'Main' });
  await context.setOffline(true);
  await main.getByRole('link', { name: 'Plans' }).click();
  await page.getByRole('alert').filter({ hasText: NOT_LOADED }).waitFor();
  await page.getByRole('button', { name: 'Reload the page' }).waitFor();
  await context.setOffline(false);
  await main.getByRole('link', { name: 'Home' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await main.getByRole('link', { name: 'Plans' }).click();
  await page.getByRole('heading', { level: 1, name: 'Plans' }).waitFor();
  expect(await isAsBefore()).toBe(true);
});
