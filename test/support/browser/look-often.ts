// How often Playwright looks whether what a test waits for is there. After the first quarter of a second it looks twice a second
// only, and sees what takes a page longer up to half a second late: most of what these tests took was that. It has no setting for
// it, so this reaches into its server, which runs in this process. Its version is pinned: one in which these are elsewhere fails here.

import type { Page } from 'playwright-core';

/** Between two looks. */
const PAUSES_MS = [10, 20, 40];
const PAUSE_MS_MAX = 40;

interface Progress {
  wait: (ms: number) => Promise<void>;
}

interface Frame {
  retryWithProgressAndBackoff: (progress: Progress, action: unknown) => Promise<unknown>;
  retryWithProgressAndTimeouts: (progress: Progress, pauses: number[], action: unknown) => Promise<unknown>;
}

interface Element {
  _retryAction: (progress: Progress, ...rest: unknown[]) => Promise<unknown>;
}

const changed = new WeakSet<object>();

/** From now on each page of this process is looked at often. */
export async function lookOften(page: Page): Promise<void> {
  const frames = prototypeWith<Frame>('retryWithProgressAndBackoff', ofServer(page.mainFrame()));
  if (changed.has(frames)) return;
  changed.add(frames);
  frames.retryWithProgressAndBackoff = function (progress, action) {
    return this.retryWithProgressAndTimeouts(progress, PAUSES_MS, action);
  };
  const elements = prototypeWith<Element>('_retryAction', ofServer(await page.evaluateHandle('document.body')));
  const { _retryAction: retry } = elements;
  // oxlint-disable-next-line no-underscore-dangle -- it is called so there
  elements._retryAction = function (progress, ...rest) {
    const wait = (ms: number): Promise<void> => progress.wait(Math.min(ms, PAUSE_MS_MAX));
    return retry.call(this, { ...progress, wait }, ...rest);
  };
}

/** What the server of Playwright has for an object of its interface. */
function ofServer(object: object): object {
  const { _connection: connection } = object as { _connection: { toImpl: (of: object) => object } };
  return connection.toImpl(object);
}

/** The prototype that gives an object a method. */
function prototypeWith<Prototype extends object>(method: keyof Prototype & string, object: object): Prototype {
  for (let each: unknown = object; each !== null; each = Object.getPrototypeOf(each))
    if (Object.hasOwn(each as object, method)) return each as Prototype;
  throw new Error(`Playwright has no ${method} any more: see ${import.meta.url}.`);
}
