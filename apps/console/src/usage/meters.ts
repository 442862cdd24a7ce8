import { useQuery } from '@tanstack/react-query';
import { client, send, type Answer } from '../api/client.ts';
import { PAGE_SIZE_MAX as page_size, readPages } from '../api/pages.ts';

export type Meter = Answer<'/api/v1/meters'>['data'][number];

/** All meters, to choose from and to name. */
export function useMeters() {
  return useQuery({
    queryKey: ['/api/v1/meters', 'all'],
    queryFn: ({ signal }) =>
      readPages((page) => send(client.GET('/api/v1/meters', { params: { query: { page, page_size } }, signal }))),
    staleTime: 30_000,
  });
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

/** What its quantities count, in words: events where it counts those, and nothing where nobody has named a unit. */
export function unitOf({ unit, aggregation_type: aggregation }: Pick<Meter, 'unit' | 'aggregation_type'>): string {
  return unit ?? (aggregation === 'COUNT' ? 'events' : '');
}
