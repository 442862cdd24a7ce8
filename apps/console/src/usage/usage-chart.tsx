import { useMemo } from 'react';
import { Chart, type Series } from '../components/charts/chart.tsx';
import { DataTable, type Column } from '../components/lists/data-table.tsx';
import { forDrawing, formatDecimal } from '../text/decimals.ts';
import { AGGREGATIONS } from './aggregations.ts';
import { unitOf, type Meter, type MeterUsage } from './meters.ts';
import { periodWords } from './period-words.ts';
import { BUCKET_WORDS, type UsageWindow } from './window.ts';

type Row = MeterUsage['grouped_data'][number] & { words: string; before: string | null | undefined };

interface UsageChartProps {
  meter: Meter;
  usage: MeterUsage;
  before: MeterUsage | undefined;
  window: UsageWindow;
}

/** The chart, and beside it the numbers that it draws. */
export function UsageChart({ meter, usage, before, window: { zone, by } }: UsageChartProps) {
  const words = periodWords(usage, zone, by);
  const rows = usage.grouped_data.map((row, index): Row => ({
    ...row,
    words: words[index] ?? row.period,
    before: before === undefined ? undefined : before.grouped_data[index]?.usage,
  }));
  const times = useMemo(() => usage.grouped_data.map(({ period_start: start }) => Date.parse(start) / 1_000), [usage]);
  const series = useMemo(
    (): Series[] => [
      { label: meter.name, values: usage.grouped_data.map(({ usage: used }) => forDrawing(used)) },
      ...(before === undefined
        ? []
        : [
            {
              label: 'Before',
              values: usage.grouped_data.map((_, index) => forDrawing(before.grouped_data[index]?.usage ?? null)),
              isBefore: true,
            },
          ]),
    ],
    [meter.name, usage, before],
  );
  const unit = unitOf(meter);
  const { total, addsUp = false } = AGGREGATIONS[meter.aggregation_type];
  const columns: Column<Row>[] = [
    { title: BUCKET_WORDS[by], cell: ({ words }) => words },
    { title: 'Usage', isNumber: true, cell: ({ usage: used }) => formatDecimal(used) },
    ...(before === undefined
      ? []
      : [{ title: 'Before', isNumber: true, cell: ({ before: earlier }: Row) => formatDecimal(earlier) }]),
    { title: 'Events', isNumber: true, cell: ({ event_count: events }) => formatDecimal(events) },
  ];
  const describe = (index: number): string => {
    const row = rows[index];
    if (row === undefined) return '';
    const earlier = row.before === undefined ? '' : `, before ${formatDecimal(row.before)}`;
    return `${row.words}: ${formatDecimal(row.usage)} ${unit}${earlier}`;
  };
  return (
    <div className="usage-split">
      <Chart
        label={`${meter.name} by ${by}, ${total.toLowerCase()} ${formatDecimal(usage.total_usage)} ${unit}. The numbers are in the table beside it.`}
        times={times}
        series={series}
        zone={zone}
        unit={unit}
        kind={addsUp ? 'bars' : 'line'}
        describe={describe}
      />
      <div className="usage-numbers">
        <DataTable
          label="Usage by period"
          columns={columns}
          rows={rows.toReversed()}
          keyOf={({ period_start: start }) => start}
          empty={<p>The window is empty.</p>}
        />
      </div>
    </div>
  );
}
