// What the console says of money and of days is what is billed: what came and what went behind a line, in whose zone a day is, up to
// when a subscription lasts, how much is past due, and of whom a number is.

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { holdBack } from '../support/browser/hold-back.ts';
import { untilLater } from '../support/browser/page-clock.ts';
import { performAllMoves } from '../support/erasing.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Billed;
let browser: Browser;
let visit: Visit;
let page: Page;

beforeAll(async () => {
  [billing, browser] = await Promise.all([startBilled(weir), openBrowser([weir.baseUrl])]);
  const viewport = { width: 1280, height: 900 };
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport, timezoneId: 'Asia/Tokyo' });
  await visit.context.addCookies([{ name: 'access_token', value: billing.admin.session, url: weir.baseUrl }]);
  page = visit.page;
}, 120_000);
afterEach(async () => {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});
afterAll(async () => {
  await browser?.close();
  await billing?.close();
});

const dialog = () => page.getByRole('dialog');
const button = (name: string) => page.getByRole('button', { name, exact: true });

interface Line {
  id: string;
  kind: string;
}

/** Opens what is behind a line of a kind, at its events. */
async function openEvents({ id, lines }: { id: string; lines: Line[] }, kind: string): Promise<void> {
  await page.goto(`/invoices/${id}?line=${lines.find((line) => line.kind === kind)?.id}`);
  await dialog().getByRole('tab', { name: 'Events' }).click();
}

const behind = () => dialog().getByRole('group', { name: 'Events' }).locator('tbody tr');
async function expectBehind(...ends: RegExp[]): Promise<void> {
  await expect.poll(() => behind().allInnerTexts()).toEqual(ends.map((end) => expect.stringMatching(end)));
}

test('behind a late line it is told what came and what was taken out, and elsewhere what is void since', async () => {
  await billing.use(50, '2025-01-15T12:00:00Z');
  await billing.use(950, '2025-01-16T12:00:00Z');
  const [january] = await billing.finalizeAll(billing.subscription);
  const { data } = await billing.get(`/events?customer_external_id=${billing.ownCustomer.external_id}`);
  const idOf = (wanted: string) => data.find(({ quantity }: { quantity: string }) => quantity === wanted).id;
  await billing.post(`/events/${idOf('50')}/void`, { reason: 'a test run' }, 201);
  await billing.post(`/events/${idOf('950')}/amend`, { reason: 'ten too many', quantity: 940 }, 201);
  await billing.moveTo('2025-03-01T00:10:00Z', billing.subscription);
  const [february] = await billing.finalizeAll(billing.subscription);

  await openEvents(february, 'LATE_USAGE');
  await expectBehind(/taken out\s+−50$/, /taken out\s+−950$/, /added\s+940$/);
  expect(await findBarriers(page)).toEqual([]);
  await dialog().getByLabel('Only what changed since the line before').click();
  await expectBehind(/^(?!.*(?:added|taken|voided)).*\s940$/s);
  await openEvents(january, 'USAGE');
  await expectBehind(/voided since\s+50$/, /voided since\s+950$/);
  expect(visit.faults).toEqual([]);
});

test('invoices that are found by the last day of their period say in which zone it is compared', async () => {
  const { id: customer } = await billing.customer({ external_id: 'hollywood', time_zone: 'America/Los_Angeles' });
  const { id } = await billing.subscribe(billing.ownPlan.id, customer, { start_date: '2025-02-01' });
  await billing.moveTo('2025-03-01T08:10:00Z', id);
  const words = page.getByText('Last days are compared in UTC.');
  await page.goto('/invoices?from=2025-03-01&to=2025-03-01');
  await words.waitFor();
  const rows = page.getByRole('group', { name: 'Invoices' }).locator('tbody tr');
  await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining('1 Feb 2025 – 28 Feb 2025')]);
  expect(await findBarriers(page)).toEqual([]);
  await page.goto('/invoices?by=issue&from=2025-03-01&to=2025-03-01');
  await page.getByRole('textbox', { name: 'Issued from' }).waitFor();
  expect(await words.count()).toBe(0);
  await page.goto('/invoices');
  await rows.first().waitFor();
  expect(await words.count()).toBe(0);
});

test('days of a customer are those of its invoices, whatever zone it has got since it subscribed', async () => {
  const { id, external_id: name } = await billing.customer();
  await billing.subscribe(billing.ownPlan.id, id);
  const { featureId } = await billing.admin.createMeter('SUM');
  const limited = { feature_id: featureId, usage_limit: 100, usage_reset_period: 'month' };
  await billing.post(`/plans/${billing.ownPlan.id}/features`, limited, 201);
  expect((await billing.request('PATCH', `/customers/${id}`, { time_zone: 'Asia/Tokyo' })).status).toBe(200);

  const words = `Days begin and end in UTC, as on the invoices of ${name}.`;
  const address = `/usage?meter=${billing.ownMeter.id}&customer=${name}`;
  await page.goto(address);
  await page.getByText(words).waitFor();
  await page.goto(`${address}&zone=Asia/Tokyo`);
  await page.getByText(`Days begin and end in Asia/Tokyo. Invoices of ${name} are in UTC`).waitFor();
  await page.goto(`/customers/${id}`);
  await page.getByRole('region', { name: 'Usage of the last 30 days' }).getByText(words).waitFor();
  await page.getByRole('tab', { name: 'Entitlements' }).click();
  await page.locator('time', { hasText: '1 Apr 2025, 00:00:00' }).waitFor();
  // One that is only to come has no invoice.
  const other = await billing.plan([{ type: 'FIXED', display_name: 'Other', unit_price: '1' }]);
  await billing.subscribe(other.id, id, { start_date: '2026-01-01' });
  await page.goto(address);
  await page.getByText(words).waitFor();
  // With a subscription of either zone, there is none that is that of the invoices.
  await billing.subscribe(other.id, id);
  await page.goto(address);
  await page.getByText(`Days begin and end in Asia/Tokyo, the time zone of ${name}.`).waitFor();
});

test('up to when a subscription lasts, and since when another plan holds, is told as of now', async () => {
  await page.goto(`/subscriptions/${billing.subscription}`);
  await page.getByText('1 Mar 2025 – 31 Mar 2025', { exact: true }).first().waitFor();
  await billing.moveTo('2025-04-01T00:10:00Z', billing.subscription);
  await button('Cancel subscription').click();
  await dialog().getByText('With its period: its last day is 30 Apr 2025').waitFor();
  await dialog().getByRole('button', { name: 'Cancel', exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
  await billing.moveTo('2025-05-01T00:10:00Z', billing.subscription);
  await button('Change plan').click();
  await dialog().getByText('The first day of the new plan is 1 Jun 2025').waitFor();
  expect(visit.faults).toEqual([]);
});

test('what a change of a subscription cannot read is told where one looks, and the button reads it again', async () => {
  await page.clock.install();
  await page.goto(`/subscriptions/${billing.subscription}`);
  await page.getByRole('region', { name: 'Past' }).waitFor();
  const subscription = new RegExp(`/api/v1/subscriptions/${billing.subscription}$`);
  const letGo = await holdBack(page, subscription);
  await button('Cancel subscription').click();
  await page.locator('p[role=status]', { hasText: /^Loading …$/ }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.route(subscription, (route) => route.abort());
  letGo();
  await dialog().waitFor();
  await dialog().getByRole('button', { name: 'Cancel', exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
  await button('Cancel subscription').click();
  const alert = page.getByRole('alert').filter({ hasText: 'Weir cannot be reached' });
  await untilLater(page, alert.and(page.locator(':focus')));
  await page.unroute(subscription);
  await button('Cancel subscription').click();
  await dialog().waitFor();
  expect(visit.faults).toEqual([]);
});

test('a timeline of what is older than the log of changes says at its end for how long they are kept', async () => {
  const words = page.getByText('Changes are kept for 400 days: what was before is gone.');
  const { id } = await billing.subscribe(billing.ownPlan.id, (await billing.customer()).id);
  const made = async (days: number) => {
    const at = `UPDATE subscriptions SET created_at = now() - make_interval(days => $2) WHERE id = $1`;
    await weir.pool.query(at, [id, days]);
    await page.goto(`/subscriptions/${id}`);
    await page.getByRole('region', { name: 'Past' }).waitFor();
  };
  await made(401);
  await words.waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await made(399);
  expect(await words.count()).toBe(0);
  // Of few changes the log has all on its first page.
  await page.goto('/settings?tab=audit-log&action=plan.create');
  await page.getByText('Changes are kept for 400 days.').waitFor();
});

test('all invoices that are past due are counted, also beyond the newest hundred that are open', async () => {
  const { id: customer } = await billing.customer();
  const { id: subscription } = await billing.subscribe(billing.ownPlan.id, customer);
  const [{ id }] = await billing.finalizeAll(subscription);
  await weir.pool.query(
    `INSERT INTO invoices SELECT (jsonb_populate_record(invoices, jsonb_build_object(
       'id', 'ffffffff-ffff-7fff-8fff-' || lpad(n::text, 12, '0'), 'kind', 'ADJUSTMENT', 'cycle', null,
       'invoice_number', 'COPY-' || n))).*
     FROM invoices, generate_series(1, 100) AS n WHERE id = $1`,
    [id],
  );
  await weir.pool.query('UPDATE invoices SET is_past_due = true WHERE id = $1', [id]);
  await page.goto(`/customers/${customer}`);
  await page.getByText('Balance, of 100 invoices').waitFor();
  await page.getByText('101 open, 1 past due').waitFor();
  expect(await page.locator('.figure-bad').count()).toBe(1);
});

test('numbers of one customer are never beside those of another, nor said of one who is not read yet', async () => {
  const { id: meter, token } = await billing.admin.createMeter('SUM', undefined, ['model']);
  const used = (customer: string, at: string, quantity: number) => ({
    meter: { id: meter, token },
    customer,
    quantity,
    at: `2025-01-${at}T12:00:00Z`,
    metadata: { model: 'large' },
  });
  await billing.track([used('ada', '05', 100), used('ada', '15', 300), used('bob', '05', 7), used('bob', '15', 9)]);
  const hold = (customer: string, start: string) =>
    holdBack(page, ({ pathname, searchParams: asked }) => {
      const isOfOne = asked.get('customer_external_id') === customer && asked.get('start_date') === start;
      return isOfOne && pathname.endsWith('/usage');
    });
  const choose = async (customer: string) => {
    await page.getByLabel('Customer', { exact: true }).and(page.locator('input')).fill(customer);
    await page.keyboard.press('Enter');
  };
  const address = (customer: string) => `/usage?meter=${meter}&customer=${customer}&from=2025-01-11&to=2025-01-20`;

  await page.goto(`${address('ada')}&compare=1`);
  const notes = page.locator('.figure-note');
  await notes.filter({ hasText: '+200 % · 100 before' }).waitFor();
  const chart = page.getByRole('slider');
  await chart.waitFor();
  const letGo = await hold('bob', '2025-01-11');
  const letGoBefore = await hold('bob', '2025-01-01');
  await choose('bob');
  await chart.waitFor({ state: 'detached' });
  letGoBefore();
  await chart.waitFor();
  expect([await page.locator('.figure').first().textContent(), await notes.count()]).toEqual(['300', 0]);
  expect(await button('CSV').isDisabled()).toBe(true);
  letGo();
  await notes.filter({ hasText: '+28.6 % · 7 before' }).waitFor();
  expect(await button('CSV').isDisabled()).toBe(false);

  for (const split of ['', '&split=metadata.model']) {
    await page.unrouteAll({ behavior: 'wait' });
    await page.goto(`${address('nobody')}${split}`);
    await page.getByText(/counted no event of nobody from/).waitFor();
    const letGoOne = await hold('bob', '2025-01-11');
    await choose('bob');
    await page.getByText('Loading … what stands here is from before').first().waitFor();
    await page.getByText(/counted no event of nobody from/).waitFor();
    expect([split, await button('CSV').isDisabled()]).toEqual([split, true]);
    letGoOne();
    await page.locator('.figure', { hasText: /^9$/ }).waitFor();
  }
  expect(visit.faults).toEqual([]);
});

test('usage of another customer is not asked for in the days of the one before', async () => {
  const { external_id: before } = await billing.customer({ time_zone: 'Asia/Tokyo' });
  const { external_id: next } = await billing.customer();
  await page.goto(`/usage?meter=${billing.ownMeter.id}&customer=${before}`);
  await page.getByText(`Days begin and end in Asia/Tokyo, the time zone of ${before}.`).waitFor();
  await expect.poll(() => button('CSV').isEnabled()).toBe(true);
  const zones = new Set<string | null>();
  page.on('request', (request) => {
    const { pathname, searchParams: asked } = new URL(request.url());
    if (pathname.endsWith('/usage') && asked.get('customer_external_id') === next) zones.add(asked.get('timezone'));
  });
  const letGo = await holdBack(page, ({ searchParams }) => searchParams.get('external_id') === next);
  await page.getByLabel('Customer', { exact: true }).and(page.locator('input')).fill(next);
  await page.keyboard.press('Enter');
  await page.getByText('Loading … what stands here is from before').first().waitFor();
  expect(await button('CSV').isDisabled()).toBe(true);
  letGo();
  await page.getByText('Days begin and end in UTC, the time zone of the organization.').waitFor();
  await expect.poll(() => button('CSV').isEnabled()).toBe(true);
  expect([...zones]).toEqual(['UTC']);
});

const search = () => dialog().getByRole('combobox', { name: 'Search' });
const found = (name: string | RegExp) => dialog().getByRole('option', { name });
async function openSearch(): Promise<void> {
  await page.goto('/');
  await page.locator('h1').waitFor();
  await page.keyboard.press('/');
  await search().waitFor();
}

test('Enter in the search leads nowhere once it has found nothing, whatever is made later', async () => {
  await openSearch();
  await search().fill('acme-9');
  await page.keyboard.press('Enter');
  await dialog().getByText('Nothing found.').waitFor();
  await billing.customer({ external_id: 'acme-9' });
  // Somebody comes back to the page, later than what was read is new.
  await page.evaluate(`
    const late = Date.now() + 60_000;
    Date.now = () => late;
    window.dispatchEvent(new Event('visibilitychange'));
  `);
  // One can only be pointed at where it stays.
  await found(/^acme-9/).hover();
  expect(new URL(page.url()).pathname).toBe('/');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'acme-9' }).waitFor();
});

test('the name of a page in the search leads there at once, whoever is called like it', async () => {
  await openSearch();
  const letGo = await holdBack(page, /\/customers\?.*search=health/);
  await search().fill('health');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
  letGo();
  await billing.customer({ external_id: 'usage-heavy' });
  await openSearch();
  await search().fill('usage');
  await found(/^usage-heavy/).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/usage');
});

test('whoever types on in the search and presses Enter at once is taken to what was typed in the end', async () => {
  await openSearch();
  await search().fill('INV-2025-00000');
  // The newest comes first.
  await expect.poll(() => found(/./).first().textContent()).toMatch(/INV-2025-00000[2-9]/);
  const letGo = await holdBack(page, /\/invoices\?.*search=INV-2025-000001/);
  await page.keyboard.press('1');
  await page.keyboard.press('Enter');
  letGo();
  await page.getByRole('heading', { level: 1, name: 'INV-2025-000001' }).waitFor();
});

test('a customer who was billed under another id is erased once that one is, which one is asked about', async () => {
  const { id } = await billing.customer({ external_id: 'before_marriage' });
  const { id: subscription } = await billing.subscribe(billing.ownPlan.id, id, { start_date: '2026-01-01' });
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  expect((await billing.request('PATCH', `/customers/${id}`, { external_id: 'since' })).status).toBe(200);
  const erasures = async () => (await billing.get('/erasures')).data;
  await page.goto(`/customers/${id}`);
  await button('More actions').click();
  await page.getByRole('menuitem', { name: 'Erase' }).click();
  await dialog().getByRole('button', { name: 'Erase' }).click();
  const told = dialog().getByRole('alert').and(page.locator(':focus'));
  await told.filter({ hasText: /former external IDs, which are erased first: before_marriage\./ }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  expect(await erasures()).toEqual([]);
  await dialog().getByRole('button', { name: 'Erase these, too' }).click();
  await expect.poll(erasures).toMatchObject([{ status: 'RUNNING', customer_id: null }]);
  // Its answer comes to the page later.
  await expect.poll(() => dialog().getByRole('button', { name: 'Cancel' }).isEnabled()).toBe(true);
  await performAllMoves(billing.database);
  await dialog().getByRole('button', { name: 'Erase', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: /^erased-/ }).waitFor();
  await performAllMoves(billing.database);
  const [{ customer_external_id: name }] = (await billing.get(`/subscriptions?customer_id=${id}`)).data;
  expect(await erasures()).toMatchObject([
    { status: 'DONE', customer_id: id },
    { status: 'DONE', external_id: name },
  ]);
  expect(visit.faults).toEqual([]);
});

test('the days of what a customer has used are read with their total, and told where they cannot be', async () => {
  const { id, external_id: customer } = await billing.customer();
  await billing.track([{ meter: billing.ownMeter, customer, quantity: 3, at: new Date().toISOString() }]);
  const overview = await visit.context.newPage();
  await overview.clock.install();
  const read = new RegExp(`/meters/${billing.ownMeter.id}/usage\\?`);
  const letGo = await holdBack(overview, read);
  await overview.goto(`/customers/${id}`);
  await overview.getByRole('status', { name: /^Loading the days of / }).waitFor();
  const bars = overview.getByRole('img', { name: /by day, 3\b/ });
  expect(await bars.count()).toBe(0);
  letGo();
  await bars.waitFor();
  await Promise.all([overview.waitForResponse(read), overview.clock.fastForward(60_000)]);
  // While it is moved, usage of the customer cannot be read by itself.
  await billing.post('/usage-moves', { from_external_id: customer, to_external_id: 'elsewhere' }, 202);
  await Promise.all([overview.waitForResponse(read), overview.clock.fastForward(60_000)]);
  await overview.getByText('Its days cannot be read now.').waitFor();
  expect(await bars.count()).toBe(0);
  expect(await findBarriers(overview)).toEqual([]);
  await performAllMoves(billing.database);
  await overview.close();
});

test('what a percentage costs is computed of the size of an event, which may have cents', async () => {
  await page.goto('/plans/new');
  await page.getByRole('group', { name: 'Add a charge' }).getByRole('button', { name: 'Percentage' }).click();
  await page
    .getByRole('option', { name: /^Meter /i })
    .first()
    .click();
  await page.getByLabel(/^Percentage/).fill('2.9');
  await page.getByLabel(/^For each event/).fill('0.30');
  const costs = page.getByRole('region', { name: 'Cost preview' });
  const size = costs.getByLabel('Units of an event, on average');
  await size.fill('49.90');
  // 29.00, and 0.30 for each of 21 events.
  await costs.getByRole('row', { name: '1,000 35.30 USD' }).waitFor();
  await size.fill('fifty');
  await costs.getByText('Enter a number above 0').waitFor();
  await expect.poll(() => costs.getByRole('row', { name: '1,000 –' }).count()).toBe(1);
});

test('a zone that the browser lists under another name stands in its field, wherever that is', async () => {
  const zone = 'Etc/UTC';
  const setZone = (time_zone: string) => billing.request('PATCH', '/billing/settings', { time_zone });
  const { time_zone: before } = await billing.get('/billing/settings');
  await setZone(zone);
  const { id } = await billing.customer({ external_id: 'by a service', time_zone: zone });
  const expectZone = async (label: string): Promise<void> =>
    await expect.poll(() => page.getByRole('combobox', { name: label }).inputValue()).toBe(zone);
  await page.goto('/settings');
  await expectZone('Time zone');
  await page.goto('/usage');
  await expectZone('Time zone');
  await button('Export a month').click();
  await expect.poll(() => dialog().getByRole('combobox', { name: 'Time zone' }).inputValue()).toBe(zone);
  await page.goto(`/customers/${id}`);
  await button('Edit').click();
  await expectZone('Time zone of billing');
  await setZone(before);
});
