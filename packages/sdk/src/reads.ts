// What the reads of the API ask and answer, in its own words. Fields that Weir adds later are there at run time.

import type { JsonValue } from './event.ts';

export type AggregationType = 'COUNT' | 'SUM' | 'MAX' | 'MIN' | 'AVG' | 'LAST' | 'UNIQUE_COUNT';

/** An exact decimal, such as `"82450"` or `"0.3"`; null where there is no value: the mean of nothing. */
export type Decimal = string | null;

export interface WindowQuery {
  /** ISO 8601 with an offset, or a bare date in the time zone. Default: 30 days before the end. */
  start_date?: string | Date | undefined;
  /** The first instant that does not count any more; a bare date includes that day. Default: now. */
  end_date?: string | Date | undefined;
  /** A time zone of the IANA database; default UTC. */
  timezone?: string | undefined;
}

export interface PageQuery {
  /** From 1. */
  page?: number | undefined;
  /** 1 to 100; default 20. */
  page_size?: number | undefined;
}

export interface Page<Item> {
  data: Item[];
  meta: { page: number; page_size: number; total: number; total_pages: number };
}

interface UsageOptions extends WindowQuery {
  group_by?: 'hour' | 'day' | 'week' | 'month' | undefined;
  /** The id of a customer record. */
  customer_id?: string | undefined;
  /** Your own identifier; no record is needed. */
  customer_external_id?: string | undefined;
  /** One of the meter's `metadata_keys`: the answer has `groups` by its values. */
  group_by_metadata?: string | undefined;
  /** 1 to 100; default 20. */
  groups_limit?: number | undefined;
  /** Only events with these values of the meter's `metadata_keys`. */
  filter?: Record<string, string> | undefined;
}

/** A meter is named by its id or by its token. */
export type UsageQuery = UsageOptions & ({ meter_token: string } | { meter_id: string });

export interface UsagePeriod {
  /** `2026-11`, `2026-W47`, `2026-11-20`, or an hour with its offset. */
  period: string;
  period_start: string;
  usage: Decimal;
  event_count: number;
}

export interface UsageGroup {
  value: string | null;
  /** What did not come among the largest, together. */
  is_rest?: boolean;
  total_usage: Decimal;
  event_count: number;
  grouped_data: UsagePeriod[];
}

export interface MeterUsage {
  meter_id: string;
  aggregation_type: AggregationType;
  unit: string | null;
  total_usage: Decimal;
  event_count: number;
  unique_customers: number;
  period_start: string;
  period_end: string;
  grouped_data: UsagePeriod[];
  /** With `group_by_metadata`. */
  groups?: UsageGroup[];
}

export interface CustomerUsage {
  customer_id: string;
  customer_external_id: string;
  period_start: string;
  period_end: string;
  data: {
    meter_id: string;
    name: string;
    meter_token: string;
    aggregation_type: AggregationType;
    unit: string | null;
    status: 'ACTIVE' | 'ARCHIVED';
    total_usage: Decimal;
    event_count: number;
  }[];
}

/** A customer of a meter; `customer_id` is null where it has no record. */
export interface MeterCustomer {
  customer_id: string | null;
  customer_external_id: string;
  name: string | null;
  total_usage: Decimal;
  event_count: number;
}

/** What became of an event. */
export interface EventReceipt {
  id: string;
  status: 'queued' | 'recorded' | 'rejected' | 'duplicate';
  /** Why it is not counted; of rejected ones. */
  reason?: string;
  /** The event that holds its key; of duplicates. */
  duplicate_of?: string;
  meter_id: string;
  customer_external_id: string;
  quantity: string;
  timestamp: string;
  received_at: string;
  idempotency_key: string | null;
  metadata: Record<string, JsonValue> | null;
}

export interface EventsQuery {
  status?: 'recorded' | 'rejected' | 'duplicate' | undefined;
  meter_id?: string | undefined;
  meter_token?: string | undefined;
  customer_external_id?: string | undefined;
  idempotency_key?: string | undefined;
  /** Of rejected ones. */
  reason?: string | undefined;
  start_date?: string | Date | undefined;
  end_date?: string | Date | undefined;
  /** The `next_cursor` of the page before. */
  cursor?: string | undefined;
  /** 1 to 100; default 20. */
  limit?: number | undefined;
}

export interface EventsPage {
  data: EventReceipt[];
  meta: { next_cursor: string | null };
}

export interface EntitlementQuery {
  customer_external_id: string;
  /** The `lookup_key` of the feature. */
  feature: string;
  /** How much is about to be used, as a decimal: whether all of it fits below the limit. */
  quantity?: string | number | undefined;
}

/** Whether a customer may use a feature. It holds nothing: two who ask at once may both be told of the last unit. */
export interface Entitlement {
  feature: string;
  type: 'meter' | 'switch' | 'custom';
  has_access: boolean;
  reason: 'ok' | 'no_subscription' | 'not_in_plan' | 'disabled' | 'limit_reached';
  limit: string | null;
  usage: string | null;
  remaining: string | null;
  overage: string | null;
  is_soft_limit: boolean;
  static_value: string | null;
  period_start: string | null;
  resets_at: string | null;
  as_of: string;
  /** Events that were accepted since then may not be in the usage yet. */
  queued_since: string | null;
}

export interface CustomersQuery extends PageQuery {
  /** A part of the external_id, the name or the email. */
  search?: string | undefined;
  /** Exactly this one. */
  external_id?: string | undefined;
}

export interface Customer {
  id: string;
  external_id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  billing_address_line1: string | null;
  billing_address_city: string | null;
  billing_address_state: string | null;
  billing_address_country: string | null;
  billing_address_postal_code: string | null;
  metadata: Record<string, JsonValue>;
  time_zone: string | null;
  created_at: string;
}

export interface WidgetToken {
  /** The secret, for the browser of this one customer. */
  token: string;
  expires_at: string;
}

type QueryValue = string | number | Date | undefined | Record<string, string>;

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
