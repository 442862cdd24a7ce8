// What runs in the page /embed. The token comes in the fragment of the address, which no browser sends to a server, or from the page
// around this one. How that page is told, docs/guides/embedding.md says.

import { billingView } from './billing-view.js';
import { lastDays, periodSoFar } from './days.js';
import { meterView } from './meter-view.js';
import { askForToken, hearTokens, tellHeight } from './parent.js';
import { element } from './parts.js';
import { isNoAnswer, read, readCharts, timeNow, Trouble } from './reading.js';
import { chooseLocale, wordsOf } from './words.js';

/** A new token is asked for so long before the one at hand ends. */
const SECONDS_BEFORE_END = 60;

/** Whoever is asked for a token and says nothing for so long has none. */
const ANSWER_MS_MAX = 10_000;

const WINDOWS = ['7', '30', '90', 'period'];

const [message, again, meters, billing, windows, title] = [
  'message',
  'again',
  'meters',
  'billing',
  'windows',
  'title',
].map((id) => document.querySelector(`#${id}`));
const parameters = new URLSearchParams(location.search);
const locale = chooseLocale(parameters.get('lang'), navigator.languages);
const words = wordsOf(locale);

/** What an app shows, `usage`, `billing` or `all`: not everybody who shows usage shows invoices here. */
const shown = parameters.get('show') ?? 'usage';

let token = tokenInAddress();
let hadToken = token !== undefined;
let chosen = parameters.get('window') ?? '30';
/** Each read has a number: an answer that comes after a newer question is not shown. */
let reads = 0;
let endTimer;
let silenceTimer;
let askedFor;
/** The token that was refused last. Who gives it again has no other, and is not asked on and on. */
let refused;
/** The token that billing was read with. It does not change with the window of usage. */
let billedFor;
/** What is shown of billing, as text: an invoice that is being read stays open where a new token finds nothing new. */
let billed;

/** What draws the charts anew when the page gets another width. */
const redraws = {
  drawn: [],
  width: () => Math.max(200, meters.clientWidth),
  add(draw) {
    this.drawn.push(draw);
  },
};

function tokenInAddress() {
  return new URLSearchParams(location.hash.slice(1)).get('token') ?? undefined;
}

async function show() {
  const number = (reads += 1);
  again.hidden = true;
  if (token === undefined) {
    waitForToken();
    return;
  }
  meters.ariaBusy = 'true';
  if (isEmpty()) message.textContent = words.loading;
  const asked = token;
  try {
    const views = shown === 'billing' ? [] : await readViews(asked);
    const account = shown === 'usage' || billedFor === asked ? undefined : await readBilling(asked);
    if (number !== reads) return;
    redraws.drawn = [];
    meters.replaceChildren(...views.map((view) => meterView({ ...view, locale, words, redraws })));
    if (account !== undefined && JSON.stringify(account) !== billed) {
      billing.replaceChildren(billingView(account, told));
      billed = JSON.stringify(account);
    }
    billedFor = asked;
    markChosen();
    message.textContent = views.length === 0 && shown !== 'billing' ? words.nothing : '';
  } catch (error) {
    if (number !== reads) return;
    if (error instanceof Trouble && error.hasEnded) {
      refused = asked;
      token = undefined;
      waitForToken();
      return;
    }
    message.textContent = words.broken;
    again.hidden = false;
    // A defect belongs on the console.
    if (!isNoAnswer(error)) throw error;
  } finally {
    if (number === reads) meters.ariaBusy = 'false';
  }
}

function isEmpty() {
  return meters.childElementCount === 0 && billing.childElementCount === 0;
}

/** With what billing is shown. What is behind an invoice is read later, with the token that is at hand then. */
const told = {
  words,
  locale,
  hasHeading: shown === 'all',
  async ask(reading, path, query) {
    try {
      return await reading(token ?? '', path, query);
    } catch (error) {
      if (error instanceof Trouble && error.hasEnded) waitForToken();
      throw error;
    }
  },
};

async function readBilling(withToken) {
  const { token_expires_in: seconds, ...balance } = await read(withToken, 'balance');
  expectEnd(withToken, seconds);
  const [{ plan }, invoices] = await Promise.all([read(withToken, 'plan'), read(withToken, 'invoices')]);
  return { balance, plan, invoices };
}

/** What to show of each meter in the window that is chosen. */
async function readViews(withToken) {
  const { billing_period: period, data: limits } = await read(withToken, 'billing-period');
  offerWindows(period !== null);
  const { question, usage } = await readUsage(withToken, period);
  expectEnd(withToken, usage.token_expires_in);
  const charts = await readCharts(withToken, usage.data, question);
  const given = new Map(chosen === 'period' ? limits.map((limit) => [limit.meter_id, limit]) : []);
  const views = usage.data.map((each) => {
    const id = each.meter_id;
    return { question, usage: each, chart: charts.get(id), limit: given.get(id) };
  });
  // What may be used, and was not yet, is worth knowing too.
  const unused = [...given.values()].filter(({ meter_id: id, limit }) => limit !== null && !charts.has(id));
  return [...views, ...unused.map((limit) => ({ question, limit }))];
}

async function readUsage(withToken, period) {
  const ask = async (timezone) => {
    const now = timeNow();
    const question = chosen === 'period' ? periodSoFar(period, now) : lastDays(Number(chosen), timezone, now);
    const { group_by: _, ...window } = question;
    return { question, usage: await read(withToken, 'usage', window) };
  };
  try {
    return await ask(Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC');
  } catch (error) {
    // A browser may know a time zone by a name that the server does not.
    if (error instanceof Trouble && error.status === 422) return await ask('UTC');
    throw error;
  }
}

function offerWindows(hasPeriod) {
  const offered = WINDOWS.filter((each) => each !== 'period' || hasPeriod);
  if (!offered.includes(chosen)) chosen = '30';
  if (windows.childElementCount !== offered.length) {
    const buttons = offered.map((each) => {
      const button = element('button', { type: 'button', value: each, textContent: words.windows[each] });
      button.addEventListener('click', () => {
        chosen = each;
        void show();
      });
      return button;
    });
    windows.replaceChildren(...buttons);
  }
}

/** The window of the charts that are shown, which is not yet the one that is being read. */
function markChosen() {
  for (const button of windows.children) button.ariaPressed = String(button.value === chosen);
}

/** Asks for a new token in time, once for each. */
function expectEnd(ofToken, seconds) {
  clearTimeout(endTimer);
  if (askedFor === ofToken) return;
  endTimer = setTimeout(
    () => {
      askedFor = ofToken;
      askForToken();
    },
    Math.max(0, seconds - SECONDS_BEFORE_END) * 1000,
  );
}

/** What is shown stays, while the page around this one is asked for a token. */
function waitForToken() {
  clearTimeout(endTimer);
  clearTimeout(silenceTimer);
  if (!askForToken()) {
    giveUp();
    return;
  }
  if (isEmpty()) message.textContent = words.loading;
  silenceTimer = setTimeout(giveUp, ANSWER_MS_MAX);
}

function giveUp() {
  message.textContent = hadToken ? words.ended : words.noToken;
  again.hidden = window.parent === window;
  meters.ariaBusy = 'false';
}

function takeToken(given) {
  clearTimeout(silenceTimer);
  if (given === refused) {
    giveUp();
    return;
  }
  token = given;
  hadToken = true;
  void show();
}

document.documentElement.lang = locale;
title.textContent = shown === 'billing' ? words.billing.title : words.title;
document.title = title.textContent;
again.textContent = words.again;
again.addEventListener('click', () => void show());
hearTokens(takeToken);
// An app may also put a new token into the address of the frame.
addEventListener('hashchange', () => {
  const given = tokenInAddress();
  if (given !== undefined) takeToken(given);
});
let width = redraws.width();
new ResizeObserver(() => {
  if (redraws.width() === width) return;
  width = redraws.width();
  for (const draw of redraws.drawn) draw(width);
}).observe(meters);
tellHeight();
await show();
