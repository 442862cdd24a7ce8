// Pages of the console whose reads get no answer.

import type { Page } from 'playwright-core';
import { until } from '../harness.ts';

/** Who is signed in: without it no page is drawn at all. */
const SESSION = '/api/v1/auth/me';

/** A page of nothing, which reads nothing. */
const NOWHERE = '/no/such/page';

/** Long enough for each try of a read, and for the next one to be waited for. */
const STEP_MS = 1_500;

/** After so many steps the console has given up what it read at first. */
const STEPS = 4;

interface Shown {
  alerts: number;
  /** What is still said to be loading. */
  loading: number;
  /** Figures that are known, and what is said in place of a table without rows. */
  said: string[];
  /** All that a person reads, beside the alerts and what stands there whatever is read. */
  text: string;
}

const LOOK = `(() => {
  const main = document.querySelector('main').cloneNode(true);
  const textsOf = (selector) => [...main.querySelectorAll(selector)].map(({ textContent }) => textContent);
  const alerts = textsOf('[role=alert]').length;
  const loading = textsOf('.loading, .opening, [aria-busy=true], [data-loading]').length;
  for (const part of main.querySelectorAll('[role=alert], .page-about, .section-about, form')) part.remove();
  const nodes = [...main.querySelectorAll('*')].flatMap(({ childNodes }) => [...childNodes]);
  const text = nodes.flatMap(({ nodeType, data }) => (nodeType === Node.TEXT_NODE ? [data] : [])).join(' ');
  const said = textsOf('.figure, .empty').filter((words) => words !== '–');
  return { alerts, loading, said, text };
})()`;

/** Of a thing, in an address. */
const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** A number, or that there is none. */
const SAID = /\d|\b(?:no|none|nothing|never)\b/i;

/**
 * Goes from page to page, as links do, while nothing can be read but who is signed in and, with `andTheThing`, the thing whose id is in
 * the address. Returns what pages say all the same of what they cannot know, but for what is `known`. Throws where one does not say
 * that something cannot be read, or loads for ever. The clock of the page stands still, so that nobody waits between the tries of a
 * read.
 */
export async function findMissaid(
  page: Page,
  addresses: [name: string, address: string][],
  { andTheThing, known }: { andTheThing: boolean; known: string },
): Promise<string[]> {
  const cutOff = new Set<string>();
  let thing: string | undefined;
  await page.route(
    ({ pathname }) => pathname.startsWith('/api/') && pathname !== SESSION,
    async (route) => {
      const { pathname } = new URL(route.request().url());
      if (thing !== undefined && pathname.endsWith(thing)) return await route.continue();
      cutOff.add(pathname);
      await route.abort();
    },
  );
  const goTo = (address: string) => page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`);
  const look = async (): Promise<Shown> => {
    await page.clock.runFor(STEP_MS);
    return await page.evaluate<Shown>(LOOK);
  };
  const found: string[] = [];
  for (const [name, address] of addresses) {
    await goTo(NOWHERE);
    await page.getByRole('heading', { level: 1, name: 'Nothing here' }).waitFor();
    cutOff.clear();
    thing = andTheThing ? ID.exec(address)?.[0] : undefined;
    await goTo(address);
    await until(async () => {
      await look();
      return cutOff.size > 0;
    }, `${name} reads what it cannot get`);
    for (let step = 0; step < STEPS; step += 1) await look();
    let shown = await look();
    await until(
      async () => {
        shown = await look();
        return shown.loading === 0 && shown.alerts > 0;
      },
      `${name} loads nothing any more, and says that it cannot read ${[...cutOff].join(' and ')}`,
    );
    found.push(...shown.said.map((words) => `${name} says “${words}”`));
    const text = shown.text.replaceAll(known, '');
    if (thing === undefined && SAID.test(text)) found.push(`${name} says “${text}”`);
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  return found;
}
