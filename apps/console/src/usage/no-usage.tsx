import { Link } from '@tanstack/react-router';
import { formatDay } from '../text/instants.ts';
import type { Scope } from './usage-reads.ts';
import type { UsageWindow } from './window.ts';

interface NoUsageProps {
  scope: Scope;
  /** What it is compared with, which has nothing either. */
  before?: UsageWindow | undefined;
}

/** Stands in place of a chart of nothing. */
export function NoUsage({ scope: { meter, window, customer, only }, before }: NoUsageProps) {
  const values = Object.entries(only ?? {}).map(([key, value]) => ` whose ${key} is ${value}`);
  return (
    <div className="empty">
      <p>
        {meter.name} counted no event{customer !== undefined && ` of ${customer}`}
        {values} {daysOf(window)}
        {before !== undefined && `, and none ${daysOf(before)}`}.
      </p>
      <p>
        <Link to="/events" search={{ meter: meter.id, ...(customer !== undefined && { customer }) }}>
          Look at its events
        </Link>
        , or choose other days.
      </p>
    </div>
  );
}

function daysOf({ from, to }: UsageWindow): string {
  return from === to ? `on ${formatDay(to)}` : `from ${formatDay(from)} to ${formatDay(to)}`;
}
