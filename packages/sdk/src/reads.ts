// What the reads of the client take and give beside the API's own words (openapi.ts), and how a query is written.

import type { EventData } from './billing-events.ts';
import type { CustomersQuery, EntitlementsQuery, MeterUsage, PageMeta, UsageParameters } from './openapi.ts';

export type AggregationType = MeterUsage['aggregation_type'];

/** An exact decimal, such as `"82450"` or `"0.3"`, of which only averages are rounded; null where there is no value: the mean of nothing. */
export type Decimal = MeterUsage['total_usage'];

export type PageQuery = Pick<CustomersQuery, 'cursor' | 'limit' | 'page' | 'page_size'>;

/** A query without cursor and limit: its answer has the number of the page and the total. */
export interface ByNumber {
  cursor?: undefined;
  limit?: undefined;
}

/** Such an answer. */
export interface Page<Item> {
  data: Item[];
  meta: PageMeta;
}

/** An event of the feed. Its `type` says what `data` holds. */
export type BillingEvent = {
  [Type in keyof EventData]: {
    /** Counts from 1, without a gap. */
    sequence: number;
    type: Type;
    created_at: string;
    /** `user:` and the id of a user, `service_account:` and the id of one, or `weir`. */
    actor: string;
    data: EventData[Type];
  };
}[keyof EventData];

/** A meter is named by its id or by its token. */
export type UsageQuery = Omit<UsageParameters, 'meter_token'> & ({ meter_token: string } | { meter_id: string });

/** One feature: `feature` is its `lookup_key`. */
export type EntitlementQuery = EntitlementsQuery & { feature: string };

type QueryValue = string | number | boolean | Date | undefined | Record<string, string>;

/** Writes a query string with its `?`; fields that are undefined are left out, and an object becomes `name[key]=value`. */
export function queryString(query: Record<string, QueryValue>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value instanceof Date) search.append(name, value.toISOString());
    else if (typeof value === 'object') {
      for (const [key, each] of Object.entries(value)) search.append(`${name}[${key}]`, each);
    } else if (value !== undefined) search.append(name, String(value));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}
