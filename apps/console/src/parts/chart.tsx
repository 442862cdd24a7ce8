import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useEffectEvent, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatCompact } from './decimals.ts';

export interface Series {
  label: string;
  values: readonly (number | null)[];
  /** Drawn behind and paler: the period before. */
  isBefore?: boolean;
}

interface ChartProps {
  /** What it shows and its main figures, for those who do not see it. A table with the numbers stands beside it. */
  label: string;
  /** Start of each bucket, in seconds since 1970. */
  times: readonly number[];
  series: readonly Series[];
  zone: string;
  /** Bars for what adds up, a line for what does not. */
  kind: 'bars' | 'line';
  /** Words for a point under the pointer. */
  describe: (index: number) => string;
}

const HEIGHT = 260;

/** Series over time, in the colours of the page. Only what is drawn is a float; numbers in words come from `describe`. */
export function Chart(props: ChartProps) {
  // A canvas does not follow the style sheet: in another scheme it is drawn anew.
  return <Drawing key={useComputedColorScheme('light')} {...props} />;
}

function Drawing({ label, times, series, zone, kind, describe }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const words = useRef<HTMLParagraphElement>(null);
  const tell = useEffectEvent((index: number | null | undefined): void => {
    if (words.current !== null) words.current.textContent = typeof index === 'number' ? describe(index) : '';
  });

  useEffect(() => {
    const box = frame.current;
    if (box === null || times.length === 0) return undefined;
    const plot = new uPlot(
      optionsOf({ box, times, series, zone, kind, tell: (index) => tell(index) }),
      [[...times], ...series.map(({ values }) => [...values])],
      box,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT }));
    observer.observe(box);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series, zone, kind]);

  return (
    <figure className="chart">
      <div ref={frame} className="chart-frame" role="img" aria-label={label} />
      <p ref={words} className="chart-words" aria-hidden="true" />
    </figure>
  );
}

interface OptionsInput {
  box: HTMLElement;
  times: readonly number[];
  series: readonly Series[];
  zone: string;
  kind: 'bars' | 'line';
  tell: (index: number | null | undefined) => void;
}

function optionsOf({ box, times, series, zone, kind, tell }: OptionsInput): uPlot.Options {
  const style = getComputedStyle(box);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color('--ink-soft'),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    padding: [10, 18, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'line' } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zone),
    scales: {
      x: { time: true, range: () => extent(times, kind) },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 60,
        values: (_plot, ticks, _axis, _space, step) => ticks.map((tick) => tickWords(tick, step, zone)),
      },
      { ...axis, size: 44, values: (_plot, ticks) => ticks.map((tick) => formatCompact(tick)) },
    ],
    hooks: { setCursor: [(plot) => tell(plot.cursor.idx)] },
    series: [{}, ...series.map(({ label, isBefore }) => drawn(label, isBefore === true, kind, color))],
  };
}

/** A bar begins with its bucket and needs room for as long as that lasts. */
function extent(times: readonly number[], kind: 'bars' | 'line'): [number, number] {
  const [first = 0, second = first + DAY_SECONDS] = times;
  const last = times.at(-1) ?? first;
  return [first, kind === 'bars' || last === first ? last + (second - first) : last];
}

const DAY_SECONDS = 86_400;

/** What stands at a tick: the day, or the month, or the hour, by how far the ticks are apart. */
function tickWords(seconds: number, step: number, timeZone: string): string {
  const at = new Date(seconds * 1_000);
  const words = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone }).format(at);
  if (step >= 28 * DAY_SECONDS) return words({ month: 'short', year: 'numeric' });
  const time = words({ hour: '2-digit', minute: '2-digit' });
  return step >= DAY_SECONDS || time === '00:00' ? words({ day: 'numeric', month: 'short' }) : time;
}

function drawn(label: string, isBefore: boolean, kind: 'bars' | 'line', color: (name: string) => string): uPlot.Series {
  const stroke = color(isBefore ? '--series-2' : '--series-1');
  // The period before is always a line, so that it can be told from the bars without its colour.
  if (kind === 'bars' && !isBefore) {
    const bars = uPlot.paths.bars?.({ size: [0.72, 48], align: 1 });
    return {
      label,
      stroke,
      fill: stroke,
      width: 0,
      points: { show: false },
      ...(bars !== undefined && { paths: bars }),
    };
  }
  return { label, stroke, width: 1.75, points: { show: false }, ...(isBefore && { dash: [4, 4] }) };
}
