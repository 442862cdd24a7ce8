// What the console says while an answer is held back, when it is cut off, and when the session ends: nothing that is not so. And what
// a form sends: all that was typed.

import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { fromOtherMachine, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { findMissaid } from '../support/browser/cut-off-reads.ts';
import { furnish, type Furnished } from '../support/browser/furnished.ts';
import { holdBack } from '../support/browser/hold-back.ts';
import { untilLater } from '../support/browser/page-clock.ts';
import { signUp } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let organization: Furnished;
let browser: Browser;
let visit: Visit;
let page: Page;
/** Weir as it is looked at from another machine, over plain HTTP. */
let plainAddress: string;

beforeAll(async () => {
  plainAddress = fromOtherMachine(weir.baseUrl);
  [organization, browser] = await Promise.all([furnish(weir), openBrowser([weir.baseUrl, plainAddress])]);
  visit = await browser.visit({
    baseURL: weir.baseUrl,
    viewport: { width: 1280, height: 860 },
    timezoneId: 'Asia/Tokyo',
  });
  page = visit.page;
  await page.clock.install();
}, 120_000);
afterAll(() => browser?.close());
beforeEach(async () => {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await signIn();
});

const signIn = (url = weir.baseUrl) =>
  visit.context.addCookies([{ name: 'access_token', value: organization.session, url }]);

const total = () => page.locator('.figure').first();

test('usage of other days stands as what it was until they are there, and says that it loads', async () => {
  await page.goto(organization.addresses['usage'] ?? '');
  await total().waitFor();
  const shown = page.locator('.shown', { has: page.locator('.figures') }).last();
  expect(await shown.getAttribute('aria-busy')).toBe('false');
  const before = await total().textContent();
  const letGo = await holdBack(page, /\/usage\?.*start_date=2020-01-01/);
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
    await untilLater(page, page.getByRole('alert').filter({ hasText: 'Weir cannot be reached' }));
    // Each part is told by its own answer.
    await expect.poll(() => page.locator('.figure').count()).toBe(0);
  } finally {
    await visit.context.setOffline(false);
  }
});

test('a page of a proxy in the place of what was read is said to be one', async () => {
  await page.goto('/customers');
  await page.route('**/api/v1/customers?**', (route) =>
    route.fulfill({ status: 200, contentType: 'text/html', body: '<title>Sign in</title>' }),
  );
  await page.getByRole('button', { name: 'CSV' }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'Something between this page and Weir answered with 200' });
  await alert.first().waitFor();
  expect(await alert.first().textContent()).toContain('Load the page anew: it may ask you to sign in there.');
});

const dialog = (name: string) => page.getByRole('dialog', { name });

async function typeCustomer(name: string): Promise<void> {
  await page.goto('/customers');
  await page.getByRole('button', { name: 'New customer' }).click();
  await dialog('New customer').getByLabel('Name', { exact: true }).fill(name);
  await dialog('New customer').getByLabel('External ID').fill(name.toLowerCase());
}

/** Makes a customer, by the API. */
async function makeCustomer(external_id: string): Promise<{ id: string; grants: () => Promise<object[]> }> {
  const { session } = organization;
  const { body } = await weir.request('POST', '/api/v1/customers', { session, body: { external_id } });
  const path = `/api/v1/customers/${body.id}/credits`;
  return { id: body.id, grants: async () => (await weir.request('GET', path, { session })).body.grants };
}

const create = () => dialog('New customer').getByRole('button', { name: 'Create customer' }).click();

test('a session that ends under a form is begun anew over it, and what was typed is sent then', async () => {
  const second = await visit.context.newPage();
  await second.goto('/plans');
  await second.getByRole('heading', { level: 1, name: 'Plans' }).waitFor();
  await typeCustomer('Hooli');
  await visit.context.clearCookies();
  await create();
  await second.getByRole('link', { name: 'Customers', exact: true }).click();
  await second.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  const again = dialog('Your session has ended');
  await again.getByRole('textbox', { name: 'Password' }).fill('a wrong one');
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.getByText('The email address or the password is not right: check both and try again.').waitFor();
  await again.getByRole('textbox', { name: 'Password' }).fill(organization.password);
  await page.route('**/api/v1/auth/me', (route) => route.abort());
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'detached' });
  // Nor does any other tab ask for it again, whatever this one hears next, and what was refused there is read.
  await second.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
  await second.getByRole('link', { name: 'Acme Corporation' }).waitFor();
  await page.unroute('**/api/v1/auth/me');
  await second.close();
  expect(await dialog('New customer').getByLabel('External ID').inputValue()).toBe('hooli');
  await create();
  await page.getByRole('heading', { level: 1, name: 'Hooli' }).waitFor();
});

test('what was typed is there for the same person after a sign-in, and not for the next one in the tab', async () => {
  const other = await signUp(weir);
  const signInBy = async (place: Page | Locator, { email, password }: { email: string; password: string }) => {
    await place.getByRole('textbox', { name: 'Email' }).fill(email);
    await place.getByRole('textbox', { name: 'Password' }).fill(password);
    await place.getByRole('button', { name: 'Sign in' }).click();
  };
  const typed = async () => {
    await page.getByRole('button', { name: 'New customer' }).click();
    return await dialog('New customer').getByLabel('External ID').inputValue();
  };
  await typeCustomer('Initech');
  for (const [person, text] of [
    [organization, 'initech'],
    [other, ''],
  ] as const) {
    await visit.context.clearCookies();
    await page.goto('/customers');
    await signInBy(page, person);
    expect(await typed()).toBe(text);
  }
  // Over the page of the one before, who has sent something there as well.
  await dialog('New customer').getByLabel('External ID').fill('initrode');
  await visit.context.clearCookies();
  await create();
  const loaded = page.waitForEvent('load');
  await signInBy(dialog('Your session has ended'), organization);
  await loaded;
  await page.getByRole('button', { name: organization.email }).waitFor();
  expect(await page.evaluate('Object.keys(sessionStorage).filter((name) => /^weir-(form|sent)-/.test(name))')).toEqual(
    [],
  );
  await page.goto('/customers');
  expect(await typed()).toBe('');
});

test('who signs in with one tab has signed in with all: what another person has open elsewhere is closed', async () => {
  const other = await signUp(weir);
  await typeCustomer('Globex');
  const loaded = page.waitForEvent('load');
  const second = await visit.context.newPage();
  await visit.context.clearCookies();
  await second.goto('/');
  await second.getByRole('textbox', { name: 'Email' }).fill(other.email);
  await second.getByRole('textbox', { name: 'Password' }).fill(other.password);
  await second.getByRole('button', { name: 'Sign in' }).click();
  await loaded;
  await page.getByRole('button', { name: other.email }).waitFor();
  await page.getByRole('button', { name: 'New customer' }).click();
  expect(await dialog('New customer').getByLabel('External ID').inputValue()).toBe('');
  await second.close();
});

test('nothing is said to be done before the answer, and of one that is cut off that it is not known', async () => {
  await typeCustomer('Soylent');
  const letGo = await holdBack(page, '**/api/v1/customers');
  await create();
  await dialog('New customer').locator('button[data-loading]').waitFor();
  expect([await page.locator('.notice').count(), page.url()]).toEqual([
    0,
    `${weir.baseUrl.replace(/\/$/, '')}/customers`,
  ]);
  letGo();
  await page.getByRole('heading', { level: 1, name: 'Soylent' }).waitFor();
  await page.unrouteAll({ behavior: 'wait' });

  await typeCustomer('Vandelay');
  await page.route('**/api/v1/customers', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await create();
  const alert = dialog('New customer').getByRole('alert');
  await alert.waitFor();
  expect(await alert.textContent()).toMatch(/^No answer came, so it is not known whether Weir has done this\. Look at/);
  expect(await alert.textContent()).toContain('it is not done twice');
  await page.unrouteAll({ behavior: 'wait' });
  await page.goto('/customers?search=vandelay');
  await page.getByRole('link', { name: 'Vandelay' }).waitFor();
});

test('Enter sends a form with the day that was typed last, and refuses what is none', async () => {
  const { id, grants } = await makeCustomer('cyberdyne');
  await page.goto(`/customers/${id}?tab=credits`);
  await page.getByRole('button', { name: 'Grant credit' }).click();
  const form = dialog('Grant credit');
  await form.getByLabel('Amount').fill('10');
  await form.getByLabel('Currency').fill('USD');
  const lastDay = form.getByRole('textbox', { name: 'Last day' });
  const send = async (typed: string): Promise<number> => {
    await form.locator('button[data-loading]').waitFor({ state: 'detached' });
    await lastDay.fill(typed.slice(0, -1));
    await lastDay.press('End');
    await lastDay.pressSequentially(typed.slice(-1));
    const answer = page.waitForResponse((response) => response.request().method() === 'POST');
    await lastDay.press('Enter');
    return (await answer).status();
  };
  // The second one is a day until its last letter.
  for (const typed of ['31/12/2026', '31 Dec 20261']) {
    expect(await send(typed)).toBe(422);
    await lastDay.and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    expect(await lastDay.inputValue()).toBe(typed);
  }
  const year = new Date().getUTCFullYear() + 1;
  expect(await send(`31 Dec ${year}`)).toBe(201);
  await form.waitFor({ state: 'detached' });
  expect(await grants()).toMatchObject([{ expires_at: `${year + 1}-01-01T00:00:00.000Z` }]);
});

test('what only shows something in the form of a plan saves nothing on Enter, also over plain HTTP', async () => {
  await signIn(plainAddress);
  visit.expectFaults(/Cross-Origin-Opener-Policy header has been ignored/);
  await page.goto(`${plainAddress}${organization.addresses['edit-plan']}`);
  await page.getByRole('button', { name: 'Actions on Tokens' }).first().click();
  expect(await page.evaluate('isSecureContext')).toBe(false);
  await page.getByRole('menuitem', { name: 'New price' }).click();
  const sent: string[] = [];
  const note = (request: Request): void => void (request.method() === 'PATCH' && sent.push(request.url()));
  page.on('request', note);
  const costs = page.getByRole('region', { name: 'Cost preview' });
  await costs.getByLabel('Another quantity').fill('500');
  await costs.getByLabel('Another quantity').press('Enter');
  await costs.getByRole('row', { name: '500 50.00 USD' }).waitFor();
  const more = page.getByRole('combobox', { name: 'Include a feature' });
  await more.fill('no such one');
  await page.getByText('No such feature').waitFor();
  await more.press('Enter');
  await page.getByLabel('Days of trial').fill('14');
  await page.getByLabel('Days of trial').press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Scale', exact: true }).waitFor();
  page.off('request', note);
  // What was typed last is in what was sent first.
  const [url = '', ...others] = sent;
  const { body } = await weir.request('GET', new URL(url).pathname, { session: organization.session });
  expect([body.trial_days, others]).toEqual([14, []]);
});

test('Enter in a search for a customer sends no form: it would be sent for all of them', async () => {
  await page.goto('/alerts');
  await page.getByRole('button', { name: 'New alert' }).click();
  const form = dialog('New alert');
  await form.getByLabel('Name').fill('By Enter');
  await form.getByText('Amount of usage').click();
  await form.getByText('without its fixed prices, in its own currency').waitFor();
  await form.getByLabel('Thresholds').fill('100');
  const customer = form.getByRole('combobox', { name: 'Customer (empty: all)' });
  await customer.fill('acm');
  await customer.press('Enter');
  await page.getByRole('option', { name: 'Acme Corporation (acme)' }).click();
  await customer.press('Enter');
  await form.waitFor({ state: 'detached' });
  const { body } = await weir.request('GET', '/api/v1/alerts', { session: organization.session });
  const customer_id = (organization.addresses['customer'] ?? '').replace(/^.*\//, '');
  expect(body.data.filter(({ name }: { name: string }) => name === 'By Enter')).toMatchObject([{ customer_id }]);
});

test('a file of invoices has what the page shows: without the zone of its dates there is none', async () => {
  const files = page.getByRole('button', { name: /CSV/ });
  // As one that is refused, it is not asked for again by itself.
  const refusal = { status: 403, contentType: 'application/problem+json', body: '{"code":"forbidden","detail":"No."}' };
  await page.route('**/api/v1/billing/settings', (route) => route.fulfill(refusal));
  await page.goto('/invoices?from=2026-01-01');
  await page.getByRole('alert').waitFor();
  expect(await files.count()).toBe(0);
  await page.unrouteAll({ behavior: 'wait' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await files.nth(1).waitFor();
  await page.goto('/invoices?from=2026-01-02&to=2026-01-01');
  await page.getByText('The first day is after the last day').waitFor();
  expect(await files.count()).toBe(0);
});

test('a subscription is not sent before one has seen what comes of it, and its form keeps what was typed', async () => {
  const form = page.getByRole('dialog');
  const day = form.getByRole('textbox', { name: 'Start date' });
  const open = async () => {
    await page.goto(organization.addresses['customer'] ?? '');
    await page.getByRole('button', { name: 'Subscribe to a plan', exact: true }).click();
  };
  await open();
  const letGo = await holdBack(page, '**/api/v1/subscriptions/preview');
  await form.getByLabel(/^Plan/).first().click();
  await page.getByRole('option').first().click();
  const start = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await day.fill(start);
  await day.press('Tab');
  await form.getByRole('button', { name: 'Subscribe', exact: true }).click();
  await form.locator('button[data-loading]').waitFor();
  letGo();
  await form.locator('button[data-loading]').waitFor({ state: 'detached' });
  expect(await form.getByRole('alert').count()).toBe(0);
  await form
    .getByRole('status')
    .getByText(/invoice/i)
    .first()
    .waitFor();
  const typed = await day.inputValue();
  await open();
  expect(typed).not.toBe('');
  expect(await day.inputValue()).toBe(typed);
});

test('what is refused because of too many requests is sent again by itself', async () => {
  let refusals = 0;
  visit.expectFaults(/^429 from \S+\/plans\?/);
  await page.route('**/api/v1/plans?**', async (route) => {
    if (++refusals > 1) return await route.continue();
    await route.fulfill({ status: 429, headers: { 'retry-after': '1' }, body: 'Slow down' });
  });
  await page.goto('/plans');
  await untilLater(page, page.getByRole('link', { name: 'Scale' }));
  expect([refusals >= 2, await page.getByRole('alert').count()]).toEqual([true, 0]);
});

test('a wait that nobody can read is none: the refusal is said, and nothing is sent again and again', async () => {
  let requests = 0;
  visit.expectFaults(/^429 from \S+\/plans\?/);
  await page.route('**/api/v1/plans?**', async (route) => {
    requests += 1;
    await route.fulfill({ status: 429, headers: { 'retry-after': 'soon' }, body: 'Slow down' });
  });
  await page.goto('/plans');
  await untilLater(page, page.getByRole('alert').filter({ hasText: 'answered with 429' }));
  // The query asks twice more, each time after a pause.
  expect(requests).toBe(3);
});

test('what cannot be read is told as that, and not as none', async () => {
  visit.expectFaults(/^503 from \S+\/(?:preview-invoice$|invoices\?)/);
  const refuse = (address: RegExp) =>
    page.route(address, (route) => route.fulfill({ status: 503, contentType: 'text/html', body: 'away' }));
  await refuse(/\/preview-invoice$/);
  await refuse(/\/invoices\?customer_id=/);
  await page.goto(organization.addresses['customer'] ?? '');
  const alert = page.getByRole('alert').filter({ hasText: 'answered with 503' });
  const figure = (title: string) => page.locator(`dt:has-text("${title}") + dd`);
  await untilLater(page, alert);
  for (const title of ['Next invoice', 'Balance'])
    expect(await figure(title).textContent()).toBe('–It cannot be read now');
  await refuse(/\/api\/v1\/invoices\?/);
  await page.goto('/');
  await untilLater(page, alert);
  await page.getByText('Events recorded').waitFor();
});

/** What a page is about can be read on it, as it could be a moment ago; READS_CUT_OFF=all has each page without that as well. */
const THINGS_READ = process.env['READS_CUT_OFF'] === 'all' ? [false, true] : [true];

test('no page says a number, or that there is none, of what cannot be read: it says that it cannot', async () => {
  const { page: cutOff, context, close } = await browser.visit({ baseURL: weir.baseUrl });
  await context.addCookies([{ name: 'access_token', value: organization.session, url: weir.baseUrl }]);
  await cutOff.clock.install();
  await cutOff.goto('/no/such/page');
  await cutOff.getByRole('heading', { level: 1, name: 'Nothing here' }).waitFor();
  await cutOff.clock.pauseAt(Date.now() + 60_000);
  const { addresses, email: known } = organization;
  for (const andTheThing of THINGS_READ)
    expect(await findMissaid(cutOff, Object.entries(addresses), { andTheThing, known })).toEqual([]);
  await close();
});

test('what is under way already is asked for again until it is done', async () => {
  await typeCustomer('Umbrella');
  const keys: (string | undefined)[] = [];
  const problem = { status: 409, code: 'request_under_way', detail: 'The same request is under way.', request_id: 'x' };
  await page.route('**/api/v1/customers', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    const headers = { 'content-type': 'application/problem+json', 'x-request-id': 'x' };
    if (keys.length === 1) await route.fulfill({ status: 409, headers, body: JSON.stringify(problem) });
    else await route.continue();
  });
  await create();
  await page.getByRole('heading', { level: 1, name: 'Umbrella' }).waitFor();
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
});

test('an address of what there is not leads to a tab, a page with the navigation, a word on the dates', async () => {
  const selected = page.getByRole('tab', { selected: true });
  for (const [address, tab] of [
    ['/settings?tab=nothing', 'Organization'],
    [`${organization.addresses['customer']}?tab=nothing`, 'Overview'],
  ]) {
    await page.goto(address ?? '');
    expect(await selected.textContent()).toBe(tab);
  }
  await page.goto('/no/such/page');
  await page.getByRole('heading', { level: 1, name: 'Nothing here' }).waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Usage' }).waitFor();
  const asked: string[] = [];
  const note = (request: { url: () => string }) => void asked.push(request.url());
  page.on('request', note);
  for (const path of ['/usage', '/events', '/invoices', '/settings?tab=audit-log']) {
    await page.goto(`${path}${path.includes('?') ? '&' : '?'}from=2026-11-20&to=2026-11-01`);
    await page.getByRole('alert').filter({ hasText: 'The first day is after the last day.' }).waitFor();
  }
  page.off('request', note);
  expect(asked.filter((url) => /2026-11-01/.test(url) && url.includes('/api/'))).toEqual([]);
});

test('the period of an invoice is of the zone of its subscription, wherever the reader is, both days in', async () => {
  await page.goto('/invoices');
  const row = page.getByRole('row', { name: /INV-\d{4}-000002/ });
  const { body } = await weir.request('GET', '/api/v1/invoices', { session: organization.session });
  const { period_start: start } = body.data.find((each: { invoice_number: string | null }) =>
    each.invoice_number?.endsWith('-000002'),
  );
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(start));
  await row.waitFor();
  expect(await row.getByRole('cell').nth(3).textContent()).toBe(day);
});
