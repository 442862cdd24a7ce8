// Every page of the console in a real browser: nobody is kept out by how it is drawn, nothing moves by itself, nothing is asked
// of anybody else, and whoever opens it first waits for little. With SCREENSHOTS=<folder> each page is also drawn into that folder.

import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  countBytes,
  DIALOG,
  findBarriers,
  findCutOff,
  layoutShift,
  openBrowser,
  type Browser,
  type Visit,
} from '../support/browser/browser.ts';
import { furnish, type Furnished } from '../support/browser/furnished.ts';
import { DEFAULT_SHARE } from '../support/harness.ts';
import { untilGrouped } from '../support/until-grouped.ts';
import { ownWeir } from '../support/use-weir.ts';

/** Of a page that is opened by its address, with nothing of the console in the browser yet: all files of it, as they cross the wire. */
const BYTES_MAX = 250_000;

const WINDOW = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

const screenshots = process.env['SCREENSHOTS'];

const weir = ownWeir({ api: DEFAULT_SHARE });
let organization: Furnished;
let browser: Browser;
let visit: Visit;
/** Somebody who is not signed in. */
let stranger: Visit;

beforeAll(async () => {
  [organization, browser] = await Promise.all([furnish(weir), openBrowser([weir.baseUrl])]);
  visit = await signedIn();
  stranger = await browser.visit({ baseURL: weir.baseUrl, viewport: WINDOW });
}, 120_000);
afterAll(() => browser?.close());

async function signedIn(): Promise<Visit> {
  const made = await browser.visit({ baseURL: weir.baseUrl, viewport: WINDOW });
  const cookie = { name: 'access_token', value: organization.session, url: weir.baseUrl };
  await made.context.addCookies([cookie]);
  return made;
}

/** Waits until a page has all that it shows at first. */
async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor();
  await expect.poll(() => page.locator('.loading').count(), { timeout: 30_000 }).toBe(0);
  await page.evaluate('document.fonts.ready.then(() => undefined)');
}

async function draw(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return;
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true, animations: 'disabled' });
}

test('every route of the console is among the pages that are visited here', async () => {
  const texts = await Promise.all(
    ['routes', 'billing-routes'].map((name) =>
      readFile(new URL(`../../apps/console/src/${name}.ts`, import.meta.url), 'utf8'),
    ),
  );
  const routes = [...texts.join('\n').matchAll(/^ +path: '(\/[^']*)',$/gm)].map(([, path = '']) => path);
  const visited = Object.values({ ...organization.addresses, ...organization.openAddresses });
  const isVisited = (route: string): boolean =>
    visited.some((address) => new RegExp(`^${route.replaceAll(/\$\w+/g, '[^/?#]+')}(?:$|[?#])`).test(address));
  expect(routes.length).toBeGreaterThan(10);
  expect(routes.filter((route) => !isVisited(route))).toEqual([]);
});

test('every page loads at most 250 kB, is open to all in light and in dark, stays put, and fits a phone', async () => {
  const pages = Object.entries(organization.addresses);
  const half = Math.ceil(pages.length / 2);
  const second = await signedIn();
  // Half of the time is waiting for a page: the other one is looked at meanwhile.
  const found = await Promise.all([findFaults(visit, pages.slice(0, half)), findFaults(second, pages.slice(half))]);
  await second.close();
  expect(found.flat()).toEqual([]);
}, 300_000);

test('so are the pages of somebody who is not signed in, the reference and the guides', async () => {
  expect(await findFaults(stranger, Object.entries(organization.openAddresses))).toEqual([]);
}, 180_000);

/** Whom pages keep out, what moves on them, what is too much to load or wider than a phone, and what else they must not do. */
async function findFaults({ page, faults }: Visit, pages: [name: string, address: string][]): Promise<string[]> {
  const found: string[] = [];
  for (const [name, address] of pages) {
    await page.emulateMedia({ colorScheme: 'light' });
    const loaded = await countBytes(page, async () => {
      await page.goto(address);
      await settled(page);
    });
    const files = loaded.filter(([url]) => !url.includes('/api/'));
    const bytes = files.reduce((sum, [, each]) => sum + each, 0);
    // The reference is Scalar's, and no page of the console.
    if (bytes > BYTES_MAX && !address.startsWith('/docs'))
      found.push(`${name} loads ${bytes} bytes: ${files.join(' ')}`);
    const shift = await layoutShift(page);
    if (shift > 0) found.push(`${name} moved by ${shift}`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const barriers = await findBarriers(page, { of: colorScheme === 'light' ? 'everything' : 'colors' });
      found.push(...barriers.map((barrier) => `${name} in ${colorScheme}: ${barrier}`));
      await draw(page, `${name}-${colorScheme}`);
    }
    await page.setViewportSize(PHONE);
    found.push(...(await findCutOff(page)).map((cutOff) => `${name} is wider than a phone: ${cutOff}`));
    await draw(page, `${name}-phone`);
    await page.setViewportSize(WINDOW);
  }
  return [...found, ...faults];
}

test('so are the dialogs in which customers are subscribed and subscriptions canceled', async () => {
  const { page, faults } = visit;
  await page.emulateMedia({ colorScheme: 'light' });
  const { addresses } = organization;
  const dialogs: [name: string, address: string | undefined, button: string][] = [
    ['subscribe', addresses['customer'], 'Subscribe to a plan'],
    ['cancel', addresses['subscription'], 'Cancel subscription'],
    ['new-feature', addresses['features'], 'New feature'],
    ['meter-keys', addresses['meter'], 'Choose keys'],
    ['webhook-attempts', addresses['webhook-endpoint'], '0 attempts of webhook.test'],
    ['webhook-replay', addresses['webhook-endpoint'], 'Replay'],
  ];
  const found: string[] = [];
  for (const [name, address = '', button] of dialogs) {
    await page.goto(address);
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByRole('dialog').waitFor();
    await settled(page);
    // What lies behind a dialog is put out of reach by the same component for all of them: once is enough.
    const within = name === 'subscribe' ? {} : { within: DIALOG };
    found.push(...(await findBarriers(page, within)).map((barrier) => `${name}: ${barrier}`));
    await draw(page, `${name}-light`);
  }
  expect(found).toEqual([]);
  expect(faults).toEqual([]);
});

test('a plan of five models is made on one page with at most 12 clicks, by one request', async () => {
  const { page, faults } = visit;
  for (const name of ['Images', 'Seconds']) {
    const feature = { name, lookup_key: name.toLowerCase(), type: 'meter', aggregation_type: 'SUM' };
    await organization.call('POST', '/features', feature);
  }
  await page.goto('/plans');
  await settled(page);
  await page.evaluate(`
    globalThis.presses = 0;
    addEventListener('pointerdown', () => { globalThis.presses += 1; }, true);
  `);
  const writes: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== 'GET' && !pathname.endsWith('/evaluate')) writes.push(`${request.method()} ${pathname}`);
  });
  await page.getByRole('link', { name: 'New plan' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Five models');
  const charges: [model: string, meter: RegExp, prices: Record<string, string>][] = [
    ['Per unit', /^API requests/, { 'Price of a unit, USD': '0.002', 'Included units': '1000' }],
    ['Graduated tiers', /^Tokens/, { 'Price of a unit, tier 1': '0.10', 'Price of a unit, tier 2': '0.08' }],
    ['Volume tiers', /^Images/, { 'Price of a unit, tier 1': '2', 'Price of a unit, tier 2': '1' }],
    ['Packages', /^Seconds/, { 'Price of a package, USD': '5', 'Units in a package': '100' }],
    ['Percentage', /^Active users/, { 'Percentage, %': '2.9' }],
  ];
  const list = page.getByRole('region', { name: 'Charges' });
  for (const [model, meter, prices] of charges) {
    await list.getByRole('group', { name: 'Add a charge' }).getByRole('button', { name: model }).click();
    await page.getByRole('option', { name: meter }).click();
    for (const [label, price] of Object.entries(prices)) await list.getByRole('textbox', { name: label }).fill(price);
  }
  const costs = page.getByRole('region', { name: 'Cost preview' });
  await costs.getByText('29.00 USD').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await draw(page, 'plan-of-five-models-light');
  await page.getByRole('button', { name: 'Create plan' }).click();
  await page.getByRole('heading', { level: 1, name: 'Five models' }).waitFor();
  expect(await page.evaluate<number>('globalThis.presses')).toBeLessThanOrEqual(12);
  const id = page.url().split('/').at(-1);
  const plan = await organization.call('GET', `/plans/${id}`);
  expect([plan.charges.length, plan.features.length]).toEqual([5, 5]);
  expect(writes).toEqual(['POST /api/v1/plans']);
  expect(faults).toEqual([]);
});

test('a plan that is there is changed at once: a charge archived, one renamed, one replaced from a day on', async () => {
  const { page } = visit;
  const { data: meters } = await organization.call('GET', '/meters');
  const charges = ['Tokens', 'API requests', 'Active users'].map((display_name) => {
    const { id: meter_id } = meters.find(({ name }: { name: string }) => name === display_name);
    return { type: 'USAGE', display_name, meter_id, unit_price: '5' };
  });
  const fields = { name: 'Changed', lookup_id: 'changed', type: 'USAGE', billing_interval: 'month', currency: 'USD' };
  const [{ feature_id }] = meters;
  const { id } = await organization.call('POST', '/plans', { ...fields, charges, features: [{ feature_id }] });
  const year = new Date().getUTCFullYear() + 1;
  const list = page.getByRole('region', { name: 'Charges' });
  await page.goto(`/plans/${id}/edit`);
  await list.getByRole('button', { name: 'Actions on Active users' }).click();
  await page.getByRole('menuitem', { name: 'Archive price' }).click();
  await list.getByRole('button', { name: 'Actions on Tokens' }).click();
  await page.getByRole('menuitem', { name: 'New price' }).click();
  await list.getByRole('textbox', { name: 'Price of a unit, USD' }).fill('4');
  await list.getByRole('textbox', { name: 'From (empty: now)' }).fill(`1 Jan ${year}`);
  expect(await findBarriers(page)).toEqual([]);
  await list.getByRole('button', { name: /^API requests/ }).click();
  await list.getByRole('textbox', { name: 'Name' }).fill(' ');
  await list.getByRole('button', { name: /^Active users/ }).click();
  await page.getByRole('textbox', { name: /^Limit of/ }).fill('5,000');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await save.click();
  // What is refused is opened.
  await list.getByText(/^Fill this in/).waitFor();
  await list.getByRole('textbox', { name: 'Name' }).fill('Requests');
  await save.click();
  const rows = page.getByRole('group', { name: 'Charges', exact: true }).locator('tbody tr');
  await page.getByRole('row', { name: / 5,000 in all/ }).waitFor();
  expect((await rows.allInnerTexts()).map((row) => row.replace(/\s+/g, ' ')).toSorted()).toEqual([
    'Requests 5.00 USD each',
    `Tokens 4.00 USD each from 1 Jan ${year}`,
    `Tokens 5.00 USD each until 31 Dec ${year - 1}`,
  ]);
});

test('what is behind a line has an address, and is closed by going back or by Escape', async () => {
  const { page, faults } = visit;
  const { addresses } = organization;
  const [invoice = '', line = ''] = [addresses['invoice-open'], addresses['invoice-line']];
  await page.goto(line);
  const drawer = page.getByRole('dialog', { name: 'What is behind “Tokens”' });
  await drawer.getByRole('group', { name: 'Usage by time' }).waitFor();
  const tiers = drawer.getByRole('group', { name: 'Tiers of Tokens' }).locator('tbody tr');
  expect((await tiers.allInnerTexts()).map((row) => row.split('\t'))).toEqual([
    ['0 to 1,000', '0.10 USD', '–'],
    ['over 1,000', '0.08 USD', '5.00 USD'],
  ]);
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => url.pathname + url.search === invoice);
  await page.getByRole('link', { name: 'Tokens', exact: true }).click();
  await drawer.waitFor();
  await page.waitForURL((url) => url.pathname + url.search === line);
  await page.goBack();
  await drawer.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Tokens', exact: true }).click();
  await drawer.getByRole('button', { name: 'Close' }).click();
  await drawer.waitFor({ state: 'detached' });
  expect(page.url().endsWith(invoice)).toBe(true);
  expect(faults).toEqual([]);
});

test('an endpoint of webhooks is made with its secret shown once, tested, and turned off', async () => {
  const { page, faults } = visit;
  await page.goto('/webhooks');
  await page.getByRole('button', { name: 'New endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('https://hooks.example.com/weir');
  await dialog.getByLabel('invoice.finalized').check();
  await dialog.getByLabel('Turned off at first').check();
  expect(await findBarriers(page, { within: DIALOG })).toEqual([]);
  await draw(page, 'new-webhook-light');
  await dialog.getByRole('button', { name: 'Create the endpoint' }).click();
  await dialog.getByText(/^whsec_/).waitFor();
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('link', { name: 'https://hooks.example.com/weir' }).click();
  await page.getByText('Disabled').waitFor();
  await page.getByRole('button', { name: 'Turn on' }).click();
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('group', { name: 'Deliveries' }).getByText('webhook.test').waitFor();
  await page.getByRole('button', { name: 'Turn off' }).click();
  await dialog.getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('Disabled').waitFor();
  await page.getByRole('button', { name: 'Turn on' }).waitFor();
  expect(faults).toEqual([]);
});

test('keys chosen on the page of a meter group its usage, and one value can be looked at by itself', async () => {
  const { page, faults } = visit;
  const { addresses } = organization;
  await page.goto(addresses['meter'] ?? '');
  await page.getByRole('button', { name: 'Choose keys' }).click();
  const keys = page.getByRole('dialog').getByLabel('Keys of the metadata');
  await keys.fill('model');
  await keys.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('metadata.model').waitFor();
  await untilGrouped(weir);
  await page.goto(addresses['usage'] ?? '');
  await page.getByText('By model').click();
  const groups = page.getByRole('group', { name: 'Usage by model' });
  await groups.getByRole('link', { name: 'small' }).waitFor();
  await settled(page);
  expect(await findBarriers(page)).toEqual([]);
  await draw(page, 'usage-by-model-light');
  await expect.poll(() => groups.locator('tbody tr').count()).toBe(2);
  // All of them are read out at a day, and add up to it; the file has a column for each.
  await page.getByRole('slider').focus();
  await page.keyboard.press('End');
  await page.locator('.chart-words li', { hasText: 'In all' }).waitFor();
  expect(await page.locator('.chart-words li').count()).toBe(3);
  const file = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const csv = await readFile(await (await file).path(), 'utf8');
  expect(csv.split('\r\n', 1)).toEqual(['period,period_start,small,large,total']);
  // Who is not ticked is among the others, and the address says who is.
  await groups.getByLabel('Draw small').uncheck();
  await groups.getByRole('row', { name: 'Others' }).waitFor();
  expect(new URL(page.url()).searchParams.get('shown')).toBe('["large"]');
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findBarriers(page)).toEqual([]);
    await draw(page, `usage-others-${colorScheme}`);
  }
  await groups.getByRole('link', { name: 'small' }).click();
  await page.getByRole('button', { name: 'Only model small: show all' }).waitFor();
  await settled(page);
  await expect.poll(() => page.locator('.figure').nth(1).textContent()).toBe('20');
  expect(faults).toEqual([]);
});

test('customers stand side by side with their shares, and one that is added without usage, too', async () => {
  const { page, faults } = visit;
  const address = organization.addresses['usage'] ?? '';
  await page.goto(address);
  await page.getByText('By customer').click();
  const table = page.getByRole('group', { name: 'Usage by customer' });
  const shares = async () => {
    const rows = await table.locator('tbody tr').allInnerTexts();
    return rows.map((row) => row.match(/[\d.]+ %/)?.[0]);
  };
  await table.getByRole('link', { name: 'globex' }).waitFor();
  expect((await shares()).reduce((sum, share) => sum + Number.parseFloat(share ?? ''), 0)).toBeCloseTo(100, 0);
  const added = page.getByRole('combobox', { name: 'Add a customer' });
  await added.fill('nobody-yet');
  await added.press('Enter');
  await table.getByLabel('Draw nobody-yet').and(page.locator(':checked')).waitFor();
  await expect.poll(() => added.inputValue()).toBe('');
  await expect.poll(async () => (await shares()).at(-1)).toBe('0 %');
  expect(await findBarriers(page)).toEqual([]);
  await table.getByRole('link', { name: 'nobody-yet' }).click();
  await page.getByText(/^Tokens counted no event of nobody-yet from/).waitFor();
  // Nor is a chart drawn of nothing beside nothing.
  await page.getByLabel('Compare with the period before').click();
  await page.getByText(/^Tokens counted no event of nobody-yet from .*, and none from/).waitFor();
  expect(await page.getByRole('slider').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('days of usage are those of the organization, wherever the reader is, and the page says so', async () => {
  const { page } = visit;
  const address = organization.addresses['usage'] ?? '';
  await page.goto(address);
  await page.getByText('Days begin and end in UTC, the time zone of the organization.').waitFor();
  await page.goto(`${address}&zone=Asia/Tokyo`);
  await page.getByText('Days begin and end in Asia/Tokyo. The organization is in UTC').waitFor();
  await page.getByRole('link', { name: 'show them as there' }).click();
  await page.getByText('Days begin and end in UTC, the time zone of').waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.has('zone')).toBe(false);
  // A zone that there is not is none.
  await page.goto(`${address}&zone=Mars/X`);
  await page.getByText('Days begin and end in UTC, the time zone of').waitFor();
});

test('the first page says what needs a person: rejected events and what no price bills, and leads there', async () => {
  const { page } = visit;
  const found = `INSERT INTO unbilled_usage_days (organization_id, day, meter_id, reason, events, customers)
    SELECT organization_id, (now() AT TIME ZONE 'UTC')::date - 1, id, reason, CASE name WHEN 'Tokens' THEN 1204 ELSE 7 END, 3
    FROM meters, unnest(ARRAY['price_ended', 'after_end', 'no_subscription', 'not_in_plan']) reason
    WHERE name IN ('Tokens', 'API requests', 'Active users')`;
  await weir.pool.query(found);
  await page.goto('/');
  const hints = page.getByRole('region', { name: 'Needs a person' }).getByRole('listitem');
  await hints.getByRole('link', { name: '1 event was rejected' }).waitFor();
  await hints.filter({ hasText: /^1,204 events of Tokens since .* no price: the charge of the plan/ }).waitFor();
  const unbilled = hints.filter({ hasText: 'billed by no price' });
  expect(await unbilled.count()).toBe(5);
  await page.getByText('And usage of 4 more that no price bills').click();
  await expect.poll(() => unbilled.count()).toBe(9);
  expect(await findBarriers(page)).toEqual([]);
  await hints.getByRole('link', { name: 'Active users' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Active users' }).waitFor();
});

test('what is past due is a choice among the invoices, to which the first page leads', async () => {
  const { page, faults } = visit;
  const id = organization.addresses['invoice-open']?.split('/').at(-1);
  await weir.pool.query('UPDATE invoices SET is_past_due = true WHERE id = $1', [id]);
  await page.goto('/');
  await page.getByRole('link', { name: 'List all that are past due' }).click();
  const rows = page.getByRole('group', { name: 'Invoices' }).locator('tbody tr');
  await page.waitForURL(/\/invoices\?status=PAST_DUE$/);
  await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining('Past due')]);
  expect(await page.getByRole('combobox', { name: 'Status' }).inputValue()).toBe('past due');
  expect(faults).toEqual([]);
});

test('Health says which version runs here, and of which commit it is', async () => {
  const { page } = visit;
  await page.goto('/health');
  const services = page.locator('dl').first();
  await expect.poll(() => services.innerText()).toMatch(/Version\s+\d+\.\d+\.\d+\s+Commit\s+unknown$/);
});

test('an invoice is kept as the PDF that Weir makes of it, as it is and as it was issued', async () => {
  const { page, faults, close } = await signedIn();
  await page.goto(organization.addresses['invoice-paid'] ?? '');
  for (const [button, request, name] of [
    // Like the page, it is to say what was paid since it was issued.
    ['Download PDF', /\/pdf\?as=now$/, /^INV-\d{4}-\d{6}\.pdf$/],
    ['PDF as issued', /\/pdf\?as=issued$/, /^INV-\d{4}-\d{6}-as-issued\.pdf$/],
  ] as const) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.waitForRequest(request),
      page.getByRole('button', { name: button }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(name);
    expect((await readFile(await download.path())).toString('latin1', 0, 5)).toBe('%PDF-');
  }
  await page.goto(organization.addresses['invoice-draft'] ?? '');
  await page.getByRole('button', { name: 'Download PDF' }).waitFor();
  expect(await page.getByRole('button', { name: 'PDF as issued' }).count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
});
