// What becomes of what was typed: it is kept where one comes back to it, asked about where it would be lost, and forgotten once
// somebody has cancelled it, or what it was typed over is not so any more.

import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixedCharge, makeCustomer, makePricedPlan } from '../support/billing-fixture.ts';
import { findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { holdBack } from '../support/browser/hold-back.ts';
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

const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });
const field = (name: string) => page.getByRole('textbox', { name, exact: true });
const question = () => page.getByRole('dialog', { name: 'Leave without saving?' });

/** A button may be drawn anew before it has the focus, which comes a moment after a dialog. */
const expectFocus = (place: Locator) => place.and(page.locator(':focus')).waitFor();

test('a copy of a plan begins with what the plan costs by then, whatever was typed before', async () => {
  const { id, charges } = await makePricedPlan(weir, admin, [fixedCharge(10)], { name: 'Pro', lookup_id: 'pro' });
  const duplicate = async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Plans' }).click();
    await page.getByRole('link', { name: 'Pro', exact: true }).click();
    await button('More actions').click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await field('Lookup ID').waitFor();
  };
  const pricesOf = async (plan: string) =>
    (await admin.call('GET', `/plans/${plan}`)).charges
      .filter(({ status }: { status: string }) => status === 'ACTIVE')
      .map(({ unit_price }: { unit_price: string }) => unit_price);
  await admin.call('POST', '/features', { name: 'Support', lookup_key: 'support', type: 'switch' });
  await page.goto('/');
  await duplicate();
  await field('Name').fill('Typed');
  // A look at another page and back.
  await duplicate();
  expect(await field('Name').inputValue()).toBe('Typed');
  await button('Cancel').click();
  await duplicate();
  expect(await field('Name').inputValue()).toBe('Pro copy');

  await field('Name').fill('Typed again');
  await button('Fixed fee').click();
  await page.getByRole('combobox', { name: 'Include a feature' }).click();
  await page.getByRole('option', { name: /^Support/ }).click();
  await admin.call('PATCH', `/plans/${id}`, {
    update_charges: [{ id: charges[0]?.id, status: 'INACTIVE' }],
    add_charges: [fixedCharge('20')],
  });
  expect(await pricesOf(id)).toEqual(['20']);
  await duplicate();
  expect(await field('Name').inputValue()).toBe('Typed again');
  await button('Create plan').click();
  await page.getByRole('heading', { level: 1, name: 'Typed again' }).waitFor();
  const { data } = await admin.call('GET', '/plans?page_size=100');
  const made = data.find(({ name }: { name: string }) => name === 'Typed again').id;
  // Charges and features go together: where one list has changed since, what was typed into the other is not kept either.
  expect([await pricesOf(made), (await admin.call('GET', `/plans/${made}`)).features]).toEqual([['20'], []]);
  expect(visit.faults).toEqual([]);
});

test('an amount that was cancelled does not stand in the form when it is opened again', async () => {
  const { id } = await makeCustomer(weir, admin);
  await page.goto(`/customers/${id}?tab=credits`);
  const amount = page.getByRole('dialog').getByLabel('Amount');
  const reopen = async (how: string) => {
    await button(how, page.getByRole('dialog')).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button('Grant credit').click();
    return await amount.inputValue();
  };
  await button('Grant credit').click();
  await amount.fill('500');
  expect(await reopen('Close')).toBe('500');
  expect(await reopen('Cancel')).toBe('');
  await button('Cancel').click();
});

test('a dialog asks before it loses what was typed in it, however one closes it', async () => {
  const { id } = await makeCustomer(weir, admin, { name: 'Acme' });
  await page.goto('/customers');
  await page.getByRole('link', { name: 'Acme', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Edit the customer' });
  const name = form.getByLabel('Name', { exact: true });
  const stay = async () => {
    await button('Cancel', question()).click();
    await question().waitFor({ state: 'detached' });
    expect(await name.inputValue()).toBe('Acme Limited');
  };
  await button('Edit').click();
  await name.fill('Acme Limited');
  await page.mouse.click(5, 5);
  await question().waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await expectFocus(button('Cancel', question()));
  await stay();
  await name.press('Escape');
  await question().waitFor();
  await page.keyboard.press('Escape');
  await question().waitFor({ state: 'detached' });
  await expectFocus(name);
  await button('Close', form).click();
  await stay();
  // As by the gesture with which sheets are closed on a phone.
  await page.evaluate('history.back()');
  await question().waitFor();
  await stay();
  expect(new URL(page.url()).pathname).toBe(`/customers/${id}`);
  await name.press('Escape');
  await button('Leave', question()).click();
  await form.waitFor({ state: 'detached' });
  await expectFocus(button('Edit'));
  // Nothing typed, or what was typed taken back: there is nothing to ask.
  await button('Edit').click();
  await name.fill('Acme Limited');
  await name.fill('Acme');
  await name.press('Escape');
  await form.waitFor({ state: 'detached' });
  expect(await question().count()).toBe(0);
  expect((await admin.call('GET', `/customers/${id}`)).name).toBe('Acme');
  expect(visit.faults).toEqual([]);
});

test('a tab of the settings asks before it loses what was typed in it, and not once that is saved', async () => {
  await page.goto('/settings');
  const organization = page.getByRole('tabpanel', { name: 'Organization' });
  const name = organization.getByRole('textbox', { name: 'Name', exact: true });
  const tab = (title: string) => page.getByRole('tab', { name: title });
  await name.fill('Typed');
  const skip = page.getByRole('link', { name: 'Skip to' });
  await skip.focus();
  await skip.press('Enter');
  await page.waitForURL(/#main$/);
  expect([await question().count(), await name.inputValue()]).toEqual([0, 'Typed']);
  await tab('People').click();
  await question().waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await button('Cancel', question()).click();
  await question().waitFor({ state: 'detached' });
  expect(await name.inputValue()).toBe('Typed');
  await page.getByRole('navigation').getByRole('link', { name: 'Customers' }).click();
  await button('Cancel', question()).click();
  await button('Save name').click();
  await page.getByText('The name is changed.').waitFor();
  await tab('People').click();
  await button('Invite somebody').waitFor();
  await tab('Organization').click();
  expect(await name.inputValue()).toBe('Typed');
  await name.fill('Lost');
  await tab('Your account').click();
  await button('Leave', question()).click();
  await page.getByLabel('Current password').fill('not to be kept');
  await tab('Organization').click();
  await expect.poll(() => name.inputValue()).toBe('Typed');
  expect(visit.faults).toEqual([]);
});

test('whoever leaves while something is sent is asked, and then told of a refusal, and led nowhere', async () => {
  const { id } = await makePricedPlan(weir, admin, [], { name: 'Sent' });
  const sending = page.getByRole('dialog', { name: 'Leave while it is being sent?' });
  const customers = page.getByRole('navigation').getByRole('link', { name: 'Customers' });
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  /** Saves the plan by a request that is held back, and wants to go to another page meanwhile. */
  const leave = async (name: string) => {
    await field('Name').fill(name);
    const letGo = await holdBack(page, `**/api/v1/plans/${id}`);
    await Promise.all([page.waitForRequest((request) => request.method() === 'PATCH'), button('Save').click()]);
    await customers.click();
    await sending.waitFor();
    return async () => {
      const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
      letGo();
      await (await answered).finished();
      await page.unrouteAll({ behavior: 'wait' });
    };
  };
  await page.goto(`/plans/${id}/edit`);
  let answer = await leave(' ');
  expect(await findBarriers(page)).toEqual([]);
  // A refusal is shown, and not a question over it.
  await answer();
  await sending.waitFor({ state: 'detached' });
  await page.getByText('Fill this in.').waitFor();
  answer = await leave(' ');
  await button('Leave', sending).click();
  await heading('Customers');
  await answer();
  await page.getByText('You left “Edit Sent” while it was being sent. Name: Fill this in.').waitFor();
  await button('Close').click();
  expect(new URL(page.url()).pathname).toBe('/customers');

  await page.goto(`/plans/${id}/edit`);
  answer = await leave('Saved');
  await button('Leave', sending).click();
  await heading('Customers');
  await answer();
  await page.evaluate('new Promise(requestAnimationFrame)');
  expect(new URL(page.url()).pathname).toBe('/customers');
  expect((await admin.call('GET', `/plans/${id}`)).name).toBe('Saved');

  // A dialog whose draft is kept, left by the gesture with which one goes back on a phone.
  await makeCustomer(weir, admin, { external_id: 'taken' });
  await page.getByRole('navigation').getByRole('link', { name: 'Plans' }).click();
  await heading('Plans');
  await customers.click();
  await button('New customer').click();
  const form = page.getByRole('dialog', { name: 'New customer' });
  await form.getByLabel('External ID').fill('taken');
  const letGo = await holdBack(page, '**/api/v1/customers');
  await button('Create customer', form).click();
  await page.evaluate('history.back()');
  await button('Leave', sending).click();
  await heading('Plans');
  letGo();
  await page.getByText('You left “Customers” while it was being sent. This id is taken.').waitFor();
  await button('Close').click();
  expect(visit.faults).toEqual([]);
});

test('an id that nobody typed stays what it is to the letter, also with white space at its ends', async () => {
  const { id } = await makeCustomer(weir, admin, { external_id: 'blank ', name: 'Blank' });
  const plan = await makePricedPlan(weir, admin, [fixedCharge(5)], { name: 'Small' });
  await admin.call('POST', '/subscriptions', { customer_id: id, plan_id: plan.id });
  await page.goto(`/customers/${id}`);
  await button('Edit').click();
  const form = page.getByRole('dialog', { name: 'Edit the customer' });
  await form.getByLabel('Email').fill('ada@example.com');
  await button('Save', form).click();
  await form.waitFor({ state: 'detached' });
  expect(await admin.call('GET', `/customers/${id}`)).toMatchObject({
    external_id: 'blank ',
    email: 'ada@example.com',
  });

  // A filter that has one, or a key, is left without a change of it.
  await page.goto('/events?customer=blank%20&key=first%20');
  const filter = (name: string) => page.getByLabel(name, { exact: true }).and(page.locator('input'));
  const searched = (name: string) => new URL(page.url()).searchParams.get(name);
  for (const name of ['Customer', 'Idempotency key']) {
    await filter(name).focus();
    await filter(name).press('Enter');
    await filter(name).blur();
  }
  await filter('Time from (UTC)').fill('2026-11-01');
  await page.waitForURL(/from=2026-11-01/);
  expect([searched('customer'), searched('key')]).toEqual(['blank ', 'first ']);
  await filter('Idempotency key').fill('second ');
  await filter('Idempotency key').press('Enter');
  await page.waitForURL((url) => url.searchParams.get('key') === 'second ');
  await page.getByText('Has white space at an end.').waitFor();
  expect(await findBarriers(page)).toEqual([]);
  // Blanks alone look like no filter, and are none.
  await filter('Idempotency key').fill(' ');
  await filter('Idempotency key').press('Enter');
  await page.waitForURL((url) => !url.searchParams.has('key'));
  await filter('Idempotency key').fill(' ');
  await filter('Idempotency key').blur();
  expect([searched('key'), await filter('Idempotency key').inputValue()]).toEqual([null, '']);
  expect(visit.faults).toEqual([]);
});

test('whoever changes an id that services send is told what ends with it before it is saved', async () => {
  await admin.call('POST', '/features', {
    name: 'Tokens',
    lookup_key: 'tokens',
    type: 'meter',
    aggregation_type: 'SUM',
  });
  await admin.call('POST', '/features', { name: 'Export', lookup_key: 'export', type: 'switch' });
  const { id } = await makeCustomer(weir, admin, { external_id: 'soylent', name: 'Soylent' });
  const edit = page.getByRole('dialog');
  const editFeature = async (name: string) => {
    await page.goto('/features');
    await button(`Actions on ${name}`).click();
    await page.getByRole('menuitem', { name: 'Edit', exact: true }).click();
  };
  const editCustomer = async () => {
    await page.goto(`/customers/${id}`);
    await button('Edit').click();
  };
  const ways = [
    [() => editFeature('Tokens'), /^Lookup key/, 'tokens', 'track usage or ask for entitlements by tokens are refused'],
    [() => editFeature('Export'), /^Lookup key/, 'export', 'services that ask for entitlements by export are refused'],
    [editCustomer, 'External ID', 'soylent', 'Usage under soylent stays there'],
  ] as const;
  for (const [open, label, before, words] of ways) {
    await open();
    const said = edit.getByRole('status').filter({ hasText: words });
    await edit.getByLabel(label).fill(`${before}-2`);
    await said.waitFor();
    expect(await findBarriers(page, { within: '[role=dialog]' })).toEqual([]);
    await edit.getByLabel(label).fill(before);
    await said.waitFor({ state: 'detached' });
    await button('Cancel', edit).click();
    await edit.waitFor({ state: 'detached' });
  }
  // What is new is known to nobody yet.
  await page.goto('/features');
  await button('New feature').click();
  await edit.getByLabel('Name').fill('Seats');
  expect([await edit.getByLabel(/^Lookup key/).inputValue(), await edit.getByRole('status').count()]).toEqual([
    'seats',
    0,
  ]);
  await button('Cancel', edit).click();
  expect(visit.faults).toEqual([]);
});

test('who signs out in one tab has left all: nothing that was shown or typed elsewhere is there any more', async () => {
  const ada = await signUp(weir);
  const { page: first, context, close } = await browser.visit({ baseURL: weir.baseUrl });
  await context.addCookies([{ name: 'access_token', value: ada.session, url: weir.baseUrl }]);
  await first.goto('/customers');
  await button('New customer', first).click();
  await first.getByRole('dialog').getByLabel('Email').fill('bob@example.com');
  const second = await context.newPage();
  await second.goto('/settings');
  await button(ada.email, second).click();
  await second.getByRole('menuitem', { name: 'Sign out' }).click();
  await button('Sign in', first).waitFor();
  expect([await first.getByRole('dialog').count(), new URL(first.url()).pathname]).toEqual([0, '/sign-in']);
  expect(await first.evaluate('Object.keys(sessionStorage).filter((name) => name.startsWith("weir-"))')).toEqual([]);
  await close();
});

test('the first steps subscribe the customer of the event, to the letter', async () => {
  const beginner = await signUp(weir);
  const { page: home, context, faults, close } = await browser.visit({ baseURL: weir.baseUrl });
  await context.addCookies([{ name: 'access_token', value: beginner.session, url: weir.baseUrl }]);
  const { token: meter_token } = await beginner.createMeter('SUM');
  const body = { meter_token, customer_external_id: 'blank ', quantity: 1 };
  await weir.request('POST', '/api/v1/sdk/track', { apiKey: await beginner.createKey(), body });
  await weir.drained();
  await makePricedPlan(weir, beginner, [fixedCharge(5)], { name: 'Small' });
  await home.goto('/');
  await button('Subscribe to Small', home).click();
  await home.getByRole('link', { name: 'see its draft' }).waitFor();
  const { body: made } = await weir.request('GET', '/api/v1/subscriptions', { session: beginner.session });
  expect(made.data.map((each: { customer_external_id: string }) => each.customer_external_id)).toEqual(['blank ']);
  expect(faults).toEqual([]);
  await close();
});
