import { Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { formatAgo, formatDate, formatInstant, LOCAL_ZONE } from '../../text/instants.ts';

interface TimeProps {
  at: string;
  /** Default: to the second. */
  as?: 'instant' | 'date' | 'ago';
  zone?: string;
}

/** A time for a person; pointing at it shows the instant in full, in that zone and in UTC. */
export function Time({ at, as = 'instant', zone = LOCAL_ZONE }: TimeProps) {
  const text = { instant: () => formatInstant(at, zone), date: () => formatDate(at, zone), ago: () => formatAgo(at) };
  useTick(as === 'ago');
  return (
    <Tooltip label={`${formatInstant(at, zone)} ${zone} · ${at}`}>
      <time dateTime={at} className="time">
        {text[as]()}
      </time>
    </Tooltip>
  );
}

/** How often a distance in time is told anew. */
const TICK_MS = 15_000;

function useTick(isOn: boolean): void {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isOn]);
}
