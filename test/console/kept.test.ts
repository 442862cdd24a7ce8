// What somebody would look for in vain if it went: a link and a secret that are shown once, an id of one's own, and events that were to
// be sent again.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdBack } from '../support/browser/hold-back.ts';
import { findBarriers, openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { handsOn, type Hands } from '../support/browser/journey-steps.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { join } from '../support/people.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let admin: Organization;
let browser: Browser;
let visit: Visit;
let page: Page;
let hands: Hands;

beforeAll(async () => {
  [admin, browser] = await Promise.all([signUp(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 900 } });
  await visit.context.addCookies([{ name: 'access_token', value: admin.session, url: weir.baseUrl }]);
  page = visit.page;
  hands = handsOn(weir, admin, page);
}, 120_000);
afterAll(() => browser?.close());

const invitationOf = (email: string, on = page) => on.getByRole('region', { name: `The invitation of ${email}` });

async function invite(email: string, on = page): Promise<void> {
  await on.getByRole('button', { name: 'Invite somebody' }).click();
  await on
    .getByRole('dialog')
    .getByLabel(/^Email/)
    .fill(email);
  await on.getByRole('button', { name: 'Make the invitation' }).click();
}

const actOn = async (name: string, item: string) => {
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};

/** Loads the page anew, stays when the browser asks, and returns what it asked. */
async function reload(): Promise<string> {
  const [asked] = await Promise.all([
    page.waitForEvent('dialog'),
    page.evaluate('setTimeout(() => location.reload())'),
  ]);
  await asked.dismiss();
  return asked.type();
}

test('links of two people stand beside one another, and each goes by itself or when it works no more', async () => {
  const [ada, bob] = ['ada@example.com', 'bob@example.com'];
  await page.goto('/settings?tab=people');
  await invite(ada);
  const link = await invitationOf(ada).locator('pre').innerText();
  await invite(bob);
  await invitationOf(bob).locator('pre').waitFor();
  expect(await reload()).toBe('beforeunload');
  expect(await invitationOf(ada).locator('pre').innerText()).toBe(link);
  await actOn(`Actions on ${admin.email}`, 'New password');
  await page.getByRole('dialog').getByRole('button', { name: 'Make the link' }).click();
  await page
    .getByRole('region', { name: `A new password for ${admin.email}` })
    .locator('pre')
    .waitFor();
  expect(await findBarriers(page)).toEqual([]);
  // The newer link of a person is the one that works.
  await invite(ada);
  await expect.poll(() => invitationOf(ada).locator('pre').innerText()).not.toBe(link);
  expect(await invitationOf(ada).count()).toBe(1);
  await invitationOf(ada).getByRole('button', { name: 'Put away' }).click();
  await invitationOf(ada).waitFor({ state: 'detached' });
  expect(await invitationOf(bob).count()).toBe(1);
  await actOn(`Actions on the invitation of ${bob}`, 'Take back');
  await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click();
  await invitationOf(bob).waitFor({ state: 'detached' });
  expect(visit.faults).toEqual([]);
});

test('whoever takes the role of an admin away, or removes one, is told what ends and sees it gone', async () => {
  const dialog = page.getByRole('dialog');
  const demote = async (email: string) => {
    await page.getByRole('combobox', { name: `Role of ${email}` }).click();
    await page.getByRole('option', { name: 'viewer' }).click();
    await dialog.getByText('Invitations and password links that this person made open nothing any more.').waitFor();
    expect(await findBarriers(page, { within: '[role=dialog]' })).toEqual([]);
    await dialog.getByRole('button', { name: 'Make a viewer' }).click();
  };
  const remove = async (email: string) => {
    await actOn(`Actions on ${email}`, 'Remove');
    await dialog.getByText('invitations and password links that they made open nothing any more').waitFor();
    await dialog.getByRole('button', { name: 'Remove' }).click();
  };
  const invited = page.getByRole('group', { name: 'Invitations' });
  for (const take of [demote, remove]) {
    const { email, session } = await join(weir, admin, 'admin');
    const guest = `guest-of-${email}`;
    const body = { email: guest, role: 'viewer' };
    expect((await weir.request('POST', '/api/v1/invitations', { session, body })).status).toBe(201);
    await page.goto('/settings?tab=people');
    await invited.getByText(guest).waitFor();
    await take(email);
    await invited.getByText(guest).waitFor({ state: 'detached' });
    await dialog.waitFor({ state: 'detached' });
  }
  expect(visit.faults).toEqual([]);
});

test('a link that was mailed and got lost on its way to the page needs no other one, and none is asked for', async () => {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _, done) {
      stream.resume().on('end', () => done());
    },
  });
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  const SMTP_URL = `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`;
  const api = await weir.startApi({ SMTP_URL, SMTP_FROM: 'weir@example.com', PUBLIC_URL: 'http://127.0.0.1' });
  const mailed = await browser.visit({ baseURL: api.url }, [api.url]);
  await mailed.context.addCookies([{ name: 'access_token', value: admin.session, url: api.url }]);
  const email = 'grace@example.com';
  await mailed.page.route('**/api/v1/invitations', async (route) => {
    if (route.request().method() !== 'POST') return await route.fallback();
    await route.fetch();
    await route.abort();
  });
  await mailed.page.goto('/settings?tab=people');
  await invite(email, mailed.page);
  await mailed.page.getByRole('alert').filter({ hasText: 'No answer came' }).waitFor();
  await mailed.page.unrouteAll({ behavior: 'wait' });
  await mailed.page.getByRole('button', { name: 'Make the invitation' }).click();
  const shown = invitationOf(email, mailed.page);
  await shown.getByText('It was mailed, and works once').waitFor();
  expect(await shown.innerText()).not.toContain('make another one');
  expect(mailed.faults).toEqual([]);
  await mailed.close();
  await api.close();
  const closed = once(smtp.server, 'close');
  smtp.close();
  await closed;
});

test('who gives an endpoint another secret a second time is told that the one before signs no longer', async () => {
  const { call, button, dialog } = hands;
  const { id } = await call('POST', '/webhook-endpoints', { url: 'https://example.com/weir' });
  const rotate = () => actOn('More actions', 'Rotate the secret');
  const warning = dialog().getByText('signs no longer at once');
  await page.goto(`/webhooks/${id}`);
  await rotate();
  await dialog().getByText('both sign').waitFor();
  expect(await warning.count()).toBe(0);
  // Its answer gets lost, and with it the secret.
  await page.route('**/rotate', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await dialog().getByRole('button', { name: 'Rotate the secret' }).click();
  await dialog().getByRole('alert').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await dialog().getByRole('button', { name: 'Rotate the secret' }).click();
  await dialog().getByText('the secret that the receiver knows signs no longer from then on').waitFor();
  await button('Close').last().click();
  await page.getByText('The secret before signs until').waitFor();
  await rotate();
  await warning.waitFor();
  await page.getByRole('menu').waitFor({ state: 'detached' });
  expect(await findBarriers(page)).toEqual([]);
  expect(visit.faults).toEqual([]);
});

interface MadeOnce {
  /** The list in which one finds where it is made. */
  list: string;
  make: () => Promise<void>;
  /** What whoever has left is told. */
  told: RegExp;
}

/** All that shows something once, in a dialog. */
async function whatIsShownOnce(name: string): Promise<MadeOnce[]> {
  const { call, button, dialog, field } = hands;
  const url = `https://example.com/${name}`;
  await call('POST', '/webhook-endpoints', { url });
  await call('POST', '/service-accounts', { name: `Account ${name}`, role: 'viewer' });
  const link = (to: string) => page.getByRole('link', { name: to, exact: true });
  return [
    {
      list: 'Webhooks',
      async make() {
        await link(url).click();
        await actOn('More actions', 'Rotate the secret');
        await dialog().getByRole('button', { name: 'Rotate the secret' }).click();
      },
      told: /got another secret while you were elsewhere, .* Rotate it again/,
    },
    {
      list: 'Webhooks',
      async make() {
        await button('New endpoint').click();
        await field('URL').fill(`${url}-too`);
        await button('Create the endpoint').click();
      },
      told: /-too was made while you were elsewhere, .* Rotate it on the page of the endpoint/,
    },
    {
      list: 'API keys',
      async make() {
        await button('New key').click();
        await field('Name').fill(`Key ${name}`);
        await button('Create the key').click();
      },
      told: new RegExp(`The key “Key ${name}” was made while you were elsewhere, .* make another`),
    },
    {
      list: 'Service accounts',
      async make() {
        await link(`Account ${name}`).click();
        await button('New token').click();
        await field('Name').fill(`Token ${name}`);
        await button('Create the token').click();
      },
      told: new RegExp(`The token “Token ${name}” was made while you were elsewhere, .* make another`),
    },
  ];
}

/** A press whose request is held back. Returns what lets it go, once it is sent. */
async function hold(press: () => Promise<void>, on = page): Promise<() => Promise<void>> {
  const letGo = await holdBack(on, /\/(rotate|webhook-endpoints|api-keys|tokens)$/);
  await Promise.all([on.waitForRequest((request) => request.method() === 'POST'), press()]);
  return async () => {
    letGo();
    await on.unrouteAll({ behavior: 'wait' });
  };
}

test('whoever leaves while something is made that is shown once is asked, and told that it is lost', async () => {
  const { dialog } = hands;
  const question = page.getByRole('dialog', { name: 'Leave without copying it?' });
  for (const { list, make, told } of await whatIsShownOnce('left')) {
    await page.goto('/');
    await page.getByRole('navigation').getByRole('link', { name: list }).click();
    const letGo = await hold(make);
    await page.evaluate('history.back()');
    await question.getByRole('button', { name: 'Leave' }).click();
    await expect.poll(() => dialog().count()).toBe(0);
    await letGo();
    await page.getByText(told).waitFor();
    expect(await dialog().count()).toBe(0);
  }
  expect(await findBarriers(page)).toEqual([]);
  expect(visit.faults).toEqual([]);
});

test('a secret that comes while one is asked whether to leave is shown, and leads nowhere', async () => {
  const { dialog } = hands;
  const question = page.getByRole('dialog', { name: 'Leave without copying it?' });
  for (const { list, make } of (await whatIsShownOnce('stayed')).slice(0, 2)) {
    await page.goto('/');
    await page.getByRole('navigation').getByRole('link', { name: list }).click();
    const letGo = await hold(make);
    const address = page.url();
    await page.evaluate('history.back()');
    await question.waitFor();
    await letGo();
    await question.waitFor({ state: 'detached' });
    await dialog().locator('pre').waitFor();
    await page.waitForURL(address);
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
  }
  expect(visit.faults).toEqual([]);
});

test('a secret that is shown once is not lost without a question, however one closes what shows it', async () => {
  const { button, dialog } = hands;
  const question = page.getByRole('dialog', { name: 'Leave without copying it?' });
  const makes = await whatIsShownOnce('asked');
  for (const { list, make } of makes) {
    await page.goto('/');
    await page.getByRole('navigation').getByRole('link', { name: list }).click();
    await make();
    const shown = dialog().locator('pre');
    const secret = await shown.innerText();
    const ways = [
      () => page.evaluate('history.back()'),
      () => page.keyboard.press('Escape'),
      () => page.mouse.click(5, 5),
      () => button('Close').click(),
    ];
    for (const leave of ways) {
      await leave();
      await question.getByText('It is not shown again').waitFor();
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
    }
    expect(await reload()).toBe('beforeunload');
    expect(await shown.innerText()).toBe(secret);
    await button('I have copied it').click();
    await dialog().waitFor({ state: 'detached' });
  }
  expect(visit.faults).toEqual([]);
});

test('the first key is not lost by a wrong click before an event has come with it', async () => {
  const beginner = await signUp(weir);
  const { page: home, context, faults, close } = await browser.visit({ baseURL: weir.baseUrl });
  await context.addCookies([{ name: 'access_token', value: beginner.session, url: weir.baseUrl }]);
  const { token: meter_token } = await beginner.createMeter('SUM');
  const question = home.getByRole('dialog', { name: 'Leave without copying it?' });
  const leave = () => home.getByRole('navigation').getByRole('link', { name: 'Plans' }).click();
  await home.goto('/');
  const letGo = await hold(() => home.getByRole('button', { name: 'Create the key' }).click(), home);
  await leave();
  await question.getByRole('button', { name: 'Leave' }).click();
  await home.getByRole('heading', { level: 1, name: 'Plans' }).waitFor();
  await letGo();
  await home.getByText('The key “First key” was made while you were elsewhere').waitFor();
  await home.goto('/');
  await home.getByRole('button', { name: 'Make another' }).click();
  await home.getByRole('button', { name: 'Create the key' }).click();
  const shown = home.locator('pre', { hasText: /^org_live_/ });
  const apiKey = await shown.innerText();
  await leave();
  await question.getByText('It is not shown again').waitFor();
  expect(await findBarriers(home)).toEqual([]);
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await shown.innerText()).toBe(apiKey);
  const body = { meter_token, customer_external_id: 'acme', quantity: 1 };
  await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
  await home.getByText('An event came').waitFor();
  await leave();
  await home.getByRole('heading', { level: 1, name: 'Plans' }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

test('an id of one’s own stays over a look at another page, and any other goes on with the name', async () => {
  const { button } = hands;
  const name = () => page.getByRole('textbox', { name: 'Name', exact: true });
  for (const [address, open, label] of [
    ['/plans/new', async () => {}, 'Lookup ID'],
    ['/features', () => button('New feature').click(), 'Lookup key'],
  ] as const) {
    const id = page.getByRole('textbox', { name: label });
    await page.goto(address);
    await open();
    await name().fill('Gold');
    await expect.poll(() => id.inputValue()).toBe('gold');
    await page.goto(address);
    await open();
    await name().fill('Golden');
    await expect.poll(() => id.inputValue()).toBe('golden');
    await id.fill('own-id');
    await page.goto(address);
    await open();
    expect(await id.inputValue()).toBe('own-id');
    await name().fill('Golden days');
    await expect.poll(() => name().inputValue()).toBe('Golden days');
    expect(await id.inputValue()).toBe('own-id');
  }
  expect(visit.faults).toEqual([]);
});

test('the events of a day of the organization are sent again, from its first moment to its last', async () => {
  const { call, button, dialog } = hands;
  const times = ['02T14:59:59.999Z', '02T15:00:00Z', '03T03:00:00Z', '03T14:59:59.999Z', '03T15:00:00Z'];
  await weir.pool.query('DELETE FROM billing_events WHERE organization_id = $1', [admin.id]);
  await weir.pool.query(
    `INSERT INTO billing_events (organization_id, sequence, type, created_at, actor, data)
     SELECT $1, n, 'invoice.finalized', ('2026-11-' || time)::timestamptz, 'run', '{}' FROM unnest($2::text[]) WITH ORDINALITY AS _ (time, n)`,
    [admin.id, times],
  );
  await weir.pool.query(
    `INSERT INTO billing_feeds VALUES ($1, $2) ON CONFLICT (organization_id) DO UPDATE SET last_sequence = $2`,
    [admin.id, times.length],
  );
  await call('PATCH', '/billing/settings', { time_zone: 'Asia/Tokyo' });
  const { id } = await call('POST', '/webhook-endpoints', { url: 'https://example.com/replayed' });
  const replay = async (endpoint: string, from: string, to: string) => {
    await page.goto(`/webhooks/${endpoint}`);
    await button('Replay').click();
    await dialog().getByLabel('From').fill(from);
    await dialog().getByLabel('To').fill(to);
    await dialog().getByRole('button', { name: 'Send again' }).click();
  };
  await replay(id, '2026-11-03', '3 Nov 2026');
  await page.getByText('The events are sent again now.').waitFor();
  expect((await call('GET', `/webhook-endpoints/${id}`)).replay).toEqual({ next_sequence: 2, last_sequence: 4 });

  // One that is off is sent nothing now.
  const off = await call('POST', '/webhook-endpoints', { url: 'https://example.com/off', status: 'DISABLED' });
  await weir.pool.query(
    `INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, sequence) VALUES ($1, gen_random_uuid(), $2, 5)`,
    [admin.id, off.id],
  );
  await replay(off.id, '1', '4');
  await page.getByText('The events are sent again once the endpoint is turned on.').waitFor();
  await page.getByText('1 to 4, once it is turned on').waitFor();
  await page.getByRole('button', { name: /^0 attempts of invoice\.finalized/ }).click();
  await dialog().getByText('It is sent once the endpoint is turned on.').waitFor();
  expect(visit.faults).toEqual([]);
});
