// What a customer owes, its invoices and what its plan costs. What is behind an invoice is read when it is opened.

import { exactAmount, money } from './amounts.js';
import { dateOf, dayOf, timeOf } from './days.js';
import { element } from './parts.js';
import { priceOf } from './prices.js';
import { isNoAnswer, read, readFile } from './reading.js';
import { fill } from './words.js';

/** `told.ask` reads with the token at hand. */
export function billingView({ balance, plan, invoices }, told) {
  const heading = told.hasHeading ? [element('h2', { textContent: told.words.billing.title })] : [];
  const view = element('section', {}, ...heading, ...owedView(balance, told));
  if (plan !== null) view.append(planView(plan, told));
  if (invoices.data.length > 0) view.append(invoicesView(invoices, told));
  return view;
}

const isZero = (amount) => !/[1-9]/.test(amount);

function owedView({ data }, { words, locale }) {
  const of = words.billing;
  const line = (className, text, amount, currency) =>
    isZero(amount)
      ? []
      : [element('p', { className, textContent: fill(text, { amount: money(amount, currency, locale) }) })];
  const told = data.flatMap(({ currency, amount_due: due, past_due: past, credit }) => [
    ...(isZero(due)
      ? []
      : [
          element(
            'p',
            {},
            element('span', { className: 'total', textContent: money(due, currency, locale) }),
            ' ',
            element('span', { className: 'quiet', textContent: of.due }),
          ),
        ]),
    ...line('quiet over', of.pastDue, past, currency),
    ...line('quiet', of.credit, credit, currency),
  ]);
  const isOwed = data.some(({ amount_due: due }) => !isZero(due));
  return isOwed ? told : [element('p', { textContent: of.nothingDue }), ...told];
}

function planView({ name, billing_interval: interval, currency, charges }, { words, locale }) {
  const prices = charges.map((charge) =>
    element(
      'li',
      {},
      charge.display_name,
      ' ',
      element('span', { className: 'quiet', textContent: priceOf(charge, { currency, interval, words, locale }) }),
    ),
  );
  const summary = element('summary', { textContent: fill(words.billing.prices, { plan: name }) });
  return element('details', {}, summary, element('ul', {}, ...prices));
}

function invoicesView(first, told) {
  const list = element('ul', { className: 'invoices' });
  const add = ({ data }) => list.append(...data.map((invoice) => invoiceView(invoice, told)));
  const view = element('div', {}, element('h3', { textContent: told.words.billing.invoices }), list);
  add(first);
  let { next_cursor: cursor } = first.meta;
  const more = moreButton(told, async () => {
    const next = await told.ask(read, 'invoices', { cursor });
    add(next);
    cursor = next.meta.next_cursor;
    return cursor !== null;
  });
  if (cursor !== null) view.append(more);
  return view;
}

function invoiceView(invoice, told) {
  const { words, locale } = told;
  const { id, invoice_number: number, issue_date: issued, status, currency, total, is_past_due: isPastDue } = invoice;
  // One of nothing, or below zero, has the status PAID, and there was nothing to pay.
  const isSettled = status === 'PAID' && (isZero(total) || total.startsWith('-'));
  const state = words.billing.states[isPastDue ? 'PAST_DUE' : isSettled ? 'SETTLED' : status];
  const facts = [dateOf(issued, locale), money(total, currency, locale)].join(' · ');
  const summary = element(
    'summary',
    {},
    element('span', { className: 'name', textContent: number }),
    ` ${facts} · `,
    element('span', { className: isPastDue ? 'over' : '', textContent: state }),
  );
  const details = element('details', {}, summary);
  fillWhenOpened(details, told, async () => linesView(await told.ask(read, `invoices/${id}`), told));
  return element('li', {}, details, pdfButton({ id, number }, told));
}

function pdfButton({ id, number }, told) {
  const { pdf } = told.words.billing;
  const button = actingButton(pdf, told, async () => {
    const href = URL.createObjectURL(await told.ask(readFile, `invoices/${id}/pdf`, { as: 'now' }));
    element('a', { href, download: `${number.replaceAll('/', '-')}.pdf` }).click();
    URL.revokeObjectURL(href);
  });
  button.ariaLabel = `${pdf} ${number}`;
  return button;
}

function linesView(invoice, told) {
  const { words } = told;
  const body = element('tbody');
  const add = (lines) => body.append(...lines.flatMap((line) => lineRows(line, invoice, told)));
  add(invoice.lines);
  const head = words.billing.head.map((textContent) => element('th', { scope: 'col', textContent }));
  const foot = element('tfoot', {}, ...sumRows(invoice, told));
  const table = element('table', {}, element('thead', {}, element('tr', {}, ...head)), body, foot);
  let cursor = invoice.lines_next_cursor;
  const more = moreButton(told, async () => {
    const { data, meta } = await told.ask(read, `invoices/${invoice.id}/lines`, { cursor });
    add(data);
    cursor = meta.next_cursor;
    return cursor !== null;
  });
  return element('div', { className: 'lines' }, table, ...(cursor === undefined ? [] : [more]));
}

function lineRows(line, { id, currency, time_zone: zone }, told) {
  const { words, locale } = told;
  const { period_start: start, period_end: end, quantity } = line;
  const name = element('th', { scope: 'row' }, element('span', { className: 'name', textContent: line.description }));
  if (start !== null) {
    const days = [start, new Date(Date.parse(end) - 1).toISOString()].map((at) => dayOf(at, zone, locale));
    name.append(element('span', { className: 'quiet', textContent: [...new Set(days)].join(' – ') }));
  }
  const explained = explainedBy(line, currency, told);
  if (explained !== '') name.append(element('span', { className: 'quiet', textContent: explained }));
  const row = element(
    'tr',
    {},
    name,
    element('td', { textContent: quantity === null ? '' : exactAmount(quantity, null, { locale }) }),
    element('td', { textContent: money(line.amount, currency, locale) }),
  );
  if (!line.has_events) return [row];
  const events = element('details', {}, element('summary', { textContent: words.billing.events }));
  fillWhenOpened(events, told, () => eventsView(`invoices/${id}/lines/${line.id}/events`, zone, told));
  name.append(events);
  return [row];
}

/** What a line comes to its amount by, as on the PDF. */
function explainedBy({ kind, charge, days, billed_before: before, waived }, currency, { words, locale }) {
  const of = words.billing;
  const cost = (text) => money(text, currency, locale);
  return [
    ...(kind === 'LATE_USAGE' ? [of.late] : []),
    // A line does not say how long the periods of the plan are.
    ...(charge === null ? [] : [priceOf(charge, { words, locale, currency, interval: 'period' })]),
    ...(days === null ? [] : [fill(of.days, { days })]),
    ...(isZero(before) ? [] : [fill(of.before, { amount: cost(before) })]),
    ...(waived === null ? [] : [fill(of.waived, { amount: cost(waived) })]),
  ].join(' · ');
}

/** What the lines come to, what has gone off it, and what is left. */
function sumRows(invoice, { words, locale }) {
  const of = words.billing;
  const { currency, tax, credits_applied: credits, time_zone: zone } = invoice;
  const paid = ({ amount, paid_at: at }) => [fill(of.paid, { day: dayOf(at, zone, locale) }), `-${amount}`];
  const sums = [
    ...(isZero(tax)
      ? []
      : [
          [of.subtotal, invoice.subtotal],
          [of.tax, tax],
        ]),
    [of.total, invoice.total],
    ...(isZero(credits) ? [] : [[of.credits, `-${credits}`]]),
    ...invoice.payments.map(paid),
    [invoice.status === 'UNCOLLECTIBLE' ? of.unpaid : of.left, invoice.amount_due],
  ];
  return sums.map(([textContent, amount]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row', colSpan: 2, textContent }),
      element('td', { textContent: money(amount, currency, locale) }),
    ),
  );
}

async function eventsView(path, zone, told) {
  const { words, locale, ask } = told;
  const list = element('ul', { className: 'events' });
  let cursor;
  const add = async () => {
    const { data, meta } = await ask(read, path, cursor === undefined ? {} : { cursor });
    const said = ({ timestamp, quantity, status }) => {
      const amount = exactAmount(quantity, null, { locale });
      return [timeOf(timestamp, zone, locale), amount, ...(status === 'voided' ? [words.billing.voided] : [])];
    };
    list.append(...data.map((event) => element('li', { textContent: said(event).join(' · ') })));
    cursor = meta.next_cursor;
    return cursor !== null;
  };
  const isMore = await add();
  if (list.childElementCount === 0) list.append(element('li', { textContent: words.none }));
  return element('div', {}, list, ...(isMore ? [moreButton(told, add)] : []));
}

/** A button that adds what comes next, and goes when that was all. */
function moreButton(told, add) {
  const button = actingButton(told.words.billing.more, told, async () => {
    if (!(await add())) button.remove();
  });
  return button;
}

/** A button that does one thing at a time, and asks to be tried again where that came to nothing. */
function actingButton(textContent, { words }, act) {
  const button = element('button', { type: 'button', textContent });
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      await act();
      button.textContent = textContent;
    } catch (error) {
      button.textContent = words.again;
      rethrowDefect(error);
    } finally {
      button.disabled = false;
    }
  });
  return button;
}

/** Puts in what is read once it is opened, or what to do where it cannot be read: the next opening reads it again. */
function fillWhenOpened(details, { words }, make) {
  const waiting = element('p', { className: 'quiet' });
  let isRead = false;
  details.addEventListener('toggle', async () => {
    if (!details.open || isRead) return;
    isRead = true;
    waiting.textContent = words.loading;
    details.append(waiting);
    try {
      waiting.replaceWith(await make());
    } catch (error) {
      isRead = false;
      waiting.textContent = words.billing.broken;
      rethrowDefect(error);
    }
  });
}

/** That there is no answer is told on the page; anything else is a defect, and belongs on the console. */
function rethrowDefect(error) {
  if (!isNoAnswer(error)) throw error;
}
