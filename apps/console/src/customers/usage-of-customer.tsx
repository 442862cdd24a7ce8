// The meters that a customer has used in the last 30 days, with a small chart of each.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read, type Schema } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { SparkBars } from '../components/charts/spark-bars.tsx';
import { Loading } from '../components/outcomes/loading.tsx';
import { Section } from '../components/page/page.tsx';
import { forDrawing, formatDecimal } from '../text/decimals.ts';
import { zoneWords, type RecentUsage } from '../usage/days-of-usage.ts';
import { windowQuery, type UsageWindow } from '../usage/window.ts';
import './usage-of-customer.css';

/** As many as one takes in, and as many reads. */
const CHARTS_MAX = 6;

interface UsageOfCustomerProps {
  customer: Schema<'Customer'>;
  usage: RecentUsage;
  /** How often the usage is read again. */
  refreshMs: number;
}

export function UsageOfCustomer({ customer, usage: { meters, window, days }, refreshMs }: UsageOfCustomerProps) {
  const used = meters.filter(({ event_count }) => event_count > 0).toSorted((a, b) => b.event_count - a.event_count);
  return (
    <Section
      title="Usage of the last 30 days"
      about={zoneWords(days)}
      actions={
        <Link to="/customers/$customerId" params={{ customerId: customer.id }} search={{ tab: 'usage' }}>
          {used.length > CHARTS_MAX ? `All ${used.length} meters` : 'As a table'}
        </Link>
      }
    >
      {used.length === 0 ? (
        <div className="empty">No usage in the last 30 days.</div>
      ) : (
        <ul className="sparks">
          {used.slice(0, CHARTS_MAX).map((each) => (
            <MeterOfCustomer
              key={each.meter_id}
              used={each}
              window={window}
              customer={customer}
              refreshMs={refreshMs}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

interface MeterOfCustomerProps {
  used: RecentUsage['meters'][number];
  window: UsageWindow;
  customer: Schema<'Customer'>;
  refreshMs: number;
}

function MeterOfCustomer({ used, window, customer, refreshMs }: MeterOfCustomerProps) {
  const { meter_id: id, name, unit, total_usage: total } = used;
  const query = { ...windowQuery(window), customer_id: customer.id, group_by: window.by };
  const { data, error } = useQuery({
    ...read('/api/v1/meters/{id}/usage', { path: { id }, query }),
    // With the total that stands beside it.
    refetchInterval: () => pace(refreshMs),
  });
  const words = `${formatDecimal(total)}${unit === null ? '' : ` ${unit}`}`;
  return (
    <li>
      <div className="spark-head">
        <Link to="/usage" search={{ meter: id, customer: customer.external_id }}>
          {name}
        </Link>
        <span>{words}</span>
      </div>
      {error !== null ? (
        <div className="spark-bars muted">Its days cannot be read now.</div>
      ) : data === undefined ? (
        <div className="spark-bars">
          <Loading rows={2} label={`Loading the days of ${name}`} />
        </div>
      ) : (
        <SparkBars
          label={`${name} by day, ${words} in the last 30 days`}
          values={(data.grouped_data ?? []).map(({ usage }) => forDrawing(usage))}
        />
      )}
    </li>
  );
}
