// Every form of the journey with all that may come between: the session ends before it is sent, its answer is cut off, and that to the
// second press is held back. Nothing is said to be done that is not known to be; what was typed stays; and it is done once. And what is
// shown once is there until it is put away.

import type { APIResponse, Page, Request, Route } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { firstStepsOf, furtherStepsOf } from '../support/browser/further-steps.ts';
import { handsOn, stepsOf, type Hands, type Step } from '../support/browser/journey-steps.ts';
import { untilLater } from '../support/browser/page-clock.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let organization: Organization;
let browser: Browser;
let visit: Visit;
let page: Page;
let hands: Hands;
/** What the page has asked for and has not got yet. */
const underWay = new Set<Request>();

beforeAll(async () => {
  [organization, browser] = await Promise.all([signUp(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 900 } });
  page = visit.page;
  page.on('request', (request) => underWay.add(request));
  page.on('requestfinished', (request) => underWay.delete(request));
  page.on('requestfailed', (request) => underWay.delete(request));
  hands = handsOn(weir, organization, page);
}, 120_000);
beforeEach(() => openSession());
afterAll(() => browser?.close());

const openSession = ({ session } = organization) =>
  visit.context.addCookies([{ name: 'access_token', value: session, url: weir.baseUrl }]);

/** What the page has sent last. */
let sent: unknown;

/** Stands between the page and Weir for the one write of a step, and decides what becomes of the answer. */
async function intercept(
  { write: [method, path] }: Step,
  decide: (route: Route, response: APIResponse) => Promise<void>,
): Promise<void> {
  await page.route(
    (url) => path.test(url.pathname),
    async (route) => {
      if (route.request().method() !== method) return await route.fallback();
      sent = route.request().postDataJSON();
      await decide(route, await route.fetch());
    },
  );
}

const press = (step: Step) => step.button().dispatchEvent('click');

/** Waits until all that the page has asked for is there: what is read behind a form after the write may show what it has made. */
const untilQuiet = () => until(() => underWay.size === 0, 'nothing is read any more');

async function expectNotSaid(step: Step): Promise<void> {
  expect([await step.done().count(), await page.locator('.notice').count()], step.name).toEqual([0, 0]);
}

async function expectTyped(step: Step): Promise<void> {
  const [place, text] = step.typed?.() ?? [];
  if (place !== undefined) expect(await place.inputValue(), step.name).toBe(text);
}

/** Signs in over the page whose session has ended. */
async function signInAgain({ password } = organization): Promise<void> {
  const again = page.getByRole('dialog', { name: 'Your session has ended' });
  await again.getByRole('textbox', { name: 'Password' }).fill(password);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'detached' });
}

/** Presses the button of a session that has ended: nothing is sent, and what was typed is there after signing in. */
async function pressEnded(step: Step, before: number, who?: Organization): Promise<void> {
  await visit.context.clearCookies();
  await press(step);
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  await expectNotSaid(step);
  expect(await step.count(), step.name).toBe(before);
  await signInAgain(who);
  await expectTyped(step);
}

/** Does all that closes a dialog. */
async function tryToClose(): Promise<void> {
  const dialog = hands.dialog();
  if ((await dialog.count()) === 0) return;
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click({ force: true });
  await dialog.getByRole('button', { name: 'Close', exact: true }).click({ force: true });
  await page.mouse.click(5, 5);
}

/** Sends it, and cuts the answer off after Weir has done it. Who could close it meanwhile would not hear of that. */
async function pressSevered(step: Step, before: number): Promise<void> {
  await untilQuiet();
  await intercept(step, async (route) => {
    await tryToClose();
    await route.abort();
  });
  await press(step);
  const alert = page.getByRole('alert').filter({ hasText: 'No answer came, so it is not known whether Weir has done' });
  await alert.waitFor();
  await expectNotSaid(step);
  await expectTyped(step);
  await page.unrouteAll({ behavior: 'wait' });
  await expect.poll(step.count).toBe(before + 1);
}

/** Sends it, for the first time or again, with the answer held back for a look at the page. */
async function pressHeldBack(step: Step, isSentBefore: boolean): Promise<void> {
  const { promise: held, resolve: letGo } = withResolvers();
  const { promise: isAnswered, resolve: tellAnswered } = withResolvers();
  await untilQuiet();
  await intercept(step, async (route, response) => {
    await tryToClose();
    tellAnswered();
    await held;
    await route.fulfill({ response });
  });
  await press(step);
  await isAnswered;
  await expectNotSaid(step);
  letGo();
  await expectDone(step, isSentBefore);
  await page.unrouteAll({ behavior: 'wait' });
}

async function expectDone(step: Step, isSentBefore: boolean): Promise<void> {
  if (!isSentBefore) return await step.done().waitFor();
  await (step.doneAgain ?? step.done)().waitFor();
  await page.locator('.notice', { hasText: 'It was not done a second time.' }).waitFor();
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

/** For one that hangs: how long it takes says more about the machine. */
const HANGING_MS = 600_000;

const WAYS = ['ended', 'severed', 'held back'] as const;

/** Fills a form in and sends it with these interruptions, one after the other. */
async function interrupt(step: Step, ways: readonly (typeof WAYS)[number][], who?: Organization): Promise<void> {
  await step.fill();
  // What its button says may wait for an answer, which is not what is interrupted.
  await step.button().waitFor();
  const before = await step.count();
  const isSevered = ways.includes('severed');
  if (ways.includes('ended')) await pressEnded(step, before, who);
  if (isSevered) await pressSevered(step, before);
  if (ways.includes('held back')) await pressHeldBack(step, isSevered);
  else {
    await intercept(step, (route, response) => route.fulfill({ response }));
    await press(step);
    await expectDone(step, isSevered);
    await page.unrouteAll({ behavior: 'wait' });
  }
  expect(step.sent && sent, step.name).toEqual(step.sent);
  await expect.poll(step.count).toBe(before + 1);
}

/** Says of which step an error is. */
async function naming({ name }: Step, done: Promise<void>): Promise<void> {
  await done.catch((error: unknown) => {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
}

test(
  'whatever comes between, a form says nothing that is not so, keeps what was typed and is done once',
  async () => {
    for (const step of stepsOf(hands, 'Interrupted')) await naming(step, interrupt(step, WAYS));
    expect(visit.faults).toEqual([]);
  },
  HANGING_MS,
);

/** Each step has one of the interruptions, another than its neighbours; INTERRUPTED_APART=1 has all of them at each step. */
const APART = Number(process.env['INTERRUPTED_APART'] ?? WAYS.length);

test(
  'so do the forms beside the journey, each with one of the interruptions',
  async () => {
    const steps = await furtherStepsOf(hands);
    for (const [at, step] of steps.entries()) {
      const ways = WAYS.filter((_, way) => (at + way) % APART === 0);
      await naming(step, interrupt(step, ways));
    }
    expect(visit.faults).toEqual([]);
  },
  HANGING_MS,
);

/** Cuts the answer to the nth of these writes off, once Weir has done it. */
async function sever(path: RegExp, nth = 1): Promise<void> {
  let sent = 0;
  await page.route(
    (url) => path.test(url.pathname),
    async (route) => {
      if (route.request().method() !== 'POST' || (sent += 1) !== nth) return await route.fallback();
      await route.fetch();
      await route.abort();
    },
  );
}

test(
  'the first steps keep what was typed through a sign-in, and never say of a lost key that it was shown',
  async () => {
    const newcomer = await signUp(weir);
    await openSession(newcomer);
    const { button } = hands;
    const { meter, key, plan, subscription } = firstStepsOf(handsOn(weir, newcomer, page));
    await naming(meter, interrupt(meter, ['ended'], newcomer));
    await key.fill();
    await sever(/\/api-keys$/);
    await press(key);
    // The page sees by itself that there is one.
    await page.getByText('There is a key, and nobody can show it again.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await button('Make another').click();
    await press(key);
    await page.getByText('It was made, but got lost on its way here').waitFor();
    expect([await key.done().count(), await key.count()]).toEqual([0, 1]);
    await button('Make another').click();
    await press(key);
    await key.done().waitFor();
    expect(await key.count()).toBe(2);
    for (const step of [plan, subscription]) await naming(step, interrupt(step, ['ended'], newcomer));
    expect(visit.faults).toEqual([]);
  },
  HANGING_MS,
);

test('what is sent one after the other stops where no answer comes, and refuses nothing by that', async () => {
  const { dialog, button } = hands;
  const { token: meter_token } = await organization.createMeter('UNIQUE_COUNT');
  const apiKey = await organization.createKey();
  for (const customer_external_id of ['soylent', 'tyrell', 'weyland']) {
    const body = { meter_token, customer_external_id, quantity: 1 };
    await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
  }
  await weir.drained();
  await page.goto('/events?status=rejected');
  await button('Replay all').click();
  await sever(/\/replay$/, 2);
  await dialog().getByRole('button', { name: 'Replay all' }).click();
  await dialog().getByRole('alert').filter({ hasText: 'No answer came, so it is not known' }).waitFor();
  expect(await dialog().getByRole('status').innerText()).toBe('1 sent again.');
  await page.unrouteAll({ behavior: 'wait' });
});

test('a second press that a full process refuses does not make the first one forgotten', async () => {
  const expectSaid = async (words: string) => {
    await hands.button('Create customer').click();
    await expect.poll(() => hands.dialog().getByRole('alert').filter({ hasText: words }).count()).toBe(1);
    await page.unrouteAll({ behavior: 'wait' });
  };
  visit.expectFaults(/^503 from .*\/customers$/);
  await page.goto('/customers');
  await hands.button('New customer').click();
  await hands.field('External ID').fill('pressed twice');
  const body = JSON.stringify({ code: 'unavailable', detail: 'Nothing was kept.', outcome: 'not_accepted' });
  const [contentType, headers] = ['application/problem+json', { 'x-request-id': 'full' }];
  const refuse = () =>
    page.route(/\/api\/v1\/customers$/, (route) => route.fulfill({ status: 503, contentType, headers, body }));
  for (let press = 1; press <= 2; press += 1) {
    await refuse();
    await expectSaid('Nothing was kept.');
  }
  await sever(/\/customers$/);
  await expectSaid('No answer came, so it is not known whether');
  await refuse();
  await expectSaid('it is not known whether it was done when it was sent before');
});

test('whoever is not told whether an organization was made is told to sign in, and not to make it twice', async () => {
  await visit.context.clearCookies();
  await page.goto('/sign-up');
  for (const [label, text] of [
    ['Organization', 'Initech'],
    ['Email', 'bill@example.com'],
    ['Password', 'correct horse battery'],
  ] as const)
    await page.getByLabel(label).and(page.locator('input')).fill(text);
  await sever(/\/signup$/);
  await hands.button('Create it').click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  expect(await alert.innerText()).toContain('Try to sign in with this password; where that is refused, send it again.');
  await page.unrouteAll({ behavior: 'wait' });
});

/** Holds requests of one method back until they are let go. */
async function hold(method: string, path: RegExp): Promise<() => void> {
  const { promise: isLetGo, resolve: letGo } = withResolvers();
  await page.route(
    (url) => path.test(url.pathname),
    async (route) => {
      if (route.request().method() !== method) return await route.fallback();
      await isLetGo;
      await route.continue();
    },
  );
  return letGo;
}

test('a secret is shown as soon as it is there, and stays until it is put away', async () => {
  const { call, button, dialog, field } = hands;
  const { id: account } = await call('POST', '/service-accounts', { name: 'Nightly', role: 'viewer' });
  const { id: endpoint } = await call('POST', '/webhook-endpoints', { url: 'https://example.com/weir' });
  const make = (opener: string, label: string, text: string) => async () => {
    await button(opener).click();
    await field(label).fill(text);
  };
  const rotate = async () => {
    await button('More actions').click();
    await page.getByRole('menuitem', { name: 'Rotate the secret' }).click();
  };
  const shown: [address: string, ask: () => Promise<void>, send: string, read: RegExp][] = [
    ['/api-keys', make('New key', 'Name', 'Second'), 'Create the key', /\/api-keys$/],
    [`/service-accounts/${account}`, make('New token', 'Name', 'Second'), 'Create the token', /\/tokens$/],
    ['/webhooks', make('New endpoint', 'URL', 'https://example.com/2'), 'Create the endpoint', /\/webhook-endpoints$/],
    [`/webhooks/${endpoint}`, rotate, 'Rotate the secret', /\/webhook-endpoints\/[^/]+$/],
  ];
  for (const [address, ask, send, read] of shown) {
    await page.goto(address);
    await ask();
    const letRead = await hold('GET', read);
    await button(send).click();
    const secret = dialog().locator('pre');
    await secret.waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    letRead();
    expect((await secret.innerText()).length, send).toBeGreaterThan(20);
    await button('I have copied it').click();
    await dialog().waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });
  }
});

test('the link of an invitation stays on its page until it is put away, wherever one looks meanwhile', async () => {
  const { button, field, titled } = hands;
  const link = page.getByRole('region', { name: 'The invitation of grace@example.com' }).locator('pre');
  await page.goto('/settings?tab=people');
  await button('Invite somebody').click();
  await field(/^Email/).fill('grace@example.com');
  await button('Make the invitation').click();
  const shown = await link.innerText();
  await page.getByRole('tab', { name: 'Audit log' }).click();
  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await titled('Customers').waitFor();
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('tab', { name: 'People' }).click();
  expect(await link.innerText()).toBe(shown);
  await button('Put away').click();
  await link.waitFor({ state: 'detached' });
});

test('credit whose answer was lost is granted once, also over a new page and a new session', async () => {
  const { call, button, dialog, field } = hands;
  const { id } = await call('POST', '/customers', { external_id: 'wayne', name: 'Wayne' });
  const grants = async () => (await call('GET', `/customers/${id}/credits`)).grants.length;
  const open = async () => {
    await page.goto(`/customers/${id}?tab=credits`);
    await button('Grant credit').click();
  };
  await open();
  await field('Amount').fill('10.00');
  // What nobody bills has no currency yet.
  expect(await field('Currency').inputValue()).toBe('');
  await field('Currency').fill('USD');
  await page.route('**/credits', async (route) => {
    if (route.request().method() !== 'POST') return await route.fallback();
    await route.fetch();
    await route.abort();
  });
  await button('Grant').click();
  await dialog()
    .getByText(/^No answer came/)
    .waitFor();
  expect(await grants()).toBe(1);
  await page.unrouteAll({ behavior: 'wait' });

  // What a proxy or a sign-in before Weir says of it is no answer of Weir either.
  await open();
  for (const answer of [
    { status: 200, contentType: 'text/html', body: '<title>Sign in</title>' },
    { status: 201, contentType: 'application/json', body: '' },
    { status: 202, headers: { 'x-request-id': 'of-a-proxy' }, body: '' },
  ]) {
    await page.route('**/credits', async (route) => {
      if (route.request().method() !== 'POST') return await route.fallback();
      await route.fetch();
      await route.fulfill(answer);
    });
    await button('Grant').click();
    await dialog().getByText(`answered with ${answer.status}, and not Weir: it is not known whether`).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  }

  // Nor is one that breaks off.
  await page.route('**/credits', async (route) => {
    if (route.request().method() !== 'POST') return await route.fallback();
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).slice(0, -1) });
  });
  await button('Grant').click();
  await dialog()
    .getByText(/^No answer came/)
    .waitFor();
  await page.unrouteAll({ behavior: 'wait' });

  await open();
  expect(await field('Amount').inputValue()).toBe('10.00');
  await visit.context.clearCookies();
  await button('Grant').click();
  await signInAgain();
  await button('Grant').click();
  await page.getByText('Balance: 10.00 USD').waitFor();
  expect(await grants()).toBe(1);
  // Until it is put away, since it may have been meant as another credit.
  const notice = page.locator('.notice', { hasText: 'It was not done a second time.' });
  await notice.getByRole('button', { name: 'Close' }).click();
  await notice.waitFor({ state: 'detached' });

  // Whoever has seen that and grants as much again means it.
  await button('Grant credit').click();
  await field('Amount').fill('10.00');
  await button('Grant').click();
  await page.getByText('Balance: 20.00 USD').waitFor();
  expect(await grants()).toBe(2);
});

test('a dialog closes when its write is done, also where what is read after it gets no answer', async () => {
  const { call, button, dialog, field } = hands;
  const { id } = await call('POST', '/customers', { external_id: 'stark', name: 'Stark' });
  await page.clock.install();
  await page.goto(`/customers/${id}?tab=credits`);
  await button('Grant credit').click();
  await field('Amount').fill('10.00');
  await field('Currency').fill('USD');
  const letRead = await hold('GET', /\/credits$/);
  await button('Grant').click();
  await untilLater(page, dialog(), 'hidden');
  expect((await call('GET', `/customers/${id}/credits`)).grants).toHaveLength(1);
  letRead();
  await page.getByText('Balance: 10.00 USD').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
});
