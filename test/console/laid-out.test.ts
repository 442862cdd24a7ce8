// How a page lays out what it shows: a customer in two columns where there is room.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { furnish, type Furnished } from '../support/browser/furnished.ts';
import { ownWeir } from '../support/use-weir.ts';

const WINDOW = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

const weir = ownWeir();
let organization: Furnished;
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  [organization, browser] = await Promise.all([furnish(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: WINDOW });
  await visit.context.addCookies([{ name: 'access_token', value: organization.session, url: weir.baseUrl }]);
  page = visit.page;
}, 120_000);
afterAll(() => browser?.close());

test('what is known of a customer stands beside the rest where there is room, and above it on a phone', async () => {
  await page.goto(organization.addresses['customer'] ?? '');
  const boxes = async () => {
    const found = await Promise.all(
      [page.locator('.facts').first(), page.getByRole('tablist')].map((part) => part.boundingBox()),
    );
    const [facts, tabs] = found;
    if (facts == null || tabs == null) throw new Error('a part of the page is not there');
    return { facts, tabs };
  };
  await page.getByRole('tablist').waitFor();
  const wide = await boxes();
  expect(wide.facts.x).toBeGreaterThan(wide.tabs.x + wide.tabs.width);
  await page.setViewportSize(PHONE);
  const narrow = await boxes();
  expect(narrow.tabs.y).toBeGreaterThan(narrow.facts.y + narrow.facts.height);
  await page.setViewportSize(WINDOW);
});
