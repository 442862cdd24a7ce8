// What a page shows in full: the days that it says, values and lines beyond the largest or the first, older parts, lists as files, and
// what a correction would do.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { furnish, type Furnished } from '../support/browser/furnished.ts';
import { untilLater } from '../support/browser/page-clock.ts';
import type { Organization } from '../support/harness.ts';
import { untilGrouped } from '../support/until-grouped.ts';
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

const call: Organization['call'] = (...asked) => organization.call(...asked);

const button = (name: string) => page.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const tokensMeter = async (): Promise<{ id: string; meter_token: string }> =>
  (await call('GET', '/meters?search=Tokens')).data[0];

/** Sends events, and waits until they are recorded. */
async function track(events: object[]): Promise<void> {
  const { apiKey } = organization;
  expect((await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events } })).status).toBe(201);
  await weir.drained();
}

test('days of a customer with a time zone of its own are those of that zone, on every page', async () => {
  const { id } = await call('POST', '/customers', { external_id: 'sony', time_zone: 'Asia/Tokyo' });
  const { id: meter, meter_token } = await tokensMeter();
  const now = new Date();
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Tokyo' }).format(now);
  // One minute before the first of the last 30 days there.
  const before = new Date(Date.parse(`${today}T00:00:00+09:00`) - 29 * 86_400_000 - 60_000);
  const events = [
    { quantity: 5, timestamp: now.toISOString() },
    { quantity: 7, timestamp: before.toISOString() },
  ].map((event) => ({ ...event, meter_token, customer_external_id: 'sony' }));
  await track(events);
  const words = 'Days begin and end in Asia/Tokyo, the time zone of sony.';
  await page.goto(`/customers/${id}`);
  const charts = page.getByRole('region', { name: 'Usage of the last 30 days' });
  await charts.getByText(words).waitFor();
  await charts.getByText('5 tokens', { exact: true }).waitFor();
  await page.getByRole('tab', { name: 'Usage' }).click();
  await page.getByText(words).waitFor();
  await page.getByRole('row', { name: /Tokens\s+5 tokens\s+1$/ }).waitFor();
  await page.getByRole('link', { name: 'Tokens', exact: true }).click();
  await page.waitForURL((url) => url.search === `?meter=${meter}&customer=sony`);
  await page.getByText(words).waitFor();
  await page.locator('.figure', { hasText: /^5$/ }).first().waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.getByLabel('Customer', { exact: true }).and(page.locator('input')).fill('globex');
  await page.keyboard.press('Enter');
  await page.getByText('Days begin and end in UTC, the time zone of the organization.').waitFor();
  const plan = (await call('GET', '/plans')).data.find((each: { name: string }) => each.name === 'Scale');
  await call('POST', '/subscriptions', { customer_id: id, plan_id: plan.id });
  await page.goto(`/customers/${id}?tab=entitlements`);
  await page
    .locator('time', { hasText: /00:00:00/ })
    .first()
    .waitFor();
  await page.goto(organization.addresses['meter'] ?? '');
  await page.getByText('Days begin and end in UTC, the time zone of the organization.').waitFor();
  expect(visit.faults).toEqual([]);
});

test('a value that is not among the largest stands beside them once it is added', async () => {
  const { id, meter_token } = await tokensMeter();
  await call('PATCH', `/meters/${id}`, { metadata_keys: ['model'] });
  // As many as are told apart, and some with less usage.
  const events = Array.from({ length: 23 }, (_, index) => {
    const metadata = { model: `model ${index}` };
    return { meter_token, customer_external_id: 'many-models', quantity: 100 - index, metadata };
  });
  await track(events);
  await untilGrouped(weir);
  await page.goto(`/usage?meter=${id}&customer=many-models&split=metadata.model`);
  const table = page.getByRole('group', { name: 'Usage by model' });
  await table.getByRole('link', { name: 'model 19', exact: true }).waitFor();
  expect(await table.getByRole('link', { name: 'model 21', exact: true }).count()).toBe(0);
  const field = page.getByLabel('Add a value');
  await field.fill('model 21');
  await field.press('Enter');
  await table.getByLabel('Draw model 21').and(page.locator(':checked')).waitFor();
  expect(await field.inputValue()).toBe('');
  await table.getByRole('row', { name: /model 21\s+79\s+[\d.]+ %\s+1$/ }).waitFor();
  await field.fill('none has this');
  await field.press('Enter');
  await table.getByRole('row', { name: /none has this\s+0\s+0 %\s+0$/ }).waitFor();
  expect(JSON.parse(new URL(page.url()).searchParams.get('shown') ?? '')).toEqual(
    expect.arrayContaining(['model 0', 'model 21', 'none has this']),
  );
  expect(await findBarriers(page)).toEqual([]);
  expect(visit.faults).toEqual([]);
});

test('an invoice of many lines shows them part by part, and opens each by its address', async () => {
  const invoice = organization.addresses['invoice-open'] ?? '';
  const copies = await weir.pool.query<{ id: string; description: string }>(
    `INSERT INTO invoice_lines SELECT (jsonb_populate_record(line, jsonb_build_object('id', gen_random_uuid(),
       'position', 1000 + n, 'description', 'Copy ' || n))).*
     FROM invoice_lines AS line CROSS JOIN generate_series(1, 500) AS n
     WHERE invoice_id = $1 AND description = 'Tokens' RETURNING id, description`,
    [invoice.split('/').at(-1)],
  );
  const last = copies.rows.find(({ description }) => description === 'Copy 500');
  await page.goto(`${invoice}?line=${last?.id}`);
  const drawer = page.getByRole('dialog', { name: 'What is behind “Copy 500”' });
  await drawer.getByRole('group', { name: 'Usage by time' }).waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await page.getByText(/^The first 500 of 50\d lines\. All of them are in “Lines as CSV” of Invoices\.$/).waitFor();
  const all = await page
    .getByRole('main')
    .getByRole('link', { name: 'Invoices', exact: true })
    .last()
    .getAttribute('href');
  expect(all).toMatch(/^\/invoices\?by=issue&from=(\d{4}-\d\d-\d\d)&to=\1$/);
  const link = page.getByRole('link', { name: 'Copy 500', exact: true });
  expect(await link.count()).toBe(0);
  await page.getByRole('button', { name: 'More lines' }).click();
  await link.waitFor();
  expect(await page.getByRole('button', { name: 'More lines' }).count()).toBe(0);
  expect(visit.faults).toEqual([]);
  await page.goto(`${invoice}?line=${organization.id}`);
  const nothing = page.getByRole('dialog', { name: 'What is behind a line' });
  await nothing.getByText('This is not there, or not any more: somebody may have deleted it.').waitFor();
});

test('the timeline of a long subscription says that there is more of it, and shows older parts', async () => {
  const plan = { name: 'Daily', lookup_id: 'daily', type: 'FIXED', billing_interval: 'day', currency: 'USD' };
  const { id: plan_id } = await call('POST', '/plans', plan);
  await call('POST', `/plans/${plan_id}/charges`, { type: 'FIXED', display_name: 'Fee', unit_price: '1' });
  const { id: customer_id } = await call('POST', '/customers', { external_id: 'long-there' });
  const start_date = new Date(Date.now() - 14 * 86_400_000).toISOString().slice(0, 10);
  const { id } = await call('POST', '/subscriptions', { customer_id, plan_id, start_date });
  await page.goto(`/subscriptions/${id}`);
  const past = page.getByRole('region', { name: 'Past' });
  const periods = past.getByText(/^Period .* on the plan Daily$/);
  await expect.poll(() => periods.count()).toBe(6);
  await page.getByText('There are older periods and invoices.').waitFor();
  await button('Show older ones').click();
  await expect.poll(() => periods.count()).toBe(12);
  await page.getByText('There are older periods.').waitFor();
  await button('Show older ones').click();
  await expect.poll(() => periods.count()).toBe(15);
  expect(await button('Show older ones').count()).toBe(0);
  const { id: other } = await call('POST', '/plans', { ...plan, name: 'Other', lookup_id: 'other' });
  await call('POST', `/subscriptions/${id}/change`, { plan_id: other, when: 'now' });
  await page.reload();
  await past.getByText('Went over to the plan Other').waitFor();
  await past.getByText('Set a change of the plan to Other at once by').waitFor();
  await past.getByText(/^Period .*, on the plan Other$/).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  expect(visit.faults).toEqual([]);
});

test('one event is voided or amended once one has seen what that does, and to which invoices', async () => {
  const { id: meter } = await tokensMeter();
  const { data } = await call('GET', `/events?customer_external_id=acme&meter_id=${meter}&status=recorded&limit=100`);
  // The first one, whose day is on an invoice that is issued; they came at one moment, and so in any order.
  const [{ id, quantity }] = data.toSorted((a: { timestamp: string }, b: { timestamp: string }) =>
    a.timestamp < b.timestamp ? -1 : 1,
  );
  await page.goto(`/events?event=${id}`);
  await button('Void').click();
  const does = dialog().getByRole('region', { name: 'What it does' });
  const usage = does.getByText(' → ');
  await usage.waitFor();
  const numbers = async () => (await usage.innerText()).split(' → ').map((text) => Number(text.replaceAll(',', '')));
  const [before = 0, voided] = await numbers();
  expect(voided).toBe(before - Number(quantity));
  const invoice = does.getByRole('link', { name: /^INV-/ }).first();
  expect(await invoice.getAttribute('href')).toMatch(/^\/invoices\/[0-9a-f-]{36}$/);
  await does.getByText('Stays as it is; the next one has a line for the difference').first().waitFor();
  await dialog().getByRole('button', { name: 'Cancel' }).click();

  await button('Amend').click();
  await dialog().getByLabel('Metadata').fill('{"model": "tiny"}');
  await expect.poll(async () => (await usage.count()) > 0 && (await numbers())).toEqual([before, before]);
  await dialog()
    .getByLabel('Quantity')
    .fill(String(Number(quantity) + 1));
  await expect.poll(async () => (await usage.count()) > 0 && (await numbers())).toEqual([before, before + 1]);
  expect(await findBarriers(page)).toEqual([]);
  await dialog().getByLabel('Reason').fill('Was counted one too low');
  await dialog().getByRole('button', { name: 'Amend the event' }).click();
  await dialog().waitFor({ state: 'detached' });
  await page.getByText('Another event counts in its place.').waitFor();
  await page.getByLabel('Receipt of the event').getByRole('link', { name: 'a voided event' }).waitFor();
  expect(visit.faults).toEqual([]);
});

test('invoices are found by their issue dates, of which the last is among them', async () => {
  const path = organization.addresses['invoice-open'] ?? '';
  const { rows } = await weir.pool.query<{ issued: string; number: string }>(
    'SELECT issue_date::text AS issued, invoice_number AS number FROM invoices WHERE id = $1',
    [path.split('/').at(-1)],
  );
  const { issued = '', number = '' } = rows[0] ?? {};
  await page.goto(`/invoices?from=${issued}&to=${issued}`);
  const list = page.getByRole('group', { name: 'Invoices' });
  await page.getByRole('textbox', { name: 'Last day from' }).waitFor();
  await list.or(page.getByText('No invoice.')).first().waitFor();
  expect(await list.getByRole('link', { name: number }).count()).toBe(0);
  await page.getByRole('combobox', { name: 'Dates are of' }).click();
  await page.getByRole('option', { name: 'issue date' }).click();
  await page.getByRole('textbox', { name: 'Issued from' }).waitFor();
  await list.getByRole('link', { name: number }).waitFor();
  expect(visit.faults).toEqual([]);
});

test('a list is given as a file of all that its filter lets through', async () => {
  await page.goto('/customers?search=glob');
  await page.getByRole('link', { name: 'Globex' }).waitFor();
  const file = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV', exact: true }).click();
  const [head, ...rows] = (await readFile(await (await file).path(), 'utf8')).trimEnd().split('\r\n');
  expect(head?.split(',')).toEqual(expect.arrayContaining(['id', 'external_id', 'name']));
  expect(rows.map((row) => row.includes(',globex,'))).toEqual([true]);
  expect(visit.faults).toEqual([]);
});

test('every list of things, also of one customer or one subscription, is given as a file', async () => {
  const ofOne = {
    'subscriptions of a customer': `${organization.addresses['customer']}?tab=subscriptions`,
    'invoices of a customer': `${organization.addresses['customer']}?tab=invoices`,
    'invoices of a subscription': `${organization.addresses['subscription']}?tab=invoices`,
  };
  const addresses: Record<string, string> = { ...organization.addresses, ...ofOne };
  const heads = {
    'subscriptions of a customer': ['plan_name', 'status'],
    'invoices of a customer': ['invoice_number', 'total'],
    'invoices of a subscription': ['invoice_number', 'total'],
    plans: ['name', 'lookup_id'],
    features: ['name', 'lookup_key'],
    'webhook-endpoint': ['type', 'attempts'],
    credits: ['amount', 'remaining', 'customer_id'],
    alert: ['threshold', 'crossed_at'],
    events: ['idempotency_key', 'metadata'],
    'audit-log': ['actor', 'action', 'changes'],
  };
  for (const [name, fields] of Object.entries(heads)) {
    await page.goto(addresses[name] ?? '');
    const file = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV', exact: true }).click();
    const [head = '', ...rows] = (await readFile(await (await file).path(), 'utf8')).trimEnd().split('\r\n');
    expect(head.split(','), name).toEqual(expect.arrayContaining(['id', ...fields]));
    expect(rows.length, name).toBeGreaterThan(0);
  }
  expect(visit.faults).toEqual([]);
}, 120_000);

test('subscriptions are put in order by the title of a column, and their file comes in that order', async () => {
  await page.goto('/subscriptions');
  const created = page.getByRole('columnheader', { name: 'Created' });
  const list = page.waitForRequest(/\/subscriptions\?(?=.*page=1)(?=.*sort=created_at)/);
  await created.getByRole('button').press('Enter');
  await list;
  await created.and(page.locator('[aria-sort=ascending]')).waitFor();
  const file = page.waitForRequest(/\/subscriptions\?(?=.*limit=100)(?=.*sort=created_at)/);
  await button('CSV').click();
  await file;
  expect(visit.faults).toEqual([]);
});

test('whoever asked for less motion sees at once what changes', async () => {
  await page.goto('/');
  await page.getByRole('button').first().waitFor();
  // In one go, so that no frame is drawn meanwhile.
  const color = await page.evaluate<string>(`
    (() => {
      const button = document.querySelector('button');
      getComputedStyle(button).color;
      button.style.color = 'rgb(1, 2, 3)';
      return getComputedStyle(button).color;
    })()
  `);
  expect(color).toBe('rgb(1, 2, 3)');
});

test('a search is what the address says, also after a click on the title of the page in the navigation', async () => {
  await page.goto('/customers');
  const search = page.getByRole('searchbox', { name: 'Search customers' });
  await search.fill('glob');
  await page.waitForURL(/search=glob/);
  await page.getByRole('navigation').getByRole('link', { name: 'Customers' }).click();
  await page.waitForURL(/customers$/);
  await expect.poll(() => search.inputValue()).toBe('');
  await page.getByRole('link', { name: 'Acme Corporation' }).waitFor();
  // Whoever filters goes on typing there.
  await page.goto('/settings?tab=audit-log');
  const action = page.getByRole('textbox', { name: 'Action', exact: true });
  await action.fill('plan.update');
  await action.press('Enter');
  await page.waitForURL(/action=plan\.update/);
  expect(await action.evaluate((field) => field.matches(':focus'))).toBe(true);
});

test('a first load that got no answer is tried again by its button', async () => {
  visit.expectFaults(/^the console says: ApiError: Weir cannot be reached/);
  await page.route('**/api/v1/auth/me', (route) => route.abort());
  await page.clock.install();
  await page.goto('/customers');
  await untilLater(page, page.getByRole('alert').filter({ hasText: 'Weir cannot be reached' }));
  await page.unrouteAll({ behavior: 'wait' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('a page after the last one does not say that there is nothing at all', async () => {
  await page.goto('/api-keys?page=9');
  await page.getByText('Nothing on this page any more.').waitFor();
  expect(await page.getByText('No keys yet.').count()).toBe(0);
});

test('costs that cannot be read say why, and are read again by a button', async () => {
  await page.route('**/api/v1/charges/evaluate', (route) => route.abort());
  await page.goto(organization.addresses['edit-plan'] ?? '');
  await page.getByRole('button', { name: 'Actions on Tokens' }).first().click();
  await page.getByRole('menuitem', { name: 'New price' }).click();
  const costs = page.getByRole('region', { name: 'Cost preview' });
  await costs.getByRole('alert').filter({ hasText: 'Weir cannot be reached' }).waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await costs.getByRole('button', { name: 'Try again' }).click();
  await costs.getByRole('row', { name: '1,000 100.00 USD' }).waitFor();
  await expect.poll(() => costs.getByRole('alert').count()).toBe(0);
});

test('a change of plan now shows its invoice before, and makes that one', async () => {
  const planOf = async (name: string, unit_price: string) => {
    const fields = { name, lookup_id: name.toLowerCase(), type: 'FIXED', billing_interval: 'month', currency: 'USD' };
    const { id } = await call('POST', '/plans', fields);
    await call('POST', `/plans/${id}/charges`, { type: 'FIXED', display_name: `Fee of ${name}`, unit_price });
    return id;
  };
  const [small] = [await planOf('Small', '10'), await planOf('Large', '9999')];
  const { id: customer_id } = await call('POST', '/customers', { external_id: 'upgrading' });
  const { id } = await call('POST', '/subscriptions', { customer_id, plan_id: small });
  await page.goto(`/subscriptions/${id}`);
  await button('Change plan').click();
  await dialog().getByLabel('Now', { exact: true }).check();
  await dialog().getByRole('combobox', { name: 'New plan' }).click();
  await page.getByRole('option', { name: /^Large/ }).click();
  const shown = dialog().getByRole('region', { name: 'Invoice of the change' });
  await shown.getByText('Fee of Large').waitFor();
  await shown.getByText('The draft that bills later days in advance goes down by 10.00 USD.').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await dialog().getByRole('button', { name: 'Change now' }).click();
  await dialog().waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Large for upgrading' }).waitFor();
  await page.getByRole('region', { name: 'Past' }).getByText('Set a change of the plan to Large at once by').waitFor();
  const { data } = await call('GET', `/subscriptions/${id}/periods?count=0`);
  expect(data.map(({ cycle }: { cycle: number }) => cycle)).toEqual([0, 1]);
});

test('an invoice that is voided gives its credits back, on its page at once', async () => {
  await page.goto(organization.addresses['invoice-open'] ?? '');
  const credits = page.getByRole('region', { name: 'Credits' });
  await credits.getByRole('cell', { name: 'taken' }).waitFor();
  await button('Void').click();
  await dialog().getByText('no later invoice bills it again').waitFor();
  await dialog().getByLabel('Bill it again').check();
  await dialog()
    .getByText(/^What it billed is billed again, by a draft .* or now by “Bill it now” on its page\./)
    .waitFor();
  await dialog().getByLabel('Bill it again').uncheck();
  await dialog().getByText('what other invoices gave back of what it billed ends with it').waitFor();
  await dialog().getByRole('button', { name: 'Void the invoice' }).click();
  await dialog().waitFor({ state: 'detached' });
  await credits.getByRole('cell', { name: 'given back' }).waitFor();
  expect(await credits.getByRole('row').count()).toBeGreaterThan(2);
});

test('whose name cannot be read is not said to be nobody', async () => {
  const users = /\/api\/v1\/users\?/;
  visit.expectFaults(/^503 from \S+\/users\?/);
  await page.route(users, (route) => route.fulfill({ status: 503, contentType: 'text/html', body: 'away' }));
  await page.clock.install();
  await page.goto(organization.addresses['audit-log'] ?? '');
  await page.getByRole('combobox', { name: 'Who' }).click();
  await untilLater(page, page.getByText('This cannot be read now'));
  expect(await page.getByText('Nobody of that name').count()).toBe(0);
  await page.unroute(users);
});

test('a subscription is found by its external id, a plan and a meter by name, and any of many plans copied', async () => {
  const { data: plans } = await call('GET', '/plans');
  const { id: plan_id } = plans.find(({ lookup_id }: { lookup_id: string }) => lookup_id === 'scale');
  const { data: customers } = await call('GET', '/customers?search=globex');
  await call('POST', '/subscriptions', { customer_id: customers[0].id, plan_id, external_id: 'order-7' });
  for (const [typed, name, kind] of [
    ['order-7', 'Scale for globex', 'Subscription'],
    ['scale', 'Scale', 'Plan'],
    ['requests', 'API requests', 'Meter'],
  ] as const) {
    await page.goto('/');
    await page.locator('h1').waitFor();
    await page.keyboard.press('/');
    await dialog().getByRole('combobox', { name: 'Search' }).fill(typed);
    await dialog()
      .getByRole('option', { name: `${name} ${kind}`, exact: true })
      .click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  }
  // All of them are newer than the one that is there.
  await weir.pool.query(`INSERT INTO plans
    SELECT (jsonb_populate_record(plans, jsonb_build_object(
      'id', 'ffffffff-ffff-7fff-8fff-' || lpad(n::text, 12, '0'), 'lookup_id', 'many-' || n, 'name', 'Many ' || n))).*
    FROM plans, generate_series(1, 100) AS n WHERE lookup_id = 'scale'`);
  await page.goto('/plans/new');
  await page.getByRole('combobox', { name: 'Copy of' }).fill('Scale');
  await page.getByRole('option', { name: 'Scale (scale)' }).click();
  await page.waitForURL(/copy=/);
  expect(new URL(page.url()).searchParams.get('copy')).toBe(plan_id);
});
