// Every form of the journey three times: its answer held back, its answer cut off, and the session ended before it. Nothing is said
// to be done that is not known to be; what was typed stays; and a second press never does it twice.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openBrowser, type Browser, type Visit } from '../support/browser/browser.ts';
import { handsOn, stepsOf, type Hands, type Step } from '../support/browser/journey-steps.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let organization: Organization;
let browser: Browser;
let visit: Visit;
let page: Page;
let hands: Hands;

beforeAll(async () => {
  [organization, browser] = await Promise.all([signUp(weir), openBrowser([weir.baseUrl])]);
  visit = await browser.visit({ baseURL: weir.baseUrl, viewport: { width: 1280, height: 900 } });
  page = visit.page;
  hands = handsOn(weir, organization, page);
}, 120_000);
beforeEach(() => openSession());
afterAll(async () => {
  await browser?.close();
});

const openSession = () =>
  visit.context.addCookies([{ name: 'access_token', value: organization.session, url: weir.baseUrl }]);

/** Stands between the page and Weir for the one write of a step. */
async function intercept({ write: [method, path] }: Step, answer: (fulfill: () => Promise<void>) => Promise<boolean>) {
  await page.route(
    (url) => path.test(url.pathname),
    async (route) => {
      if (route.request().method() !== method) return await route.fallback();
      const response = await route.fetch();
      if (!(await answer(() => route.fulfill({ response })))) await route.abort();
    },
  );
}

const press = (step: Step) => step.button().dispatchEvent('click');

async function expectNotSaid(step: Step): Promise<void> {
  expect([await step.done().count(), await page.locator('.notice').count()], step.name).toEqual([0, 0]);
}

async function expectTyped(step: Step): Promise<void> {
  const [place, text] = step.typed?.() ?? [];
  if (place !== undefined) expect(await place.inputValue(), step.name).toBe(text);
}

/** Sends it with the answer held back until Weir has done it. */
async function heldBack(step: Step): Promise<void> {
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const before = await step.count();
  await intercept(step, async (fulfill) => {
    await held;
    await fulfill();
    return true;
  });
  await press(step);
  await expect.poll(step.count, { message: step.name }).toBe(before + 1);
  await expectNotSaid(step);
  letGo();
  await step.done().waitFor();
  await page.unrouteAll({ behavior: 'wait' });
}

/** Sends it with the answer cut off after Weir has done it, and sends it again. */
async function cutOff(step: Step): Promise<void> {
  const before = await step.count();
  await intercept(step, async () => false);
  await press(step);
  const alert = page.getByRole('alert').filter({ hasText: 'No answer came, so it is not known whether Weir has done' });
  await alert.waitFor();
  await expectNotSaid(step);
  await expectTyped(step);
  await page.unrouteAll({ behavior: 'wait' });
  await press(step);
  await (step.doneAgain ?? step.done)().waitFor();
  await expect.poll(step.count, { message: step.name }).toBe(before + 1);
  await page.locator('.notice', { hasText: 'It was not done a second time.' }).waitFor();
}

/** Signs in over the page whose session has ended. */
async function signInAgain(): Promise<void> {
  const again = page.getByRole('dialog', { name: 'Your session has ended' });
  await again.getByRole('textbox', { name: 'Password' }).fill(organization.password);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'detached' });
}

/** Ends the session before it is sent, signs in over the page, and sends it again. */
async function ended(step: Step): Promise<void> {
  const before = await step.count();
  await visit.context.clearCookies();
  await press(step);
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  await expectNotSaid(step);
  expect(await step.count(), step.name).toBe(before);
  await signInAgain();
  await expectTyped(step);
  await press(step);
  await step.done().waitFor();
  await expect.poll(step.count, { message: step.name }).toBe(before + 1);
}

async function walk(name: string, how: (step: Step) => Promise<void>): Promise<void> {
  for (const step of stepsOf(hands, name)) {
    await step.fill();
    // What its button says may wait for an answer, which is not what is interrupted.
    await step.button().waitFor();
    await how(step).catch((error: unknown) => {
      throw new Error(`${name}, ${step.name}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    });
    expect(await step.count(), step.name).toBeGreaterThan(0);
  }
  expect(visit.faults).toEqual([]);
}

test('while an answer is held back, nothing is said to be done', () => walk('Held', heldBack), 180_000);

test(
  'of an answer that is cut off it is said that it is not known, and a second press does it once',
  () => walk('Severed', cutOff),
  180_000,
);

test(
  'a session that ends before it takes nothing that was typed, and it is sent over the same page',
  () => walk('Expired', ended),
  180_000,
);

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

  await open();
  expect(await field('Amount').inputValue()).toBe('10.00');
  await visit.context.clearCookies();
  await button('Grant').click();
  await signInAgain();
  await button('Grant').click();
  await page.getByText('Balance: 10.00 USD').waitFor();
  expect(await grants()).toBe(1);

  // Whoever has seen that and grants as much again means it.
  await button('Grant credit').click();
  await field('Amount').fill('10.00');
  await button('Grant').click();
  await page.getByText('Balance: 20.00 USD').waitFor();
  expect(await grants()).toBe(2);
});
