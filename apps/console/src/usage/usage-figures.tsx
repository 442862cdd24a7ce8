import { formatDecimal, percentChange } from '../text/decimals.ts';
import { AGGREGATIONS } from './aggregations.ts';
import type { Meter, MeterUsage } from './meters.ts';

interface UsageFiguresProps {
  meter: Meter;
  usage: MeterUsage;
  before?: MeterUsage | undefined;
}

/** The window in three numbers, each beside what it was before. */
export function UsageFigures({ meter, usage, before }: UsageFiguresProps) {
  return (
    <dl className="figures">
      <Figure
        title={AGGREGATIONS[meter.aggregation_type].total}
        value={usage.total_usage}
        before={before?.total_usage}
        unit={meter.unit}
      />
      <Figure title="Events" value={String(usage.event_count)} before={count(before?.event_count)} />
      <Figure title="Customers" value={String(usage.unique_customers)} before={count(before?.unique_customers)} />
    </dl>
  );
}

const count = (value: number | undefined): string | undefined => (value === undefined ? undefined : String(value));

interface FigureProps {
  title: string;
  value: string | null;
  before: string | null | undefined;
  unit?: string | null;
}

function Figure({ title, value, before, unit }: FigureProps) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <span className="figure">{formatDecimal(value)}</span>{' '}
        {typeof unit === 'string' && value !== null && <span className="muted">{unit}</span>}
        {before !== undefined && (
          <div className="figure-note">
            {before === null || value === null ? 'No value' : (percentChange(value, before) ?? 'New')} ·{' '}
            {formatDecimal(before)} before
          </div>
        )}
      </dd>
    </div>
  );
}
