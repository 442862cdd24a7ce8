import { useMemo } from 'react';
import { Chart, type ReadLine, type Series } from '../components/charts/chart.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { AGGREGATIONS } from './aggregations.ts';
import { unitOf, type Meter } from './meters.ts';
import { periodWords } from './period-words.ts';
import { OTHERS, stacked, swatchOf, wordOf, type Drawn } from './split.ts';
import type { SplitUsage } from './usage-reads.ts';

interface SplitChartProps {
  meter: Meter;
  answer: SplitUsage;
  drawn: Drawn;
}

interface Line {
  label: string;
  color: string;
  swatch: string;
  values: readonly (string | null)[];
}

/** Stacked bars of what adds up, and a line for each of what does not. At the pointer all of them are read out. */
export function SplitChart({ meter, answer: { usage, split, scope }, drawn }: SplitChartProps) {
  const { zone, by } = scope.window;
  const words = periodWords(usage, zone, by);
  const unit = unitOf(meter);
  const { addsUp = false } = AGGREGATIONS[meter.aggregation_type];
  const lines = useMemo(() => linesOf(drawn), [drawn]);
  const times = useMemo(() => usage.grouped_data.map(({ period_start: start }) => Date.parse(start) / 1_000), [usage]);
  const { series, kind } = useMemo(() => seriesOf(lines, addsUp), [lines, addsUp]);
  const readOut = (index: number): { title: string; lines: ReadLine[] } => ({
    title: words[index] ?? '',
    lines: [
      ...lines.map(({ label, swatch, values }) => ({ label, swatch, value: formatDecimal(values[index]) })),
      { label: 'In all', swatch: 'swatch', value: `${formatDecimal(usage.grouped_data[index]?.usage)} ${unit}` },
    ],
  });
  const describe = (index: number): string => {
    const { title, lines: each } = readOut(index);
    return `${title}: ${each.map(({ label, value }) => `${label} ${value}`).join(', ')}`;
  };
  return (
    <Chart
      label={`${meter.name} by ${by} and by ${split ?? 'customer'}. The totals are in the table beside it.`}
      times={times}
      series={series}
      zone={zone}
      unit={unit}
      kind={kind}
      describe={describe}
      readOut={readOut}
    />
  );
}

function linesOf({ parts, others }: Drawn): Line[] {
  const lines = parts.map(({ name, periods = [] }, index) => ({
    label: wordOf(name),
    color: `--part-${index + 1}`,
    swatch: swatchOf(index),
    values: periods,
  }));
  if (others === undefined) return lines;
  return [...lines, { label: 'Others', color: '--part-others', swatch: swatchOf(OTHERS), values: others.periods }];
}

/** What is below zero cannot be stacked. */
function seriesOf(lines: readonly Line[], addsUp: boolean): { series: Series[]; kind: 'bars' | 'line' } {
  const drawn = lines.map(({ values }) => values.map((value) => (value === null ? null : Number(value))));
  const canStack = addsUp && drawn.flat().every((value) => value === null || value >= 0);
  const values = canStack ? stacked(drawn.map((each) => each.map((value) => value ?? 0))) : drawn;
  const series = lines.map(({ label, color }, index) => ({ label, color, values: values[index] ?? [] }));
  // Each bar reaches down to the axis, so the highest are drawn first.
  return canStack ? { series: series.reverse(), kind: 'bars' } : { series, kind: 'line' };
}
