// What has a form of its own: prices with tiers, which are tables, and charts with their axes.

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  findBarriers,
  findCutOff,
  layoutShift,
  openBrowser,
  type Browser,
  type Visit,
} from '../support/browser/browser.ts';
import { furnish, type Furnished } from '../support/browser/furnished.ts';
import { DEFAULT_SHARE } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const PHONE = { width: 390, height: 844 };

const weir = ownWeir({ api: DEFAULT_SHARE });
let organization: Furnished;
let browser: Browser;

beforeAll(async () => {
  [organization, browser] = await Promise.all([furnish(weir), openBrowser([weir.baseUrl])]);
}, 120_000);
afterAll(() => browser?.close());

async function signedIn(): Promise<Visit> {
  const made = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 860 } });
  await made.context.addCookies([{ name: 'access_token', value: organization.session, url: weir.baseUrl }]);
  return made;
}

test('tiers of a price are a table that fits a phone, of a hundred the first five and the others on demand', async () => {
  const { page, faults, close } = await signedIn();
  const [meter, other] = (await organization.call('GET', '/meters')).data;
  const tiers = Array.from({ length: 100 }, (_, index) => ({
    up_to: index === 99 ? null : String((index + 1) * 1_000_000),
    unit_price: index === 1 ? '0.000000000000000001' : '0.05',
    flat_fee: index === 2 ? '1250.5' : '0',
  }));
  const long = `${'9'.repeat(32)}.${'9'.repeat(18)}`;
  const two = [
    { up_to: long, unit_price: '2' },
    { up_to: null, unit_price: '1' },
  ];
  const charge = { type: 'USAGE', meter_id: meter.id };
  const fields = {
    type: 'USAGE',
    billing_interval: 'month',
    currency: 'USD',
    lookup_id: 'many-tiers',
    name: 'Many tiers',
  };
  const { id } = await organization.call('POST', '/plans', {
    ...fields,
    charges: [
      { ...charge, display_name: 'Tokens', model: 'graduated', tiers, minimum_amount: '10' },
      { ...charge, meter_id: other.id, display_name: 'Long ones', model: 'volume', tiers: two },
    ],
  });
  await page.goto(`/plans/${id}`);
  const rows = (name: string) => page.getByRole('group', { name, exact: true }).locator('tbody tr');
  await rows('Tiers of Tokens').first().waitFor();
  expect((await rows('Tiers of Tokens').allInnerTexts()).map((row) => row.split('\t'))).toEqual([
    ['0 to 1,000,000', '0.05 USD', '–'],
    ['over 1,000,000 to 2,000,000', '0.000000000000000001 USD', '–'],
    ['over 2,000,000 to 3,000,000', '0.05 USD', '1,250.50 USD'],
    ['over 3,000,000 to 4,000,000', '0.05 USD', '–'],
    ['over 4,000,000 to 5,000,000', '0.05 USD', '–'],
  ]);
  await page.getByText('By tier, at least 10.00 USD').waitFor();
  // No fee, no column of it.
  expect(await rows('Tiers of Long ones').locator('td').count()).toBe(4);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findBarriers(page)).toEqual([]);
  }
  await page.setViewportSize(PHONE);
  await page.getByText('And 95 more tiers').click();
  expect(await rows('More tiers of Tokens').count()).toBe(95);
  expect(await findCutOff(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

test('events by day have an axis of few round ticks with its unit, beside those of the month before', async () => {
  const { page, faults, close } = await signedIn();
  const days = Array.from({ length: 30 }, (_, index) => ({
    start: new Date(Date.UTC(2026, 10, index + 1)).toISOString(),
    recorded: index < 20 ? index * 117 : null,
    previous: index * 90,
  }));
  await page.route(/\/api\/v1\/overview/, async (route) => {
    const answer = await route.fetch();
    const overview = await answer.json();
    await route.fulfill({ response: answer, json: { ...overview, events: { ...overview.events, days } } });
  });
  await page.goto('/');
  const chart = page.getByRole('region', { name: 'Events by day' });
  await chart.waitFor();
  expect(await chart.locator('.day-bars-axis > span').allInnerTexts()).toEqual(['0', '1K', '2K']);
  await chart.getByText('events', { exact: true }).waitFor();
  await chart.getByText('the month before', { exact: true }).waitFor();
  expect(await chart.locator('.day-bars-before').count()).toBe(1);
  expect(await layoutShift(page)).toBe(0);
  expect(await findBarriers(page)).toEqual([]);
  await page.setViewportSize(PHONE);
  expect(await findCutOff(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
