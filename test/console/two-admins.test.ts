// Two who work on the same thing: what one sees before it is done, and what one is told when the other was first. Two who share a
// browser. And one who begins with nothing.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { holdBack } from '../support/browser/hold-back.ts';
import { fixedCharge, makeCustomer, makePricedPlan } from '../support/billing-fixture.ts';
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
afterAll(() => browser?.close());

const call: Organization['ask'] = (...asked) => admin.ask(...asked);

const dialog = () => page.getByRole('dialog');
const button = (name: string) => dialog().getByRole('button', { name, exact: true });

test('all events that a filter finds are voided, once one has seen what that does', async () => {
  const apiKey = await admin.createKey();
  const { id: meter, token } = await admin.createMeter('SUM');
  const track = async (customer_external_id: string, quantity: number) =>
    (
      await weir.request('POST', '/api/v1/sdk/track', {
        apiKey,
        body: { meter_token: token, customer_external_id, quantity },
      })
    ).body.id;
  const [first] = [await track('acme', 1), await track('acme', 2), await track('acme', 40), await track('globex', 5)];
  await weir.drained();

  await page.goto('/events');
  await page.getByRole('group', { name: /^Events/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Void these events' }).count()).toBe(0);
  await page.goto('/events?customer=acme');
  await page.getByRole('button', { name: 'Void these events' }).click();
  await dialog().getByText('3 events, all of them or none.').waitFor();
  await dialog().getByText('43 → 0').waitFor();
  await dialog().getByText('No invoice has these events, and none would.').waitFor();
  expect(await findBarriers(page)).toEqual([]);

  // Somebody else is first.
  expect((await call('POST', `/events/${first}/void`, { reason: 'mine' })).status).toBe(201);
  await dialog().getByLabel('Reason').fill('a test run');
  await button('Void 3 events').click();
  await dialog().getByRole('alert').waitFor();
  await button('Void 2 events').waitFor();
  await dialog().getByText('42 → 0').waitFor();
  expect(await dialog().getByLabel('Reason').inputValue()).toBe('a test run');

  // Its answer is lost, and meanwhile another event has come: what is sent again is what was asked about.
  await page.route('**/api/v1/corrections', async (route) => {
    await route.fetch();
    await track('acme', 8);
    await weir.drained();
    await route.abort();
  });
  await button('Void 2 events').click();
  await dialog().getByText('it is not done twice').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  // So it is after a sign-in over it.
  await visit.context.clearCookies();
  // What the page reads may be refused first, and the sign-in lie over it.
  await button('Void 2 events').dispatchEvent('click');
  const again = page.getByRole('dialog', { name: 'Your session has ended' });
  await again.getByRole('textbox', { name: 'Password' }).fill(admin.password);
  const isReadAnew = page.waitForResponse(/\/api\/v1\/events\?/);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await isReadAnew;
  await again.waitFor({ state: 'detached' });
  await button('Void 2 events').click();
  await dialog().waitFor({ state: 'detached' });
  await page.getByText('2 events do not count any more.').waitFor();
  const read = await weir.request('GET', `/api/v1/meters/${meter}/usage`, { apiKey });
  expect([read.body.total_usage, read.body.event_count]).toEqual(['13', 2]);
});

test('a form says that somebody changed what it is about, and goes on with what was typed', async () => {
  const { id } = await makePricedPlan(weir, admin, [], { name: 'Pro' });
  await page.goto(`/plans/${id}/edit`);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine');
  // Whoever leaves with something typed is asked.
  await page.getByRole('navigation').getByRole('link', { name: 'Customers' }).click();
  await dialog().getByText('Leave without saving?').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await button('Cancel').click();
  await dialog().waitFor({ state: 'detached' });
  await call('PATCH', `/plans/${id}`, { description: 'Theirs', trial_days: 7 });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(/^Somebody changed this meanwhile/).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  const letGo = await holdBack(page, `**/api/v1/plans/${id}`);
  await page.getByRole('button', { name: 'Load it anew' }).click();
  // What is typed while it is read is typed here all the same.
  await page.getByRole('button', { name: 'Load it anew', disabled: true }).waitFor();
  await page.getByLabel('Lookup ID').fill('mine-too');
  letGo();
  await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('Theirs');
  expect(await page.getByLabel('Lookup ID').inputValue()).toBe('mine-too');
  expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Mine');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Mine', exact: true }).waitFor();
  expect((await call('GET', `/plans/${id}`)).body).toMatchObject({
    name: 'Mine',
    lookup_id: 'mine-too',
    description: 'Theirs',
    trial_days: 7,
  });
  await page.goto(`/plans/${id}/edit`);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Nobody’s');
  await page.getByRole('navigation').getByRole('link', { name: 'Customers' }).click();
  await button('Leave').click();
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor();
});

test('an alert that somebody else changed is neither saved over in its form nor turned off by its menu', async () => {
  const { id: meter_id } = await admin.createMeter('SUM');
  const { id } = (await call('POST', '/alerts', { name: 'Nearly', meter_id, thresholds: ['80'] })).body;
  const menu = async (item: string) => {
    await page.getByRole('button', { name: /^Actions on/ }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  // Whoever compresses an answer on its way makes its ETag weak.
  await page.route('**/api/v1/alerts/*', async (route) => {
    const response = await route.fetch();
    const { etag, ...headers } = response.headers();
    await route.fulfill({ response, headers: { ...headers, ...(etag !== undefined && { etag: `W/${etag}` }) } });
  });
  await page.goto(`/alerts/${id}`);
  await menu('Edit');
  await dialog().getByLabel('Thresholds').fill('90');
  await call('PATCH', `/alerts/${id}`, { name: 'Theirs' });
  await button('Save').click();
  await dialog()
    .getByText(/^Somebody changed this meanwhile/)
    .waitFor();
  await button('Load it anew').click();
  await expect.poll(() => dialog().getByLabel('Name').inputValue()).toBe('Theirs');
  await button('Save').click();
  await dialog().waitFor({ state: 'detached' });
  const changed = { name: 'Theirs', thresholds: ['90'] };
  expect((await call('GET', `/alerts/${id}`)).body).toMatchObject({ ...changed, status: 'ACTIVE' });

  // What a click changes is still as the page shows it, or nothing is done; the rest may be different.
  await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();
  await call('PATCH', `/alerts/${id}`, { thresholds: ['95'] });
  await menu('Turn off');
  await page.getByText('“Theirs” is off.').waitFor();
  await page.getByText('Disabled').waitFor();
  await call('PATCH', `/alerts/${id}`, { status: 'ACTIVE' });
  await menu('Turn on');
  await page.getByText('Somebody changed this meanwhile, so nothing was done.').waitFor();
  // It is what it was before this page turned it off, to the letter.
  await menu('Turn off');
  await expect.poll(async () => (await call('GET', `/alerts/${id}`)).body.status).toBe('DISABLED');
  await page.unrouteAll({ behavior: 'wait' });
  expect(visit.faults).toEqual([]);
});

test('a change of plan that somebody else put in place of the one on the page is not taken back unseen', async () => {
  const [now, first, second] = [
    await makePricedPlan(weir, admin, [], { name: 'Now' }),
    await makePricedPlan(weir, admin, [], { name: 'First' }),
    await makePricedPlan(weir, admin, [], { name: 'Second' }),
  ];
  const { id: customer_id } = await makeCustomer(weir, admin);
  const { id } = (await call('POST', '/subscriptions', { customer_id, plan_id: now.id })).body;
  const plan = async () => (await call('GET', `/subscriptions/${id}`)).body.pending_plan_id;
  await call('POST', `/subscriptions/${id}/change`, { plan_id: first.id });
  await page.goto(`/subscriptions/${id}`);
  await page.getByText(/^It changes to the plan First/).waitFor();
  await call('POST', `/subscriptions/${id}/change`, { plan_id: second.id });
  await page.getByRole('button', { name: 'Take the change back' }).click();
  await page.getByText('Somebody changed this meanwhile, so nothing was done.').waitFor();
  await page.getByText(/^It changes to the plan Second/).waitFor();
  expect(await plan()).toBe(second.id);
  await page.getByRole('button', { name: 'Take the change back' }).click();
  await page.getByText(/^It changes to the plan/).waitFor({ state: 'detached' });
  expect(await plan()).toBeNull();
  expect(visit.faults).toEqual([]);
});

test('of a subscription that ends with its period nothing says that it changes its plan', async () => {
  const [now, next] = [
    await makePricedPlan(weir, admin, [], { name: 'Basic' }),
    await makePricedPlan(weir, admin, [], { name: 'Better' }),
  ];
  const { id: customer_id, external_id } = await makeCustomer(weir, admin);
  const { id } = (await call('POST', '/subscriptions', { customer_id, plan_id: now.id })).body;
  await call('POST', `/subscriptions/${id}/change`, { plan_id: next.id });
  await call('POST', `/subscriptions/${id}/cancel`, {});
  await page.goto(`/subscriptions/${id}`);
  await page.getByText(/^It would change to the plan Better, but it ends\./).waitFor();
  const toCome = page.getByRole('region', { name: 'To come' });
  await toCome.getByText('Ends', { exact: true }).waitFor();
  expect(await toCome.innerText()).not.toContain('Changes to the plan');
  await page.getByRole('button', { name: 'Change plan' }).click();
  await dialog().getByText('The subscription ends then and does not change').waitFor();
  await page.goto('/subscriptions');
  const row = page.getByRole('row').filter({ hasText: external_id });
  await row.getByText('ends with its period').waitFor();
  expect(await row.innerText()).not.toContain('changes its plan');
  await page.goto(`/subscriptions/${id}`);
  await page.getByRole('button', { name: 'Keep the subscription' }).click();
  await page.getByText(/^It changes to the plan Better, whose first day is/).waitFor();
  await toCome.getByText('Changes to the plan Better').waitFor();
});

test('a subscription that ends with its period is canceled at once, without being kept first', async () => {
  const plan = await makePricedPlan(weir, admin, []);
  const { id: customer_id } = await makeCustomer(weir, admin);
  const { id } = (await call('POST', '/subscriptions', { customer_id, plan_id: plan.id })).body;
  await call('POST', `/subscriptions/${id}/cancel`, {});
  await page.goto(`/subscriptions/${id}`);
  await page.getByRole('button', { name: 'Cancel now' }).click();
  await dialog()
    .getByText(/^It ends now, and not with its period/)
    .waitFor();
  expect(await dialog().getByRole('radio').count()).toBe(0);
  await button('Cancel the subscription now').click();
  await dialog().waitFor({ state: 'detached' });
  expect((await call('GET', `/subscriptions/${id}`)).body.status).toBe('CANCELED');
  await page.getByRole('button', { name: 'Cancel now' }).waitFor({ state: 'detached' });
});

test('a subscription that was canceled before its first period has none in the list', async () => {
  const plan = await makePricedPlan(weir, admin, []);
  const { id: customer_id, external_id } = await makeCustomer(weir, admin);
  const later = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  for (const when of [{ start_date: later }, { trial_end_date: later }]) {
    const { id } = (await call('POST', '/subscriptions', { customer_id, plan_id: plan.id, ...when })).body;
    await call('POST', `/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  }
  await page.goto('/subscriptions');
  const rows = page.getByRole('row').filter({ hasText: external_id });
  await expect.poll(() => rows.count()).toBe(2);
  const period = (row: number) => rows.nth(row).getByRole('cell').nth(3).innerText();
  expect([await period(0), await period(1)]).toEqual(['', '']);
});

test('drafts that come while one is asked about others are not finalized with them', async () => {
  await call('PATCH', '/billing/settings', { finalize: 'manual' });
  const plan = await makePricedPlan(weir, admin, [fixedCharge(5)], { name: 'Fee' });
  const subscribe = async () => {
    const { id: customer_id } = await makeCustomer(weir, admin);
    return (await call('POST', '/subscriptions', { customer_id, plan_id: plan.id })).body.id as string;
  };
  const draftsOf = async (id: string) => (await call('GET', `/invoices?status=DRAFT&subscription_id=${id}`)).body.data;
  const [first, second] = [await subscribe(), await subscribe()];
  for (const id of [first, second]) await expect.poll(() => draftsOf(id)).toHaveLength(1);
  const list = await visit.context.newPage();
  await list.clock.install();
  await list.goto('/invoices?status=DRAFT');
  await list.getByRole('button', { name: 'Finalize these 2' }).click();
  const asked = list.getByRole('dialog');
  await asked.getByText('Finalize these 2 drafts now?').waitFor();
  const third = await subscribe();
  await expect.poll(() => draftsOf(third)).toHaveLength(1);
  const [{ id: early }] = await draftsOf(first);
  await call('POST', `/invoices/${early}/finalize`);
  const readAnew = list.waitForResponse(/\/invoices\?/);
  await list.clock.fastForward(60_000);
  await readAnew;
  await list.getByRole('cell', { name: 'Draft', exact: true }).first().waitFor();
  await asked.getByRole('button', { name: 'Finalize these 2' }).click();
  await asked.getByText('1 finalized.').waitFor();
  await asked.getByText('1 no draft any more: finalized meanwhile.').waitFor();
  expect(await findBarriers(list)).toEqual([]);
  await asked.getByRole('button', { name: 'Close' }).last().click();
  expect([await draftsOf(first), await draftsOf(second)]).toEqual([[], []]);
  expect(await draftsOf(third)).toHaveLength(1);
  await list.close();
});

test('a dialog stays what it was when it was opened, whatever the page around it reads meanwhile', async () => {
  const { id } = (await call('POST', '/webhook-endpoints', { url: 'https://hooks.example.com/weir' })).body;
  await call('POST', `/webhook-endpoints/${id}/test`);
  const endpoint = await visit.context.newPage();
  await endpoint.clock.install();
  await endpoint.goto(`/webhooks/${id}`);
  const opened = endpoint.getByRole('dialog');
  await endpoint.getByRole('button', { name: 'Turn off' }).click();
  await call('PATCH', `/webhook-endpoints/${id}`, { status: 'DISABLED' });
  await endpoint.clock.fastForward(60_000);
  await endpoint.getByText('Disabled', { exact: true }).waitFor();
  await opened.getByRole('button', { name: 'Turn off' }).click();
  await opened.getByText('Somebody changed this meanwhile, so nothing was done.').waitFor();
  await opened.getByRole('button', { name: 'Cancel' }).click();
  expect((await call('GET', `/webhook-endpoints/${id}`)).body.status).toBe('DISABLED');

  // A delivery is looked at, and leaves the list.
  await endpoint.getByRole('button', { name: /attempts of webhook\.test$/ }).click();
  await opened.getByRole('heading', { name: 'webhook.test' }).waitFor();
  await endpoint.route('**/deliveries?*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), data: [] } });
  });
  await endpoint.clock.fastForward(60_000);
  await endpoint.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
  await endpoint.getByText('Nothing on this page any more.').waitFor();
  expect(await opened.getByRole('heading', { name: 'webhook.test' }).count()).toBe(1);
  await opened.getByRole('button', { name: 'Close' }).click();
  await opened.waitFor({ state: 'detached' });
  await endpoint.close();
});

test('the timeline of a trial ends with it, has no invoice for its days, and tells of an end elsewhere', async () => {
  const { id: plan_id } = await makePricedPlan(weir, admin, [fixedCharge(5)], { name: 'Tried' });
  const { id: customer_id } = await makeCustomer(weir, admin);
  const trial_end_date = new Date(Date.now() + 14 * 86_400_000).toISOString();
  const { id, status } = (await call('POST', '/subscriptions', { customer_id, plan_id, trial_end_date })).body;
  expect(status).toBe('TRIAL');
  const trial = await visit.context.newPage();
  await trial.clock.install();
  await trial.goto(`/subscriptions/${id}`);
  const ahead = trial.getByRole('region', { name: 'To come' });
  await ahead.getByText('The trial ends').waitFor();
  expect(await ahead.getByText('Next invoice').count()).toBe(0);
  await call('POST', `/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  // Also a page that gets its answers late asks again within this.
  await trial.clock.fastForward(60_000);
  await trial.getByRole('region', { name: 'Past' }).getByText('Ended', { exact: true }).waitFor();
  expect(await ahead.count()).toBe(0);
  expect(visit.faults).toEqual([]);
  await trial.close();
});

test('what is typed into a plan holds nobody who signs out, nor whoever signs in instead', async () => {
  const [ada, grace] = [await signUp(weir), await signUp(weir)];
  const { page: tab, context, close } = await browser.visit({ baseURL: weir.baseUrl });
  const questions: string[] = [];
  tab.on('dialog', (question) => {
    questions.push(question.type());
    void question.dismiss();
  });
  const signInBy = async (place: Page | Locator, { email, password }: Organization) => {
    await place.getByRole('textbox', { name: 'Email' }).fill(email);
    await place.getByRole('textbox', { name: 'Password' }).fill(password);
    await place.getByRole('button', { name: 'Sign in' }).click();
  };
  const isSignedIn = ({ email }: Organization) => tab.getByRole('button', { name: email }).waitFor();
  const typeInto = async (person: Organization) => {
    const { id } = await makePricedPlan(weir, person, []);
    await tab.goto(`/plans/${id}/edit`);
    await tab.getByRole('textbox', { name: 'Name', exact: true }).click();
    await tab.keyboard.type('Typed');
  };
  await tab.goto('/');
  await signInBy(tab, ada);
  await isSignedIn(ada);
  await typeInto(ada);
  await tab.getByRole('button', { name: ada.email }).click();
  await tab.getByRole('menuitem', { name: 'Sign out' }).click();
  await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signInBy(tab, ada);
  await isSignedIn(ada);
  await typeInto(ada);
  await context.clearCookies();
  await tab.getByRole('button', { name: 'Save', exact: true }).dispatchEvent('click');
  let loaded = tab.waitForEvent('load');
  await signInBy(tab.getByRole('dialog'), grace);
  await loaded;
  await isSignedIn(grace);
  await typeInto(grace);
  await context.clearCookies();
  loaded = tab.waitForEvent('load');
  const second = await context.newPage();
  await second.goto('/');
  await signInBy(second, ada);
  await loaded;
  await isSignedIn(ada);
  expect(questions).toEqual([]);
  await close();
});

test('the first page leads from nothing to a first invoice in three steps, which tick themselves off', async () => {
  const beginner = await signUp(weir);
  const { page: home, context, faults, close } = await browser.visit({ baseURL: weir.baseUrl });
  await context.addCookies([{ name: 'access_token', value: beginner.session, url: weir.baseUrl }]);
  const press = (name: string) => home.getByRole('button', { name, exact: true }).click();
  const guide = home.getByRole('region', { name: 'First steps' });
  const done = () => guide.getByRole('img', { name: 'Done' }).count();
  await home.goto('/');
  await press('Make the meter');
  await press('Create the key');
  const command = (await guide.locator('pre', { hasText: 'curl' }).textContent()) ?? '';
  expect([await guide.getByRole('listitem').count(), await done()]).toEqual([3, 0]);
  await promisify(execFile)('sh', ['-c', command]);
  await guide.getByText('An event came').waitFor();
  await home.getByRole('textbox', { name: 'Price of a unit' }).fill('0.25');
  await press('Make the plan');
  await expect.poll(() => home.getByRole('textbox', { name: 'Customer' }).inputValue()).toBe('acme');
  expect(await findBarriers(home)).toEqual([]);
  await press('Subscribe to Pay as you go');
  await guide.getByRole('link', { name: 'see its draft' }).click();
  await home.getByRole('row', { name: /API calls.* 1 0\.25 USD$/ }).waitFor();

  // They stay until there is an invoice, for whoever has not put them away.
  const standing = async () => {
    await home.goto('/');
    await home.getByRole('region', { name: 'Events by day' }).waitFor();
    return await done();
  };
  expect(await standing()).toBe(3);
  await press('Put away');
  await guide.waitFor({ state: 'detached' });
  expect(await standing()).toBe(0);
  await home.evaluate('localStorage.clear()');
  expect(await standing()).toBe(3);
  const plan = await makePricedPlan(weir, beginner, [fixedCharge(5)]);
  const customer = await makeCustomer(weir, beginner);
  const body = { customer_id: customer.id, plan_id: plan.id };
  const { status } = await weir.request('POST', '/api/v1/subscriptions', { session: beginner.session, body });
  expect([status, await standing(), await guide.count()]).toEqual([201, 0, 0]);
  expect(faults).toEqual([]);
  await close();
});
