// The page /embed as a browser shows it: framed by a page of another origin, which it tells how high it is and when it needs a token.

import { createServer, type Server } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixedCharge, makeCustomer, makePricedPlan, usageCharge } from '../support/billing-fixture.ts';
import { findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { DEFAULT_SHARE, signUp, until, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ api: DEFAULT_SHARE });
let organization: Organization;
let apiKey: string;
let tokens: { id: string; token: string; featureId: string };
let latency: { id: string; token: string };
let browser: Browser;
let app: Server;
let appUrl: string;

/** What an app would have: a page with a frame, and a way to get a token. It keeps what the frame says. */
const APP = `<!doctype html><html lang="en"><title>App</title><body style="margin:0">
<script>
  window.heard = []; window.next = null;
  addEventListener('message', ({ source, origin, data }) => {
    const frame = document.querySelector('iframe');
    if (source !== frame.contentWindow) return;
    heard.push(data);
    if (data.type === 'weir:height') frame.style.height = data.height + 'px';
    if (data.type === 'weir:token-expired' && next !== null)
      frame.contentWindow.postMessage({ type: 'weir:token', token: next }, origin);
  });
</script></body></html>`;

/** What docs/guides/embedding.md says that a frame needs. */
const [SANDBOX = ''] =
  /sandbox="[^"]*"/.exec(
    readFileSync(fileURLToPath(new URL('../../docs/guides/embedding.md', import.meta.url)), 'utf8'),
  ) ?? [];

/** The same with the script that Weir has for it. */
const appByScript = (attributes = '') => `<!doctype html><html lang="en"><title>App</title><body style="margin:0">
<script src="${weir.baseUrl}/embed/frame.js"></script>
<iframe src="${weir.baseUrl}/embed?show=all" data-token-url="/token" title="Usage" ${attributes} style="width: 100%; border: 0"></iframe>
</body></html>`;

beforeAll(async () => {
  organization = await signUp(weir);
  apiKey = await organization.createKey();
  tokens = await organization.createMeter('SUM', 'tokens');
  latency = await organization.createMeter('AVG', 'ms');
  const record = await makeCustomer(weir, organization, { external_id: 'ada' });
  const plan = await makePricedPlan(weir, organization);
  const { session } = organization;
  const limit = { feature_id: tokens.featureId, usage_limit: 20_000_000, usage_reset_period: 'month' };
  await weir.request('POST', `/api/v1/plans/${plan.id}/features`, { session, body: limit });
  await weir.request('POST', '/api/v1/subscriptions', { session, body: { customer_id: record.id, plan_id: plan.id } });
  await track(tokens.token, 'ada', 11_790_042.5);
  await track(latency.token, 'ada', 440.9);
  await track(tokens.token, 'grace', 7);
  await weir.drained();
  const billed = await makeCustomer(weir, organization, { external_id: 'billed' });
  const tiers = [
    { up_to: '1000', unit_price: '0.1' },
    { up_to: null, unit_price: '0.05' },
  ];
  const byVolume = { type: 'USAGE', display_name: 'Tokens', meter_id: tokens.id, model: 'volume', tiers };
  const priced = await makePricedPlan(weir, organization, [fixedCharge('12.5'), usageCharge(latency.id), byVolume]);
  const subscribed = { session, body: { customer_id: billed.id, plan_id: priced.id } };
  const { id: subscription } = (await weir.request('POST', '/api/v1/subscriptions', subscribed)).body;
  const drafts = await weir.request('GET', `/api/v1/subscriptions/${subscription}/invoices`, { session });
  const invoice = `/api/v1/invoices/${drafts.body.data[0].id}`;
  await weir.request('POST', `${invoice}/finalize`, { session });
  await weir.request('POST', `${invoice}/pay`, { session, body: { amount: '2.50' } });
  const token = JSON.stringify({ token: await tokenFor('billed') });
  const pages: Record<string, string> = { '/by-script': appByScript(), '/in-sandbox': appByScript(SANDBOX) };
  app = createServer((request, response) => {
    if (request.method === 'POST') response.end(token);
    else response.setHeader('content-type', 'text/html').end(pages[request.url ?? ''] ?? APP);
  }).listen(0);
  appUrl = `http://localhost:${(app.address() as AddressInfo).port}`;
  browser = await openBrowser([new URL(weir.baseUrl).origin, appUrl]);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  app?.close();
});

async function track(meter_token: string, customer_external_id: string, quantity: number): Promise<void> {
  const body = { meter_token, customer_external_id, quantity };
  expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).status).toBe(201);
}

async function tokenFor(customer_external_id: string): Promise<string> {
  const answer = await weir.request('POST', '/api/v1/widget/token', { apiKey, body: { customer_external_id } });
  return answer.body.token;
}

/** Opens the app with the page in its frame. `next` is what the app answers when it is asked for a token. */
async function frame(
  visit: Visit,
  { query = '', token, next }: { query?: string; token?: string; next?: string },
): Promise<ReturnType<Page['frameLocator']>> {
  await visit.page.goto(appUrl);
  const src = `${weir.baseUrl}/embed${query}${token === undefined ? '' : `#token=${token}`}`;
  await visit.page.evaluate(
    `window.next = ${JSON.stringify(next ?? null)};
     const frame = Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(src)}, title: 'Usage' });
     frame.style.cssText = 'width: 100%; border: 0';
     document.body.append(frame);`,
  );
  return visit.page.frameLocator('iframe');
}

const heard = (page: Page) => page.evaluate<{ type: string; height?: number }[]>('window.heard');
const asked = async (page: Page) => (await heard(page)).filter(({ type }) => type === 'weir:token-expired').length;

test('it shows amounts as people write them, exact on demand, and the parent makes it as high as it is', async () => {
  const visit = await browser.visit();
  const inner = await frame(visit, { token: await tokenFor('ada') });
  const totals = inner.locator('.total');
  await totals.nth(1).waitFor();
  expect(await totals.allTextContents()).toEqual(['441\u00A0ms', '11.8\u202FM\u00A0tokens']);
  expect(await totals.nth(1).getAttribute('title')).toBe('11,790,042.5\u00A0tokens');
  expect(await inner.locator('svg.chart').first().getAttribute('aria-label')).toMatch(
    /^Bar chart from .+ to .+ 440\.9/,
  );
  expect(await inner.locator('svg.chart').first().locator('text').count()).toBeGreaterThan(4);
  // No scroll bar of its own: all of it is to be seen.
  const fits = async () => {
    const [outer, needed] = await Promise.all([
      visit.page.evaluate<number>(`document.querySelector('iframe').clientHeight`),
      visit.page.frames()[1]?.evaluate<number>('Math.ceil(document.body.getBoundingClientRect().height)') ?? 0,
    ]);
    return needed > 300 && outer === needed;
  };
  await until(fits, 'the frame is as high as what is in it');
  await inner.locator('summary').first().click();
  await until(fits, 'the frame has grown with the table');
  expect(visit.faults).toEqual([]);
  await visit.close();
});

test('it shows the customer of the token only, also when the token is swapped for that of another one', async () => {
  const visit = await browser.visit();
  const inner = await frame(visit, { token: await tokenFor('grace') });
  await inner.getByText('7\u00A0tokens', { exact: true }).first().waitFor();
  expect(await inner.locator('section').count()).toBe(1);
  expect(await inner.locator('body').textContent()).not.toContain('11.8');
  await visit.close();
});

test.each([0, 1])('a period has limits, and windows are as asked for, by a clock %i days behind', async (days) => {
  const visit = await browser.visit();
  if (days > 0) await visit.page.clock.setFixedTime(Date.now() - days * 86_400_000);
  const inner = await frame(visit, { query: '?window=7', token: await tokenFor('ada') });
  await inner.locator('.total').nth(1).waitFor();
  expect(await inner.locator('svg.chart').first().locator('rect.bar').count()).toBe(7);
  await inner.getByRole('button', { name: 'Billing period' }).click();
  await inner.getByText('11.8\u202FM of 20\u202FM\u00A0tokens · 8.21\u202FM\u00A0tokens left').waitFor();
  await inner.getByText('11.8\u202FM\u00A0tokens', { exact: true }).first().waitFor();
  // What stands there stays marked until there is something else.
  await visit.page.route(/\/widget\/usage/, (route) => route.abort());
  await inner.getByRole('button', { name: '90 days' }).click();
  await inner.getByText('This cannot be shown now: try again in a moment.').waitFor();
  const marked = inner.locator('#windows [aria-pressed="true"]');
  expect(await marked.allTextContents()).toEqual(['Billing period']);
  await visit.page.unrouteAll({ behavior: 'wait' });
  await inner.getByRole('button', { name: 'Try again' }).click();
  await until(
    async () => (await inner.locator('svg.chart').first().locator('rect.bar').count()) === 90,
    'ninety days are shown',
  );
  expect(await marked.allTextContents()).toEqual(['90 days']);
  expect(await inner.locator('.limit').count()).toBe(0);
  expect(visit.faults).toEqual([]);
  await visit.close();
});

test('it asks its parent for a token when it has none, or before or after one ends, without a reload', async () => {
  const visit = await browser.visit();
  const [first, second, third] = [await tokenFor('ada'), await tokenFor('ada'), await tokenFor('ada')];
  const end = (token: string, interval: string) =>
    weir.pool.query(
      `UPDATE widget_tokens SET expires_at = now() + $2::interval WHERE token_hash = sha256(convert_to($1, 'UTF8'))`,
      [token, interval],
    );
  await end(third, '-1 second');
  const inner = await frame(visit, { next: first });
  await inner.locator('.total').nth(1).waitFor();
  expect(await asked(visit.page)).toBe(1);
  const framed = visit.page.frames()[1];
  await framed?.evaluate('window.isTheSame = true');
  await visit.page.evaluate(`window.next = ${JSON.stringify(second)}`);
  // Two seconds after it is read next there is a minute left.
  await end(first, '62 seconds');
  await inner.getByRole('button', { name: '90 days' }).click();
  await until(async () => (await asked(visit.page)) === 2, 'the frame asks before its token ends');
  await end(first, '-1 second');
  await inner.getByRole('button', { name: '7 days' }).click();
  await until(
    async () => (await inner.locator('svg.chart').first().locator('rect.bar').count()) === 7,
    'the second token opens the page',
  );
  await end(second, '-1 second');
  await visit.page.evaluate(`window.next = ${JSON.stringify(await tokenFor('ada'))}`);
  await inner.getByRole('button', { name: '30 days' }).click();
  await until(
    async () => (await inner.locator('svg.chart').first().locator('rect.bar').count()) === 30,
    'the page goes on with a third token',
  );
  expect(await asked(visit.page)).toBe(3);
  expect(await framed?.evaluate('window.isTheSame')).toBe(true);
  // No token of any of them is in an address that was asked for.
  expect(visit.faults).toEqual([]);
  await visit.close();
});

test('a token that was refused and is given again is not asked for on and on, but by a click', async () => {
  const visit = await browser.visit();
  const ended = await tokenFor('ada');
  await weir.pool.query(
    `UPDATE widget_tokens SET expires_at = now() - interval '1 second' WHERE token_hash = sha256(convert_to($1, 'UTF8'))`,
    [ended],
  );
  const inner = await frame(visit, { next: ended });
  const again = inner.locator('#again');
  await again.waitFor();
  expect(await asked(visit.page)).toBe(2);
  await visit.page.evaluate(`window.next = ${JSON.stringify(await tokenFor('ada'))}`);
  await again.click();
  await inner.locator('.total').nth(1).waitFor();
  expect(await asked(visit.page)).toBe(3);
  await visit.close();
});

test('by the script of Weir it has a token and is as high as it is, with what is owed, invoices and prices', async () => {
  const visit = await browser.visit();
  await visit.page.goto(`${appUrl}/by-script`);
  const inner = visit.page.frameLocator('iframe');
  await inner.getByText('US$10.00', { exact: true }).waitFor();
  await inner.getByText(/^INV-\d{4}-000001$/).click();
  await inner.getByRole('row', { name: /Base fee.* US\$12\.50/ }).waitFor();
  await inner.getByText('Prices of Plan').click();
  await inner.getByText('US$12.50 per month').waitFor();
  await inner.getByText(/one price for all units.*: up to 1,000: US\$0\.10 each; beyond: US\$0\.05 each/).waitFor();
  // Another token finds the same: what is open stays open.
  const isRead = visit.page.waitForResponse(/\/widget\/invoices/);
  const given = JSON.stringify({ type: 'weir:token', token: await tokenFor('billed') });
  await visit.page.evaluate(`document.querySelector('iframe').contentWindow.postMessage(${given}, '*')`);
  await isRead;
  await inner.locator('#meters[aria-busy="false"]').waitFor({ state: 'attached' });
  expect(await inner.getByRole('row', { name: /Base fee.* US\$12\.50/ }).isVisible()).toBe(true);
  await until(async () => {
    const height = await visit.page.evaluate<number>(`document.querySelector('iframe').clientHeight`);
    return (
      height === (await visit.page.frames()[1]?.evaluate('Math.ceil(document.body.getBoundingClientRect().height)'))
    );
  }, 'the frame is as high as what is in it');
  const [download] = await Promise.all([
    visit.page.waitForEvent('download'),
    visit.page.waitForRequest(/\/pdf\?as=now$/),
    inner.getByRole('button', { name: /Download PDF INV-/ }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^INV-\d{4}-000001\.pdf$/);
  // Frames of anybody else are left alone.
  await visit.page.evaluate(`window.postMessage({ type: 'weir:height', height: 1 }, '*')`);
  expect(await visit.page.evaluate<number>(`document.querySelector('iframe').clientHeight`)).toBeGreaterThan(200);
  // A token that it cannot fetch is told in the console of the page around, and breaks nothing there.
  for (const answer of [{ status: 403 }, undefined, { json: { data: { token: 'x' } } }]) {
    await visit.page.route(`${appUrl}/token`, (route) => (answer ? route.fulfill(answer) : route.abort()));
    const said = visit.page.waitForEvent('console', (message) => message.type() === 'warning');
    await visit.page.frames()[1]?.evaluate(`parent.postMessage({ type: 'weir:token-expired' }, '*')`);
    expect((await said).text()).toMatch(/^Weir has no token from \/token: .*(with 403|to fetch|has no token)/);
  }
  expect(visit.faults).toEqual([]);
  await visit.close();
});

test('the script serves a frame in the sandbox of the guide, which gets nothing of the page around it', async () => {
  expect(SANDBOX).toContain('allow-scripts');
  const visit = await browser.visit();
  await visit.page.goto(`${appUrl}/in-sandbox`);
  await visit.page.frameLocator('iframe').getByText('US$10.00', { exact: true }).waitFor();
  await until(
    async () => (await visit.page.evaluate<number>(`document.querySelector('iframe').clientHeight`)) > 200,
    'the frame is as high as what is in it',
  );
  const reach = `try { String(parent.document) } catch (error) { error.name }`;
  expect(await visit.page.frames()[1]?.evaluate(reach)).toBe('SecurityError');
  expect(visit.faults).toEqual([]);
  await visit.close();
});

test('what cannot be read says so, and is read when it is asked for again', async () => {
  const { session } = organization;
  const { id: customer_id } = await makeCustomer(weir, organization, { external_id: 'billed thrice' });
  const { id: plan_id } = await makePricedPlan(weir, organization, [fixedCharge('12.5')]);
  for (const _ of [1, 2, 3]) {
    const body = { customer_id, plan_id };
    const { id } = (await weir.request('POST', '/api/v1/subscriptions', { session, body })).body;
    const { data } = (await weir.request('GET', `/api/v1/subscriptions/${id}/invoices`, { session })).body;
    expect((await weir.request('POST', `/api/v1/invoices/${data[0].id}/finalize`, { session })).status).toBe(200);
  }
  const visit = await browser.visit();
  const tried = new Set<string>();
  // Each page of the list has one invoice, and whatever is read later breaks off at its first try.
  await visit.page.route(/\/widget\/invoices/, async (route) => {
    const url = new URL(route.request().url());
    const isFirst = url.pathname.endsWith('/invoices') && url.search === '';
    if (!isFirst && !tried.has(url.href)) {
      tried.add(url.href);
      await route.abort();
      return;
    }
    if (url.pathname.endsWith('/invoices'))
      url.searchParams.set(url.searchParams.has('cursor') ? 'limit' : 'page_size', '1');
    await route.continue({ url: url.href });
  });
  await visit.page.goto(`${weir.baseUrl}/embed?show=billing#token=${await tokenFor('billed thrice')}`);
  const summary = visit.page.getByText(/^INV-/);
  await summary.click();
  const broken = visit.page.getByText('This cannot be shown now: open it again in a moment.');
  await broken.waitFor();
  await summary.click();
  await summary.click();
  await visit.page.getByRole('row', { name: /Base fee/ }).waitFor();
  expect(await broken.count()).toBe(0);
  const numbers = async () => (await summary.allTextContents()).map((text) => Number(text.slice(-6)));
  const [newest = 0] = await numbers();
  await visit.page.getByRole('button', { name: 'Show more' }).click();
  const again = visit.page.getByRole('button', { name: 'Try again' });
  await again.click();
  await until(async () => (await numbers()).length === 2, 'the second page is there');
  await visit.page.getByRole('button', { name: 'Show more' }).click();
  await again.click();
  await until(async () => (await numbers()).length === 3, 'the third page is there');
  expect(await numbers()).toEqual([newest, newest - 1, newest - 2]);
  expect(await visit.page.getByRole('button', { name: /Show more|Try again/ }).count()).toBe(0);
  expect(visit.faults).toEqual([]);
  await visit.close();
});

test('usage alone is shown where invoices are not asked for', async () => {
  const visit = await browser.visit();
  await visit.page.goto(`${weir.baseUrl}/embed#token=${await tokenFor('billed')}`);
  await visit.page.getByText('No usage in this time.').waitFor();
  expect(await visit.page.locator('#billing').textContent()).toBe('');
  await visit.close();
});

test('billing is in the language and the colours that are asked for, fits 280 px, and has no barrier', async () => {
  const token = await tokenFor('billed');
  for (const theme of ['light', 'dark']) {
    const visit = await browser.visit({ viewport: { width: 280, height: 900 } });
    await visit.page.goto(`${weir.baseUrl}/embed?theme=${theme}&lang=de&show=billing#token=${token}`);
    await visit.page.getByText('10,00\u00A0$', { exact: true }).waitFor();
    expect(await visit.page.locator('h1').textContent()).toBe('Abrechnung');
    for (const summary of await visit.page.locator('summary').all()) await summary.click();
    await visit.page.getByRole('rowheader', { name: /Base fee/ }).waitFor();
    expect(await visit.page.evaluate(`document.documentElement.scrollWidth`)).toBeLessThanOrEqual(280);
    expect(await findBarriers(visit.page)).toEqual([]);
    expect(visit.faults).toEqual([]);
    if (process.env['SHOTS'] !== undefined)
      await visit.page.screenshot({ path: `${process.env['SHOTS']}/widget-billing-${theme}.png`, fullPage: true });
    await visit.close();
  }
});

test('it is in the language and the colours that are asked for, fits 280 px, and has no barrier', async () => {
  const token = await tokenFor('ada');
  for (const [theme, ground] of [
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(16, 19, 21)'],
  ]) {
    const visit = await browser.visit({ viewport: { width: 280, height: 900 } });
    await visit.page.goto(`${weir.baseUrl}/embed?theme=${theme}&lang=de&window=period#token=${token}`);
    await visit.page.locator('.total').nth(1).waitFor();
    expect(await visit.page.locator('.total').allTextContents()).toContain('11,8\u00A0Mio.\u00A0tokens');
    expect(await visit.page.locator('h1').textContent()).toBe('Nutzung');
    expect(await visit.page.locator('html').getAttribute('lang')).toBe('de');
    expect(await visit.page.evaluate(`getComputedStyle(document.documentElement).backgroundColor`)).toBe(ground);
    expect(await visit.page.evaluate(`document.documentElement.scrollWidth`)).toBeLessThanOrEqual(280);
    await visit.page.locator('summary').first().click();
    expect(await findBarriers(visit.page)).toEqual([]);
    expect(visit.faults).toEqual([]);
    if (process.env['SHOTS'] !== undefined)
      await visit.page.screenshot({ path: `${process.env['SHOTS']}/widget-${theme}.png`, fullPage: true });
    await visit.close();
  }
});

test('a page of another origin reads and draws for itself, and reads nothing else', async () => {
  const visit = await browser.visit();
  await visit.page.goto(appUrl);
  const read = (path: string, headers: object) =>
    visit.page.evaluate<string>(
      `fetch(${JSON.stringify(weir.baseUrl + path)}, { headers: ${JSON.stringify(headers)} })
        .then((answer) => String(answer.status), (error) => error.name)`,
    );
  const authorization = `Bearer ${await tokenFor('ada')}`;
  expect(await read('/api/v1/widget/usage', { authorization })).toBe('200');
  expect(await read(`/api/v1/widget/meters/${tokens.id}/usage`, { authorization })).toBe('200');
  expect(await read('/api/v1/widget/billing-period', { authorization })).toBe('200');
  expect(await read('/api/v1/widget/usage', {})).toBe('401');
  visit.expectFaults(
    /^the console says: Access to fetch at '\S+\/(?:api\/v1\/meters|openapi\.json)'.* blocked by CORS policy/,
  );
  expect(await read('/api/v1/meters', { 'x-api-key': apiKey })).toBe('TypeError');
  expect(await read('/openapi.json', {})).toBe('TypeError');
  await visit.close();
});

test('its address takes no token in the query, and its files are its own', async () => {
  const { status, headers, body } = await weir.request('GET', '/embed');
  expect(status).toBe(200);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
  expect(policy).not.toMatch(/unsafe|sha256|https?:/);
  expect(body).not.toMatch(/<style|<script(?! type="module" src=)|style=|\son\w+=/);
  const refused = await weir.request('GET', '/embed?token=wgt_x');
  expect([refused.status, refused.body.detail]).toEqual([
    422,
    'token belongs behind #, as in /embed#token=…: what stands in a query is kept in logs.',
  ]);
  const [, version = ''] = /embed\/(\w+)\/main\.js/.exec(body) ?? [];
  const file = (path: string) => weir.request('GET', `/embed/${path}`);
  expect((await file(`${version}/main.js`)).headers.get('cache-control')).toMatch(/immutable/);
  expect((await file('0123456789abcdef/main.js')).headers.get('cache-control')).toBe('no-store');
  for (const path of [`${version}/page.html`, `${version}/..%2fembed.ts`, `${version}/constructor`, 'main.js'])
    expect([path, (await file(path)).status]).toEqual([path, 404]);
});
