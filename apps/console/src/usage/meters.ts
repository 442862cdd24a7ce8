import { useQuery } from '@tanstack/react-query';
import { client, send, type Answer } from '../api/client.ts';
import { readPages } from '../api/pages.ts';
import { AGGREGATIONS } from './aggregations.ts';

export type Meter = Answer<'/api/v1/meters'>['data'][number];

/** What was counted in a window, in all and by period. */
export type MeterUsage = Answer<'/api/v1/meters/{id}/usage'>;

/** All meters, to choose from and to name. */
export function useMeters() {
  return useQuery({
    queryKey: ['/api/v1/meters', 'all'],
    queryFn: ({ signal }) =>
      readPages((part) => send(client.GET('/api/v1/meters', { params: { query: { ...part } }, signal }))),
    staleTime: 30_000,
  });
}

/** Returns its unit, in words: events where it counts those, and nothing where nobody has named a unit. */
export function unitOf({ unit, aggregation_type: aggregation }: Pick<Meter, 'unit' | 'aggregation_type'>): string {
  return unit ?? AGGREGATIONS[aggregation].unit ?? '';
}
