// A real browser for tests. What a page does that it must not do is collected while it is used: requests to others, what its
// content-security policy stopped, errors that nobody caught, and what moved under the reader's eyes. Whoever closes it hears of all but
// the last.

import type axe from 'axe-core';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { chromium, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { findChromium } from './chromium.ts';

export interface Browser {
  /** A person with a browser that has been nowhere yet, who may also speak to these addresses. */
  visit(options?: BrowserContextOptions, otherOrigins?: readonly string[]): Promise<Visit>;
  /** Fails where anything went wrong in a visit that is still open. */
  close(): Promise<void>;
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  /** What went wrong on its pages so far, in words, each with the test; empty when all is well. */
  faults: readonly string[];
  /** Has what is like this be no fault in this test, which is about to bring it about. */
  expectFaults(like: RegExp): void;
  /** Fails where anything went wrong. */
  close(): Promise<void>;
}

/** A name of this machine which a browser takes for another one: over plain HTTP it has nothing there that only a secure page has. */
const OTHER_MACHINE = 'weir.test';

/** Returns an address of this machine under that name. */
export const fromOtherMachine = (address: string): string =>
  Object.assign(new URL(address), { hostname: OTHER_MACHINE }).origin;

const flags = [
  `--host-resolver-rules=MAP ${OTHER_MACHINE} 127.0.0.1`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A page lives for a second or two: to compile its code for speed takes more of the processor than it saves.
  '--js-flags=--no-maglev --no-turbofan',
];

/** What Scalar draws on the page of the reference; its barriers are in docs/decisions/0050. */
const NOT_OURS = '#reference';

const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** WCAG 2.2, levels A and AA. */
const accessibilityTags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Counts what moves without having been asked to, as Chromium's own figure for it does. */
const watchShifts = `
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.layoutShift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** Opens Chromium with a profile of its own. `ownOrigins` are the addresses that its pages may speak to. */
export async function openBrowser(ownOrigins: readonly string[]): Promise<Browser> {
  const program = await findChromium();
  const browser = await chromium.launch({ executablePath: program.path, env: program.env, args: flags });
  const open = new Set<readonly string[]>();
  return {
    async visit(options = {}, otherOrigins = []) {
      const own = new Set([...ownOrigins, ...otherOrigins].map((address) => new URL(address).origin));
      const context = await browser.newContext({
        locale: 'en-GB',
        timezoneId: 'UTC',
        // What fades from one colour into another is not looked at halfway.
        reducedMotion: 'reduce',
        ...options,
      });
      await context.addInitScript({ content: watchShifts });
      // As long as any wait of a test: a busy machine is no fault of a page.
      context.setDefaultTimeout(30_000);
      const faults: string[] = [];
      const expected: { test: string | undefined; like: RegExp }[] = [];
      const testNow = () => expect.getState().currentTestName;
      const tell = (fault: string): void => {
        const test = testNow();
        if (!expected.some((one) => one.test === test && one.like.test(fault))) faults.push(`${fault} (${test})`);
      };
      context.on('request', (request) => {
        const { origin, protocol } = new URL(request.url());
        const isOwn = protocol === 'data:' || protocol === 'blob:' || own.has(origin);
        if (!isOwn) tell(`a request to somebody else: ${request.url()}`);
        const isUnseen = request.method() === 'PATCH' && request.headers()['if-match']?.startsWith('"') !== true;
        if (isUnseen) tell(`a PATCH that does not say what it changes: ${request.url()}`);
      });
      context.on('response', (response) => {
        // One person at a time never asks for more than a caller may.
        if (response.status() >= 500 || response.status() === 429) tell(`${response.status()} from ${response.url()}`);
      });
      context.on('weberror', (error) => tell(`an error that nobody caught: ${error.error().message}`));
      context.on('console', (message) => {
        // Each answer from 400 on is written there, too: those that a person is shown are no fault.
        const isAnswer = message.text().startsWith('Failed to load resource');
        if (message.type() === 'error' && !isAnswer) tell(`the console says: ${message.text()}`);
      });
      const page = await context.newPage();
      open.add(faults);
      const close = async (): Promise<void> => {
        await context.close();
        open.delete(faults);
        expect(faults).toEqual([]);
      };
      const expectFaults = (like: RegExp) => void expected.push({ test: testNow(), like });
      return { context, page, faults, expectFaults, close };
    },
    async close() {
      await browser.close();
      expect([...open].flat()).toEqual([]);
    },
  };
}

/** The selector of an open dialog. */
export const DIALOG = '[role="dialog"]';

/** The rules of which a page may keep one in light and break it in dark. */
const colorRules = ['color-contrast', 'link-in-text-block'];

/**
 * Violations of WCAG 2.2 AA on a page as it stands, each with the element and what is wrong with it; or only those of its colours.
 * `within` is the selector of a part, where the rest of the page has been looked at.
 */
export async function findBarriers(
  page: Page,
  { of = 'everything', within }: { of?: 'everything' | 'colors'; within?: string } = {},
): Promise<string[]> {
  const options = {
    ...(of === 'colors'
      ? { runOnly: { type: 'rule', values: colorRules } }
      : {
          runOnly: { type: 'tag', values: accessibilityTags },
          // No rule of WCAG, but two landmarks of one name cannot be told apart in a list of them.
          rules: { 'landmark-unique': { enabled: true } },
        }),
    resultTypes: ['violations'],
  };
  const context = JSON.stringify({ ...(within !== undefined && { include: [within] }), exclude: [NOT_OURS] });
  // Only now: it is as large as the console, and most pages are loaded for something else.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(await axeSource);
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${context}, ${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
  );
}

/** How much of the page moved by itself since it was loaded; 0 is nothing. */
export function layoutShift(page: Page): Promise<number> {
  return page.evaluate<number>('window.layoutShift');
}

/** What is wider than its place, the page itself or a table: one would have to shift it to read an amount. */
export async function findCutOff(page: Page): Promise<string[]> {
  // Charts are drawn anew where the window has another width.
  const fits = await page
    .waitForFunction('document.documentElement.scrollWidth <= document.documentElement.clientWidth')
    .catch(() => undefined);
  const tables = await page
    .locator('.table-frame')
    .evaluateAll((frames: { scrollWidth: number; clientWidth: number; ariaLabel: string | null }[]) =>
      frames.filter((frame) => frame.scrollWidth > frame.clientWidth).map((frame) => frame.ariaLabel ?? 'a table'),
    );
  return fits === undefined ? ['the page', ...tables] : tables;
}

/** Bytes that cross the wire for what `load` does in a browser that has nothing yet, headers and all: by address, the largest first. */
export async function countBytes(
  page: Page,
  load: () => Promise<unknown>,
): Promise<[address: string, bytes: number][]> {
  const client = await page.context().newCDPSession(page);
  const addresses = new Map<string, string>();
  const bytes: [string, number][] = [];
  client.on('Network.requestWillBeSent', ({ requestId, request }) => addresses.set(requestId, request.url));
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
    bytes.push([addresses.get(requestId) ?? requestId, encodedDataLength]),
  );
  await client.send('Network.enable');
  await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  await load();
  await client.detach();
  return bytes.sort(([, left], [, right]) => right - left);
}
