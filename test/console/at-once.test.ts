// What is shown once it is there, and not some while later: the clock of the page stands still, so that nothing comes that waits for it.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { holdBack } from '../support/browser/hold-back.ts';
import { signUp } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let browser: Browser;
let visit: Visit;

beforeAll(async () => {
  const [{ session }, opened] = await Promise.all([signUp(weir), openBrowser([weir.baseUrl])]);
  browser = opened;
  visit = await browser.visit({ baseURL: weir.baseUrl });
  await visit.context.addCookies([{ name: 'access_token', value: session, url: weir.baseUrl }]);
  await visit.page.clock.install();
  await visit.page.clock.pauseAt(Date.now() + 60_000);
});
afterAll(() => browser?.close());

test('a page is shown once all that it needs is there, also where it said before that it loads', async () => {
  const { page, faults } = visit;
  const letGo = await holdBack(page, '**/api/v1/auth/me');
  await page.goto('/api-keys');
  const loading = page.getByRole('status', { name: 'Loading' });
  await expect
    .poll(async () => {
      await page.clock.runFor(20);
      return await loading.count();
    })
    .toBe(1);
  letGo();
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  expect(faults).toEqual([]);
});
