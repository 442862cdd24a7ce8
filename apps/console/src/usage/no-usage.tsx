import { Link } from '@tanstack/react-router';
import { formatDay } from '../text/instants.ts';
import type { Scope } from './usage-reads.ts';

/** Stands in place of a chart of nothing. */
export function NoUsage({ scope: { meter, window, customer, only } }: { scope: Scope }) {
  const values = Object.entries(only ?? {}).map(([key, value]) => ` whose ${key} is ${value}`);
  const days =
    window.from === window.to
      ? `on ${formatDay(window.to)}`
      : `from ${formatDay(window.from)} to ${formatDay(window.to)}`;
  return (
    <div className="empty">
      <p>
        {meter.name} counted no event{customer !== undefined && ` of ${customer}`}
        {values} {days}.
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
