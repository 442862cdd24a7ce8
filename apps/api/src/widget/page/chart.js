// Bars over time, with an axis of amounts and one of days. Only how high a bar is comes from a rounded number.

import { axisAmount, exactAmount, roundEnd } from './amounts.js';
import { drawing } from './parts.js';
import { fill } from './words.js';

const HEIGHT = 152;
const TOP = 8;
const BOTTOM = 20;

/** Of a digit on the axis, some more than it takes. */
const DIGIT_WIDTH = 7;

/** A bar by itself is no wall. */
const BAR_WIDTH_MAX = 40;

/** A day such as `20 Nov` needs no more than this. */
const LABEL_WIDTH = 64;

/** Draws the buckets of a meter, as wide as it is told. */
export function drawChart({ grouped_data: buckets, unit }, { width, locale, words, formats }) {
  const values = buckets.map(({ usage }) => Number(usage ?? 0));
  const highest = Math.max(...values);
  const end = roundEnd(highest);
  const ticks = [0, end / 2, end].map((amount) => ({ amount, text: axisAmount(amount, locale) }));
  const left = Math.max(...ticks.map(({ text }) => text.length)) * DIGIT_WIDTH + 6;
  const bottom = HEIGHT - BOTTOM;
  const yOf = (amount) => bottom - (amount / end) * (bottom - TOP);
  const step = (width - left) / buckets.length;
  const barWidth = Math.min(step * 0.8, BAR_WIDTH_MAX);
  const exact = (usage) => exactAmount(usage, unit, { locale, none: words.none });

  const axis = ticks.flatMap(({ amount, text }) => [
    drawing('line', { x1: left, x2: width, y1: yOf(amount), y2: yOf(amount) }),
    drawing('text', { x: left - 6, y: yOf(amount) + 4, 'text-anchor': 'end' }, text),
  ]);
  const bars = buckets.map(({ period_start: start, usage }, index) => {
    const x = left + index * step;
    const y = yOf(values[index]);
    return drawing(
      'g',
      {},
      drawing('title', {}, `${formats.long(start)}: ${exact(usage)}`),
      drawing('rect', { class: 'day', x, y: TOP, width: step, height: bottom - TOP }),
      drawing('rect', { class: 'bar', x: x + (step - barWidth) / 2, y, width: barWidth, height: bottom - y }),
    );
  });
  const days = labelled(buckets.length, Math.floor((width - left) / LABEL_WIDTH)).map((index) => {
    const isLast = index === buckets.length - 1;
    const [x, anchor] =
      index === 0 ? [left, 'start'] : isLast ? [width, 'end'] : [left + (index + 0.5) * step, 'middle'];
    return drawing('text', { x, y: HEIGHT - 4, 'text-anchor': anchor }, formats.short(buckets[index].period_start));
  });

  const peak = buckets[values.indexOf(highest)];
  const label = fill(words.chart, {
    first: formats.long(buckets[0].period_start),
    last: formats.long(buckets.at(-1).period_start),
    amount: exact(peak.usage),
    day: formats.long(peak.period_start),
  });
  const size = { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT };
  return drawing('svg', { class: 'chart', ...size, role: 'img', 'aria-label': label }, ...axis, ...bars, ...days);
}

/** Which buckets have their day written below them: the first, the last, and as many in between as there is room for. */
function labelled(count, room) {
  const labels = Math.max(2, Math.min(room, count, 7));
  return count === 1
    ? [0]
    : Array.from({ length: labels }, (_, each) => Math.round((each * (count - 1)) / (labels - 1)));
}

/** How much of a limit is used; the words beside it say the same. */
export function drawLimit({ usage, limit }) {
  const share = Number(limit) > 0 ? Math.min(1, Number(usage) / Number(limit)) : 1;
  const isOver = Number(usage) > Number(limit);
  const bar = (width) => drawing('rect', { width, height: 8, rx: 4 });
  const attributes = { viewBox: '0 0 1000 8', preserveAspectRatio: 'none', 'aria-hidden': true };
  return drawing('svg', { class: isOver ? 'limit is-over' : 'limit', ...attributes }, bar(1000), bar(share * 1000));
}
