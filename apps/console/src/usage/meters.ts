import { useQuery } from '@tanstack/react-query';
import { read, type Answer } from '../api/client.ts';

export type Meter = Answer<'/api/v1/meters'>['data'][number];

/** As many as the API gives at once, and more than one chooses from a list. */
const METERS_MAX = 100;

/** The meters to choose from. */
export function useMeters() {
  return useQuery({ ...read('/api/v1/meters', { query: { page_size: METERS_MAX } }), staleTime: 30_000 });
}

/** What adds up over time is drawn as bars; an average or a maximum is not. */
export function addsUp(aggregation: string): boolean {
  return aggregation === 'COUNT' || aggregation === 'SUM';
}

const TOTALS: Record<string, string> = {
  COUNT: 'Events counted',
  SUM: 'Sum',
  MAX: 'Highest',
  MIN: 'Lowest',
  AVG: 'Average',
  LAST: 'Last value',
  UNIQUE_COUNT: 'Distinct values',
};

/** What the total of a meter is called. */
export function totalOf(aggregation: string): string {
  return TOTALS[aggregation] ?? aggregation;
}
