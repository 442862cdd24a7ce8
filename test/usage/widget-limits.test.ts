// What the page /embed says of limits that do not begin with the billing period it shows.

import type { Language } from '@weir/api/widget/embed';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixedCharge } from '../support/billing-fixture.ts';
import { openBrowser, type Browser } from '../support/browser/browser.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
let browser: Browser;
let meters: Record<'used' | 'left' | 'last', PricedMeter & { featureId: string }>;
let customer: { id: string; external_id: string };
let subscription: string;
/** With a limit of a hundred a month of each of the meters. */
const limited = async () => {
  const { id } = await billing.plan([fixedCharge('10')]);
  for (const { featureId: feature_id } of Object.values(meters))
    await billing.post(`/plans/${id}/features`, { feature_id, usage_limit: 100, usage_reset_period: 'month' }, 201);
  return id;
};
const use = (meter: PricedMeter, quantity: number, at: string) =>
  billing.track([{ meter, customer: customer.external_id, quantity, at }]);

beforeAll(async () => {
  browser = await openBrowser([new URL(weir.baseUrl).origin]);
  billing = await startInvoicing(weir);
  const { createMeter } = billing.admin;
  meters = {
    used: await createMeter('SUM', 'units'),
    left: await createMeter('SUM', 'units'),
    last: await createMeter('LAST', 'seats'),
  };
  const plan = await limited();
  await billing.moveTo('2025-01-01T00:00:00Z');
  customer = await billing.customer();
  ({ id: subscription } = await billing.subscribe(plan, customer.id));
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await billing?.close();
});

/**
 * What is shown of each meter in the billing period: what was used in all, and of its limit. Those with usage come first, and of them
 * the newest.
 */
async function shown(language: string): Promise<string[]> {
  const apiKey = await billing.admin.createKey();
  const body = { customer_external_id: customer.external_id };
  const { token } = (await weir.request('POST', '/api/v1/widget/token', { apiKey, body })).body;
  const visit = await browser.visit();
  await visit.page.goto(`${weir.baseUrl}/embed?window=period&lang=${language}#token=${token}`);
  await visit.page.locator('.limit').nth(2).waitFor();
  const texts = await visit.page.locator('section > p').allTextContents();
  expect(visit.faults).toEqual([]);
  await visit.close();
  return texts.map((text) => text.replaceAll(/[\u00A0\u202F]/g, ' '));
}

test('a limit that begins with the billing period does not say since when it counts', async () => {
  await use(meters.used, 100, '2025-01-05T12:00:00Z');
  await use(meters.left, 40, '2025-01-05T12:00:00Z');
  await use(meters.last, 7, '2025-01-05T12:00:00Z');
  expect(await shown('en')).toEqual([
    '7 seats last',
    '7 of 100 seats · 93 seats left · begins anew on 1 Feb 2025',
    '40 units in all',
    '40 of 100 units · 60 units left · begins anew on 1 Feb 2025',
    '100 units in all',
    '100 of 100 units · 0 units left · begins anew on 1 Feb 2025',
  ]);
});

test('after a change of plan it says since when it counts, beside what was used in the new period', async () => {
  await billing.moveTo('2025-01-12T00:00:00Z');
  await billing.post(`/subscriptions/${subscription}/change`, { plan_id: await limited(), when: 'now' });
  await use(meters.used, 5, '2025-01-12T12:00:00Z');
  const since: Record<Language, string> = {
    en: 'since 1 Jan 2025',
    de: 'seit dem 01.01.2025',
    fr: 'depuis le 1 janv. 2025',
    es: 'desde el 1 ene 2025',
  };
  for (const [language, words] of Object.entries(since))
    expect((await shown(language)).filter((text) => text.includes(` · ${words} · `)).length).toBe(3);
  expect(await shown('en')).toEqual([
    '5 units in all',
    '105 of 100 units · since 1 Jan 2025 · 5 units over the limit · begins anew on 1 Feb 2025',
    'none last',
    '7 of 100 seats · since 1 Jan 2025 · 93 seats left · begins anew on 1 Feb 2025',
    '0 units in all',
    '40 of 100 units · since 1 Jan 2025 · 60 units left · begins anew on 1 Feb 2025',
  ]);
});
