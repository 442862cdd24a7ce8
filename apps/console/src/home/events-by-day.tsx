// The events of this month by day, with those of the month before. It is drawn by itself, since the library of the charts of usage is
// more than all else that a first load has room for.

import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import type { Answer } from '../api/client.ts';
import { axisRange, axisTicks } from '../components/charts/chart-axis.ts';
import { indexByKey } from '../components/charts/chart-points.ts';
import { Section } from '../components/page/page.tsx';
import { formatCompact, formatCount, formatDecimal } from '../text/decimals.ts';
import { formatDate } from '../text/instants.ts';

type Overview = Answer<'/api/v1/overview'>;
type Day = NonNullable<Overview['events']['days']>[number];

/** Of the width that a day has. */
const GAP = 0.14;

export function EventsByDay({ days, zone }: { days: readonly Day[]; zone: string }) {
  const [at, setAt] = useState<number>();
  const last = days.length - 1;
  const today = days.findLastIndex(({ recorded }) => recorded !== null);
  const max = Math.max(1, ...days.flatMap(({ recorded, previous }) => [recorded ?? 0, previous ?? 0]));
  const [, top] = axisRange(0, max);
  // There is no half of an event.
  const ticks = axisTicks(0, top, 1).map((value) => ({ value, label: formatCompact(value) }));
  const wordsOf = (index: number): string => {
    const day = days[index];
    if (day === undefined) return '';
    const events = day.recorded === null ? 'still to come' : formatCount(day.recorded, 'event');
    const before = day.previous === null ? '' : `, ${formatDecimal(day.previous)} in the month before`;
    return `${formatDate(day.start, zone)}: ${events}${before}`;
  };
  const onPointerMove = ({ currentTarget, clientX }: PointerEvent): void => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setAt(Math.max(0, Math.min(last, Math.floor(((clientX - left) / width) * days.length))));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = indexByKey(event.key, at, last);
    if (to === undefined) return;
    event.preventDefault();
    setAt(to);
  };
  const words = wordsOf(at ?? today);
  const before = days.flatMap(({ previous }, index) =>
    previous === null ? [] : [`${index === 0 ? 'M' : 'L'}${index} ${1 - previous / top}H${index + 1}`],
  );
  return (
    <Section title="Events by day">
      <figure className="chart">
        <figcaption className="chart-head" aria-hidden="true">
          <span>{words}</span>
          <span className="chart-before">the month before</span>
        </figcaption>
        <div className="day-bars-unit" aria-hidden="true">
          events
        </div>
        <div className="day-bars-area">
          <div
            className="day-bars-axis"
            // As wide as its longest label, before anything is drawn.
            style={{ width: `${Math.max(...ticks.map(({ label }) => label.length)) + 1}ch` }}
            aria-hidden="true"
          >
            {ticks.map(({ value, label }) => (
              <span key={value} style={{ bottom: `${(value / top) * 100}%` }}>
                {label}
              </span>
            ))}
          </div>
          <svg
            className="day-bars"
            viewBox={`0 0 ${days.length} 1`}
            preserveAspectRatio="none"
            // A day of many is chosen on it, which is what a slider is for.
            role="slider"
            tabIndex={0}
            aria-label={`Events of this month by day, beside those of the month before: at most ${formatDecimal(max)} in a day`}
            aria-valuemin={0}
            aria-valuemax={last}
            aria-valuenow={at ?? today}
            aria-valuetext={words}
            onKeyDown={onKeyDown}
            onBlur={() => setAt(undefined)}
            onPointerMove={onPointerMove}
            onPointerLeave={() => setAt(undefined)}
          >
            {at !== undefined && <rect className="day-bars-at" x={at} y={0} width={1} height={1} />}
            {ticks.map(({ value }) => (
              <path key={value} className="day-bars-tick" d={`M0 ${1 - value / top}H${days.length}`} />
            ))}
            {days.map(({ start, recorded }, index) => (
              <rect
                key={start}
                className="day-bars-bar"
                x={index + GAP}
                y={1 - (recorded ?? 0) / top}
                width={1 - 2 * GAP}
                height={(recorded ?? 0) / top}
              />
            ))}
            <path className="day-bars-before" d={before.join('')} />
          </svg>
          <div
            className="day-bars-foot"
            style={{ gridTemplateColumns: `repeat(${days.length}, minmax(0, 1fr))` }}
            aria-hidden="true"
          >
            {days.map(
              ({ start }, index) =>
                index % 7 === 0 && (
                  <span key={start} style={{ gridColumn: index + 1 }}>
                    {index + 1}
                  </span>
                ),
            )}
          </div>
        </div>
      </figure>
    </Section>
  );
}
