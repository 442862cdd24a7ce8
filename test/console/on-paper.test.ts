// What is printed of the console.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { furnish, type Furnished } from '../support/browser/furnished.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let organization: Furnished;
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  [organization, browser] = await Promise.all([furnish(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 860 } });
  await visit.context.addCookies([{ name: 'access_token', value: organization.session, url: weir.baseUrl }]);
  page = visit.page;
}, 120_000);
afterAll(() => browser?.close());

test('on paper a table has all of its columns, as wide as paper is, and nothing that one would press', async () => {
  await page.goto('/invoices');
  const list = page.getByRole('group', { name: 'Invoices' });
  const titles = list.getByRole('columnheader').filter({ visible: true });
  await titles.first().waitFor();
  const all = await titles.allTextContents();
  await page.setViewportSize({ width: 720, height: 1000 });
  expect((await titles.allTextContents()).length).toBeLessThan(all.length);
  await page.emulateMedia({ media: 'print' });
  expect(await titles.allTextContents()).toEqual(all);
  await page.goto(organization.addresses['invoice-open'] ?? '');
  await page.getByRole('columnheader', { name: 'Period' }).first().waitFor();
  const pressed = page.getByRole('button', { name: 'Void', exact: true });
  expect(await pressed.count()).toBe(0);
  await page.emulateMedia({ media: null });
  expect(await pressed.count()).toBe(1);
  expect(visit.faults).toEqual([]);
});
