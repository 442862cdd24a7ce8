// What the console says while an answer is held back, when it is cut off, and when the session ends: nothing that is not so.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { furnish, type Furnished } from '../support/browser/furnished.ts';
import { startWeir, type Weir } from '../support/harness.ts';

let weir: Weir;
let organization: Furnished;
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  weir = await startWeir();
  [organization, browser] = await Promise.all([furnish(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({
    baseURL: weir.baseUrl,
    viewport: { width: 1280, height: 860 },
    timezoneId: 'America/New_York',
  });
  page = visit.page;
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await weir.close();
});
beforeEach(async () => {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await signIn();
});

const signIn = () =>
  visit.context.addCookies([{ name: 'access_token', value: organization.session, url: weir.baseUrl }]);

/** Holds requests back until they are let go. */
async function holdBack(address: string | RegExp): Promise<() => void> {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  await page.route(address, async (route) => {
    await opened;
    await route.continue();
  });
  return open;
}

const total = () => page.locator('.figure').first();

test('usage of other days stands as what it was until they are there, and says that it loads', async () => {
  await page.goto(organization.addresses['usage'] ?? '');
  await total().waitFor();
  const shown = page.locator('.shown', { has: page.locator('.figures') }).last();
  expect(await shown.getAttribute('aria-busy')).toBe('false');
  const before = await total().textContent();
  const letGo = await holdBack(/\/usage\?.*start_date=2020-01-01/);
  await page.getByLabel('From', { exact: true }).fill('2020-01-01');
  await page.getByText('Loading … what stands here is from before').first().waitFor();
  expect([await shown.getAttribute('aria-busy'), await total().textContent()]).toEqual(['true', before]);
  // The table of the days is that of the answer, not of the question: it is by day, and the question by month.
  expect(await page.locator('.usage-split th').first().textContent()).toBe('Day');
  letGo();
  await page.locator('.usage-split th', { hasText: 'Month' }).waitFor();
  expect(await shown.getAttribute('aria-busy')).toBe('false');
  expect(visit.faults).toEqual([]);
});

test('a console that cannot reach Weir says so, and does not load for ever', async () => {
  await page.goto(organization.addresses['usage'] ?? '');
  await total().waitFor();
  await visit.context.setOffline(true);
  try {
    await page.getByLabel('From', { exact: true }).fill('2021-01-01');
    await page.getByRole('alert').filter({ hasText: 'Weir cannot be reached' }).first().waitFor();
    expect(await page.locator('.figure').count()).toBe(0);
  } finally {
    await visit.context.setOffline(false);
  }
});
