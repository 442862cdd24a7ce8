// One meter on the page: what was used in all, how much of its limit that is, the chart, and the exact numbers.

import { exactAmount, ofNothing, shortAmount } from './amounts.js';
import { drawChart, drawLimit } from './chart.js';
import { bucketFormats, dayOf } from './days.js';
import { element } from './parts.js';
import { fill } from './words.js';

/**
 * `usage` is undefined where there is none in the window, and `limit` where it is not asked for or there is none. `redraws` gets
 * what draws the chart in a new width.
 */
export function meterView({ usage, chart, limit, question, locale, words, redraws }) {
  const { name, unit, aggregation_type: aggregation } = usage ?? limit;
  // Nothing was used in the window. The limit may count from before it.
  const total = usage === undefined ? ofNothing(aggregation) : usage.total_usage;
  const told = { locale, none: words.none };
  const view = element(
    'section',
    {},
    element('h2', { textContent: name }),
    element(
      'p',
      {},
      element('span', {
        className: 'total',
        textContent: shortAmount(total, unit, told),
        title: exactAmount(total, unit, told),
      }),
      ' ',
      element('span', { className: 'quiet', textContent: words.shown[aggregation] ?? '' }),
    ),
  );
  if (limit !== undefined && limit.limit !== null) view.append(...limitView(limit, { ...told, words }, question));
  if (chart === undefined) return view;
  const formats = bucketFormats(locale, question);
  let drawn = drawChart(chart, { width: redraws.width(), locale, words, formats });
  redraws.add((width) => {
    const anew = drawChart(chart, { width, locale, words, formats });
    drawn.replaceWith(anew);
    drawn = anew;
  });
  view.append(drawn, tableView(chart, { formats, told, words, grouping: question.group_by }));
  return view;
}

/** A limit counts in a window of its own: where that does not begin with the one that is shown, it is said when it did. */
function limitView(limit, { words, ...told }, { timezone, start_date: shown }) {
  const { unit, overage, remaining, period_start: start, resets_at: resets } = limit;
  const isOver = Number(overage) > 0;
  const short = (amount, of = unit) => shortAmount(amount, of, told);
  const exact = (amount) => exactAmount(amount, unit, told);
  const used = fill(words.ofLimit, { usage: short(limit.usage, null), limit: short(limit.limit) });
  const rest = isOver ? fill(words.over, { amount: short(overage) }) : fill(words.left, { amount: short(remaining) });
  const day = (at) => ({ day: dayOf(at, timezone, told.locale) });
  const since = Date.parse(start) === Date.parse(shown) ? [] : [fill(words.since, day(start))];
  const anew = resets === null ? [] : [fill(words.resets, day(resets))];
  return [
    drawLimit(limit),
    element('p', {
      className: isOver ? 'quiet over' : 'quiet',
      title: fill(words.ofLimit, { usage: exact(limit.usage), limit: exact(limit.limit) }),
      textContent: [used, ...since, rest, ...anew].join(' · '),
    }),
  ];
}

function tableView({ grouped_data: buckets, total_usage: total, unit }, { formats, told, words, grouping }) {
  const row = (day, usage) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row', textContent: day }),
      element('td', { textContent: exactAmount(usage, unit, told) }),
    );
  const head = [words.head[grouping], words.head.usage].map((textContent) =>
    element('th', { scope: 'col', textContent }),
  );
  const table = element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...buckets.map(({ period_start: start, usage }) => row(formats.long(start), usage))),
    element('tfoot', {}, row(words.head.total, total)),
  );
  return element('details', {}, element('summary', { textContent: words.table[grouping] }), table);
}
