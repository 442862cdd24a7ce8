// What hands and a keyboard meet on the pages: where the focus is, what a field suggests and says, what a chart reads out, and how
// long a list gets.

import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DIALOG, findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { furnish, type Furnished } from '../support/browser/furnished.ts';
import { ownWeir } from '../support/use-weir.ts';

/** Beside the three that the organization has anyway. */
const METERS = 200;

/** Of any page, at first: what is read again later comes one by one. */
const REQUESTS_MAX = 60;

const weir = ownWeir();
let organization: Furnished;
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  [organization, browser] = await Promise.all([furnish(weir), openBrowser([weir.baseUrl])]);
  await makeMeters();
  const viewport = { width: 1280, height: 860 };
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport, timezoneId: 'Asia/Tokyo' });
  await visit.context.addCookies([{ name: 'access_token', value: organization.session, url: weir.baseUrl }]);
  page = visit.page;
}, 120_000);
afterAll(() => browser?.close());
beforeEach(async () => {
  await page.setViewportSize({ width: 1280, height: 860 });
});

/**
 * All at once: how they stand in a list is looked at here, and not how they come. Their tokens have no digit: a search by a number finds
 * names alone.
 */
async function makeMeters(): Promise<void> {
  await weir.pool.query(
    `WITH made AS (
       INSERT INTO features (organization_id, id, name, lookup_key, type)
       SELECT $1::uuid, gen_random_uuid(), 'Endpoint ' || number, 'endpoint-' || number, 'meter'
       FROM (SELECT to_char(n, 'FM000') AS number FROM generate_series(0, $2 - 1) AS n) AS numbers
       RETURNING organization_id, id, name
     )
     INSERT INTO meters (organization_id, id, feature_id, name, meter_token, aggregation_type, unit)
     SELECT organization_id, gen_random_uuid(), id, name, translate(id::text, '0123456789', 'ghijklmnop'), 'SUM', 'calls' FROM made`,
    [organization.id, METERS],
  );
}

const button = (name: string) => page.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const address = (name: string) => organization.addresses[name] ?? '';

/** Opens a menu, and takes an entry of it. */
async function choose(menu: string, entry: string): Promise<void> {
  await button(menu).click();
  await page.getByRole('menuitem', { name: entry }).click();
  // It fades out.
  await page.getByRole('menu').waitFor({ state: 'detached' });
}

/** Waits until something has the focus. */
async function expectFocus(place: Locator): Promise<void> {
  await place.and(page.locator(':focus')).waitFor();
  expect(await place.count()).toBe(1);
}

/** Makes the timers of the page late, as on a busy machine, until it is left. */
async function keepBusy(): Promise<void> {
  await page.evaluate(() => {
    const plain = globalThis.setTimeout;
    globalThis.setTimeout = Object.assign((run: () => void, ms = 0) => plain(run, ms + 500), plain);
  });
}

test('a list is put in order by the titles of its columns, with the keyboard, and its address says so', async () => {
  await page.goto(address('customers'));
  const title = page.getByRole('columnheader', { name: 'Name' });
  const expectOrder = async (first: string, search: string, sort: string) => {
    await page.getByRole('row').nth(1).filter({ hasText: first }).waitFor();
    expect([new URL(page.url()).search, await title.getAttribute('aria-sort')]).toEqual([search, sort]);
  };
  await expectOrder('Globex', '', 'none');
  await title.getByRole('button').press('Enter');
  await expectOrder('Acme Corporation', '?sort=name', 'ascending');
  await title.getByRole('button').press('Enter');
  await expectOrder('Globex', '?sort=-name', 'descending');
  expect(await findBarriers(page)).toEqual([]);
});

test('a dialog begins at its first field, and gives the focus back to what opened it', async () => {
  const dialogs: [name: string, opener: string, first: () => Locator][] = [
    ['customers', 'New customer', () => dialog().getByLabel('Name', { exact: true })],
    ['customer', 'Subscribe to a plan', () => dialog().getByRole('combobox', { name: 'Plan' })],
    ['subscription', 'Cancel subscription', () => dialog().getByLabel(/^With its period/)],
    ['usage', 'Export a month', () => dialog().getByLabel('Month')],
    ['invoice-open', 'Void', () => dialog().getByLabel('Note')],
  ];
  for (const [name, opener, first] of dialogs) {
    await page.goto(address(name));
    await button(opener).click();
    await expectFocus(first());
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await expectFocus(button(opener));
  }
  // An entry of a menu is gone with it: the button of the menu stays.
  const person = page.getByRole('button', { name: organization.email });
  await person.click();
  await page.getByRole('menuitem', { name: 'Keys' }).click();
  await dialog().getByRole('button', { name: 'Close' }).click();
  await expectFocus(person);
  await page.goto(address('customer'));
  await choose('More actions', 'Delete');
  await expectFocus(dialog().getByRole('button', { name: 'Cancel' }));
  await page.keyboard.press('Escape');
  await expectFocus(button('More actions'));
  expect(visit.faults).toEqual([]);
});

test('who is in another field of a dialog before its first one has the focus stays there', async () => {
  await page.goto(address('customers'));
  await keepBusy();
  await button('New customer').click();
  const email = dialog().getByLabel('Email');
  await email.focus();
  // Behind what gives the first field the focus.
  await page.evaluate(() => new Promise<void>((done) => setTimeout(done)));
  await page.keyboard.type('ada@example.com');
  expect(await email.inputValue()).toBe('ada@example.com');
});

test('after a delete the focus is on what is left, and not at the top of the page', async () => {
  await organization.call('POST', '/api-keys', { name: 'Short-lived', scopes: ['usage.read'] });
  await page.goto('/api-keys');
  // The dialog is gone before the row is.
  await keepBusy();
  await button('Actions on Short-lived').click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await button('Delete the key').click();
  await page.getByText('The key “Short-lived” is deleted.').waitFor();
  await expectFocus(page.getByRole('group', { name: 'API keys' }));
});

test('a service account is made, and its token shown once, replaced without a gap and deleted by its row', async () => {
  await page.goto('/service-accounts');
  await button('New service account').click();
  await dialog().getByLabel('Name').fill('Nightly');
  await dialog().getByRole('radio', { name: 'Viewer' }).check();
  await button('Create the account').click();
  await page.getByRole('heading', { name: 'Nightly' }).waitFor();
  await page.getByText('Viewer', { exact: true }).waitFor();
  const tokens: string[] = [];
  for (const name of ['First', 'Second']) {
    await button('New token').click();
    await dialog().getByLabel('Name').fill(name);
    await button('Create the token').click();
    tokens.push(await dialog().locator('pre').innerText());
    await button('I have copied it').click();
    await dialog().waitFor({ state: 'detached' });
  }
  const [first = '', second = ''] = tokens;
  const statusOf = async (token: string) =>
    (await weir.request('GET', '/api/v1/plans', { headers: { authorization: `Bearer ${token}` } })).status;
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
  expect(await page.getByRole('group', { name: 'Tokens' }).innerText()).not.toContain(first);
  await choose('Actions on First', 'Delete');
  await button('Delete the token').click();
  await page.getByText('The token “First” is deleted.').waitFor();
  await expectFocus(page.getByRole('group', { name: 'Tokens' }));
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
  expect(await findBarriers(page)).toEqual([]);
});

test('what is wrong with a field is said there, to a person, and has the focus', async () => {
  await page.goto('/customers');
  await button('New customer').click();
  await dialog().getByLabel('Name', { exact: true }).fill('x'.repeat(300));
  await dialog().getByLabel('External ID').fill('globex');
  await dialog().getByLabel('Email').fill('nobody');
  await button('Create customer').click();
  await dialog().getByText('2 things need another look.').waitFor();
  await expectFocus(dialog().getByLabel('Name', { exact: true }));
  await dialog().getByText('Fill this in, with at most 255 characters.').waitFor();
  await dialog().getByText('Enter an email address, such as ada@example.com.').waitFor();
  await dialog().getByLabel('Name', { exact: true }).fill('Another one');
  await dialog().getByLabel('Email').fill('');
  await button('Create customer').click();
  await dialog().getByText('This id is taken. Choose another one, or change what has it.').waitFor();
  await expectFocus(dialog().getByLabel('External ID'));
  expect(await dialog().innerText()).not.toMatch(/must|_id|Request|errors/);
});

test('the chart reads out what is at the pointer and what the arrows lead to, in its unit', async () => {
  await page.goto(address('usage'));
  const chart = page.getByRole('slider');
  const words = page.locator('.chart-words');
  await chart.waitFor();
  expect(await page.locator('.chart-head').innerText()).toBe('tokens');
  await chart.focus();
  await page.keyboard.press('End');
  const days = await page.getByRole('group', { name: 'Usage by period' }).locator('tbody tr').allInnerTexts();
  const said = (row: string | undefined) => {
    const [day, usage] = (row ?? '').split(/\s*\t\s*/);
    return `${day}: ${usage} tokens`;
  };
  await expect.poll(() => words.textContent()).toBe(said(days[0]));
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => words.textContent()).toBe(said(days[1]));
  await expect.poll(() => chart.getAttribute('aria-valuetext')).toBe(said(days[1]));
  expect(await findBarriers(page)).toEqual([]);
  // All of a bar is its own day, also where the next one is nearer.
  const box = await chart.boundingBox();
  const plot = await page.locator('.u-over').boundingBox();
  if (box === null || plot === null) throw new Error('there is no chart');
  const day = plot.width / days.length;
  await page.mouse.move(plot.x + plot.width - 0.1 * day, plot.y + 40);
  await expect.poll(() => words.textContent()).toBe(said(days[0]));
  await page.mouse.move(plot.x + plot.width - 1.1 * day, plot.y + 40);
  await expect.poll(() => words.textContent()).toBe(said(days[1]));
  await page.mouse.move(box.x, box.y - 30);
  await expect.poll(() => words.count()).toBe(0);
});

test('usage opens with the busiest meter, and from then on with the one that was looked at last', async () => {
  const meter = () => page.getByLabel('Meter', { exact: true }).and(page.locator('input:not([type=hidden])'));
  await page.evaluate('localStorage.clear()');
  await page.goto('/usage');
  await meter().waitFor();
  await expect.poll(() => meter().inputValue()).toBe('Tokens');
  // Among two hundred by a part of its name: what is typed takes the place of what stands there.
  await meter().click();
  await page.keyboard.type('point 187');
  await page.getByRole('option', { name: 'Endpoint 187' }).waitFor();
  await expect.poll(() => page.getByRole('option').count()).toBe(1);
  await page.keyboard.press('Enter');
  await expect.poll(() => meter().inputValue()).toBe('Endpoint 187');
  await page.getByText('No customer used Endpoint 187 in these days.').waitFor();
  await page.goto('/usage');
  await expect.poll(() => meter().inputValue()).toBe('Endpoint 187');
});

test('the customer filter suggests by name while one types, and looks for nothing before one has chosen', async () => {
  await page.goto(address('usage'));
  const customer = page.getByLabel('Customer', { exact: true }).and(page.locator('input'));
  await customer.click();
  await page.getByRole('option', { name: /Acme Corporation\s+acme/ }).waitFor();
  await customer.fill('Glob');
  const globex = page.getByRole('option', { name: /Globex\s+globex/ });
  await globex.waitFor();
  await expect.poll(() => page.getByRole('option').count()).toBe(1);
  expect(new URL(page.url()).searchParams.has('customer')).toBe(false);
  await globex.click();
  await page.waitForURL(/customer=globex/);
  // One without a record has usage, too.
  await customer.fill('nobody-yet');
  await customer.press('Enter');
  await page.waitForURL(/customer=nobody-yet/);
});

test('a day is written in one form, and taken as one writes it; what may be two days is none', async () => {
  await page.goto(`${address('usage')}&from=2026-10-26&to=2026-11-24`);
  const from = page.getByLabel('From', { exact: true });
  await from.waitFor();
  await expect.poll(() => from.inputValue()).toBe('26 Oct 2026');
  await from.fill('1.11.2026');
  await page.waitForURL(/from=2026-11-01/);
  await from.blur();
  await expect.poll(() => from.inputValue()).toBe('1 Nov 2026');
  await from.fill('11/12/2026');
  await from.blur();
  await page.getByText('Write a day such as 23 Nov 2026.').waitFor();
  expect(page.url()).toContain('from=2026-11-01');
});

test('the search finds an invoice by its number, in whatever case and from its beginning on', async () => {
  await page.goto('/');
  const year = new Date().getUTCFullYear();
  for (const typed of [`inv-${year}-000002`, `INV-${year}-0000`]) {
    await page.locator('h1').waitFor();
    await page.keyboard.press('/');
    await dialog().getByRole('combobox', { name: 'Search' }).fill(typed);
    const option = dialog().getByRole('option', { name: `INV-${year}-000002` });
    await option.waitFor();
    // The whole number is what Enter opens.
    await (typed.endsWith('2') ? page.keyboard.press('Enter') : option.click());
    await page.getByRole('heading', { level: 1, name: `INV-${year}-000002` }).waitFor();
    await page.goBack();
  }
  expect(visit.faults).toEqual([]);
});

test('two hundred meters make no endless page, and no flood of requests', async () => {
  const asked: string[] = [];
  const note = (request: { url: () => string }) => void asked.push(request.url());
  page.on('request', note);
  const rows = () => page.locator('.table tbody tr').count();
  await page.goto('/features');
  await page.getByText('1–25 of 204').waitFor();
  await expect.poll(rows).toBe(25);
  await page.getByLabel('Search features').fill('point 19');
  await page.getByText('Endpoint 199').waitFor();
  await expect.poll(rows).toBe(10);
  await page.goto(address('customer'));
  const charts = page.getByRole('region', { name: 'Usage of the last 30 days' }).getByRole('img');
  await expect.poll(() => charts.count()).toBe(2);
  await page.getByRole('tab', { name: 'Usage' }).click();
  await page.getByLabel('Meters without usage, too').waitFor();
  await expect.poll(rows).toBe(2);
  await page.getByLabel('Meters without usage, too').click();
  await page.getByText('1–25 of 203').waitFor();
  await expect.poll(rows).toBe(25);
  page.off('request', note);
  expect(asked.filter((url) => url.includes('/api/')).length).toBeLessThan(REQUESTS_MAX);
});

test('on a phone a row of the log is read without pushing it aside, and its receipt is where one looks', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/events');
  const table = page.getByRole('group', { name: /^Events/ });
  const first = table.locator('tbody tr').first();
  await first.waitFor();
  const hidden = await page.evaluate<number>(`
    (() => {
      const { scrollWidth, clientWidth } = document.querySelector('.log .table-frame');
      return scrollWidth - clientWidth;
    })()
  `);
  expect(hidden).toBe(0);
  await expect.poll(() => first.innerText()).toMatch(/Recorded|Rejected/);
  await table.locator('a.row-link').nth(30).click();
  const heading = page.getByRole('heading', { name: 'Receipt' });
  await expectFocus(heading);
  await expect.poll(async () => (await heading.boundingBox())?.y ?? -1).toBeGreaterThanOrEqual(0);
  expect((await heading.boundingBox())?.y).toBeLessThan(800);
  await page.getByLabel('Close the receipt').click();
  await expectFocus(table.locator('a.row-link').nth(30));
});

test('the log of changes says what was done, to what, and what was sent', async () => {
  await page.goto('/settings?tab=audit-log&action=credit.create');
  const granted = page.getByRole('row', { name: /Granted credit/ });
  await granted.waitFor();
  expect((await granted.innerText()).replace(/\s+/g, ' ')).toMatch(/Note: Welcome Amount: 25\.00 Currency: USD/);
  // Also somebody who is none of the first people is found: by what they did.
  const who = await granted.getByRole('link').first().innerText();
  await granted.getByRole('link').first().click();
  await expect.poll(() => page.getByLabel('Who').first().inputValue()).toBe(who);
  expect(new URL(page.url()).searchParams.get('actor')).toMatch(/^[0-9a-f-]{36}$/);
  await granted.getByRole('link', { name: 'The customer' }).click();
  await page.getByRole('heading', { level: 1, name: 'Acme Corporation' }).waitFor();
  await page.getByRole('tab', { name: 'Credits', selected: true }).waitFor();
});

test('a period is told by its first and last day in the zone of its subscription, everywhere', async () => {
  const { body } = { body: (await organization.call('GET', '/subscriptions')).data[0] };
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
  const today = day.format(new Date(body.current_period_start));
  await page.goto('/subscriptions');
  await page.getByRole('row', { name: new RegExp(`acme.*${today}`) }).waitFor();
  await page.goto(address('subscription'));
  expect(await page.locator('dt:has-text("Current period") + dd').textContent()).toBe(today);
  await button('Cancel subscription').click();
  await dialog().getByText(`With its period: its last day is ${today}`).waitFor();
});

test('a customer is erased once one has read what goes and what stays, and why it is not yet is said', async () => {
  const { id } = await organization.call('POST', '/customers', {
    external_id: 'umbrella',
    name: 'Umbrella',
    email: 'a@umbrella.example',
  });
  await page.goto(`/customers/${id}`);
  await choose('More actions', 'Erase');
  await expectFocus(dialog().getByRole('button', { name: 'Cancel' }));
  const words = await dialog().innerText();
  expect(words).toMatch(/What goes: name, email.*\bWhat stays: what was counted and billed/s);
  expect(words).toContain('umbrella');
  expect(await findBarriers(page, { within: DIALOG })).toEqual([]);
  await dialog().getByRole('textbox', { name: 'Also on invoices issued before' }).fill('1 Jan 2016');
  await dialog().getByRole('button', { name: 'Erase' }).click();
  await page.getByRole('heading', { level: 1, name: /^erased-/ }).waitFor();
  expect(await page.locator('main').innerText()).not.toMatch(/umbrella/i);
  // What can be done with nobody is not offered.
  await page.locator('dt:has-text("Erased")').waitFor();
  expect(await button('Edit').count()).toBe(0);
  expect((await organization.call('GET', '/erasures')).data[0]).toMatchObject({ customer_id: id });
  await page.goto(address('customer'));
  await choose('More actions', 'Erase');
  await dialog().getByRole('button', { name: 'Erase' }).click();
  await dialog().getByText('A subscription of the customer has not ended').waitFor();
  await dialog().getByRole('button', { name: 'Cancel' }).click();
});

test('a new organization and a mail for a new password are offered only where they work', async () => {
  const closed = await weir.startApi({ SIGNUP: 'closed' });
  const mailing = await weir.startApi({
    SMTP_URL: 'smtp://127.0.0.1:1',
    SMTP_FROM: 'weir@example.com',
    PUBLIC_URL: 'http://127.0.0.1',
  });
  const { page: door, faults, close } = await browser.visit({}, [closed.url, mailing.url]);
  await door.goto(`${mailing.url}/sign-in`);
  await door.getByRole('link', { name: 'Create an organization' }).waitFor();
  await door.getByRole('link', { name: 'Forgot your password?' }).click();
  await door.getByRole('button', { name: 'Send the link' }).waitFor();
  await door.goto(`${closed.url}/sign-in`);
  await door.getByText('Ask an admin of your organization for a link.').waitFor();
  expect(await door.getByRole('link').count()).toBe(0);
  await door.goto(`${closed.url}/sign-up`);
  await door.getByText('No organization can be made here now.').waitFor();
  await door.goto(`${closed.url}/password-reset`);
  await door.getByText('This Weir sends no mail.').waitFor();
  expect(await door.getByRole('textbox').count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
  await Promise.all([closed.close(), mailing.close()]);
});

test('a plan has a switch on, and an invoice that was given up is neither open nor due, but unpaid', async () => {
  const { data } = await organization.call('GET', '/features?type=switch');
  const fields = { name: 'Single', lookup_id: 'single', type: 'FIXED', billing_interval: 'month', currency: 'USD' };
  const { id } = await organization.call('POST', '/plans', fields);
  await organization.call('POST', `/plans/${id}/features`, { feature_id: data[0].id });
  await page.goto(`/plans/${id}`);
  await page.getByRole('row', { name: /^Single sign-on\s+on$/ }).waitFor();
  const open = address('invoice-open');
  await organization.call('POST', `${open}/uncollectible`);
  await page.goto(open);
  const sums = page.locator('.totals');
  await sums.getByText('Unpaid', { exact: true }).waitFor();
  expect(await sums.getByText('Amount due').count()).toBe(0);
  await button('Mark as paid').click();
  await dialog()
    .getByText(/ USD is unpaid; with less it stays uncollectible$/)
    .waitFor();
  await dialog().getByText('In UTC; empty: now').waitFor();
  await page.goto('/invoices?status=UNCOLLECTIBLE');
  await page.getByRole('cell', { name: /^unpaid [\d.,]+ USD$/ }).waitFor();
  expect(visit.faults).toEqual([]);
});
