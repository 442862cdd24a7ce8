// What Home says of billing: what may be expected, what waits for a person, and the lists that it leads to. And what Health says while
// Redis is away.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { until } from '../support/harness.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ worker: { BILLING_CONCURRENCY: '1', BILLING_INTERVAL_MS: '200' } });
let billing: Billed;
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  [billing, browser] = await Promise.all([startBilled(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 860 } });
  await visit.context.addCookies([{ name: 'access_token', value: billing.admin.session, url: weir.baseUrl }]);
  page = visit.page;
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await billing?.close();
});

const needs = () => page.getByRole('region', { name: 'Needs a person' });
const rowsOf = (list: string) => page.getByRole('group', { name: list, exact: true }).locator('tbody tr');

/** Home, with all that it has to say. */
async function openHome(): Promise<void> {
  await page.goto('/');
  await page.getByText('Events recorded').waitFor();
}

const finalize = async (how: 'manual' | 'automatic') => {
  expect((await billing.request('PATCH', '/billing/settings', { finalize: how })).status).toBe(200);
};

/** Gives usage of the subscription a price: `many` is none. */
const spoil = (price: string) =>
  weir.pool.query(
    `UPDATE dues SET terms = jsonb_set(terms, '{unit_price}', to_jsonb($2::text)) WHERE subscription_id = $1 AND meter_id IS NOT NULL`,
    [billing.subscription, price],
  );

test('Home says what may be expected to be invoiced, of drafts and of open periods', async () => {
  await billing.use(400, '2025-02-10T00:00:00Z');
  const expected = async () => (await billing.get('/overview')).expected;
  await until(async () => (await expected()) !== null, 'a worker has reckoned it');
  await openHome();
  expect((await page.locator('dt:has-text("Expected") + dd').innerText()).split('\n')).toEqual([
    '16.00 USD',
    'Drafts 10.00 USD',
    'Open periods that end this month 6.00 USD',
    expect.stringMatching(/^As of /),
  ]);
  expect(visit.faults).toEqual([]);
});

test('Home says which webhooks do not come through, and leads to their endpoints', async () => {
  const create = (name: string) => billing.post('/webhook-endpoints', { url: `https://example.com/${name}` }, 201);
  const [failing, off, well] = [await create('failing'), await create('off'), await create('well')];
  const set = (id: string, what: string) => weir.pool.query(`UPDATE webhook_endpoints SET ${what} WHERE id = $1`, [id]);
  await set(failing.id, `failing_since = now() - interval '2 hours'`);
  await set(off.id, `status = 'DISABLED', disabled_reason = 'FAILING'`);
  await openHome();
  await expect
    .poll(async () => (await needs().getByRole('listitem').allInnerTexts()).toSorted())
    .toEqual([
      expect.stringMatching(/^Webhooks to https:\/\/example\.com\/failing do not come through since .*2 hours ago\.$/),
      'Webhooks to https://example.com/off are turned off, since they did not come through.',
    ]);
  await needs().getByRole('link', { name: failing.url }).click();
  await page.waitForURL(`**/webhooks/${failing.id}`);
  for (const { id } of [failing, off, well])
    expect((await billing.request('DELETE', `/webhook-endpoints/${id}`)).status).toBe(204);
  expect(visit.faults).toEqual([]);
});

test('Home says how many drafts wait where people finalize them, and leads to them', async () => {
  await openHome();
  expect(await needs().count()).toBe(0);
  await finalize('manual');
  await openHome();
  await needs().getByText('1 draft waits for somebody to finalize it.').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await needs().getByRole('link', { name: '1 draft waits' }).click();
  await page.waitForURL(/\/invoices\?status=DRAFT$/);
  await expect.poll(() => rowsOf('Invoices').allInnerTexts()).toEqual([expect.stringContaining('Draft')]);
  await finalize('automatic');
  await openHome();
  expect(await needs().count()).toBe(0);
  expect(visit.faults).toEqual([]);
});

test('a list of drafts says why one of them cannot be computed, and the others are finalized', async () => {
  await finalize('manual');
  await billing.subscribe(billing.ownPlan.id, (await billing.customer()).id);
  await spoil('many');
  await page.goto('/invoices?status=DRAFT');
  await page.getByText('A draft cannot be computed. Something broke on our side').waitFor();
  const totals = async () =>
    (await rowsOf('Invoices').allInnerTexts()).map((row) => /amount unknown|10\.00/.exec(row)?.[0]);
  await expect.poll(async () => new Set(await totals())).toEqual(new Set(['10.00', 'amount unknown']));
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Finalize these 2' }).click();
  const asked = page.getByRole('dialog');
  await asked.getByRole('button', { name: 'Finalize these 2' }).click();
  await asked.getByText('1 finalized.').waitFor();
  await asked.getByText('1 left a draft: it cannot be computed.').waitFor();
  await asked.getByRole('button', { name: 'Close' }).last().click();
  await expect.poll(totals).toEqual(['amount unknown']);
  await spoil('0.015');
  await finalize('automatic');
  expect(visit.faults).toEqual([]);
});

test('Home says what the run could not bill, and leads to these subscriptions, until they are billed', async () => {
  await billing.subscribe(billing.ownPlan.id, (await billing.customer()).id);
  const errors = async () => (await weir.pool.query('SELECT id FROM invoices WHERE run_error IS NOT NULL')).rowCount;
  await billing.use(100, '2025-01-15T12:00:00Z');
  await spoil('many');
  await billing.moveTo('2025-02-01T02:00:00Z');
  await until(async () => (await errors()) === 1, 'the run could not finalize the draft');
  await openHome();
  await needs().getByText('Weir tries again by itself, and the log of its workers says why it failed.').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await needs().getByRole('link', { name: '1 subscription could not be billed' }).click();
  await page.waitForURL(/\/subscriptions\?billing=failed$/);
  const { external_id: customer } = billing.ownCustomer;
  await expect.poll(() => rowsOf('Subscriptions').allInnerTexts()).toEqual([expect.stringContaining(customer)]);
  expect(await page.getByRole('combobox', { name: 'Billing' }).inputValue()).toBe('billing failed');
  expect(await findBarriers(page)).toEqual([]);
  // One status by itself says nothing of the others.
  await page.goto('/subscriptions?billing=failed&status=CANCELED');
  await page.getByText('No subscription is like this.').waitFor();
  // The run does not try what waits for somebody.
  await finalize('manual');
  await openHome();
  await expect
    .poll(() => needs().getByRole('listitem').allInnerTexts())
    .toEqual([expect.stringMatching(/^\d+ drafts? waits? for somebody/)]);
  await finalize('automatic');
  await openHome();
  await needs().getByText('Weir tries again by itself').waitFor();
  await page.goto('/subscriptions?billing=failed');
  await expect.poll(() => rowsOf('Subscriptions').count()).toBe(1);
  await spoil('0.015');
  await billing.moveTo('2025-02-01T02:10:00Z');
  await until(async () => (await errors()) === 0, 'the run has finalized the draft');
  await page.reload();
  await page.getByText('No subscription: all that was due could be billed.').waitFor();
  await openHome();
  expect(await needs().count()).toBe(0);
  expect(visit.faults).toEqual([]);
});

test('Health says which way events go, and that nobody knows what waits in a Redis that is away', async () => {
  const services = () => page.getByRole('region', { name: 'Services' });
  await page.goto('/health');
  await services().getByText('through Redis', { exact: true }).waitFor();
  const alone = await weir.startApi({ REDIS_URL: 'redis://127.0.0.1:1' });
  visit.expectFaults(new RegExp(`^a request to somebody else: ${new URL(alone.url).origin}/`));
  await page.goto(new URL('/health', alone.url).href);
  await services().getByText('directly to Postgres, since Redis does not take them').waitFor();
  await page.getByText('Not known while Redis is away.').waitFor();
  await services().getByText('not known while Redis is away', { exact: true }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await alone.close();
});
