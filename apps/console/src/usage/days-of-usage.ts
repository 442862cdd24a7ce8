// In which zone the days of usage are: that of the invoices, wherever the reader is, so that the numbers of the two can be compared.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, send, type Answer, type Schema } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { windowOf, windowQuery, type UsageWindow } from './window.ts';

export interface ZoneOfInvoices {
  zone: string;
  /** The external id of the customer whose own zone it is; undefined for that of the organization. */
  customer: string | undefined;
  organization: string;
}

/** What is recorded for a customer without a record is in the zone of the organization, too. */
export function useZoneOfInvoices(customer: string | undefined) {
  return useQuery({
    queryKey: ['/api/v1/billing/settings', 'zone of invoices', customer],
    queryFn: async ({ signal }): Promise<ZoneOfInvoices> => {
      const [organization, own] = await Promise.all([readZone(signal), readOwnZone(customer, signal)]);
      return own === null
        ? { zone: organization, customer: undefined, organization }
        : { zone: own, customer, organization };
    },
    // The fields above the chart stay where they are.
    placeholderData: keepPreviousData,
  });
}

async function readZone(signal: AbortSignal): Promise<string> {
  return (await send(client.GET('/api/v1/billing/settings', { signal }))).time_zone;
}

async function readOwnZone(customer: string | undefined, signal: AbortSignal): Promise<string | null> {
  if (customer === undefined) return null;
  const query = { external_id: customer, limit: 1 };
  const { data } = await send(client.GET('/api/v1/customers', { params: { query }, signal }));
  return data[0]?.time_zone ?? null;
}

/** Where days begin decides what a day has used, so it is said. */
export const zoneWords = (zone: string, whose: string): string =>
  `Days begin and end in ${zone}, as on the invoices of ${whose}.`;

/** Of the last 30 days, as Usage opens with them. */
export interface RecentUsage {
  meters: Answer<'/api/v1/customers/{id}/usage'>['data'];
  window: UsageWindow;
}

/** What a customer has used of each meter. */
export function useRecentUsage({ id, time_zone: own }: Schema<'Customer'>, refreshMs: number) {
  return useQuery({
    queryKey: ['/api/v1/customers/{id}/usage', 'recent', id, own],
    queryFn: async ({ signal }): Promise<RecentUsage> => {
      const window = windowOf({}, own ?? (await readZone(signal)));
      const params = { path: { id }, query: windowQuery(window) };
      const { data } = await send(client.GET('/api/v1/customers/{id}/usage', { params, signal }));
      return { meters: data, window };
    },
    refetchInterval: () => pace(refreshMs),
  });
}

/** Who has used a meter most in these days. */
export function useRecentCustomers(id: string, refreshMs: number) {
  return useQuery({
    queryKey: ['/api/v1/meters/{id}/customers', 'recent', id],
    queryFn: async ({ signal }) => {
      const window = windowOf({}, await readZone(signal));
      const params = { path: { id }, query: windowQuery(window) };
      const { data } = await send(client.GET('/api/v1/meters/{id}/customers', { params, signal }));
      return { customers: data, window };
    },
    refetchInterval: () => pace(refreshMs),
  });
}
