import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { axisRange, axisTicks } from './chart-axis.ts';
import { bucketAt, extent, indexByKey, middleOf } from './chart-points.ts';
import { formatCompact } from '../../text/decimals.ts';
import { formatMark } from '../../text/instants.ts';

export interface Series {
  label: string;
  values: readonly (number | null)[];
  /** A variable of the style sheet, such as `--part-2`. */
  color?: string;
  /** Drawn behind and paler: the period before. */
  isBefore?: boolean;
}

/** A line of what is read out at a point. */
export interface ReadLine {
  label: string;
  value: string;
  /** The class of its swatch. */
  swatch: string;
}

interface ChartProps {
  /** Its subject and main figures, for those who do not see it. A table with the numbers stands beside it. */
  label: string;
  /** Start of each bucket, in seconds since 1970. */
  times: readonly number[];
  series: readonly Series[];
  zone: string;
  /** The unit of the numbers; empty where nobody has said it. */
  unit: string;
  /** Bars for what adds up, a line for what does not. */
  kind: 'bars' | 'line';
  /** Words for the point that is looked at. */
  describe: (index: number) => string;
  /** The same for the eye, where there is more than one series: a heading, and a line for each. */
  readOut?: (index: number) => { title: string; lines: readonly ReadLine[] } | undefined;
}

const HEIGHT = 260;

/**
 * Series over time, in the colours of the page. What is at a point is read out there: with the pointer, and with the arrows. Only
 * what is drawn is a float; numbers in words come from `describe`.
 */
export function Chart(props: ChartProps) {
  // A canvas does not follow the style sheet: in another scheme it is drawn anew.
  return <Drawing key={useComputedColorScheme('light')} {...props} />;
}

function Drawing({ label, times, series, zone, unit, kind, describe, readOut }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const [at, setAt] = useState<{ index: number; left: number }>();
  const last = times.length - 1;
  const look = useEffectEvent((drawing: uPlot): void => {
    const { left = -1 } = drawing.cursor;
    const index = left < 0 ? undefined : bucketAt(times, drawing.posToVal(left, 'x'), kind);
    setAt(index === undefined ? undefined : { index, left: left + drawing.over.offsetLeft });
  });
  const lookAgain = useEffectEvent((drawing: uPlot): void => {
    if (at !== undefined) moveTo(drawing, times, Math.min(at.index, last), kind);
  });

  useEffect(() => {
    const box = frame.current;
    if (box === null || times.length === 0) return undefined;
    const drawing = new uPlot(
      optionsOf({ box, times, series, zone, kind, look: (each) => look(each) }),
      [[...times], ...series.map(({ values }) => [...values])],
      box,
    );
    plot.current = drawing;
    // Numbers that go up under the pointer do not take away what is read there.
    lookAgain(drawing);
    const observer = new ResizeObserver(() => drawing.setSize({ width: box.clientWidth, height: HEIGHT }));
    observer.observe(box);
    return () => {
      observer.disconnect();
      drawing.destroy();
    };
  }, [times, series, zone, kind]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const to = indexByKey(event.key, at?.index, last);
    if (to === undefined || plot.current === null) return;
    event.preventDefault();
    moveTo(plot.current, times, to, kind);
  };
  const words = at === undefined ? undefined : describe(at.index);
  return (
    <figure className="chart">
      <figcaption className="chart-head" aria-hidden="true">
        <span>{unit}</span>
        {series.some(({ isBefore }) => isBefore) && <span className="chart-before">the period before</span>}
      </figcaption>
      <div className="chart-area">
        <div
          ref={frame}
          className="chart-frame"
          // A point of many is chosen on it, which is what a slider is for.
          role="slider"
          tabIndex={0}
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={Math.max(last, 0)}
          aria-valuenow={at?.index ?? Math.max(last, 0)}
          aria-valuetext={words ?? 'Choose a point with the arrow keys'}
          onKeyDown={onKeyDown}
          onBlur={() => setAt(undefined)}
        />
        {at !== undefined && words !== '' && <ReadOut left={at.left} words={words ?? ''} lines={readOut?.(at.index)} />}
      </div>
    </figure>
  );
}

interface ReadOutProps {
  left: number;
  words: string;
  lines: { title: string; lines: readonly ReadLine[] } | undefined;
}

/** Between the pointer and what has more than a line, which would hide what is pointed at. */
const BESIDE = 16;

/** The words at the point that is looked at, within the width of the chart. */
function ReadOut({ left, words, lines }: ReadOutProps) {
  const box = useRef<HTMLDivElement>(null);
  const isBeside = lines !== undefined;
  useLayoutEffect(() => {
    if (box.current === null) return;
    const { offsetWidth: own, parentElement } = box.current;
    const room = (parentElement?.clientWidth ?? own) - own;
    const beside = left + BESIDE <= room ? left + BESIDE : left - BESIDE - own;
    box.current.style.left = `${Math.max(0, Math.min(isBeside ? beside : left - own / 2, room))}px`;
  });
  return (
    <div ref={box} className="chart-words" aria-hidden="true">
      {lines === undefined ? (
        words
      ) : (
        <>
          <strong>{lines.title}</strong>
          <ul>
            {lines.lines.map(({ label, value, swatch }) => (
              <li key={label}>
                <span className={swatch} />
                <span className="chart-words-name">{label}</span>
                <span>{value}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** Puts the cursor on the middle of a bucket. */
function moveTo(drawing: uPlot, times: readonly number[], index: number, kind: 'bars' | 'line'): void {
  drawing.setCursor({ left: drawing.valToPos(middleOf(times, index, kind), 'x'), top: HEIGHT / 2 });
}

interface OptionsInput {
  box: HTMLElement;
  times: readonly number[];
  series: readonly Series[];
  zone: string;
  kind: 'bars' | 'line';
  look: (drawing: uPlot) => void;
}

/** As wide as a digit of the labels is, in pixels. */
const DIGIT_WIDTH = 6.6;

/** So far apart that the longest label, `Nov 2026`, does not touch the next one. */
const LABEL_WIDTH = 76;

function optionsOf({ box, times, series, zone, kind, look }: OptionsInput): uPlot.Options {
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
    // The last label is centred on its mark, which may be at the edge.
    padding: [10, LABEL_WIDTH / 2 - 8, 0, 0],
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { show: kind === 'line' },
      // The line stands in the middle of what is read out, and not between two of them.
      move: (plot, left, top) => {
        const index = left < 0 ? undefined : bucketAt(times, plot.posToVal(left, 'x'), kind);
        return [index === undefined ? left : plot.valToPos(middleOf(times, index, kind), 'x'), top];
      },
    },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zone),
    scales: {
      x: { time: true, range: () => extent(times, kind) },
      y: { range: (_plot, min, max) => axisRange(min, max) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: LABEL_WIDTH,
        values: (_plot, ticks, _axis, _space, step) =>
          ticks.map((tick) => formatMark(new Date(tick * 1_000).toISOString(), step, zone)),
      },
      {
        ...axis,
        size: (_plot, labels) => 14 + DIGIT_WIDTH * Math.max(3, ...(labels ?? []).map((label) => label.length)),
        splits: (_plot, _axis, from, to) => axisTicks(from, to),
        values: (_plot, ticks) => ticks.map((tick) => formatCompact(tick)),
      },
    ],
    hooks: { setCursor: [look] },
    series: [{}, ...series.map((each) => drawn(each, kind, color))],
  };
}

function drawn(
  { label, isBefore, color: own }: Series,
  kind: 'bars' | 'line',
  color: (name: string) => string,
): uPlot.Series {
  const stroke = color(isBefore === true ? '--series-2' : (own ?? '--series-1'));
  // The period before is always a line, so that it can be told from the bars without its colour.
  if (kind === 'bars' && isBefore !== true) {
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
  return { label, stroke, width: 1.75, points: { show: false }, ...(isBefore === true && { dash: [4, 4] }) };
}
