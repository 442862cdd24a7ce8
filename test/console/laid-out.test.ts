// How a page lays out what it shows: what stands around a thing, and in its place where it cannot be read; a customer in two columns,
// prices with tiers, charts with their axes, and all of it on paper; and by what its lists are narrowed.

import { readFile } from 'node:fs/promises';
import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  findBarriers,
  findCutOff,
  layoutShift,
  openBrowser,
  type Browser,
  type Visit,
} from '../support/browser/browser.ts';
import { furnish, type Furnished } from '../support/browser/furnished.ts';
import { holdBack } from '../support/browser/hold-back.ts';
import { DEFAULT_SHARE } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const WINDOW = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

const weir = ownWeir({ api: DEFAULT_SHARE });
let organization: Furnished;
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  [organization, browser] = await Promise.all([furnish(weir), openBrowser([weir.baseUrl])]);
}, 120_000);
afterAll(() => browser?.close());
beforeEach(async () => {
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: WINDOW });
  await visit.context.addCookies([{ name: 'access_token', value: organization.session, url: weir.baseUrl }]);
  page = visit.page;
});
afterEach(() => visit.close());

/** The routes of one thing, each with the list that leads to it and what it is called. */
const THINGS: [route: string, list: string, of: string][] = [
  ['/customers/$customerId', '/customers', 'Customer'],
  ['/meters/$meterId', '/features', 'Meter'],
  ['/plans/$planId', '/plans', 'Plan'],
  ['/plans/$planId/edit', '/plans', 'Plan'],
  ['/plans/new?copy=$planId', '/plans', 'Plan'],
  ['/subscriptions/$subscriptionId', '/subscriptions', 'Subscription'],
  ['/invoices/$invoiceId', '/invoices', 'Invoice'],
  ['/alerts/$alertId', '/alerts', 'Alert'],
  ['/webhooks/$endpointId', '/webhooks', 'Endpoint'],
  ['/service-accounts/$accountId', '/service-accounts', 'Service account'],
];

test('the page of a thing that is not there has a title of its own, and the way back to its list', async () => {
  const texts = await Promise.all(
    ['routes', 'billing-routes'].map((name) =>
      readFile(new URL(`../../apps/console/src/${name}.ts`, import.meta.url), 'utf8'),
    ),
  );
  const routes = [...texts.join('\n').matchAll(/^ +path: '(\/[^']*\$\w[^']*)',$/gm)].map(([, path = '']) => path);
  expect(
    THINGS.map(([route]) => route)
      .filter((route) => !route.includes('?'))
      .toSorted(),
  ).toEqual(routes.toSorted());
  const nobody = '0198aaaa-0000-7000-8000-000000000000';
  for (const [route, list, of] of THINGS) {
    await page.goto(route.replace(/\$\w+/, nobody));
    await page.getByRole('alert').waitFor();
    const title = `No such ${of.toLowerCase()}`;
    expect([route, await page.locator('h1').allTextContents(), await page.title()]).toEqual([
      route,
      [title],
      `${title} · Weir`,
    ]);
    expect(await page.locator(`.page-above a[href="${list}"]`).count()).toBe(1);
  }
  expect(await findBarriers(page)).toEqual([]);
});

test('so has one that is still being read, and the focus is on its own title in the end', async () => {
  await page.goto('/invoices');
  const letGo = await holdBack(page, /\/api\/v1\/invoices\/[^/?]+$/);
  const row = page.getByRole('link', { name: /^INV-/ }).first();
  const number = (await row.textContent()) ?? '';
  await row.click();
  await page.getByRole('heading', { level: 1, name: 'Invoice', exact: true }).waitFor();
  expect([await page.title(), await page.locator('.page-above a').getAttribute('href')]).toEqual([
    'Invoice · Weir',
    '/invoices',
  ]);
  letGo();
  await page.getByRole('heading', { level: 1, name: number }).and(page.locator(':focus')).waitFor();
  expect(await page.title()).toBe(`${number} · Weir`);
  expect(await layoutShift(page)).toBe(0);
});

test('what cannot be read is read anew by a button: the audit log, events behind a line, what is searched', async () => {
  visit.expectFaults(/^500 from /);
  const dialog = page.getByRole('dialog');
  const { addresses } = organization;
  const places: [address: string | undefined, open: () => Promise<void>, read: RegExp, there: Locator][] = [
    [
      addresses['audit-log'],
      async () => {},
      /\/audit-log\?/,
      page.getByRole('group', { name: 'Audit log' }).locator('tbody tr'),
    ],
    [
      addresses['invoice-line'],
      () => dialog.getByRole('tab', { name: 'Events' }).click(),
      /\/lines\/[^/]+\/events\?/,
      dialog.getByRole('group', { name: 'Events' }).locator('tbody tr'),
    ],
    [
      '/health',
      async () => {
        await page.getByRole('button', { name: 'Search' }).click();
        await dialog.getByRole('combobox', { name: 'Search' }).fill('acme');
      },
      /\/customers\?/,
      dialog.getByRole('option', { name: /^Acme/ }),
    ],
  ];
  const problem = { status: 500, code: 'internal_error', detail: 'Something broke.', request_id: 'x' };
  const headers = { 'content-type': 'application/problem+json', 'x-request-id': 'x' };
  for (const [address = '', open, read, there] of places) {
    const refuse = (route: Route) => route.fulfill({ status: 500, headers, body: JSON.stringify(problem) });
    await page.route(read, refuse);
    await page.goto(address);
    await open();
    const again = page.getByRole('alert').getByRole('button', { name: 'Try again' });
    await again.waitFor();
    expect(await there.count()).toBe(0);
    await page.unroute(read, refuse);
    await again.click();
    await there.first().waitFor();
  }
  await dialog.getByRole('combobox').and(page.locator(':focus')).waitFor();
});

test('the widget gives up a read that nobody answers, and reads it when it is asked for again', async () => {
  // What ends after a minute ends when the test says so. The browser is of those that have no AbortSignal.timeout.
  await page.addInitScript(() => {
    Reflect.deleteProperty(AbortSignal, 'timeout');
    const ends: (() => void)[] = [];
    const later = globalThis.setTimeout.bind(globalThis);
    const setTimeout = (end: () => void, ms: number) => (ms === 60_000 ? ends.push(end) : later(end, ms));
    Object.assign(globalThis, { setTimeout, endWaits: () => ends.forEach((end) => end()) });
  });
  const asked = { apiKey: organization.apiKey, body: { customer_external_id: 'acme' } };
  const { body } = await weir.request('POST', '/api/v1/widget/token', asked);
  // Nobody answers it.
  await page.route(/\/widget\/balance/, () => {});
  const held = page.waitForRequest(/\/widget\/balance/);
  await page.goto(`${weir.baseUrl}/embed?show=billing#token=${body.token}`);
  await held;
  await page.evaluate('endWaits()');
  await page.getByText('This cannot be shown now: try again in a moment.').waitFor();
  await page.unroute(/\/widget\/balance/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText(/^INV-/).first().waitFor();
  expect(await page.getByText('This cannot be shown now').count()).toBe(0);
});

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
});

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
});

test('tiers of a price are a table that fits a phone, of a hundred the first five and the others on demand', async () => {
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
});

test('events by day have an axis of few round ticks with its unit, beside those of the month before', async () => {
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
  // Each is below the bar of its day.
  const foot = chart.locator('.day-bars-foot > span');
  expect(await foot.allInnerTexts()).toEqual(['1', '8', '15', '22', '29']);
  const middleOf = (at: Locator): Promise<number> =>
    at.evaluate((element) => {
      const { left, width } = element.getBoundingClientRect();
      return left + width / 2;
    });
  expect(await middleOf(foot.last())).toBeCloseTo(await middleOf(chart.locator('.day-bars-bar').nth(28)), 0);
  await chart.getByText('events', { exact: true }).waitFor();
  await chart.getByText('the month before', { exact: true }).waitFor();
  expect(await chart.locator('.day-bars-before').count()).toBe(1);
  expect(await layoutShift(page)).toBe(0);
  expect(await findBarriers(page)).toEqual([]);
  await page.setViewportSize(PHONE);
  expect(await findCutOff(page)).toEqual([]);
});

test('invoices are found by number and customer, subscriptions by customer; credits are listed of all', async () => {
  const choose = async (name: string) => {
    await page.getByRole('combobox', { name: 'Customer' }).fill(name);
    await page.getByRole('option', { name: new RegExp(`^${name}`) }).click();
  };
  const rows = (list: string) => page.getByRole('group', { name: list, exact: true }).locator('tbody tr');
  const lines = page.getByRole('button', { name: 'Lines as CSV' });
  await page.goto('/invoices');
  await lines.waitFor();
  const number = (await rows('Invoices').getByRole('link', { name: /^INV-/ }).first().textContent()) ?? '';
  await page.getByRole('searchbox', { name: 'Number' }).fill(number);
  await expect.poll(() => rows('Invoices').allInnerTexts()).toEqual([expect.stringContaining(number)]);
  // No file of lines is of numbers.
  expect(await lines.count()).toBe(0);
  await choose('Globex');
  await page.getByText('No such invoice has a number that begins with this.').waitFor();
  await page.goto('/subscriptions');
  await choose('Acme');
  await rows('Subscriptions').getByText('acme').waitFor();
  await choose('Globex');
  await page.getByText('It has no subscription.').waitFor();
  await page.goto('/credits');
  await rows('Credits').getByRole('link', { name: 'Acme Corporation' }).waitFor();
  await rows('Credits').getByText('25.00 USD').first().waitFor();
  await page.setViewportSize(PHONE);
  expect(await findCutOff(page)).toEqual([]);
});

test('a form that takes something away for good has a red button, and no other has', async () => {
  const colorOf = async (opener: string, submit: string) => {
    await page.getByRole('button', { name: opener, exact: true }).click();
    const button = page.getByRole('dialog').getByRole('button', { name: submit, exact: true });
    await button.waitFor();
    const color = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('[role=dialog] button[type=submit]')).backgroundColor`,
    );
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return color;
  };
  await page.goto(organization.addresses['invoice-open'] ?? '');
  const red = await colorOf('Void', 'Void the invoice');
  expect(await colorOf('Mark as paid', 'Mark as paid')).not.toBe(red);
  await page.goto(organization.addresses['subscription'] ?? '');
  expect(await colorOf('Cancel subscription', 'Cancel the subscription')).toBe(red);
});

test('“Replay all” names a number only where all rejected events are counted', async () => {
  const titleWhere = async (has_more: boolean) => {
    await page.route('**/events/rejections', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), has_more } });
    });
    await page.goto('/events?status=rejected');
    await page.getByRole('button', { name: 'Replay all' }).click();
    const title = await page.getByRole('dialog').getByRole('heading').innerText();
    await page.unrouteAll({ behavior: 'wait' });
    return title;
  };
  expect(await titleWhere(false)).toBe('Replay 1 event');
  expect(await titleWhere(true)).toBe('Replay all of this reason');
  const more = 'Counted among the newest: 1 event. There may be far more: all of them are sent again.';
  expect(await page.getByRole('dialog').getByText(more).count()).toBe(1);
});
