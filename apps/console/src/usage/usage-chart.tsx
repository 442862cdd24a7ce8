import { useMemo } from 'react';
import type { Answer } from '../api/client.ts';
import { Chart, type Series } from '../parts/chart.tsx';
import { DataTable, type Column } from '../parts/data-table.tsx';
import { forDrawing, formatDecimal } from '../parts/decimals.ts';
import { formatInstant } from '../parts/instants.ts';
import { addsUp, totalOf, type Meter } from './meters.ts';
import { BUCKET_WORDS, type Bucket } from './window.ts';

export type MeterUsage = Answer<'/api/v1/meters/{id}/usage'>;
type Row = MeterUsage['grouped_data'][number] & { before: string | null | undefined };

interface UsageChartProps {
  meter: Meter;
  usage: MeterUsage;
  before: MeterUsage | undefined;
  zone: string;
  by: Bucket;
}

/** The chart, and beside it the numbers that it draws. */
export function UsageChart({ meter, usage, before, zone, by }: UsageChartProps) {
  const rows = usage.grouped_data.map((row, index): Row => ({
    ...row,
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
  const words = (row: Row): string => wordsOf(row, zone, by);
  const unit = meter.unit ?? '';
  const columns: Column<Row>[] = [
    { title: BUCKET_WORDS[by], cell: words },
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
    return `${words(row)}: ${formatDecimal(row.usage)} ${unit}${earlier}`;
  };
  return (
    <div className="usage-split">
      <Chart
        label={`${meter.name} by ${by}, ${totalOf(meter.aggregation_type).toLowerCase()} ${formatDecimal(usage.total_usage)} ${unit}. The numbers are in the table beside it.`}
        times={times}
        series={series}
        zone={zone}
        kind={addsUp(meter.aggregation_type) ? 'bars' : 'line'}
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

function wordsOf({ period, period_start: start }: Row, zone: string, by: Bucket): string {
  if (by === 'hour') return formatInstant(start, zone).replace(/:\d\d$/, '');
  const options: Intl.DateTimeFormatOptions =
    by === 'month'
      ? { month: 'long', year: 'numeric' }
      : { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' };
  if (by === 'week') return period;
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone }).format(new Date(start));
}
