// In which zone the days of usage are: of a customer who is billed that of the invoices, wherever the reader is, so that the numbers of
// the two can be compared. A subscription keeps the zone that it began with, whatever the customer and the organization have by now.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, send, type Answer, type Schema } from '../api/client.ts';
import { PAGE_SIZE_MAX } from '../api/limits.ts';
import { pace } from '../api/pace.ts';
import { windowOf, windowQuery, type UsageWindow } from './window.ts';

/** A zone, and whose it is. */
export interface ZoneOfDays {
  zone: string;
  /** The external id of a customer; undefined: it is that of the organization. */
  customer: string | undefined;
  /** Whether all going subscriptions of the customer are in it, and so their invoices. */
  isBilled: boolean;
}

interface ZoneOfUsage {
  days: ZoneOfDays;
  organization: string;
}

/** What is recorded for a customer without a record is in the zone of the organization. */
export function useZoneOfUsage(customer: string | undefined) {
  return useQuery({
    queryKey: ['/api/v1/billing/settings', 'zone of usage', customer],
    queryFn: async ({ signal }): Promise<ZoneOfUsage> => {
      const [organization, record] = await Promise.all([readZone(signal), findCustomer(customer, signal)]);
      return { days: await readZoneOf(record, organization, signal), organization };
    },
    // The fields above the chart stay where they are.
    placeholderData: keepPreviousData,
  });
}

async function readZone(signal: AbortSignal): Promise<string> {
  return (await send(client.GET('/api/v1/billing/settings', { signal }))).time_zone;
}

async function findCustomer(customer: string | undefined, signal: AbortSignal) {
  if (customer === undefined) return undefined;
  const query = { external_id: customer, limit: 1 };
  const { data } = await send(client.GET('/api/v1/customers', { params: { query }, signal }));
  return data[0];
}

/**
 * That of the subscriptions that have begun and are not over. That of the next ones, where there is none, where they are in several, and
 * where there are more than are read at once.
 */
async function readZoneOf(
  customer: Schema<'Customer'> | undefined,
  organization: string,
  signal: AbortSignal,
): Promise<ZoneOfDays> {
  if (customer === undefined) return { zone: organization, customer: undefined, isBilled: false };
  const query = { customer_id: customer.id, limit: PAGE_SIZE_MAX };
  const { data, meta } = await send(client.GET('/api/v1/subscriptions', { params: { query }, signal }));
  const going = data.filter(({ status }) => status !== 'CANCELED' && status !== 'SCHEDULED');
  const [zone, ...others] = new Set(going.map(({ time_zone }) => time_zone));
  const isOne = others.length === 0 && meta.next_cursor === null;
  if (zone !== undefined && isOne) return { zone, customer: customer.external_id, isBilled: true };
  const { time_zone: own } = customer;
  return own === null
    ? { zone: organization, customer: undefined, isBilled: false }
    : { zone: own, customer: customer.external_id, isBilled: false };
}

/** Where days begin decides what a day has used, so it is said. */
export function zoneWords({ zone, customer, isBilled }: ZoneOfDays): string {
  const why = isBilled ? `as on the invoices of ${customer}` : `the time zone of ${customer ?? 'the organization'}`;
  return `Days begin and end in ${zone}, ${why}.`;
}

/** Of the last 30 days, as Usage opens with them. */
export interface RecentUsage {
  meters: Answer<'/api/v1/customers/{id}/usage'>['data'];
  window: UsageWindow;
  days: ZoneOfDays;
}

/** What a customer has used of each meter. */
export function useRecentUsage(customer: Schema<'Customer'>, refreshMs: number) {
  const { id, time_zone: own } = customer;
  return useQuery({
    queryKey: ['/api/v1/customers/{id}/usage', 'recent', id, own],
    queryFn: async ({ signal }): Promise<RecentUsage> => {
      const days = await readZoneOf(customer, await readZone(signal), signal);
      const window = windowOf({}, days.zone);
      const params = { path: { id }, query: windowQuery(window) };
      const { data } = await send(client.GET('/api/v1/customers/{id}/usage', { params, signal }));
      return { meters: data, window, days };
    },
    refetchInterval: () => pace(refreshMs),
  });
}

/** Who has used a meter most in these days. */
export function useRecentCustomers(id: string, refreshMs: number) {
  return useQuery({
    queryKey: ['/api/v1/meters/{id}/customers', 'recent', id],
    queryFn: async ({ signal }) => {
      const days = await readZoneOf(undefined, await readZone(signal), signal);
      const window = windowOf({}, days.zone);
      const params = { path: { id }, query: windowQuery(window) };
      const { data } = await send(client.GET('/api/v1/meters/{id}/customers', { params, signal }));
      return { customers: data, days };
    },
    refetchInterval: () => pace(refreshMs),
  });
}
