// What is done for good is seen before: the times of events that are voided, and what is billed by a start or by a change. A preview
// that fails for now is asked for again, and nothing is sent without it. Nor is anything done to another thing than the one that was seen.

import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fixedCharge, makeCustomer, makePricedPlan, usageCharge } from '../support/billing-fixture.ts';
import { findBarriers, findCutOff, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  [admin, browser] = await Promise.all([signUp(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 900 } });
  await visit.context.addCookies([{ name: 'access_token', value: admin.session, url: weir.baseUrl }]);
  page = visit.page;
}, 120_000);
afterEach(async () => {
  await page.unrouteAll({ behavior: 'wait' });
});
afterAll(() => browser?.close());

const DAY_MS = 86_400_000;

const dialog = () => page.getByRole('dialog');
const button = (name: string | RegExp) => dialog().getByRole('button', { name, exact: typeof name === 'string' });
const problem = (words: string) => dialog().getByRole('alert').filter({ hasText: words });
const unreached = () => problem('Weir cannot be reached');

/** What comes of a first preview, and does not stand any more when it is asked for again: with its words, and names of plans. */
const PASSING = [
  ['got no answer', undefined, 'Weir cannot be reached', 'Daily', 'Small', 'Large'],
  ['was refused for what has passed', 'usage_moving', 'It is just being moved', 'Nightly', 'Little', 'Huge'],
] as const;

/** Counts what is sent to a path from now on. */
function countSent(path: RegExp): () => number {
  let count = 0;
  const note = (request: Request) => {
    if (request.method() === 'POST' && path.test(request.url())) count += 1;
  };
  page.on('request', note);
  return () => count;
}

/** Has the first request to an address get no answer, or a refusal. */
const cutFirstOff = (address: string, code?: string, detail?: string): Promise<void> =>
  cutOff(address, code, detail, 1);

async function cutOff(
  address: string,
  code: string | undefined,
  detail: string | undefined,
  times: number,
): Promise<void> {
  const body = JSON.stringify({ type: 'about:blank', title: 'Not now', status: 409, code, detail, request_id: 'one' });
  const headers = { 'content-type': 'application/problem+json', 'x-request-id': 'one' };
  const refusal = { status: 409, headers, body };
  await page.route(address, (route) => (code === undefined ? route.abort() : route.fulfill(refusal)), { times });
}

/** Records an event of a customer for each of these times. */
async function trackAt(customer_external_id: string, times: readonly string[]): Promise<void> {
  const [apiKey, { token: meter_token }] = [await admin.createKey(), await admin.createMeter('SUM')];
  for (const timestamp of times) {
    const body = { meter_token, customer_external_id, quantity: 1, timestamp };
    expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).status).toBe(201);
  }
  await weir.drained();
}

const timesIn = (place: Locator): Promise<string[]> =>
  place.locator('time').evaluateAll((all: { dateTime: string }[]) => all.map(({ dateTime }) => dateTime));

test('events are shown and voided with the times by which they are looked for, also on a phone', async () => {
  const [today, before] = [new Date().toISOString(), new Date(Date.now() - 30 * DAY_MS).toISOString()];
  await trackAt('acme', [today, before]);
  const titles = page.getByRole('group', { name: /^Events/ }).getByRole('columnheader');
  const firstCells = page.locator('.log tbody tr td:first-child');
  await page.goto('/events?customer=acme');
  await titles.first().waitFor();
  expect(await titles.allTextContents()).toEqual([
    'Time',
    'Received',
    'Status',
    'Meter',
    'Customer',
    'Quantity',
    'Metadata',
  ]);
  // The one that came last is of last month.
  expect(await timesIn(firstCells)).toEqual([before, today]);
  await page.getByRole('button', { name: 'Void these events' }).click();
  await dialog().getByText('2 events, all of them or none.').waitFor();
  expect(await timesIn(dialog())).toEqual([before, today]);
  await button('Cancel').click();
  await page.getByLabel('Time from (UTC)', { exact: true }).fill(today.slice(0, 10));
  await expect.poll(() => timesIn(firstCells)).toEqual([today]);
  await page.getByRole('button', { name: 'Void these events' }).click();
  await dialog().getByText('1 event, all of them or none.').waitFor();
  expect(await timesIn(dialog())).toEqual([today]);
  expect(await findBarriers(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await findCutOff(page)).toEqual([]);
  await button('Cancel').click();
  await dialog().waitFor({ state: 'detached' });
  expect([await findCutOff(page), await titles.filter({ visible: true }).allTextContents()]).toEqual([
    [],
    ['Time', 'Customer', 'Quantity'],
  ]);
  await page.setViewportSize({ width: 1280, height: 900 });
  expect(visit.faults).toEqual([]);
});

test.each(PASSING)('a subscription whose preview %s is not sent before it has one', async (_, code, words, plan) => {
  await makePricedPlan(weir, admin, [fixedCharge(5)], { name: plan, billing_interval: 'day' });
  const { id } = await makeCustomer(weir, admin);
  const sent = countSent(/\/subscriptions$/);
  await cutFirstOff('**/api/v1/subscriptions/preview', code, words);
  await page.goto(`/customers/${id}`);
  await page.getByRole('button', { name: 'Subscribe to a plan', exact: true }).click();
  await dialog().getByRole('combobox', { name: 'Plan' }).click();
  await page.getByRole('option', { name: plan }).click();
  const day = dialog().getByRole('textbox', { name: 'Start date' });
  await day.fill(new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10));
  await problem(words).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await button('Subscribe').click();
  await button(/^Subscribe and make \d invoices$/).waitFor();
  await dialog().getByRole('status').getByText('invoices are made at once').waitFor();
  expect([sent(), await problem(words).count()]).toEqual([0, 0]);
  await button(/^Subscribe and make \d invoices$/).click();
  await page.getByRole('heading', { level: 1, name: `${plan} for` }).waitFor();
  expect(sent()).toBe(1);
});

test.each(PASSING)(
  'a change of plan now whose preview %s is not sent before',
  async (_, code, words, _day, from, to) => {
    const [small] = [
      await makePricedPlan(weir, admin, [fixedCharge(1)], { name: from }),
      await makePricedPlan(weir, admin, [fixedCharge(9)], { name: to }),
    ];
    const { id: customer_id } = await makeCustomer(weir, admin);
    const { id } = await admin.call('POST', '/subscriptions', { customer_id, plan_id: small.id });
    const sent = countSent(/\/change$/);
    await cutFirstOff('**/preview-change', code, words);
    await page.goto(`/subscriptions/${id}`);
    await page.getByRole('button', { name: 'Change plan' }).click();
    await dialog().getByLabel('Now', { exact: true }).check();
    await dialog().getByRole('combobox', { name: 'New plan' }).click();
    await page.getByRole('option', { name: to }).click();
    await problem(words).waitFor();
    await button('Change now').click();
    await dialog().getByRole('region', { name: 'Invoice of the change' }).getByText('9.00').first().waitFor();
    expect([sent(), await problem(words).count()]).toEqual([0, 0]);
    await button('Change now').click();
    await dialog().waitFor({ state: 'detached' });
    expect(sent()).toBe(1);
  },
);

test.each([
  ['got no answer', undefined, 'Weir cannot be reached', 'globex', 1],
  ['took too long', 'not_correctable', 'It would hold others off for too long', 'gringotts', 2],
] as const)(
  'events are not voided before one has seen what that does, where that %s',
  async (_, code, words, whose, times) => {
    const now = new Date().toISOString();
    await trackAt(whose, [now, now]);
    const sent = countSent(/\/(?:corrections|void)$/);
    const { data } = await admin.call('GET', `/events?customer_external_id=${whose}`);
    const ways = [
      [`/events?event=${data[0].id}`, 'Void', 'Void the event', '2 → 1', 'The event does not count any more.'],
      [`/events?customer=${whose}`, 'Void these events', 'Void 1 event', '1 → 0', '1 event does not count any more.'],
    ] as const;
    for (const [index, [address, opener, label, usage, done]] of ways.entries()) {
      // Also when it is asked for again.
      await cutOff('**/corrections/preview', code, words, times);
      await page.goto(address);
      await page.getByRole('button', { name: opener, exact: true }).click();
      await problem(words).waitFor();
      for (let asked = 1; asked < times; asked += 1) {
        await dialog().getByLabel('Reason').fill('a test run');
        const again = page.waitForResponse('**/corrections/preview');
        await button(label).click();
        await again;
        await expect.poll(() => button(label).isEnabled()).toBe(true);
        expect([opener, sent()]).toEqual([opener, index]);
      }
      await dialog().getByLabel('Reason').fill('a test run');
      await button(label).click();
      await dialog().getByText(usage).waitFor();
      expect([opener, sent()]).toEqual([opener, index]);
      await button(label).click();
      await page.getByText(done).waitFor();
      expect([opener, sent()]).toEqual([opener, index + 1]);
    }
  },
);

test('an event is not amended before one has seen what that does, nor what was typed last without it', async () => {
  const now = new Date().toISOString();
  await trackAt('wonka', [now, now]);
  const sent = countSent(/\/amend$/);
  const { data } = await admin.call('GET', '/events?customer_external_id=wonka');
  await cutFirstOff('**/corrections/preview');
  await page.goto(`/events?event=${data[0].id}`);
  await page.getByRole('button', { name: 'Amend', exact: true }).click();
  await dialog().getByLabel('Reason').fill('a test run');
  const quantity = dialog().getByLabel('Quantity');
  await quantity.fill('10');
  await unreached().waitFor();
  await button('Amend the event').click();
  await dialog().getByText('2 → 11').waitFor();
  expect(sent()).toBe(0);
  // At once, over what was seen of another quantity.
  await quantity.fill('20');
  await quantity.press('Enter');
  await dialog().getByText('2 → 21').waitFor();
  expect(sent()).toBe(0);
  await button('Amend the event').click();
  await page.getByText('Another event counts in its place.').waitFor();
  expect(sent()).toBe(1);
});

test('a dialog goes with the page that it was opened on, and acts on no other that one goes back to', async () => {
  const plan = await makePricedPlan(weir, admin, [fixedCharge(5)], { name: 'Twice' });
  const [names, numbers] = [['Initech', 'Hooli'], [] as string[]];
  for (const name of names) {
    const { id: customer_id } = await makeCustomer(weir, admin, { name });
    const { id } = await admin.call('POST', '/subscriptions', { customer_id, plan_id: plan.id });
    const drafts = async () => (await admin.call('GET', `/invoices?subscription_id=${id}`)).data;
    await expect.poll(drafts).toHaveLength(1);
    numbers.push((await admin.call('POST', `/invoices/${(await drafts())[0].id}/finalize`)).invoice_number);
  }
  const title = (name = '') => page.getByRole('heading', { level: 1, name });
  const find = async (text: string) => {
    await page.keyboard.press('/');
    await dialog().getByRole('combobox', { name: 'Search' }).fill(text);
    await dialog().getByRole('option', { name: text }).waitFor();
    await page.keyboard.press('Enter');
    await title(text).waitFor();
    await dialog().waitFor({ state: 'detached' });
  };
  const remove = async () => {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
  };
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const ways = [
    [numbers, () => press('Mark as paid')],
    [numbers, () => press('Void')],
    [names, remove],
  ] as const;
  for (const [[first = '', second = ''], open] of ways) {
    await page.goto('/');
    await title().waitFor();
    await find(first);
    await find(second);
    await open();
    await dialog().waitFor();
    await page.goBack();
    await dialog().waitFor({ state: 'detached' });
    await title(first).and(page.locator(':focus')).waitFor();
  }
  expect(visit.faults).toEqual([]);
});

test('events are voided of the filter that was seen, and not of one that one goes back to', async () => {
  const now = new Date().toISOString();
  for (const customer of ['umbrella', 'stark']) await trackAt(customer, [now]);
  await page.goto('/events?customer=umbrella');
  await page.getByRole('navigation').getByRole('link', { name: 'Events' }).click();
  await page.waitForURL(/events$/);
  const customer = page.getByLabel('Customer', { exact: true }).and(page.locator('input'));
  await customer.fill('stark');
  await customer.press('Enter');
  await page.waitForURL(/customer=stark/);
  await page.getByRole('button', { name: 'Void these events' }).click();
  await dialog().getByText('1 event, all of them or none.').waitFor();
  await page.goBack();
  await page.waitForURL(/customer=umbrella/);
  await dialog().waitFor({ state: 'detached' });
  expect(visit.faults).toEqual([]);
});

test('the credits of a customer begin with their first page, wherever one was in those of another', async () => {
  const [many, few] = [
    await makeCustomer(weir, admin, { name: 'Many' }),
    await makeCustomer(weir, admin, { name: 'Few' }),
  ];
  const grant = (id: string, note: string) =>
    admin.call('POST', `/customers/${id}/credits`, { amount: '1', currency: 'USD', note });
  for (let each = 1; each <= 21; each += 1) await grant(many.id, `of many, ${each}`);
  await grant(few.id, 'of few');
  const choose = async (name: string, note: string) => {
    await page.getByRole('combobox', { name: 'Customer' }).fill(name);
    await page.getByRole('option', { name }).click();
    await page.getByText(note, { exact: true }).waitFor();
  };
  await page.goto('/credits');
  await choose('Few', 'of few');
  await choose('Many', 'of many, 21');
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByText('of many, 1', { exact: true }).waitFor();
  await choose('Few', 'of few');
  expect(visit.faults).toEqual([]);
});

test('what a start in the past makes is told by the first and the last day of its invoices', async () => {
  const { id: meter } = await admin.createMeter('SUM');
  await makePricedPlan(weir, admin, [usageCharge(meter)], { name: 'Metered', billing_interval: 'year' });
  await makePricedPlan(weir, admin, [fixedCharge(5)], { name: 'Ahead', billing_interval: 'year' });
  const { id } = await makeCustomer(weir, admin);
  await page.goto(`/customers/${id}`);
  await page.getByRole('button', { name: 'Subscribe to a plan', exact: true }).click();
  const choose = async (name: string, start: string) => {
    await dialog().getByRole('combobox', { name: 'Plan' }).click();
    await page.getByRole('option', { name }).click();
    await dialog().getByRole('textbox', { name: 'Start date' }).fill(start);
  };
  const told = dialog().getByRole('status');
  await choose('Metered', '2024-01-01');
  await told.getByText(/as drafts, for 1 Jan 2024 – 31 Dec \d{4}\./).waitFor();
  // Its only invoice is of what is due in advance at the start.
  const start = new Date(Date.now() - 2 * DAY_MS);
  await choose('Ahead', start.toISOString().slice(0, 10));
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(start);
  await told.getByText(`as a draft, for ${day}.`).waitFor();
  expect(visit.faults).toEqual([]);
});

test('what is chosen in a field stays in it while somebody renames it, and nobody searches for it', async () => {
  const chosen = { name: 'Chosen' };
  const beside = { name: 'Beside it' };
  const customers = [await makeCustomer(weir, admin, chosen), await makeCustomer(weir, admin, beside)];
  const plans = [await makePricedPlan(weir, admin, [], chosen), await makePricedPlan(weir, admin, [], beside)];
  const form = await visit.context.newPage();
  await form.clock.install();
  const searched: string[] = [];
  form.on('request', (request) => {
    searched.push(...new URL(request.url()).searchParams.getAll('search').filter((words) => words !== ''));
  });
  await form.goto('/subscriptions');
  await form.getByRole('button', { name: 'New subscription', exact: true }).click();
  for (const [label, path, [first, second]] of [
    ['Customer', 'customers', customers],
    ['Plan', 'plans', plans],
  ] as const) {
    const field = form.getByRole('dialog').getByRole('combobox', { name: label });
    await field.click();
    await form.getByRole('option', { name: /^Chosen/ }).click();
    const shown = await field.inputValue();
    await admin.call('PATCH', `/${path}/${first?.id}`, { name: 'Renamed' });
    await admin.call('PATCH', `/${path}/${second?.id}`, { name: 'New beside it' });
    await field.click();
    await form.clock.fastForward(60_000);
    await form.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
    await form.getByRole('option', { name: /^New beside it/ }).waitFor();
    await form.clock.runFor(2_000);
    expect(await field.inputValue()).toBe(shown);
    await field.press('Tab');
  }
  expect(searched).toEqual([]);
  expect(visit.faults).toEqual([]);
  await form.close();
});

// The last one: the plans that it makes would hide those of others.
test('of many plans only so many are drawn as one reads through, and each is found by its name', async () => {
  const plan = { billing_interval: 'year', currency: 'CHF' } as const;
  const { id: plan_id } = await makePricedPlan(weir, admin, [fixedCharge(5)], { ...plan, name: 'Chosen of many' });
  await weir.pool.query(
    `INSERT INTO plans SELECT (jsonb_populate_record(plans, jsonb_build_object(
       'id', gen_random_uuid(), 'lookup_id', 'of-many-' || n, 'name', 'Of many ' || n))).*
     FROM plans CROSS JOIN generate_series(101, 160) AS n WHERE id = $1`,
    [plan_id],
  );
  const { id: customer_id } = await makeCustomer(weir, admin);
  const { id } = await admin.call('POST', '/subscriptions', { customer_id, plan_id });
  const asked = new Set<string>();
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/api/v1/plans') asked.add(searchParams.get('cursor') ?? searchParams.get('search') ?? 'all');
  });
  for (const [address, open, label] of [
    [`/customers/${customer_id}`, 'Subscribe to a plan', 'Plan'],
    [`/subscriptions/${id}`, 'Change plan', 'New plan'],
  ] as const) {
    await page.goto(address);
    await page.getByRole('button', { name: open, exact: true }).click();
    const field = dialog().getByRole('combobox', { name: label });
    await field.click();
    await page.getByRole('option').first().waitFor();
    expect(await page.getByRole('option').count()).toBe(50);
    for (const name of ['Of many 101', 'Of many 160']) {
      await field.fill(name);
      await page.getByRole('option', { name }).waitFor();
      await expect.poll(() => page.getByRole('option').count()).toBe(1);
    }
    // However many there are, the first of them are read, and what is looked for.
    expect(asked).toEqual(new Set(['', 'Of many 101', 'Of many 160']));
  }
  expect(visit.faults).toEqual([]);
});
